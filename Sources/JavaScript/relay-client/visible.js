// What is worth its cost only while a person looks.

/**
 * Calls `act` at once and every `ms` while the page is visible, and never in a program.
 * @param {number} ms
 * @param {() => void} act
 * @param {AbortSignal} signal ends it
 * @param {() => void} [hidden] called when nobody looks any more
 */
export function whileVisible(ms, act, signal, hidden = () => {}) {
  const { document } = globalThis;
  if (!document) return;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const watch = () => {
    clearInterval(timer);
    if (signal.aborted || document.hidden) return hidden();
    timer = setInterval(act, ms);
    act();
  };
  document.addEventListener("visibilitychange", watch, { signal });
  signal.addEventListener("abort", watch);
  watch();
}
