// Files that are chosen, and not sent yet: a list above the text, which is their caption.

import { el, iconButton } from "./dom.js";
import { sizeText } from "./file-row.js";
import { plain } from "./format.js";

/** This many are sent at once: more would be a mistake. */
const filesLimit = 20;
const nameBytes = 255;

/** A name as the relay takes it: without what would show another one. @param {string} name */
export function sendable(name) {
  const shown = plain(name).replace(/[/\t\n\u061c\u200e\u200f]/g, "_");
  const ending = /\.[a-z0-9]{1,8}$/i.exec(shown)?.[0] ?? "";
  let stem = [...shown.slice(0, shown.length - ending.length)];
  const fits = () => new TextEncoder().encode(stem.join("") + ending).length <= nameBytes;
  while (!fits()) stem = stem.slice(0, -1);
  return (stem.join("") + ending).trim() || "file";
}

export class Attachments {
  element = el("ul", { class: "attachments", "aria-label": "Files to send" });
  /** @type {File[]} */
  files = [];
  #changed;

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  /**
   * Takes files. Returns why some are not taken.
   * @param {File[]} files
   * @param {number} [limitBytes] of a file; 0: none
   */
  add(files, limitBytes = 0) {
    const fitting = files.filter(({ size }) => limitBytes === 0 || size <= limitBytes);
    const taken = fitting.slice(0, filesLimit - this.files.length);
    this.files.push(...taken);
    this.#show();
    const large = files.find((file) => !fitting.includes(file));
    if (large)
      return `${plain(large.name)} is too large: the relay takes files of ${sizeText(limitBytes)}.`;
    return taken.length < fitting.length ? `At most ${filesLimit} files are sent at once.` : "";
  }

  /** All files: they are sent, or dropped. */
  take() {
    const { files } = this;
    this.files = [];
    this.#show();
    return files;
  }

  #show() {
    this.element.replaceChildren(
      ...this.files.map((file) =>
        el(
          "li",
          {},
          el("b", { dir: "auto" }, plain(file.name)),
          el("span", {}, sizeText(file.size)),
          iconButton("close", `Remove ${plain(file.name)}`, () => {
            this.files = this.files.filter((one) => one !== file);
            this.#show();
          }),
        ),
      ),
    );
    this.element.hidden = this.files.length === 0;
    this.#changed();
  }
}
