// Finds emoji by their names, as they are usual after a colon. Loaded when it is needed.

import { table } from "./emoji-table.js";
import { folded } from "./format.js";

/** Those that are most used as reactions are offered first. */
const quick = "👍 ❤️ 😂 😮 😢 🎉 👀 ✅ 🙏 🔥 🤔 👎".split(" ");

/** The names of each emoji. */
const names = new Map(quick.map((emoji) => [emoji, /** @type {string[]} */ ([])]));
for (const entry of table.split(",")) {
  const [emoji, ...words] = entry.trim().split(/[\s|]+/);
  names.set(emoji, [...(names.get(emoji) ?? []), ...words]);
}
const all = [...names].map(([emoji, names]) => ({ emoji, names }));

/**
 * At most `limit` emoji that have a name with the words, and that name: those first whose name
 * begins so.
 * @param {string} query
 * @param {number} [limit]
 * @returns {{emoji: string, name: string}[]}
 */
export function findEmoji(query, limit = 300) {
  const words = folded(query)
    .split(/[\s_]+/)
    .filter(Boolean);
  const found = [];
  for (const [index, { emoji, names }] of all.entries()) {
    const ranked = names
      .filter((name) => words.every((word) => name.includes(word)))
      .map((name) => {
        const [word = name] = words;
        return {
          name,
          rank: name === word ? 0 : name.startsWith(word) ? 1 : name.includes(`_${word}`) ? 2 : 3,
        };
      });
    if (ranked.length === 0) continue;
    const [{ name, rank }] = words.length === 0 ? ranked : ranked.sort((a, b) => a.rank - b.rank);
    found.push({ emoji, name, rank: (words.length === 0 ? 0 : rank) * all.length + index });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, limit);
}
