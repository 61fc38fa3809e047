// Which transport is used, and why. The verdict is never stored.
/** @import { SessionEnd, Timing, TransportName } from "./types.js" */

const names = { websocket: "WebSocket does", stream: "event streams do", poll: "polling does" };

/**
 * A transport is good once a connection has lasted for `goodMs`. After three short ones in a row
 * the next transport is tried, and after the last one the first again.
 */
export class Ladder {
  #rungs;
  #timing;
  #index = 0;
  #shortOnes = 0;
  #isReachable = false;
  /** @type {string | undefined} why it is not the first */
  why;

  /** @param {TransportName[]} rungs @param {Timing} timing */
  constructor(rungs, timing) {
    this.#rungs = rungs;
    this.#timing = timing;
  }

  get transport() {
    return this.#rungs[this.#index];
  }

  get best() {
    return this.#rungs[0];
  }

  get isBest() {
    return this.#index === 0;
  }

  /** The first transport works. */
  climb() {
    this.#index = 0;
    this.#shortOnes = 0;
    this.why = undefined;
  }

  /**
   * Counts a connection that has ended.
   * @param {SessionEnd} end
   * @returns {boolean} whether it may be the transport that fails: then `judge()`
   */
  fails({ code, error, lifeMs }) {
    if (lifeMs >= this.#timing.goodMs) this.#shortOnes = 0;
    // A relay that closes with a code, or says why, has been reached.
    else if (!error && (code === 1006 || code === 1005 || code === 1002)) this.#shortOnes += 1;
    return this.#shortOnes >= 2 && this.#rungs.length > 1;
  }

  /**
   * The transport fails if the relay could be reached before the last attempt and after it: one that
   * is just starting is reached only after.
   * @param {boolean} isReachable by other means, after a short connection @param {string} why
   */
  judge(isReachable, why) {
    const wasReachable = this.#isReachable;
    this.#isReachable = isReachable;
    if (!isReachable || !wasReachable || this.#shortOnes < 3) return;
    const failed = this.transport;
    this.#index = (this.#index + 1) % this.#rungs.length;
    this.#shortOnes = 0;
    this.#isReachable = false;
    this.why = this.isBest ? undefined : `${names[failed]} not work: ${why}`;
  }
}
