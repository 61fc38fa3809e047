// Words and texts of accounts that need no browser.

/** The longest name of a device that is sent, in UTF-16 code units. */
export const deviceNameLimit = 64;

/** The longest display name that is sent, in UTF-16 code units. */
export const nameLimit = 100;

/** The first that is named in a user agent is it: the others stand there for compatibility. */
const browsers = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\b(?:OPR|Opera)\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Vivaldi", /\bVivaldi\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /Chrome\/|\b(?:Chromium|CriOS)\//],
  ["Safari", /\bSafari\//],
];
const systems = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["Mac", /\bMac OS X\b|\bMacintosh\b/],
  ["Linux", /\bLinux\b|\bX11\b/],
];

/**
 * What a person calls this device: “Firefox on Linux”.
 * @param {string} userAgent
 * @param {number} touchPoints an iPad says that it is a Mac, which has none
 */
export function deviceName(userAgent, touchPoints = 0) {
  const named = (/** @type {(string | RegExp)[][]} */ list) =>
    list.find(([, pattern]) => /** @type {RegExp} */ (pattern).test(userAgent))?.[0];
  const browser = named(browsers) ?? "Browser";
  const system = named(systems);
  const device = system === "Mac" && touchPoints > 1 ? "iPad" : system;
  return device === undefined ? String(browser) : `${browser} on ${device}`;
}

/**
 * A code as a person types it, as the relay shows it: `wdjb mjht` is WDJB-MJHT.
 * @param {string} text
 */
export function userCode(text) {
  const letters = text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
}

/** @type {Record<string, string>} */
const failures = {
  access_denied: "The sign-in was canceled there.",
  expired: "The sign-in took too long. Try it again.",
  provider_unavailable: "The sign-in service does not answer now. Try again later.",
  provider_refused:
    "The sign-in service refused the relay. Tell an operator, who finds the reason in the relay's log.",
  not_a_member:
    "Your account there is not a member of the organization or group that this relay is for.",
  account_disabled: "Your account is disabled. An operator of this relay can enable it again.",
  state_mismatch: "The sign-in was begun in another browser or tab. Try it again here.",
};

/** Why a sign-in by a provider failed. @param {string} code of the address */
export const failure = (code) =>
  Object.hasOwn(failures, code) ? failures[code] : "The sign-in failed. Try it again.";

/**
 * The rooms that a person names: `general, #Team` are two.
 * @param {string} text
 */
export const roomsIn = (text) => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,;]+/)
      .map((name) => name.replace(/^#/, ""))
      .filter(Boolean),
  ),
];
