// The first screen: a name, or a token where the relay asks for one.

import { el } from "./dom.js";
import { fetched } from "./fetched.js";
import { folded, isUserName, plain } from "./format.js";
import { outsideMs } from "./relay-client/deadline.js";
import { deviceStorage } from "./relay-client/guarded-storage.js";
import { nameKey } from "./session.js";

/**
 * Whether the relay believes names. Without a connection, or an answer: as far as is known, yes.
 */
async function isOpen() {
  try {
    return (await fetched("/v1/people?limit=1&user=guest", {}, outsideMs)).status !== 401;
  } catch {
    return true;
  }
}

/** @param {string} name */
function problem(name) {
  if (isUserName(name)) return "";
  const similar = folded(name)
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  const advice = isUserName(similar) ? `; ${similar} would do` : "";
  return `A name has 1 to 64 of these characters: a–z, 0–9, dot, hyphen and underscore${advice}.`;
}

/**
 * @param {HTMLElement} place
 * @param {string} [reason] why one is asked again
 * @returns {Promise<{user?: string, token?: string}>}
 */
export async function signIn(place, reason = "") {
  const usesNames = await isOpen();
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
            if (!usesNames) return value && resolve({ token: value });
            const user = value.replace(/^@/, "").toLowerCase();
            note.textContent = problem(user);
            if (note.textContent) return input.focus();
            deviceStorage.set(nameKey, user);
            resolve({ user });
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
