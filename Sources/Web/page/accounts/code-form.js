// Lets another device in: the code that it shows, then what it is, and a question.

import { el } from "../dom.js";
import { plain } from "../format.js";
import { request } from "./request.js";
import { userCode } from "./words.js";

/** @import { Me, Refusal } from "./request.js" */

const codeLength = 9; // WDJB-MJHT

/**
 * A form for the code. Its `focus()` begins it: a code that is given is looked up at once.
 * @param {Me} me
 * @param {{code?: string, end: () => void, cancel: string, found?: () => void}} options `found`: the
 *   device that shows the code is asked about from now on
 */
export function codeForm(me, { code = "", end, cancel, found }) {
  const place = el("div", { class: "code-form" });
  const note = el("p", { class: "problem", role: "alert", id: "device-code-problem" });
  const input = el("input", {
    type: "text",
    id: "device-code",
    class: "code",
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: false,
    placeholder: "WDJB-MJHT",
    maxLength: 2 * codeLength, // with spaces
    value: userCode(code),
    "aria-describedby": "device-code-problem",
  });
  const look = el("button", { type: "submit", class: "primary" }, "Continue");
  const form = el(
    "form",
    {
      class: "fields",
      on: {
        submit: async (event) => {
          event.preventDefault();
          if (!look.disabled) await lookUp();
        },
      },
    },
    el("label", { htmlFor: "device-code" }, "Code on the new device"),
    input,
    note,
    el("div", { class: "buttons" }, plainButton(cancel, end), look),
  );
  form.noValidate = true;

  async function lookUp() {
    const written = userCode(input.value);
    if (written.length !== codeLength) {
      note.textContent = "A code has eight letters, as WDJB-MJHT.";
      return input.focus();
    }
    input.value = written;
    note.textContent = "";
    look.disabled = true;
    try {
      const device = await request("GET", `v1/device/${encodeURIComponent(written)}`);
      askFor(written, device);
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      note.textContent =
        status === 404
          ? "No device shows this code now. Compare it letter by letter: a code is valid for 10 minutes."
          : message;
      input.focus();
      input.select();
    } finally {
      look.disabled = false;
    }
  }

  /** @param {string} shown @param {{device?: string, address?: string}} asking */
  function askFor(shown, { device = "", address = "" }) {
    const name = plain(device).trim() || "A device without a name";
    const refusal = el("p", { class: "problem", role: "alert" });
    const title = el("h2", { tabIndex: -1, dir: "auto" }, `Sign in “${name}”?`);
    const facts = [
      ["Address", plain(address) || "unknown"],
      ["Its code", shown],
      ["As", `${plain(me.name || me.user)} (@${me.user})`],
    ];
    const answer = async (/** @type {boolean} */ allow) => {
      for (const one of buttons) one.disabled = true;
      try {
        await request("POST", `v1/device/${encodeURIComponent(shown)}`, { allow });
        tell(allow ? `“${name}” is signed in.` : `“${name}” was not signed in.`);
      } catch (error) {
        const { status, message } = /** @type {Refusal} */ (error);
        refusal.textContent =
          status === 404 ? "The code has expired. Let the device show another one." : message;
        for (const one of buttons) one.disabled = false;
      }
    };
    const buttons = [
      plainButton("Deny", () => answer(false)),
      el(
        "button",
        { type: "button", class: "primary", on: { click: () => answer(true) } },
        "Allow",
      ),
    ];
    place.replaceChildren(
      title,
      el(
        "dl",
        { class: "facts" },
        ...facts.flatMap(([term, text]) => [el("dt", {}, term), el("dd", { dir: "auto" }, text)]),
      ),
      el(
        "p",
        { class: "warning" },
        "Allow only a device that you hold, and that shows this code. It reads and writes as you." +
          " Deny it if the code or the link was sent to you.",
      ),
      refusal,
      el("div", { class: "buttons" }, ...buttons),
    );
    found?.();
    title.focus(); // and not the button that allows
  }

  /** @param {string} text */
  function tell(text) {
    const done = el("button", { type: "button", class: "primary", on: { click: end } }, "Done");
    place.replaceChildren(el("p", { role: "status" }, text), el("div", { class: "buttons" }, done));
    done.focus();
  }

  place.append(form);
  return Object.assign(place, {
    focus() {
      input.focus();
      if (code) lookUp();
    },
  });
}

/** @param {string} label @param {() => void} act */
const plainButton = (label, act) =>
  el("button", { type: "button", class: "plain", on: { click: act } }, label);
