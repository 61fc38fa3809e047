// Waiting for conditions, never for the clock.

export const patienceMs = 60_000;

/** Waits until the condition is true, and returns it. `what` says what was waited for. */
export async function wait(condition, what) {
  const end = Date.now() + patienceMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end)
      throw new Error(`waited in vain until ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The next event of an emitter. */
export function next(emitter, name, matches = () => true) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      end();
      reject(new Error(`waited in vain for the event ${name}`));
    }, patienceMs);
    const end = emitter.on(name, (value) => {
      if (!matches(value)) return;
      clearTimeout(late);
      end();
      resolve(value);
    });
  });
}

/** The first messages of an iterable. */
export async function take(messages, count) {
  const taken = [];
  for await (const message of messages) if (taken.push(message) === count) break;
  return taken;
}
