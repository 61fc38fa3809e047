// The members of a room, with their presence and roles, and what one's own role allows.

import { el, focused, iconButton } from "../dom.js";
import { plain } from "../format.js";
import { dialog } from "../opening.js";
import { menu, show } from "../popups.js";
import { isMember, isModerator, mayActOn, rank, rolesToGive } from "../rights.js";
import {
  button,
  form,
  input,
  label,
  problem,
  reasonLimit,
  suggestions,
  usersIn,
} from "./fields.js";
import { styled } from "./style.js";

/** @import { Room } from "../relay-client/room.js" */
/** @import { Role } from "../relay-client/types.js" */
/** @import { Place } from "../actions.js" */

const hourMs = 3_600_000;

/** @type {Partial<Record<Role, string>>} */
const titles = { owner: "Owner", moderator: "Moderator", muted: "Muted" };

/** @type {Partial<Record<Role, string>>} */
const promotions = {
  owner: "Make an owner",
  moderator: "Make a moderator",
  member: "Make a member",
};

/** @param {Place} place */
export function showMembers({ near, messenger, room, title }) {
  styled(near);
  const { user: me, people, write } = messenger;
  const note = problem();
  const list = el("ul", { class: "room-members", "aria-label": "Members" });
  const aside = el("p", { class: "aside", role: "status" });
  const invited = input("invited", {
    autocapitalize: "none",
    spellcheck: false,
    placeholder: "User name",
  });
  invited.setAttribute("list", "invitable");
  const ending = new AbortController();
  const { signal } = ending;
  const invitation = form(
    note,
    "Invite",
    async () => {
      const users = usersIn(invited.value, people);
      if (users.length === 0) {
        invited.focus();
        throw new Error("Write a user name.");
      }
      for (const user of users) await room.invite(user, { signal });
      invited.value = "";
      invited.focus();
    },
    label(invited.id, "Invite"),
    invited,
    suggestions("invitable", people, (user) => !isMember(room.members.get(user))),
  );
  const box = show(near, `Members of ${plain(title)}`, invitation, aside, list);
  box.addEventListener("close", () => ending.abort());

  /** @param {string} user */
  const nameOf = (user) => plain(people.name(user) ?? user);

  /** @param {Promise<unknown>} acting */
  async function act(acting) {
    note.textContent = "";
    try {
      await acting;
    } catch (error) {
      note.textContent = plain(/** @type {Error} */ (error).message);
    }
  }

  /** What one may do with a member. @param {string} user @param {Role | undefined} role */
  function entries(user, role) {
    const name = nameOf(user);
    const set = (/** @type {Role} */ other) => act(room.setRole(user, other));
    const isBelow = mayActOn(room.role, role);
    return [
      ...(write
        ? [
            {
              label: `Write to ${name}`,
              act: () => {
                box.close();
                write(user);
              },
            },
          ]
        : []),
      ...rolesToGive(room.role, role).map((one) => ({
        label: promotions[one] ?? one,
        act: () => set(one),
      })),
      ...(isBelow && role === "muted" ? [{ label: "Unmute", act: () => set("member") }] : []),
      ...(isBelow && role !== "muted" && rank(role) < rank("moderator")
        ? [
            {
              label: "Mute for an hour",
              act: () => act(room.mute(user, { until: Date.now() + hourMs })),
            },
          ]
        : []),
      ...(isBelow
        ? [
            {
              label: "Remove…",
              isDangerous: true,
              act: () =>
                askWhy(box, `Remove ${name}?`, "Remove", (reason) =>
                  act(room.remove(user, { reason })),
                ),
            },
            {
              label: "Ban…",
              isDangerous: true,
              act: () =>
                askWhy(box, `Ban ${name}?`, "Ban", (reason) => act(room.ban(user, { reason }))),
            },
          ]
        : []),
    ];
  }

  /** @param {[user: string, role: Role | undefined]} member */
  function item([user, role]) {
    const name = nameOf(user);
    const about = [`@${user}`, user === me ? "you" : (people.presence(user) ?? "")];
    const more = iconButton("more", `Actions for ${name}`, (event) => {
      const anchor = /** @type {HTMLElement} */ (event.currentTarget);
      menu(anchor, entries(user, role), { label: name });
    });
    more.dataset.user = user;
    return el(
      "li",
      {},
      el(
        "div",
        {},
        el("b", { dir: "auto" }, name),
        el("small", {}, about.filter(Boolean).join(" · ")),
      ),
      role !== undefined && titles[role] !== undefined
        ? el("span", { class: "role" }, titles[role])
        : "",
      user !== me && entries(user, role).length > 0 ? more : "",
    );
  }

  function update() {
    const user = /** @type {HTMLElement | null} */ (focused())?.dataset.user;
    const members = [...room.members].sort(
      ([a, one], [b, other]) => rank(other) - rank(one) || nameOf(a).localeCompare(nameOf(b)),
    );
    list.replaceChildren(...members.map(item));
    invitation.hidden = !isModerator(room.role) || room.state !== "live";
    aside.hidden = members.length > 0;
    aside.textContent = members.length > 0 ? "" : "A room of more than 50 members lists none.";
    // The button that had the focus has been drawn again.
    const again = [
      .../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll("[data-user]")),
    ];
    if (user !== undefined)
      (again.find((one) => one.dataset.user === user) ?? box.querySelector("button"))?.focus();
  }

  room.on("membership", update, { signal });
  room.on("state", update, { signal });
  for (const type of ["change", "presence"]) people.addEventListener(type, update, { signal });
  update();
  if (!invitation.hidden) invited.focus();
}

/**
 * @param {HTMLElement} near @param {string} title @param {string} confirm
 * @param {(reason: string | undefined) => void} act
 */
function askWhy(near, title, confirm, act) {
  const reason = input("reason", { maxLength: reasonLimit });
  const box = dialog(
    near,
    { class: "question", "aria-label": title },
    el("h2", {}, title),
    el(
      "form",
      {
        class: "room-fields",
        on: {
          submit: (event) => {
            event.preventDefault();
            box.close();
            act(reason.value.trim() || undefined);
          },
        },
      },
      label(reason.id, "Reason", "optional; every member reads it"),
      reason,
      el(
        "div",
        { class: "buttons" },
        button("Cancel", () => box.close()),
        el("button", { type: "submit", class: "primary" }, confirm),
      ),
    ),
  );
  reason.focus();
}
