// One message as an element.

import { avatar } from "./avatars.js";
import { el, icon, iconButton } from "./dom.js";
import { fileElement, fileName } from "./file-row.js";
import { day, isSameDay, line, moment, plain, time } from "./format.js";
import { load } from "./problems.js";
import { isContent } from "./relay-client/fold.js";
import { isEmoji, nodes } from "./text.js";

/** @import { Pictures } from "./avatars.js" */
/** @import { Act } from "./types.js" */
/** @import { Message, Pending } from "./relay-client/types.js" */

/** Messages of one sender within this time stand together. */
const togetherMs = 5 * 60_000;
/** What is longer is cut until a person wants to see all of it. */
const shownLines = 40;
const shownLength = 4000;
/** How much of a message its label has: what a reader speaks at once. */
const labelLength = 300;

/**
 * A message, or an own one that is not in the log yet.
 * @typedef {Partial<Omit<Message, "forward">> & Partial<Omit<Pending, "forward" | "kind" | "file">> &
 *   Pick<Message, "id" | "from" | "at" | "kind"> &
 *   {forward?: {room: string, seq: number, from?: string}, run?: {count: number}}} Shown `run`: of
 *   hidden messages, of which it is the last
 */

/**
 * What rows need of their conversation.
 * @typedef {object} Context
 * @property {string} user
 * @property {boolean} isDirect
 * @property {(user: string) => string | undefined} name
 * @property {(user: string) => boolean} isBlocked whether messages of the user are closed until one
 *   opens them
 * @property {(user: string) => Pictures | undefined} pictures where there is one
 * @property {(seq: number) => Message | undefined} message
 * @property {(message: Shown) => Mark} mark of an own message
 * @property {Act} act
 * @property {(event: KeyboardEvent, message: Shown) => boolean} key whether it is one for a message
 * @property {() => string} empty what stands in place of messages
 * @property {() => void} refresh draws all rows again
 */

/** @typedef {keyof typeof marks} Mark how far an own message has come */

/**
 * What the appearance of a message depends on, besides itself.
 * @typedef {object} Surroundings
 * @property {boolean} opensDay
 * @property {boolean} opensGroup
 * @property {boolean} closesGroup
 * @property {boolean} isFirstUnread
 * @property {boolean} isExpanded whether a long message is shown as a whole
 * @property {Mark | ""} mark `""` for messages of others
 */

/**
 * @param {Shown} message
 * @param {Shown | undefined} before
 * @param {Shown | undefined} after
 * @returns {Pick<Surroundings, "opensDay" | "opensGroup" | "closesGroup">}
 */
export function grouping(message, before, after) {
  const together = (/** @type {Shown | undefined} */ a, /** @type {Shown | undefined} */ b) =>
    a &&
    b &&
    a.from === b.from &&
    b.at - a.at < togetherMs &&
    isSameDay(a.at, b.at) &&
    isContent(a) &&
    isContent(b);
  return {
    opensDay: !before || !isSameDay(before.at, message.at),
    opensGroup: !together(before, message),
    closesGroup: !together(message, after),
  };
}

const markNames = {
  waiting: "Not sent yet",
  refused: "Not sent",
  stored: "Sent",
  received: "Delivered",
  read: "Read",
};
const marks = { waiting: "", refused: "!", stored: "✓", received: "✓✓", read: "✓✓" };

/**
 * What a message says in one line, for quotations, lists and readers.
 * @param {Pick<Shown, "kind" | "text" | "deleted" | "file" | "name"> | undefined} message
 */
export function gist(message) {
  if (!message) return "";
  if (message.deleted) return "Message deleted";
  if (message.kind === "data") return "Data";
  if (message.kind === "hidden") return "Hidden message";
  const text = line(message.text ?? "");
  return message.kind === "file"
    ? [line(fileName(message)), text].filter(Boolean).join(": ")
    : text;
}

/** @param {Shown} message @param {Context} context @param {Surroundings} around */
export function label(message, context, around) {
  const who = message.from === context.user ? "You" : (context.name(message.from) ?? message.from);
  const reactions = [...(message.reactions ?? [])]
    .map(([emoji, users]) => `${plain(emoji)} ${users.length}`)
    .join(", ");
  return [
    `${plain(who)}: ${gist(message).slice(0, labelLength)}`,
    message.replyTo !== undefined && "reply",
    message.forward && "forwarded",
    message.editedAt !== undefined && !message.deleted && "edited",
    reactions && `reactions: ${reactions}`,
    moment(message.at),
    around.mark && markNames[around.mark],
  ]
    .filter(Boolean)
    .join(", ");
}

