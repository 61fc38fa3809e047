// Where one writes.

import { el, iconButton, keys } from "./dom.js";
import { cleaned, plain } from "./format.js";
import { load } from "./problems.js";
import { allowed } from "./relay-client/allowed.js";
import { isCommand } from "./slash.js";

/** @import { Completion } from "./completion.js" */

/** Reports `attach`, `record`, `send`, `typing`, `cancel`, `edit-last`, `leave`. */
export class Composer extends HTMLElement {
  #input = el("textarea", {
    rows: 1,
    dir: "auto",
    enterKeyHint: "send",
    autocomplete: "off",
    on: {
      input: (event) => this.#changed(/** @type {InputEvent} */ (event).isComposing),
      compositionend: () => this.#changed(),
      keydown: keys((event) => this.#key(event)),
      blur: () => this.#completion?.close(),
    },
  });
  #banner = el("div", { class: "banner", hidden: true });
  /** Files that are sent with the text. @type {import("./attachments.js").Attachments | undefined} */
  #attachments;
  #count = el("span", { class: "count", role: "status" });
  /** What is wrong with the text. */
  #note = el("p", { class: "note", role: "alert", hidden: true });
  #list = el("div", {
    class: "offers",
    role: "listbox",
    id: "offers",
    "aria-label": "Completions",
    hidden: true,
  });
  /** @type {Completion | undefined} */
  #completion;
  #isCompletionWanted = false;
  #limit = 8192;
  #isOver = false;
  /** What `@` is completed to: names by user. @type {() => Map<string, string>} */
  mentions = () => new Map();

  connectedCallback() {
    if (this.firstChild) return;
    this.append(
      this.#list,
      this.#banner,
      this.#note,
      el(
        "div",
        { class: "field" },
        iconButton("attach", "Attach files", () => this.#tell("attach"), {
          class: "icon-button attach",
        }),
        this.#input,
        this.#count,
        iconButton("microphone", "Record a voice message", () => this.#tell("record"), {
          class: "icon-button attach microphone",
          hidden: !allowed(() => navigator.mediaDevices && MediaRecorder),
        }),
        iconButton(
          "send",
          "Send",
          () => {
            this.#send();
            this.#input.focus();
          },
          { class: "send" },
        ),
      ),
    );
    this.#changed();
  }

  /**
   * Takes files, of which the text becomes the caption. Says why some are not taken.
   * @param {typeof import("./attachments.js")} part @param {File[]} files
   * @param {number} [limitBytes] of a file
   */
  attach({ Attachments }, files, limitBytes) {
    if (!this.#attachments) {
      this.#attachments = new Attachments(() => this.#noteBlank());
      this.#note.before(this.#attachments.element);
    }
    this.say(this.#attachments.add(files, limitBytes));
    this.focus();
  }

  /** The files that are sent with the text: they are taken from here. */
  takeFiles() {
    return this.#attachments?.take() ?? [];
  }

  #noteBlank() {
    const isBlank = this.text.trim() === "" && !this.#attachments?.files.length;
    this.toggleAttribute("blank", isBlank || this.#isOver);
  }

  get #tooLong() {
    return `The text is too long: the relay takes ${this.#limit} bytes. Shorten it, or send it in parts.`;
  }
  get text() {
    return this.#input.value;
  }
  set text(text) {
    this.#input.value = text;
    this.#changed(false, true);
  }

  /** @param {string} label @param {number} [limitBytes] */
  open(label, limitBytes) {
    this.#input.placeholder = label;
    this.#input.setAttribute("aria-label", label);
    if (limitBytes) this.#limit = limitBytes;
  }

  /**
   * Takes no text any more: what was written stays.
   * @param {string} [reason] why; without one it takes texts again
   */
  lock(reason) {
    this.#input.readOnly = reason !== undefined;
    this.toggleAttribute("locked", reason !== undefined);
    if (reason === undefined) return;
    this.open(reason);
    this.#completion?.close();
  }

  get isLocked() {
    return this.#input.readOnly;
  }

  /** @override */
  focus() {
    this.#input.focus();
  }

  /**
   * Says what the text is for: a reply, an edit. Nothing ends that.
   * @param {{title: string, text: string}} [purpose]
   */
  announce(purpose) {
    this.#banner.hidden = purpose === undefined;
    this.#banner.replaceChildren(
      ...(purpose
        ? [
            el(
              "div",
              { dir: "auto" },
              el("b", {}, plain(purpose.title)),
              el("span", {}, plain(purpose.text)),
            ),
            iconButton("close", "Cancel", () => this.#tell("cancel")),
          ]
        : []),
    );
  }

  /** Inserts a text where the caret is. @param {string} text */
  insert(text) {
    this.#input.setRangeText(text, this.#input.selectionStart, this.#input.selectionEnd, "end");
    this.#changed();
  }

  /**
   * Says what is wrong, or what has happened, until the text is another one.
   * @param {string} text
   */
  say(text) {
    if (this.#note.textContent !== text) this.#note.textContent = text;
    this.#note.hidden = text === "";
  }

  /**
   * Takes out what cannot be sent, as the output of a terminal has it: a text with that would be
   * refused.
   */
  #clean() {
    const input = this.#input;
    const text = cleaned(input.value);
    if (text === input.value) return; // an area has the line breaks of one kind
    const caret = cleaned(input.value.slice(0, input.selectionEnd)).length;
    input.value = text;
    input.setSelectionRange(caret, caret);
  }

  /**
   * @param {boolean} [isComposing] an input method has not finished its text
   * @param {boolean} [isQuiet]
   */
  #changed(isComposing = false, isQuiet = false) {
    const input = this.#input;
    if (!isComposing) this.#clean();
    if (!CSS.supports("field-sizing", "content")) {
      input.style.height = "auto";
      input.style.height = `${input.scrollHeight}px`;
    }
    const bytes =
      input.value.length * 3 < this.#limit ? 0 : new TextEncoder().encode(input.value).length;
    const left = this.#limit - bytes;
    this.#count.textContent = bytes > 0 && left < 500 ? String(left) : "";
    this.#count.classList.toggle("over", left < 0);
    this.#isOver = left < 0;
    this.#noteBlank();
    this.say(this.#isOver ? this.#tooLong : "");
    if (isQuiet) return this.#completion?.close();
    this.#tell("change");
    if (this.text.trim() !== "" && !isCommand(this.text)) this.#tell("typing");
    this.#complete();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const input = this.#input;
    if (this.isLocked && event.key !== "ArrowUp") return;
    if (this.#completion?.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !isCoarse()) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Enter" && event.altKey) {
      event.preventDefault();
      this.insert("\n");
    } else if (event.key === "ArrowUp" && input.value === "" && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      if (this.isLocked) return this.#tell("leave");
      this.#tell("edit-last");
    } else if (event.key === "ArrowUp" && event.shiftKey && input.value === "") {
      event.preventDefault();
      this.#tell("leave");
    } else if (event.key === "Escape" && !this.#banner.hidden) {
      event.stopPropagation();
      this.#tell("cancel");
    }
  }

  #send() {
    if (this.#isOver) this.say(`Not sent. ${this.#tooLong}`);
    if (this.hasAttribute("blank")) return;
    this.#tell("send");
  }

  async #complete() {
    if (!this.#completion) {
      if (this.#isCompletionWanted) return; // it comes; or does not, which was said: writing goes on without it
      this.#isCompletionWanted = true;
      const { Completion } = await load(() => import("./completion.js"), this);
      this.#completion = new Completion(this.#input, this.#list, () => this.mentions());
    }
    await this.#completion.update();
  }

  /** @param {string} type */
  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}

/** Whether there is no keyboard: then Enter makes a new line, as on every phone. */
const isCoarse = () => matchMedia("(pointer: coarse) and (hover: none)").matches;

customElements.define("relay-composer", Composer);
