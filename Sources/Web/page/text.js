// The text of a message as nodes: links, code, mentions. Nothing else is markup.

import { el } from "./dom.js";
import { plain } from "./format.js";

// A name has at most 64 characters.
const pattern =
  /```(?:[a-z0-9+#-]*\n)?([\s\S]+?)```|`([^`\n]+)`|(https?:\/\/[^\s<>"`]+)|(?<![\w@.])@([a-z0-9][a-z0-9._-]{0,63})/giu;
/** A text becomes at most this number of nodes. The rest of it stays as it was written. */
const nodesLimit = 400;
const onlyEmoji =
  /^(?:\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier}|\u200D\p{Extended_Pictographic}\uFE0F?)*\s?){1,3}$/u;

/** Whether the text is one to three emoji. @param {string} text */
export const isEmoji = (text) => text.length < 40 && onlyEmoji.test(text.trim());

/** Without what is punctuation of the sentence around it. @param {string} link */
function trimmed(link) {
  const opened = link.split("(").length;
  let closed = link.split(")").length;
  let end = link.length;
  for (; end > 0 && ".,;:!?'\")]}".includes(link[end - 1]); end--) {
    if (link[end - 1] === ")" && opened >= closed--) break;
  }
  return link.slice(0, end);
}

/**
 * A link, or nothing if it is not one to another page, or looks like one to somewhere else.
 * @param {string} address
 */
function link(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  // Of https://bank.example@evil.example/ one reads the beginning.
  if (url.username || url.password) return undefined;
  return el(
    "a",
    { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", dir: "ltr" },
    address,
  );
}

/**
 * @param {string} text
 * @param {{user?: string, name: (user: string) => string | undefined}} people
 * @returns {Node[]}
 */
export function nodes(text, people) {
  text = plain(text);
  /** @type {Node[]} */
  const result = [];
  let from = 0;
  const add = (/** @type {string} */ part) => part && result.push(document.createTextNode(part));
  for (const match of text.matchAll(pattern)) {
    if (result.length >= nodesLimit) break;
    const [all, block, code, address, user] = match;
    let node;
    let length = all.length;
    if (block !== undefined) node = el("pre", {}, el("code", {}, block.replace(/\n$/, "")));
    else if (code !== undefined) node = el("code", {}, code);
    else if (address !== undefined) {
      const short = trimmed(address);
      node = link(short);
      length = short.length;
    } else {
      const name = user.replace(/[._-]+$/, "").toLowerCase();
      length = name.length + 1;
      if (people.name(name) !== undefined) {
        node = el(
          "span",
          { class: name === people.user ? "mention me" : "mention" },
          all.slice(0, length),
        );
      }
    }
    if (!node) continue;
    add(text.slice(from, match.index));
    result.push(node);
    from = match.index + length;
    // The line break after a block would be an empty line.
    if (block !== undefined && text[from] === "\n") from++;
  }
  add(text.slice(from));
  return result;
}

/** Whether the text mentions the user. @param {string} text @param {string | undefined} user */
export const mentions = (text, user) =>
  user !== undefined &&
  [...text.matchAll(pattern)].some(
    (match) => match[4]?.replace(/[._-]+$/, "").toLowerCase() === user,
  );
