// Forms of the dialogs of rooms.

import { el } from "../dom.js";
import { folded, isUserName, plain } from "../format.js";

/** @import { Properties } from "../dom.js" */
/** @import { People } from "../people.js" */

export const titleLimit = 100;
export const topicLimit = 1000;
export const reasonLimit = 500;

/** @param {string} id @param {Properties} [properties] */
export const input = (id, properties) =>
  el("input", { type: "text", id, autocomplete: "off", ...properties });

/**
 * @param {string} id
 * @param {[value: string, text: string][]} options
 * @param {string | undefined} value
 */
export function choice(id, options, value) {
  const element = el(
    "select",
    { id },
    ...options.map(([value, text]) => el("option", { value }, text)),
  );
  if (value !== undefined) element.value = value;
  return element;
}

/** @param {string} id @param {string} text @param {string} [aside] */
export const label = (id, text, aside) =>
  el("label", { htmlFor: id }, text, aside ? el("small", {}, ` ${aside}`) : "");

/** What is wrong, beside a form. */
export const problem = () => el("p", { class: "problem", role: "alert" });

/** @param {string} text @param {() => void} act @param {string} [kind] */
export const button = (text, act, kind = "plain") =>
  el("button", { type: "button", class: kind, on: { click: act } }, text);

/**
 * A form that says what the relay refuses, and is sent once at a time.
 * @param {HTMLElement} note
 * @param {string} confirm
 * @param {() => Promise<void>} submit rejects with what is refused
 * @param {...(Node | string)} children
 */
export function form(note, confirm, submit, ...children) {
  const send = el("button", { type: "submit", class: "primary" }, confirm);
  const element = el(
    "form",
    {
      class: "room-fields",
      noValidate: true,
      on: {
        submit: async (event) => {
          event.preventDefault();
          if (send.disabled) return;
          send.disabled = true;
          note.textContent = "";
          try {
            await submit();
          } catch (error) {
            note.textContent = plain(/** @type {Error} */ (error).message);
          } finally {
            send.disabled = false;
          }
        },
      },
    },
    ...children,
    note,
    el("div", { class: "buttons" }, send),
  );
  return element;
}

/**
 * The users that a person names: by user names, or by the names that are shown.
 * @param {string} text @param {People} people
 * @returns {string[]}
 * @throws {Error} with the name of no user
 */
export function usersIn(text, people) {
  const named = text.split(/[,;\n]+/).map((name) => name.trim());
  return [...new Set(named.filter(Boolean).map((name) => userOf(name, people)))];
}

/** @param {string} text @param {People} people */
function userOf(text, people) {
  const name = text.replace(/^@/, "");
  const same = [...people.known.values()].filter((one) => folded(one.name) === folded(name));
  if (isUserName(name.toLowerCase()) && (people.known.has(name.toLowerCase()) || same.length !== 1))
    return name.toLowerCase();
  if (same.length === 1) return same[0].user;
  throw new Error(
    same.length > 1
      ? `Several people are called “${plain(text)}”: write the user name.`
      : `“${plain(text)}” is no user's name.`,
  );
}

/**
 * Offers the people that are known, while one writes a name.
 * @param {string} id @param {People} people @param {(user: string) => boolean} isOffered
 */
export const suggestions = (id, people, isOffered) =>
  el(
    "datalist",
    { id },
    ...[...people.known.values()]
      .filter(({ user }) => isOffered(user))
      .map(({ user, name }) => el("option", { value: user }, plain(name))),
  );
