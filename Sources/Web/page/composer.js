// Where one writes.

import { el, iconButton } from "./dom.js";
import { folded, plain } from "./format.js";

/** Reports `send` {text}, `typing`, `cancel`, `edit-last`, `leave`. */
export class Composer extends HTMLElement {
  /** @type {any} */
  #input;
  /** @type {any} */
  #banner;
  /** @type {any} */
  #count;
  /** @type {any} */
  #list;
  /** @type {any[]} */
  #offers = [];
  #offer = 0;
  #limit = 8192;
  /** What `@` is completed to. @type {(prefix: string) => {user: string, title: string}[]} */
  mentions = () => [];

  connectedCallback() {
    if (this.#input) return;
    this.#input = el("textarea", {
      rows: 1, dir: "auto", enterKeyHint: "send", autocomplete: "off",
      on: {
        input: () => this.#changed(), keydown: (/** @type {any} */ event) => this.#key(event),
        blur: () => this.#complete([]),
      },
    });
    this.#banner = el("div", { class: "banner", hidden: true });
    this.#count = el("span", { class: "count", role: "status" });
    this.#list = el("div", { class: "offers", role: "listbox", id: "offers", "aria-label": "People", hidden: true });
    this.append(this.#list, this.#banner, el("div", { class: "field" }, this.#input, this.#count,
      iconButton("send", "Send", () => { this.#send(); this.#input.focus(); }, { class: "send" })));
    this.#changed();
  }

  get text() { return this.#input.value; }
  set text(text) {
    this.#input.value = text;
    this.#changed(true);
  }

  /** @param {string} label @param {number} [limitBytes] */
  open(label, limitBytes) {
    this.#input.placeholder = label;
    this.#input.setAttribute("aria-label", label);
    if (limitBytes) this.#limit = limitBytes;
  }

  focus() {
    this.#input.focus();
  }

  /** Says what the text is for: a reply, an edit. Nothing ends that. @param {{title: string, text: string}} [purpose] */
  announce(purpose) {
    this.#banner.hidden = purpose === undefined;
    this.#banner.replaceChildren(...(purpose ? [
      el("div", { dir: "auto" }, el("b", {}, plain(purpose.title)), el("span", {}, plain(purpose.text))),
      iconButton("close", "Cancel", () => this.#tell("cancel")),
    ] : []));
  }

  /** Inserts a text where the caret is. @param {string} text */
  insert(text) {
    this.#input.setRangeText(text, this.#input.selectionStart, this.#input.selectionEnd, "end");
    this.#changed();
  }

  #changed(isQuiet = false) {
    const input = this.#input;
    if (!CSS.supports("field-sizing", "content")) {
      input.style.height = "auto";
      input.style.height = `${input.scrollHeight}px`;
    }
    const bytes = input.value.length * 3 < this.#limit ? 0 : new TextEncoder().encode(input.value).length;
    const left = this.#limit - bytes;
    this.#count.textContent = bytes > 0 && left < 500 ? String(left) : "";
    this.#count.classList.toggle("over", left < 0);
    this.toggleAttribute("blank", this.text.trim() === "" || left < 0);
    if (isQuiet) return;
    this.#tell("change");
    if (this.text.trim() !== "") this.#tell("typing");
    this.#offerMentions();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // While a composition is open, all keys are the input method's; Safari reports its last one as 229.
    if (event.isComposing || event.keyCode === 229) return;
    const input = this.#input;
    if (this.#offers.length > 0 && this.#offerKey(event)) {
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
    if (this.hasAttribute("blank")) return;
    this.#tell("send", { text: this.text });
  }

  // MARK: Completion

  #offerMentions() {
    const { selectionStart, selectionEnd, value } = this.#input;
    const match = selectionStart === selectionEnd && /(?:^|[\s(])@([\p{L}\p{N}._-]*)$/u.exec(value.slice(0, selectionStart));
    this.#complete(match ? this.mentions(folded(match[1])).slice(0, 6) : []);
  }

  /** @param {any[]} offers */
  #complete(offers) {
    this.#offers = offers;
    this.#offer = 0;
    this.#list.hidden = offers.length === 0;
    if (offers.length > 0) this.#input.setAttribute("aria-controls", "offers");
    else this.#input.removeAttribute("aria-controls");
    this.#list.replaceChildren(...offers.map((offer, index) => el("div", {
      role: "option", id: `offer-${index}`, "aria-selected": index === 0,
      on: { pointerdown: (/** @type {Event} */ event) => { event.preventDefault(); this.#take(index); } },
    }, el("b", {}, plain(offer.title)), ` @${offer.user}`)));
    this.#mark();
  }

  #mark() {
    [...this.#list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === this.#offer)));
    if (this.#offers.length > 0) this.#input.setAttribute("aria-activedescendant", `offer-${this.#offer}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #offerKey(event) {
    const count = this.#offers.length;
    if (event.key === "ArrowDown") this.#offer = (this.#offer + 1) % count;
    else if (event.key === "ArrowUp") this.#offer = (this.#offer + count - 1) % count;
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.#take(this.#offer);
    else if (event.key === "Escape") this.#complete([]);
    else return false;
    this.#mark();
    return true;
  }

  /** @param {number} index */
  #take(index) {
    const input = this.#input;
    const start = input.value.lastIndexOf("@", input.selectionStart - 1);
    input.setRangeText(`@${this.#offers[index].user} `, start, input.selectionStart, "end");
    this.#complete([]);
    this.#changed();
  }

  /** @param {string} type @param {any} [detail] */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** Whether there is no keyboard: then Enter makes a new line, as on every phone. */
const isCoarse = () => matchMedia("(pointer: coarse) and (hover: none)").matches;

customElements.define("relay-composer", Composer);
