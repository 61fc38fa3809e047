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
   * @returns {boolean} whether it was one short connection too many: then `descend()`
   */
  fails({ code, error, lifeMs }) {
    if (lifeMs >= this.#timing.goodMs) this.#shortOnes = 0;
    // A relay that closes with a code, or says why, has been reached.
    else if (!error && (code === 1006 || code === 1005 || code === 1002)) this.#shortOnes += 1;
    return this.#shortOnes >= 3 && this.#rungs.length > 1;
  }

  /** @param {string} why */
  descend(why) {
    const failed = this.transport;
    this.#index = (this.#index + 1) % this.#rungs.length;
    this.#shortOnes = 0;
    this.why = this.isBest ? undefined : `${names[failed]} not work: ${why}`;
  }
}
