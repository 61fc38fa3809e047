// What a person may forbid to a page: then even its name throws.

/**
 * @template T
 * @param {() => T} part of the browser
 * @returns {T | undefined} undefined where there is none, or the person allows none
 */
export function allowed(part) {
  try {
    return part() ?? undefined;
  } catch {
    return undefined;
  }
}
