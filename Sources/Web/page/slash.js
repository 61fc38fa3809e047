// Which texts are commands. What they are is loaded when there is one.

/** A text without the blank lines before it, and white space after it. @param {string} text */
const trimmed = (text) => text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();

/**
 * Whether a text is a command, and never sent: it begins with one slash, and is more than that.
 * @param {string} text
 */
export const isCommand = (text) => /^\/[^/]/.test(trimmed(text));

/** What is sent of a text: without the slash that escapes another. @param {string} text */
export const unescaped = (text) => (trimmed(text).startsWith("//") ? trimmed(text).slice(1) : text);
