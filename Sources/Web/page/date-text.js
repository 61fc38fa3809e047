// Reads a point of time as people write it, as wschat does. Loaded with the commands.

export const dateExamples = "2026-11-20, 20 nov, yesterday, mon, 14:02 or 2026-11-20 14:02";

/** Longer texts are no dates. */
const lengthLimit = 64;
const months = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/**
 * Of a day its beginning, of a time without a day the last one that has passed.
 * @param {string} text
 * @param {Date} now
 * @returns {Date | undefined}
 */
export function dateOf(text, now) {
  if (text.length > lengthLimit) return undefined;
  const words = text
    .toLowerCase()
    .replace(/^(\d[\d-]*)t(?=\d)/, "$1 ")
    .replace(/ +([ap]m)$/, "$1")
    .split(/[ ,\t]+/)
    .filter(Boolean);
  const before = ago(words, now);
  if (before) return before;
  const clock = time(words.at(-1) ?? "");
  if (!clock) return dayOf(words, now);
  words.pop();
  const day = words.length === 0 ? midnight(now) : dayOf(words, now);
  if (!day) return undefined;
  const at = new Date(day.getFullYear(), day.getMonth(), day.getDate(), ...clock);
  if (words.length === 0 && at > now) at.setDate(at.getDate() - 1);
  return at;
}

/** @param {Date} date @param {number} [days] before it */
const midnight = (date, days = 0) =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate() - days);

/**
 * "3 days ago": the beginning of that day; "2 hours ago": that minute.
 * @param {string[]} words
 * @param {Date} now
 */
function ago(words, now) {
  const [, count, unit] =
    /^(\d{1,6}|an?) (minute|min|hour|day|week)s? ago$/.exec(words.join(" ")) ?? [];
  if (!unit) return undefined;
  const number = Number(count) || (count === "0" ? 0 : 1);
  if (unit === "day" || unit === "week") return midnight(now, number * (unit === "week" ? 7 : 1));
  return new Date(now.getTime() - number * (unit === "hour" ? 3_600_000 : 60_000));
}

/** "14:02", "2:02pm", "2pm". @param {string} word @returns {[number, number] | undefined} */
function time(word) {
  const [, hours, minutes, half] = /^(\d{1,2})(?::(\d\d))?(am|pm)?$/.exec(word) ?? [];
  const hour = Number(hours);
  const minute = Number(minutes ?? 0);
  if (hours === undefined || minute > 59 || (minutes === undefined && !half)) return undefined;
  if (!half) return hour < 24 ? [hour, minute] : undefined;
  return hour >= 1 && hour <= 12 ? [(hour % 12) + (half === "pm" ? 12 : 0), minute] : undefined;
}

/** @param {string[]} words @param {Date} now */
function dayOf(words, now) {
  const [first, second, third] = words;
  if (words.length === 1) {
    if (first === "today") return midnight(now);
    if (first === "yesterday") return midnight(now, 1);
    const weekday = place(first, weekdays);
    return weekday < 0
      ? numbers(first, now)
      : midnight(now, ((now.getDay() - weekday + 6) % 7) + 1);
  }
  // "20 nov", "nov 20".
  if (words.length !== 2 && words.length !== 3) return undefined;
  const isFirst = place(first, months) >= 0;
  const month = place(isFirst ? first : second, months);
  const date = isFirst ? second : first;
  if (month < 0 || !/^\d{1,2}$/.test(date)) return undefined;
  if (third === undefined) return latest(month + 1, Number(date), now);
  return /^\d{1,4}$/.test(third) ? valid(Number(third), month + 1, Number(date)) : undefined;
}

/** "2026-11-20", "20.11.2026", "20.11.", "11-20". @param {string} word @param {Date} now */
function numbers(word, now) {
  const parts = word.split(/[-/.]/).filter(Boolean).map(Number);
  if (!/^\d{1,4}([-/.])\d{1,4}(\1\d{0,4})?$/.test(word)) return undefined;
  if (word.includes(".")) parts.reverse();
  return parts.length === 3 ? valid(parts[0], parts[1], parts[2]) : latest(parts[0], parts[1], now);
}

/**
 * The last such day that is not in the future; a leap day may be years ago.
 * @param {number} month
 * @param {number} date
 * @param {Date} now
 */
function latest(month, date, now) {
  for (let year = now.getFullYear(); year > now.getFullYear() - 9; year--) {
    const found = valid(year, month, date);
    if (found && found <= now) return found;
  }
  return undefined;
}

/** @param {number} year @param {number} month @param {number} date */
function valid(year, month, date) {
  const day = new Date(year, month - 1, date);
  return year >= 1970 && day.getMonth() === month - 1 && day.getDate() === date ? day : undefined;
}

/** Finds a name by its first three letters or more. @param {string} word @param {string[]} names */
const place = (word, names) =>
  /^[a-z]{3,}$/.test(word) ? names.findIndex((name) => name.startsWith(word)) : -1;
