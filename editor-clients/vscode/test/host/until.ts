/** Waiting for what comes without an event to wait for. */

const LIMIT_MS = 60_000;
const PAUSE_MS = 20;

/** Return when the condition holds; fail after a bound. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = Date.now() + LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > limit) {
      throw new Error(`never: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
