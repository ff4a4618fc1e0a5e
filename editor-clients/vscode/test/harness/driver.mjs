// Drives a whole editor in a browser for tests in another language: one JSON object a line in, one a line out.
//
//   node driver.mjs OPTIONS          {"work": …, "folder": …, "vsix": …, "environment": {…}, "settings": {…}}
//   → {"ready": true}
//   ← {"do": "command", "title": "memrecall: Show Status"}        → {"ok": true, "result": …} or {"ok": false, "error": …}
//
// It ends when its input does.
import { createInterface } from "node:readline";

import { launchBrowser } from "./browser.mjs";
import { startCodeServer } from "./codeServer.mjs";
import { prepareTools } from "./tools.mjs";

/** Bound of every wait: far beyond what anything takes on a busy machine. */
const WAIT_MS = 60_000;

const PALETTE = ".quick-input-widget input[type=text], .quick-input-widget .input";
const ROW = ".quick-input-list .monaco-list-row";

const { folder, ...options } = JSON.parse(process.argv[2]);
const tools = await prepareTools();
const browser = await launchBrowser(tools);
const server = await startCodeServer({ tools, ...options });
const page = await browser.newPage({ viewport: { width: 1200, height: 640 }, deviceScaleFactor: 2 });
page.setDefaultTimeout(WAIT_MS);

const actions = {
  /** Run a command from the palette, by its whole title. */
  async command({ title }) {
    await page.keyboard.press("F1");
    const input = page.locator(PALETTE).first();
    await input.fill(`>${title}`);
    await page.locator(ROW).filter({ has: page.getByText(title, { exact: true }) }).first().waitFor();
    await page.keyboard.press("Enter");
  },

  async press({ key }) {
    await page.keyboard.press(key);
  },

  /** Fill the quick input once its title or placeholder holds `what`. */
  async fill({ what, text }) {
    await page.locator(".quick-input-widget").filter({ hasText: what }).waitFor();
    await page.locator(PALETTE).first().fill(text);
  },

  /** Wait for an element whose text matches a pattern. Returns all of its text. */
  async see({ selector, pattern }) {
    const found = page.locator(selector).filter({ hasText: new RegExp(pattern) }).first();
    await found.waitFor();
    return found.innerText();
  },

  /** Wait for an element whose attribute matches a pattern. Returns the attribute. */
  async attribute({ selector, name, pattern }) {
    const found = page.locator(selector).first();
    await page.waitForFunction(
      ([where, attribute, expected]) =>
        new RegExp(expected).test(document.querySelector(where)?.getAttribute(attribute) ?? ""),
      [selector, name, pattern],
    );
    return found.getAttribute(name);
  },

  /** The texts of all elements. */
  async texts({ selector }) {
    return page.locator(selector).allInnerTexts();
  },

  async click({ selector, text = "" }) {
    await page.locator(selector).filter({ hasText: text }).first().click();
  },

  /** Move an element's right edge. */
  async widen({ selector, by }) {
    const { x, y, width, height } = await page.locator(selector).first().boundingBox();
    await page.mouse.move(x + width, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width + by, y + height / 2, { steps: 5 });
    await page.mouse.up();
  },

  /** A picture of the window when nothing in it moves any more. */
  async screenshot({ path }) {
    await page.waitForFunction(() => document.getAnimations().every((each) => each.playState !== "running"));
    await page.screenshot({ path });
  },
};

await page.goto(`${server.url}/?folder=${encodeURIComponent(folder)}`);
await page.locator(".monaco-workbench .statusbar").waitFor();
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...args } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ ok: true, result: (await actions[name](args)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ ok: false, error: String(error) }));
  }
}
await browser.close();
await server.close();
