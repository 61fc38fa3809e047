// Changes the own display name. Loaded when it is needed.

import { el } from "../dom.js";
import { show } from "../popups.js";
import { request } from "./request.js";
import { nameLimit } from "./words.js";

/** @import { Refusal } from "./request.js" */
/** @import { People } from "../people.js" */
/** @import { Account } from "./account.js" */

/** @param {HTMLElement} place @param {Account} account @param {People} people */
export function askForName(place, account, people) {
  const note = el("p", { class: "problem", role: "alert", id: "your-name-problem" });
  const input = el("input", {
    type: "text",
    id: "your-name",
    autocomplete: "name",
    maxLength: nameLimit,
    value: account.me?.name ?? people.name(account.user) ?? account.user,
    "aria-describedby": "your-name-problem",
  });
  const save = el("button", { type: "submit", class: "primary" }, "Save");
  const form = el(
    "form",
    {
      class: "fields",
      on: {
        submit: async (event) => {
          event.preventDefault();
          const name = input.value.trim();
          note.textContent = name ? "" : "Write a name.";
          if (!name || save.disabled) return input.focus();
          save.disabled = true;
          try {
            account.me = await request("PATCH", "v1/me", { name });
            people.rename(account.user, account.me?.name ?? name);
            box.close();
          } catch (error) {
            note.textContent = /** @type {Refusal} */ (error).message;
            input.focus();
          } finally {
            save.disabled = false;
          }
        },
      },
    },
    el("label", { htmlFor: "your-name" }, "The name that others see"),
    input,
    el("p", { class: "aside" }, `Others still mention you as @${account.user}.`),
    note,
    el("div", { class: "buttons" }, save),
  );
  form.noValidate = true;
  const box = show(place, "Your name", form);
  input.focus();
  input.select();
}
