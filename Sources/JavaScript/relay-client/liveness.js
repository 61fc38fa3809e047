// How a connection is, for a person who looks at it: a relay that is frozen closes nothing.
import { whileVisible } from "./visible.js";

/** @import { Link } from "./types.js" */

/** How often the link is asked, while the page is visible. */
const tickMs = 500;

/** Measures, while the page is visible, how long the oldest ping or request has no answer. */
class Liveness {
  /** Nothing is without an answer, or nobody looks. @type {number | undefined} */
  #unansweredMs;
  #link;
  #changed;
  /** When the link was asked; another tab that leads may be stopped. @type {number | undefined} */
  #askedAt;
  #end = new AbortController();

  /** @param {Link} link @param {(unansweredMs?: number) => void} changed */
  constructor(link, changed) {
    this.#link = link;
    this.#changed = changed;
    const forget = () => {
      this.#askedAt = undefined;
      this.#put(undefined);
    };
    whileVisible(tickMs, () => this.#look(), this.#end.signal, forget);
  }

  #look() {
    if (this.#link.health.state === "ended") return this.#end.abort();
    const now = performance.now();
    if (this.#askedAt !== undefined) return this.#put(now - this.#askedAt);
    this.#askedAt = now;
    const answered = (/** @type {number | undefined} */ ms) => {
      if (this.#askedAt !== now) return;
      this.#askedAt = undefined;
      this.#put(ms);
    };
    this.#link.probe().then(answered, () => this.#end.abort()); // fails once the client has ended
  }

  /** @param {number | undefined} ms */
  #put(ms) {
    if (this.#unansweredMs === ms) return;
    this.#unansweredMs = ms;
    this.#changed(ms);
  }
}

/**
 * Measures until the link ends.
 * @param {Link} link @param {(unansweredMs?: number) => void} changed
 */
export const measure = (link, changed) => new Liveness(link, changed);