/** Whether an own edit or deletion is on its way. @param {Shown} message */
const isChanging = ({ pending }) => pending?.some(({ kind }) => kind !== "react") ?? false;

/** @typedef {HTMLElement & {message: Shown, shown?: string}} RowElement `shown`: how it is drawn */

/** The row in which an event has happened. @param {EventTarget | null | undefined} place */
export const rowOf = (place) =>
  /** @type {RowElement | null | undefined} */ (
    /** @type {Element | null | undefined} */ (place)?.closest(".row")
  );

/** The beginning of a text that is too long to be shown at once. @param {string} text */
function beginning(text) {
  let end = -1;
  for (let lines = 0; lines < shownLines; lines++) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) break;
  }
  const cut = text.slice(0, Math.min(end < 0 ? Infinity : end, shownLength));
  return cut.length < text.length ? cut.replace(/[\ud800-\udbff]$/, "") : text;
}

/**
 * Fills the element of a message.
 * @param {HTMLElement} row
 * @param {Shown} message
 * @param {Context} context
 * @param {Surroundings} around
 */
export function fill(row, message, context, around) {
  const isClosed = !around.isExpanded && context.isBlocked(message.from);
  if (isClosed || !isContent(message)) return fillNotice(row, message, context, around);
  const own = message.from === context.user;
  const { mark } = around;
  const name = context.name(message.from) ?? message.from;
  const isLarge =
    message.kind === "text" &&
    !message.deleted &&
    message.replyTo === undefined &&
    isEmoji(message.text ?? "");
  row.className = [
    "row",
    own && "own",
    around.opensGroup && "opens",
    around.closesGroup && "closes",
    isLarge && "large",
    message.deleted && "deleted",
    message.kind === "file" && !message.deleted && "with-file",
    (mark === "waiting" || isChanging(message)) && "waiting",
    mark === "refused" && "refused",
  ]
    .filter(Boolean)
    .join(" ");
  row.setAttribute("aria-label", label(message, context, around));
  const body = el("div", { class: "bubble" });
  if (around.opensGroup && !own && !context.isDirect) {
    body.append(
      el(
        "button",
        {
          type: "button",
          class: "name",
          dir: "auto",
          tabIndex: -1,
          title: `@${message.from}`,
          on: {
            click: (event) =>
              context.act("person", message.seq, /** @type {HTMLElement} */ (event.currentTarget)),
          },
        },
        plain(name),
      ),
    );
  }
  if (message.forward) {
    const { from, room } = message.forward;
    body.append(
      el(
        "div",
        { class: "forwarded" },
        "Forwarded from ",
        el("bdi", {}, plain(from === undefined ? room : (context.name(from) ?? from))),
      ),
    );
  }
  if (message.replyTo !== undefined && !message.deleted)
    body.append(quotation(message.replyTo, context));
  if (message.kind === "file" && !message.deleted) body.append(fileElement(row, message, context));
  const text = el("div", { class: "text", dir: "auto" });
  const whole = message.deleted
    ? deletion(message, context)
    : message.kind === "data"
      ? JSON.stringify(message.data, null, 2)
      : (message.text ?? "");
  const shown = around.isExpanded ? whole : beginning(whole);
  if (message.deleted) text.append(shown);
  else if (message.kind === "data") text.append(el("pre", {}, el("code", {}, shown)));
  else text.append(...nodes(shown, context));
  body.append(text);
  if (shown.length < whole.length) {
    body.append(
      el(
        "button",
        {
          type: "button",
          class: "link all",
          tabIndex: -1,
          on: { click: () => context.act("expand", message.seq ?? message.id) },
        },
        "Show all",
      ),
    );
  }
  const meta = el(
    "span",
    { class: "meta", title: moment(message.at) },
    message.editedAt !== undefined && !message.deleted && el("span", {}, "edited "),
    el("time", { dateTime: new Date(message.at).toISOString() }, time(message.at)),
  );
  if (mark) {
    meta.append(
      el(
        "span",
        { class: `mark ${mark}`, title: markNames[mark] },
        mark === "waiting" ? icon("clock") : marks[mark],
      ),
    );
  }
  body.append(meta);
  if (message.reactions?.size) body.append(reactions(message, message.reactions, context));
  const parts = [];
  if (around.opensDay) parts.push(dayLine(message.at));
  if (around.isFirstUnread)
    parts.push(el("div", { class: "unread-line" }, el("span", {}, "New messages")));
  const content = el("div", { class: "content" });
  if (!own && !context.isDirect) {
    content.append(
      around.closesGroup
        ? avatar(message.from, name, context.pictures(message.from))
        : el("span", { class: "avatar none" }),
    );
  }
  content.append(body);
  parts.push(content);
  if (mark === "refused") parts.push(refusal(message, context));
  row.replaceChildren(...parts);
}

