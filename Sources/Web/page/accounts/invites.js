// Invites people by links, and tells what has become of them. Loaded when it is needed.

import { el } from "../dom.js";
import { day, isRoomName, plain } from "../format.js";
import { show } from "../popups.js";
import { link } from "./link.js";
import { qrCode } from "./qr.js";
import { request } from "./request.js";
import { nameLimit, roomsIn } from "./words.js";

/** @import { Refusal } from "./request.js" */
/** @import { Messenger } from "../types.js" */

/**
 * @typedef {{invitation: string, user?: string, rooms?: string[], uses?: number,
 *   used_by?: string[], expires_at: number}} Invitation
 */

/** @param {HTMLElement} place @param {Messenger} messenger */
export async function showInvites(place, { people }) {
  const note = el("p", { class: "problem", role: "alert", id: "invite-problem" });
  const rooms = field("invite-rooms", { placeholder: "general, team" });
  const name = field("invite-name", { maxLength: nameLimit });
  const make = el("button", { type: "submit", class: "primary" }, "Make a link");
  const made = el("div", { class: "link-and-code" });
  const list = el("ul", { class: "devices", "aria-label": "Invitations" });
  const heading = el("h3", { hidden: true }, "Your invitations");
  const form = el(
    "form",
    {
      class: "fields",
      on: {
        submit: async (event) => {
          event.preventDefault();
          if (!make.disabled) await invite();
        },
      },
    },
    el("label", { htmlFor: "invite-name" }, "Name of the person ", el("small", {}, "optional")),
    name,
    el("label", { htmlFor: "invite-rooms" }, "Rooms to begin with ", el("small", {}, "optional")),
    rooms,
    note,
    el("div", { class: "buttons" }, make),
  );
  form.noValidate = true;
  show(
    place,
    "Invite people",
    el("p", { class: "aside" }, "A link lets one person in. Whoever opens it first joins with it."),
    form,
    made,
    heading,
    list,
  );
  name.focus();

  async function invite() {
    const named = roomsIn(rooms.value);
    const wrong = named.find((room) => !isRoomName(room));
    note.textContent =
      wrong === undefined
        ? ""
        : `“${plain(wrong)}” is not the name of a room, which has 1 to 140 of a–z, 0–9, dot, hyphen, underscore and colon.`;
    if (wrong !== undefined) return rooms.focus();
    make.disabled = true;
    try {
      const { url, qr, expires_at } = await request("POST", "v1/invites", {
        ...(named.length > 0 ? { rooms: named } : {}),
        ...(name.value.trim() ? { name: name.value.trim() } : {}),
      });
      made.replaceChildren(...linkAndCode(url, qr, expires_at));
      make.textContent = "Make another link";
      name.value = "";
      made.querySelector("button")?.focus();
      await update();
    } catch (error) {
      note.textContent = /** @type {Refusal} */ (error).message;
    } finally {
      make.disabled = false;
    }
  }

  async function update() {
    try {
      const { invites } = await request("GET", "v1/invites");
      heading.hidden = invites.length === 0;
      list.replaceChildren(...invites.map(item));
    } catch (error) {
      note.textContent = /** @type {Refusal} */ (error).message;
    }
  }

  /** @param {Invitation} invitation */
  function item({ invitation, user, rooms = [], uses = 1, used_by = [], expires_at }) {
    const names = used_by.map((one) => `${plain(people.name(one) ?? one)} (@${plain(one)})`);
    const used = used_by.length;
    const isOver = used >= uses || expires_at <= Date.now();
    const what = [
      ...(user === undefined ? [] : [`@${plain(user)}`]),
      ...rooms.map((room) => `#${plain(room)}`),
    ];
    const title = used > 0 ? `Used by ${names.join(", ")}` : isOver ? "Expired" : "Not used yet";
    const end = `${isOver ? "until" : "valid until"} ${day(expires_at)}`;
    return el(
      "li",
      {},
      el("div", {}, el("b", { dir: "auto" }, title), el("small", {}, [...what, end].join(" · "))),
      !isOver &&
        el(
          "button",
          {
            type: "button",
            class: "plain dangerous",
            "aria-label": `Withdraw the invitation, ${[...what, end].join(", ")}`,
            on: { click: () => withdraw(invitation) },
          },
          "Withdraw",
        ),
    );
  }

  /** @param {string} id */
  async function withdraw(id) {
    note.textContent = "";
    try {
      await request("DELETE", `v1/invites/${encodeURIComponent(id)}`);
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      if (status !== 404) note.textContent = message;
    }
    await update();
    name.focus();
  }

  await update();
}

/**
 * Makes a link that invites one person into a room.
 * @param {HTMLElement} near @param {string} room @param {string} title
 */
export async function showLink(near, room, title) {
  const made = el("div", { class: "link-and-code" }, el("p", { role: "status" }, "Loading…"));
  show(near, `Invite into ${plain(title)}`, made);
  try {
    const { url, qr, expires_at } = await request("POST", "v1/invites", { rooms: [room] });
    made.replaceChildren(...linkAndCode(url, qr, expires_at));
    made.querySelector("button")?.focus();
  } catch (error) {
    const { message } = /** @type {Refusal} */ (error);
    made.replaceChildren(el("p", { class: "problem", role: "alert" }, message));
  }
}

/** @param {string} url @param {string[]} qr @param {number} end */
const linkAndCode = (url, qr, end) => [
  el("p", { role: "status" }, `Send this link. It works once, until ${day(end)}.`),
  ...link(url),
  qrCode(qr, url) ?? "",
];

/** @param {string} id @param {import("../dom.js").Properties} properties */
const field = (id, properties) =>
  el("input", {
    type: "text",
    id,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: false,
    "aria-describedby": "invite-problem",
    ...properties,
  });
