// Requests about accounts. The browser adds its cookie: no script has a credential.

import { fetched } from "../fetched.js";
import { plain, rest } from "../format.js";
import { deviceName, deviceNameLimit } from "./words.js";

/** What a relay without Retry-After is given. */
const usualPauseS = 60;

/** A request that failed; its message is for the person. */
export class Refusal extends Error {
  /**
   * @param {number} status of HTTP; 0: there was no answer
   * @param {string} message
   * @param {Record<string, any>} [problem] what the relay says besides
   */
  constructor(status, message, problem = {}) {
    super(message);
    this.status = status;
    this.code = problem.code ?? problem.error;
    /** @type {string | undefined} */
    this.field = problem.field;
  }
}

/**
 * The content of an answer. Rejects with a `Refusal`.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {number} [ms] how long an answer may take
 * @param {string} [token] that counts instead of the cookie
 * @returns {Promise<any>}
 */
export async function request(method, path, body, ms, token) {
  /** @type {Record<string, string>} */
  const fields = token ? { Authorization: `Bearer ${token}` } : {};
  /** @type {RequestInit} */
  const init = { method, cache: "no-store", headers: fields };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    fields["Content-Type"] = "application/json";
  }
  const { ok, status, headers, content } = await fetched(path, init, ms).catch((error) => {
    throw new Refusal(
      0,
      error.code === "timed_out"
        ? error.message
        : "The relay cannot be reached. Try again when there is a connection.",
    );
  });
  const answer = parsed(await content.text());
  if (ok) return answer;
  if (status === 429) {
    const seconds = Number(headers.get("Retry-After")) || usualPauseS;
    const text = `Too many attempts. Try again in ${rest(1000 * seconds)}.`;
    throw new Refusal(status, text, answer);
  }
  throw new Refusal(status, plain(answer.detail ?? `The relay answered ${status}.`), answer);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/**
 * The account of the cookie.
 * @typedef {{user: string, name?: string, operator?: boolean, may_invite?: boolean}} Me
 */

/** @param {number} [ms] how long it may take @returns {Promise<Me>} */
export const readMe = (ms) => request("GET", "v1/me", undefined, ms);

/** What this device is called. */
export const thisDevice = () =>
  deviceName(navigator.userAgent, navigator.maxTouchPoints).slice(0, deviceNameLimit);