/** @type {typeof import("./notice.js") | undefined} */
let words;
export async function wordsOfNotices() {
  words = await load(() => import("./notice.js"));
  return words;
}

/** @param {HTMLElement} row @param {Shown} message @param {Context} context @param {Surroundings} around */
function fillNotice(row, message, context, around) {
  // The words are loaded once a room has such messages.
  if (!words) wordsOfNotices().then(context.refresh);
  const text = words?.noticeText(message, context) ?? "…";
  row.className = "row change";
  row.setAttribute("aria-label", `${text}, ${moment(message.at)}`);
  const properties = { class: "text", dir: "auto", title: moment(message.at) };
  const open = () => context.act("expand", message.seq);
  row.replaceChildren(
    ...(around.opensDay ? [dayLine(message.at)] : []),
    isContent(message)
      ? el("button", { type: "button", tabIndex: -1, ...properties, on: { click: open } }, text)
      : el("p", properties, text),
  );
}

/** @param {number} at */
const dayLine = (at) => el("div", { class: "day" }, el("span", {}, day(at)));

/** @param {Shown} message @param {Context} context */
const deletion = ({ deletedBy }, { name }) =>
  deletedBy === undefined ? "Message deleted" : `Deleted by ${plain(name(deletedBy) ?? deletedBy)}`;

/** @param {number} seq @param {Context} context */
function quotation(seq, context) {
  const target = context.message(seq);
  const name = target && (context.name(target.from) ?? target.from);
  return el(
    "button",
    {
      type: "button",
      class: "quotation",
      tabIndex: -1,
      dir: "auto",
      on: {
        click: (event) => {
          event.stopPropagation();
          context.act("show", seq);
        },
      },
    },
    el("b", {}, name ? plain(name) : "Reply"),
    el(
      "span",
      {},
      target && !context.isBlocked(target.from) ? gist(target).slice(0, 200) : "Show the message",
    ),
  );
}

/** @param {Shown} message @param {Map<string, string[]>} all @param {Context} context */
function reactions(message, all, context) {
  const element = el("div", { class: "reactions" });
  const changing = new Set(message.pending?.map(({ emoji }) => emoji));
  for (const [emoji, users] of all) {
    const isOwn = users.includes(context.user);
    const count = users.length + (message.reactionsMore?.get(emoji) ?? 0);
    const names = users
      .slice(0, 20)
      .map((user) => plain(context.name(user) ?? user))
      .join(", ");
    element.append(
      el(
        "button",
        {
          type: "button",
          tabIndex: -1,
          title: names,
          class: `reaction${isOwn ? " own" : ""}${changing.has(emoji) ? " waiting" : ""}`,
          "aria-pressed": isOwn,
          "aria-label": `${plain(emoji)} by ${names}`,
          on: { click: () => context.act("react", message.seq, emoji, !isOwn) },
        },
        el("span", {}, plain(emoji)),
        el("span", { class: "count" }, String(count)),
      ),
    );
  }
  return element;
}

/** Buttons beside the message that is pointed to: one set for all rows. @param {Context} context */
export function tools(context) {
  const button = (
    /** @type {Parameters<typeof iconButton>[0]} */ picture,
    /** @type {string} */ text,
    /** @type {"reactions" | "reply" | "menu"} */ action,
  ) =>
    iconButton(
      picture,
      text,
      (event) => {
        const anchor = /** @type {HTMLElement} */ (event.currentTarget);
        context.act(action, rowOf(anchor)?.message.seq, anchor);
      },
      { tabIndex: -1 },
    );
  return el(
    "div",
    { class: "tools" },
    button("smile", "React", "reactions"),
    button("reply", "Reply", "reply"),
    button("more", "More", "menu"),
  );
}

/** @param {Shown} message @param {Context} context */
function refusal(message, context) {
  const button = (/** @type {string} */ text, /** @type {"retry" | "discard"} */ action) =>
    el(
      "button",
      { type: "button", class: "link", on: { click: () => context.act(action, message.id) } },
      text,
    );
  return el(
    "div",
    { class: "refusal", role: "alert" },
    el("span", {}, `Not sent: ${plain(message.error?.message ?? "the relay refused it")} `),
    button("Send again", "retry"),
    " ",
    button("Discard", "discard"),
  );
}
