// Deadlines that count the time in which the program ran: while a machine is suspended, a tab is
// frozen or a debugger waits, what the relay has sent waits in the socket and is no silence.
import { RelayError } from "./errors.js";

/** How long anything outside of the program may take: a store, a lock, a module, another tab. */
export const outsideMs = 5000;

/** A deadline is waited for in this number of parts, so that a pause in any of them is seen. */
const parts = 8;
/** A part that ends so much too late was a pause, and does not count. */
const lateMs = 1000;
/** The timers of a throttled tab are late each time: after this number of late parts all time counts. */
const latePartsLimit = 3;

/** The clock on the wall goes on while a machine sleeps, and the other one is never set. */
const now = () => ({ wall: Date.now(), steady: performance.now() });

export class Deadline {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #partMs;
  #leftMs;
  #lateParts = 0;
  #passed;

  /** @param {number} ms @param {() => void} passed called once, unless `end` is called before */
  constructor(ms, passed) {
    this.#partMs = ms / parts;
    this.#leftMs = ms;
    this.#passed = passed;
    this.#wait();
  }

  end() {
    clearTimeout(this.#timer);
  }

  #wait() {
    const began = now();
    this.#timer = setTimeout(() => {
      const { wall, steady } = now();
      const elapsedMs = Math.max(wall - began.wall, steady - began.steady);
      const isLate = elapsedMs > this.#partMs + lateMs;
      if (isLate) this.#lateParts += 1;
      if (!isLate || this.#lateParts > latePartsLimit)
        this.#leftMs -= Math.max(elapsedMs, this.#partMs);
      if (this.#leftMs > 0) this.#wait();
      else this.#passed();
    }, this.#partMs);
  }
}

/**
 * The promise, or a rejection with `timed_out`.
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what does not answer, for a person: the beginning of a sentence
 * @param {number} [ms]
 * @returns {Promise<T>}
 */
export function within(promise, what, ms = outsideMs) {
  return bounded(() => promise, what, ms);
}

/**
 * The same for work that a signal ends, such as a request.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @param {string} what
 * @param {number} [ms]
 * @param {AbortSignal} [signal] ends it as well
 * @returns {Promise<T>}
 */
export async function bounded(work, what, ms = outsideMs, signal) {
  const patience = new AbortController();
  const text = `${what} did not answer within ${ms / 1000} s.`;
  const deadline = new Deadline(ms, () => patience.abort(new RelayError("timed_out", text)));
  const ended = new Promise((_, reject) => {
    patience.signal.addEventListener("abort", () => reject(patience.signal.reason));
  });
  const end = () => patience.abort(signal?.reason);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  try {
    return /** @type {T} */ (await Promise.race([work(patience.signal), ended]));
  } finally {
    deadline.end();
    signal?.removeEventListener("abort", end);
  }
}
