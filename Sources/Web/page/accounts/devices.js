// The devices that are signed in, and how another one is added. Loaded when it is needed.

import { el } from "../dom.js";
import { brief, daysAgo, plain, time } from "../format.js";
import { ask, show } from "../popups.js";
import { report } from "../problems.js";
import { root } from "../root.js";
import { codeForm } from "./code-form.js";
import { link } from "./link.js";
import { qrCode } from "./qr.js";
import { request } from "./request.js";

/** @import { Refusal } from "./request.js" */
/** @import { Account } from "./account.js" */

/**
 * @typedef {{session: string, device?: string, created_at: number, used_at: number, address?: string,
 *   current?: boolean}} Device
 */

/** @param {number} at */
const when = (at) => (daysAgo(at) <= 0 ? time(at) : brief(at).replace("Yesterday", "yesterday"));

/** @param {HTMLElement} place */
export async function showDevices(place) {
  const list = el("ul", { class: "devices", "aria-label": "Devices" });
  const note = el("p", { class: "problem", role: "alert" });
  const others = el(
    "button",
    { type: "button", class: "plain dangerous", hidden: true, on: { click: () => endOthers() } },
    "End all others",
  );
  const box = show(
    place,
    "Devices",
    el(
      "p",
      { class: "aside" },
      "Each of these reads and writes as you. End those that you do not use or know.",
    ),
    list,
    note,
    el("div", { class: "buttons" }, others),
  );
  /** @type {Device[]} */
  let devices = [];

  async function update() {
    try {
      ({ sessions: devices } = await request("GET", "v1/sessions"));
    } catch (error) {
      note.textContent = /** @type {Refusal} */ (error).message;
      return;
    }
    devices.sort(
      (a, b) => Number(b.current ?? false) - Number(a.current ?? false) || b.used_at - a.used_at,
    );
    list.replaceChildren(...devices.map(item));
    others.hidden = devices.filter(({ current }) => !current).length < 2;
  }

  /** @param {Device} device */
  function item(device) {
    const name = nameOf(device);
    const facts = [
      device.current ? "" : `last used ${when(device.used_at)}`,
      `signed in ${when(device.created_at)}`,
      plain(device.address ?? ""),
    ];
    const text = facts.filter(Boolean).join(" · ");
    return el(
      "li",
      {},
      el(
        "div",
        {},
        el("b", { dir: "auto" }, name),
        device.current && el("span", { class: "this" }, "This device"),
        el("small", { id: `device-${device.session}` }, text[0].toUpperCase() + text.slice(1)),
      ),
      !device.current &&
        el(
          "button",
          {
            type: "button",
            class: "plain dangerous",
            "aria-label": `End ${name}`,
            "aria-describedby": `device-${device.session}`, // names are not unique
            on: { click: () => endOne(device) },
          },
          "End",
        ),
    );
  }

  /** @param {string} title @param {string} text @param {Device[]} ended */
  async function end(title, text, ended) {
    if (!(await ask(place, { title, text, confirm: "End" }))) return;
    note.textContent = "";
    try {
      for (const { session } of ended) await endSession(session);
    } catch (error) {
      note.textContent = /** @type {Refusal} */ (error).message;
    }
    await update();
    box.querySelector("button")?.focus();
  }

  /** @param {Device} device */
  const endOne = (device) =>
    end(
      `End “${nameOf(device)}”?`,
      "It is signed out at once. What it has not sent stays there, unsent.",
      [device],
    );
  const endOthers = () =>
    end(
      "End all other devices?",
      "All devices but this one are signed out at once.",
      devices.filter(({ current }) => !current),
    );
  await update();
}

/** One that has ended meanwhile is as good. @param {string} session */
async function endSession(session) {
  try {
    await request("DELETE", `v1/sessions/${encodeURIComponent(session)}`);
  } catch (error) {
    if (/** @type {Refusal} */ (error).status !== 404) throw error;
  }
}

/** @param {Device} device */
const nameOf = ({ device }) => plain(device ?? "").trim() || "A device without a name";

/** @param {HTMLElement} place @param {Account} account */
export async function addDevice(place, account) {
  const where = el("div", { class: "link-and-code" });
  const form = codeForm(account.me ?? { user: account.user }, {
    end: () => box.close(),
    cancel: "Cancel",
    found: () => steps.replaceWith(form),
  });
  const steps = el(
    "ol",
    { class: "steps" },
    el("li", {}, "Open this address on the new device:", where),
    el("li", {}, "Choose “Sign in with another device” there."),
    el("li", {}, "Enter the code that it shows:", form),
  );
  const box = show(place, "Add a device", steps);
  form.focus();
  /** @type {{url?: string, qr?: string[]}} */
  let relay = {};
  try {
    relay = await request("GET", "v1/sign-in");
  } catch (error) {
    report(error);
  }
  const { url = root.href, qr } = relay;
  where.append(...link(url), qrCode(qr, url) ?? "");
}
