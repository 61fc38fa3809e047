// The members of a room, with their presence and roles, and what one's own role allows.

import { el, focused, iconButton } from "../dom.js";
import { plain } from "../format.js";
import { dialog } from "../opening.js";
import { menu, show } from "../popups.js";
import { isMember, isModerator, mayActOn, rank, rolesToGive } from "../rights.js";
import {
  button,
  choice,
  form,
  input,
  label,
  problem,
  reasonLimit,
  suggestions,
  usersIn,
} from "./fields.js";
import { styled } from "./style.js";

/** @import { Message, Role } from "../relay-client/types.js" */
/** @import { Place } from "../actions.js" */

/** @type {Partial<Record<Role, string>>} */
const titles = { owner: "Owner", moderator: "Moderator", muted: "Muted" };

/** @type {Partial<Record<Role, string>>} */
const promotions = {
  owner: "Make an owner",
  moderator: "Make a moderator",
  member: "Make a member",
};

/** How long a mute or a ban lasts, in milliseconds. @type {[string, string][]} */
const times = [
  ["3600000", "An hour"],
  ["86400000", "A day"],
  ["604800000", "A week"],
  ["", "For good"],
];

/**
 * The members that messages name, in a room that does not list its members.
 * @param {Message[]} messages
 * @returns {Map<string, Role | undefined>}
 */
function named(messages) {
  const roles = new Map();
  for (const { member } of messages) if (member) roles.set(member.user, member.role);
  for (const [user, role] of roles) if (!isMember(role)) roles.delete(user);
  return roles;
}

/** @param {Place} place */
export function showMembers({ near, messenger, room, role: own, title, messages }) {
  styled(near);
  const { user: me, people, write, linkTo } = messenger;
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
  /** The users that are written. */
  function written() {
    const users = usersIn(invited.value, people);
    if (users.length > 0) return users;
    invited.focus();
    throw new Error("Write a user name.");
  }
  /** Of users who are not listed: those of a large room, and those who were removed. */
  const byName = button("Ban…", () => {
    try {
      const [user] = written();
      askHow(box, "Ban", nameOf(user), "", (options) => act(room.ban(user, options)));
    } catch (error) {
      note.textContent = plain(/** @type {Error} */ (error).message);
    }
  });
  const byLink = linkTo && button("Invite by a link…", () => linkTo(box, room.name, title));
  const invitation = form(
    note,
    "Invite",
    async () => {
      for (const user of written()) await room.invite(user, { signal });
      invited.value = "";
      invited.focus();
    },
    label(invited.id, "User"),
    invited,
    suggestions("invitable", people, (user) => !isMember(room.members.get(user))),
  );
  invitation.querySelector(".buttons")?.prepend(byLink ?? "", byName);
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
    const isBelow = mayActOn(own(), role);
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
      ...rolesToGive(own(), role).map((one) => ({
        label: promotions[one] ?? one,
        act: () => set(one),
      })),
      ...(isBelow && role === "muted" ? [{ label: "Unmute", act: () => set("member") }] : []),
      ...(isBelow && role !== "muted" && rank(role) < rank("moderator")
        ? [
            {
              label: "Mute…",
              act: () =>
                askHow(box, "Mute", name, times[0][0], (options) => act(room.mute(user, options))),
            },
          ]
        : []),
      ...(isBelow
        ? [
            {
              label: "Remove…",
              isDangerous: true,
              act: () =>
                askHow(box, "Remove", name, undefined, (options) =>
                  act(room.remove(user, options)),
                ),
            },
            {
              label: "Ban…",
              isDangerous: true,
              act: () => askHow(box, "Ban", name, "", (options) => act(room.ban(user, options))),
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
    const isListed = room.members.size > 0;
    const isLarge = !isListed && room.state === "live";
    const members = [...(isListed ? room.members : named(messages()))].sort(
      ([a, one], [b, other]) => rank(other) - rank(one) || nameOf(a).localeCompare(nameOf(b)),
    );
    list.replaceChildren(...members.map(item));
    invitation.hidden = !isModerator(own()) || room.state !== "live";
    aside.hidden = isListed;
    const why = isLarge
      ? "A room of more than 50 members does not list them."
      : "There is no connection now.";
    aside.textContent = isListed ? "" : `${why} The messages that are loaded name these:`;
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
 * Asks for a reason, and for how long.
 * @param {HTMLElement} near @param {string} verb @param {string} name of the user
 * @param {string | undefined} usual how long, of `times`; nothing where there is no end
 * @param {(options: {reason?: string, until?: number}) => void} act
 */
function askHow(near, verb, name, usual, act) {
  const title = `${verb} ${name}?`;
  const reason = input("reason", { maxLength: reasonLimit });
  const time = choice("how-long", times, usual);
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
            const isEnding = usual !== undefined && time.value !== "";
            act({
              reason: reason.value.trim() || undefined,
              until: isEnding ? Date.now() + Number(time.value) : undefined,
            });
          },
        },
      },
      ...(usual === undefined ? [] : [label(time.id, "How long"), time]),
      label(reason.id, "Reason", "optional; every member reads it"),
      reason,
      el(
        "div",
        { class: "buttons" },
        button("Cancel", () => box.close()),
        el("button", { type: "submit", class: "primary" }, verb),
      ),
    ),
  );
  reason.focus();
}
