// What one can do with a message or a conversation, as menus and questions. Loaded when it is needed.

import { el } from "./dom.js";
import { gist } from "./row.js";
import { ask, chooseEmoji, menu } from "./popups.js";

/**
 * @typedef {object} View the conversation
 * @property {string} user
 * @property {boolean} canForward
 * @property {(action: string, ...rest: any[]) => void} act
 */

/** @param {View} view @param {any} message @param {HTMLElement} anchor */
export async function chooseReaction(view, message, anchor) {
  const { findEmoji } = await import("./emoji.js");
  const isOn = (/** @type {string} */ emoji) => message.reactions?.get(emoji)?.includes(view.user) ?? false;
  chooseEmoji(anchor, { label: "React", find: findEmoji, isOn, act: (emoji) => view.act("react", message.seq, emoji, !isOn(emoji)) });
}

/** @param {View} view @param {any} message @param {HTMLElement} anchor */
export function messageMenu(view, message, anchor) {
  const isOwn = message.from === view.user;
  const isText = message.kind === "text";
  menu(anchor, [
    { label: "Reply", act: () => view.act("reply", message.seq) },
    { label: "React", act: () => chooseReaction(view, message, anchor) },
    ...(isText ? [{ label: "Copy text", act: () => { navigator.clipboard?.writeText(message.text).catch(() => {}); } }] : []),
    ...(isText && view.canForward ? [{ label: "Forward…", act: () => view.act("forward", message.seq) }] : []),
    ...(isOwn && isText ? [{ label: "Edit", act: () => view.act("edit", message.seq) }] : []),
    ...(isOwn ? [{ label: "Delete…", isDangerous: true, act: () => view.act("delete", message.seq) }] : []),
  ], { label: "Message" });
}

/** @param {Node} near @param {any} message */
export const askToDelete = (near, message) => ask(near, {
  title: "Delete this message?", text: gist(message).slice(0, 300) || "The message is deleted for everyone.", confirm: "Delete for everyone",
});

/**
 * @param {HTMLElement} button
 * @param {{isRoom: boolean, show: (place: number | Date) => void, first: number, leave: () => void, focus: () => void}} view
 */
export function conversationMenu(button, { isRoom, show, first, leave, focus }) {
  menu(button, [
    { label: "Go to a date…", act: () => chooseDate(button, show, focus) },
    { label: "Go to the first message", act: () => show(first) },
    ...(isRoom ? [{ label: "Leave this room", isDangerous: true, act: leave }] : []),
  ], { label: "This conversation" });
}

/** @param {HTMLElement} button @param {(place: Date) => void} show @param {() => void} focus */
function chooseDate(button, show, focus) {
  const input = el("input", {
    type: "date", class: "date-input", "aria-label": "Date", max: new Date().toISOString().slice(0, 10),
    on: {
      change: () => {
        if (!input.valueAsDate) return;
        const [year, month, date] = input.value.split("-").map(Number);
        show(new Date(year, month - 1, date));
      },
      blur: () => input.remove(),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape" || event.key === "Enter") { event.preventDefault(); focus(); }
      },
    },
  });
  button.after(input);
  input.focus();
  try { input.showPicker(); } catch { /* the field itself takes the date */ }
}
