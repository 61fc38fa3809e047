// What can be known to be refused is refused before it is sent, and before it is stored.
import { RelayError } from "./errors.js";

/** @import { Content, FileOptions, SendOptions } from "./types.js" */

const loneSurrogates = /\p{Surrogate}/gu;
const blank = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}]*$/u;
const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const roomName = /^(?!\.\.?$)[a-z0-9._:-]{1,140}$/;

/** @param {string} text */
export const bytes = (text) => new TextEncoder().encode(text).length;

/** @param {string} field @param {string} message */
function bad(field, message) {
  return new RelayError("bad_field", message, { field });
}

/**
 * A text as it will be stored: the relay replaces lone surrogates too.
 * @param {string} text
 * @param {{text_bytes?: number}} [limits]
 */
export function checkedText(text, limits) {
  const whole = String(text).replace(loneSurrogates, "\ufffd");
  if (blank.test(whole)) throw bad("text", "The text is blank.");
  if (control.test(whole)) throw bad("text", "The text has control characters.");
  const limit = limits?.text_bytes || Infinity;
  if (bytes(whole) > limit)
    throw new RelayError("too_large", `The text has more than ${limit} bytes.`);
  return whole;
}

/**
 * The fields of a `send`.
 * @param {Content} content
 * @param {SendOptions} options
 * @param {{text_bytes?: number}} [limits]
 */
export function checkedContent(content, { replyTo }, limits) {
  if (typeof content === "object" && "data" in content) {
    const json = JSON.stringify(content.data);
    if (json === undefined) throw bad("data", "It is not JSON.");
    if (/(^|[^\\])(\\\\)*\\ud[89a-f]/.test(json))
      throw bad("data", "A text in the data is not Unicode.");
    return { kind: "data", data: JSON.parse(json) };
  }
  if (typeof content === "object" && "forward" in content) {
    return { kind: "text", forward: content.forward };
  }
  const text = checkedText(typeof content === "object" ? content.text : content, limits);
  return { kind: "text", text, ...(replyTo === undefined ? {} : { reply_to: replyTo }) };
}

/**
 * The fields of a `send` of a file. `upload` is what the relay does not have yet.
 * @param {any} file a `Blob`, or the file of a message
 * @param {FileOptions} options
 * @param {{text_bytes?: number}} [limits]
 */
export function checkedFile(file, { name = file.name, text, replyTo: reply_to }, limits) {
  const { id } = file;
  const caption = text && checkedText(text, limits);
  return { kind: "file", name, text: caption, reply_to, file: id, upload: id ? undefined : file };
}

/** @param {string} emoji */
export function checkedEmoji(emoji) {
  const length = bytes(emoji);
  if (length < 1 || length > 64 || /\s|\p{Surrogate}/u.test(emoji)) {
    throw bad("emoji", "An emoji has 1 to 64 bytes, no spaces.");
  }
  return emoji;
}

/** @param {string} name */
export function checkedRoom(name) {
  if (!roomName.test(name)) throw bad("room", "A room's name has 1 to 140 of a-z 0-9 . _ : -");
  return name;
}
