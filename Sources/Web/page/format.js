// Times and texts for people.

import { calendar } from "./calendar.js";

/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const formats = {
  time: { timeStyle: "short" },
  weekday: { weekday: "long" },
  day: { weekday: "short", day: "numeric", month: "long" },
  date: { day: "numeric", month: "long", year: "numeric" },
  short: { day: "numeric", month: "short" },
  full: { dateStyle: "full", timeStyle: "short" },
};
/** @type {Map<string, Intl.DateTimeFormat>} making one takes a hundred times as long as using it */
const made = new Map();
calendar.addEventListener("change", () => made.clear());

/** @param {string} name @param {number | Date} at */
function format(name, at) {
  let formatter = made.get(name);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat(undefined, formats[name]);
    made.set(name, formatter);
  }
  return formatter.format(at);
}

/** @param {number} at */
const midnight = (at) => new Date(at).setHours(0, 0, 0, 0);

/** @param {number} at */
export const daysAgo = (at) => Math.round((midnight(Date.now()) - midnight(at)) / 86_400_000);

/** @param {number} a @param {number} b */
export const isSameDay = (a, b) => midnight(a) === midnight(b);

/** @param {number | Date} at */
export const time = (at) => format("time", at);

/** @param {number} at */
export const moment = (at) => format("full", at);

/** The heading of a day. @param {number} at */
export function day(at) {
  const days = daysAgo(at);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days > 1 && days < 7) return format("weekday", at);
  return format(days > 0 && days < 330 ? "day" : "date", at);
}

/** A time in few letters: of today the hour, before that the day. @param {number} at */
export function brief(at) {
  const days = daysAgo(at);
  if (days <= 0) return time(at);
  return days === 1 ? "Yesterday" : format("short", at);
}

/** The rest of a wait: `1:05`, `40 s`. @param {number} milliseconds */
export function rest(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * More marks than this on one letter would be drawn over what is above and below. No script needs
 * as many.
 */
const stacked = /((?:\p{M}[\u200b-\u200f\u2060\ufeff]*){6})[\p{M}\u200b-\u200f\u2060\ufeff]+/gu;

/**
 * Without control characters and overrides of direction, which could disguise what follows, and
 * without heaps of marks.
 * @param {string} text
 */
export const plain = (text) =>
  String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(stacked, "$1");

/**
 * A text as it can be sent: with the line breaks of one kind, and without other control characters
 * than tabs.
 * @param {string} text
 */
export const cleaned = (text) =>
  text
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");

/** @param {string} name */
export const isUserName = (name) => /^[a-z0-9._-]{1,64}$/.test(name) && !/^\.\.?$/.test(name);

/** Whether a room that is not direct may have this name. @param {string} name */
export const isRoomName = (name) =>
  /^[a-z0-9._:-]{1,140}$/.test(name) && !/^(\.\.?$|dm:|sys:)/.test(name);

/** The direct room of two users. @param {string} a @param {string} b */
export const directRoom = (a, b) => `dm:${[a, b].sort().join(":")}`;

/** One line. @param {string} text */
export const line = (text) => plain(text).replace(/\s+/g, " ").trim();

/** For comparisons: without case and diacritics. @param {string} text */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * The choices that have the words: those with this very name, then the best first; of equal ones a
 * person before a room.
 * @template {{title: string, room: string, user?: string}} Choice
 * @param {Choice[]} choices
 * @param {string} query
 */
export function matching(choices, query) {
  const words = folded(plain(query)).split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices;
  const scored = [];
  for (const choice of choices) {
    const names = [choice.title, choice.user ?? choice.room].map(folded);
    const text = names.join(" ");
    if (!words.every((word) => text.includes(word))) continue;
    const rank = names.includes(words.join(" "))
      ? 0
      : text.startsWith(words[0])
        ? 1
        : text.includes(` ${words[0]}`)
          ? 2
          : 3;
    scored.push({ choice, score: rank + (choice.user === undefined ? 0.5 : 0) });
  }
  return scored.sort((a, b) => a.score - b.score).map(({ choice }) => choice);
}
