// A headless Chromium that reaches this machine and nothing else.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** Launch it. `tools` is the folder that `prepareTools` gives. */
export function launchBrowser(tools) {
  const { chromium } = createRequire(join(tools, "package.json"))("playwright-core");
  return chromium.launch({ executablePath: findChromium(), args: FLAGS });
}

function findChromium() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      if (folder !== "" && existsSync(join(folder, name))) {
        return join(folder, name);
      }
    }
  }
  throw new Error(
    "no Chromium on PATH; install it: apt-get update && apt-get install -y --no-install-recommends chromium",
  );
}
