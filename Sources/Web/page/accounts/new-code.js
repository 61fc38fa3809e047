// The code by which another device signs this one in (RFC 8628).

import { el } from "../dom.js";
import { plain } from "../format.js";
import { qrCode } from "./qr.js";
import { request, thisDevice } from "./request.js";

/** @import { Refusal } from "./request.js" */
/** Where the relay names no interval, and what `slow_down` adds (RFC 8628 §3.5). */
const usualIntervalS = 5;
/** The longest time between two questions: a relay that is away is asked again no later. */
const longestIntervalS = 60;

/** Shows a code, and a newer one when it was refused or has expired. */
export class NewCode {
  element = el("div", { class: "new-code" });
  /** Whether the device was allowed; not if the signal has ended it. @type {Promise<boolean>} */
  allowed;
  #signal;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.#signal = signal;
    this.allowed = this.#run();
  }

  async #run() {
    while (!this.#signal.aborted) {
      this.element.replaceChildren(
        el("p", { class: "aside", role: "status" }, "Asking for a code…"),
      );
      let why;
      try {
        const code = await request("POST", "v1/device", { device: thisDevice() });
        if (this.#signal.aborted) break;
        this.#show(code);
        why = await this.#wait(code);
      } catch (error) {
        why = /** @type {Refusal} */ (error).message;
      }
      if (why === undefined) return true;
      if (!this.#signal.aborted) await this.#askAgain(why);
    }
    return false;
  }

  /** @param {{user_code: string, verification_uri: string, verification_uri_complete: string, qr?: string[]}} code */
  #show({ user_code, verification_uri, verification_uri_complete, qr }) {
    const page = plain(verification_uri).replace(/^https?:\/\//, "");
    const picture = qrCode(qr, verification_uri_complete);
    this.element.replaceChildren(
      el(
        "p",
        {},
        "On a device that is signed in, choose “Add a device” in the menu and enter this code" +
          (picture ? ", or scan the picture." : "."),
      ),
      el("p", { class: "code", "aria-label": [...user_code].join(" ") }, user_code),
      ...(picture ? [picture] : []),
      el("p", { class: "aside" }, "Or open ", el("b", {}, page), " there."),
      el("p", { class: "aside", role: "status" }, "Waiting for the other device…"),
    );
  }

  /**
   * Asks until there is an answer.
   * @param {{device_code: string, interval?: number}} code
   * @returns {Promise<string | undefined>} why there will be none
   */
  async #wait({ device_code, interval = usualIntervalS }) {
    let seconds = interval;
    while (!this.#signal.aborted) {
      await this.#pause(seconds);
      if (this.#signal.aborted) break;
      try {
        // The answer has a token too: the page leaves it, and has the cookie.
        await request("POST", "v1/device/token", { device_code });
        return undefined;
      } catch (error) {
        const { code, status, message } = /** @type {Refusal} */ (error);
        if (code === "authorization_pending") continue;
        if (code === "expired_token") return "The code has expired.";
        if (code === "access_denied") return "The other device has refused.";
        if (code !== "slow_down" && status !== 0 && status !== 429 && status < 500) return message;
        seconds = Math.min(seconds + usualIntervalS, longestIntervalS);
      }
    }
    return "";
  }

  /** @param {number} seconds @returns {Promise<void>} */
  #pause(seconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000 * seconds);
      this.#signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** @param {string} why @returns {Promise<void>} */
  #askAgain(why) {
    return new Promise((resolve) => {
      const again = el(
        "button",
        { type: "button", class: "primary", on: { click: () => resolve() } },
        "New code",
      );
      this.element.replaceChildren(el("p", { role: "alert" }, plain(why)), again);
      again.focus();
      this.#signal.addEventListener("abort", () => resolve());
    });
  }
}
