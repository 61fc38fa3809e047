// Events, and promises that a signal ends.

/**
 * Calls listeners. What a listener throws is reported as uncaught and stops no other one.
 * @template {Record<string, any>} Events the argument of each event
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(value: any) => void>>} */
  #listeners = new Map();

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(value: Events[Name]) => void} listener
   * @param {{signal?: AbortSignal}} [options]
   * @returns {() => void} ends it
   */
  on(name, listener, { signal } = {}) {
    if (signal?.aborted) return () => {};
    const listeners = this.#listeners.get(name) ?? new Set();
    const own = (/** @type {any} */ value) => listener(value); // one listener may be added twice
    this.#listeners.set(name, listeners.add(own));
    const end = () => {
      listeners.delete(own);
      signal?.removeEventListener("abort", end);
    };
    signal?.addEventListener("abort", end);
    return end;
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Events[Name]} value
   */
  emit(name, value) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/**
 * The promise, or a rejection as soon as the signal is aborted.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function abortable(promise, signal) {
  if (!signal) return promise;
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, aborted]));
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
