/** When to try again, and when to call what is not there absent. */

const FIRST_PAUSE_MS = 100;

/** Soon enough that a daemon just started is found while its user still looks at the status bar. */
const LONGEST_PAUSE_MS = 3_000;

/** So many attempts, some 1.5 s, cover the restart of a daemon. */
const ATTEMPTS_OF_A_RESTART = 5;

export class Backoff {
  private failures = 0;

  /** A connection was lost a moment ago: more likely a restart than an absence. */
  get restarting(): boolean {
    return this.failures < ATTEMPTS_OF_A_RESTART;
  }

  /** One more attempt failed. Returns the pause before the next one, in milliseconds. */
  failed(): number {
    const pause = FIRST_PAUSE_MS * 2 ** this.failures;
    this.failures += 1;
    return Math.min(pause, LONGEST_PAUSE_MS);
  }

  /** An attempt succeeded. */
  reset(): void {
    this.failures = 0;
  }
}
