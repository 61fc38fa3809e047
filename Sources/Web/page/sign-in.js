// The first screen: a name, a token where the relay asks for one, or the door to the accounts.

import { el } from "./dom.js";
import { fetched } from "./fetched.js";
import { isUserName, plain } from "./format.js";
import { similarName } from "./misnamed.js";
import { loaded } from "./problems.js";
import { outsideMs } from "./relay-client/deadline.js";
import { deviceStorage } from "./relay-client/guarded-storage.js";
import { accountKey, nameKey, Session } from "./session.js";

/**
 * How one signs in here. Without a connection, or an answer, as far as is known: with a name, or an
 * account if this browser has one.
 * @returns {Promise<string>} `open`, `jwt` or `accounts`
 */
async function howToSignIn() {
  if (deviceStorage.get(accountKey) !== undefined) return "accounts";
  try {
    const { content } = await fetched("v1/sign-in", { cache: "no-store" }, outsideMs);
    return JSON.parse(await content.text()).mode;
  } catch {
    return "open";
  }
}

/** @param {string} name */
function problem(name) {
  if (isUserName(name)) return "";
  const similar = similarName(name);
  const advice = isUserName(similar) ? `; ${similar} would do` : "";
  return `A name has 1 to 64 of these characters: a–z, 0–9, dot, hyphen and underscore${advice}.`;
}

/**
 * @param {HTMLElement} place
 * @param {string} [reason] why one is asked again
 * @returns {Promise<Session>}
 */
export async function signIn(place, reason = "") {
  const mode = await howToSignIn();
  if (mode === "accounts") {
    const { enter } = await loaded(() => import("./accounts/enter.js"));
    return enter(place, reason);
  }
  const usesNames = mode !== "jwt";
  return new Promise((resolve) => {
    const note = el("p", { class: "problem", role: "alert", id: "sign-in-problem" }, plain(reason));
    const input = el("input", {
      id: "sign-in-name",
      name: usesNames ? "username" : "token",
      type: usesNames ? "text" : "password",
      autocomplete: usesNames ? "username" : "off",
      autocapitalize: "none",
      spellcheck: false,
      required: true,
      value: usesNames ? (deviceStorage.get(nameKey) ?? "") : "",
      "aria-describedby": "sign-in-problem",
    });
    const form = el(
      "form",
      {
        class: "sign-in",
        on: {
          submit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const value = input.value.trim();
            if (!usesNames) {
              if (!value) return;
              const session = new Session({ token: value });
              session.renew(value);
              return resolve(session);
            }
            const user = value.replace(/^@/, "").toLowerCase();
            note.textContent = problem(user);
            if (note.textContent) return input.focus();
            deviceStorage.set(nameKey, user);
            resolve(new Session({ user }));
          },
        },
      },
      el("img", {
        class: "logo",
        alt: "",
        width: 56,
        height: 56,
        src: new URL("icon.svg", import.meta.url).href,
      }),
      el("h1", {}, "relay"),
      el(
        "p",
        {},
        usesNames
          ? "Choose the name that others see. No password is needed here."
          : "This relay needs a token, which its operator gives you.",
      ),
      el("label", { htmlFor: "sign-in-name" }, usesNames ? "Your name" : "Token"),
      input,
      note,
      el("button", { type: "submit", class: "primary" }, "Continue"),
    );
    form.noValidate = true;
    place.replaceChildren(el("main", { class: "sign-in-page" }, form));
    input.focus();
  });
}
