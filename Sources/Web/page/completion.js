// Completes names after `@`, emoji after `:` and commands after `/` while one writes. Loaded when
// one begins to write.

import { el } from "./dom.js";
import { folded, plain } from "./format.js";
import { load } from "./problems.js";

/** @import { RoomView } from "./room-view.js" */

const offersLimit = 6;

/**
 * @typedef {object} Offer
 * @property {string} text what is inserted
 * @property {string} title
 * @property {string} [detail]
 */

export class Completion {
  #input;
  #list;
  /** @type {Offer[]} */
  #offers = [];
  #index = 0;
  /** Where the text begins that is completed. */
  #start = 0;
  /** Whoever is faster is not overtaken by an older one. */
  #round = 0;
  #people;

  /**
   * @param {HTMLTextAreaElement} input
   * @param {HTMLElement} list
   * @param {() => Map<string, string>} people names by user
   */
  constructor(input, list, people) {
    this.#input = input;
    this.#list = list;
    this.#people = people;
  }

  /** Offers what may be meant by the text before the caret. */
  async update() {
    const round = ++this.#round;
    const { selectionStart, selectionEnd, value } = this.#input;
    const before = value.slice(0, selectionStart);
    const match =
      selectionStart === selectionEnd &&
      (/^(\/)(\w*)$/.exec(before) ?? /(?:^|[\s(])([@:])([\p{L}\p{N}._+-]*)$/u.exec(before));
    const offers = !match
      ? []
      : match[1] === "@"
        ? this.#mentions(match[2])
        : match[1] === "/"
          ? await this.#commands(match[2])
          : await this.#emoji(match[2]);
    if (round !== this.#round) return;
    this.#start = selectionStart - (match ? match[2].length + 1 : 0);
    this.#show(offers);
  }

  close() {
    this.#round++;
    this.#show([]);
  }

  /** Whether the key was one for the offers. @param {KeyboardEvent} event */
  key(event) {
    const count = this.#offers.length;
    if (count === 0) return false;
    if (event.key === "ArrowDown") this.#index = (this.#index + 1) % count;
    else if (event.key === "ArrowUp") this.#index = (this.#index + count - 1) % count;
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey))
      this.#take(this.#index);
    else if (event.key === "Escape") this.close();
    else return false;
    this.#mark();
    return true;
  }

  /** @param {string} prefix @returns {Offer[]} */
  #mentions(prefix) {
    const start = folded(prefix);
    const isMeant = (/** @type {string} */ word) => word.startsWith(start);
    const people = [...this.#people()].filter(
      ([user, title]) => isMeant(user) || folded(title).split(/\s+/).some(isMeant),
    );
    if (people.length === 1 && people[0][0] === prefix) return []; // it is written out: Enter sends
    return people
      .slice(0, offersLimit)
      .map(([user, title]) => ({ text: `@${user} `, title, detail: `@${user}` }));
  }

  /**
   * From one letter on: a slash alone is a text.
   * @param {string} start
   * @returns {Promise<Offer[]>}
   */
  async #commands(start) {
    if (!start) return [];
    const { matching } = await load(() => import("./commands.js"), this.#input);
    const view = /** @type {RoomView | null} */ (this.#input.closest("relay-conversation"));
    return matching(start.toLowerCase(), view?.ownRole)
      .slice(0, offersLimit)
      .map(({ names, usage, argument, text }) => ({
        text: `/${names[0]}${argument ? " " : ""}`,
        title: usage,
        detail: text,
      }));
  }

  /**
   * From two letters on: a colon alone, or a smiley, is none.
   * @param {string} prefix
   * @returns {Promise<Offer[]>}
   */
  async #emoji(prefix) {
    if (!/^[+-]1$|^\p{L}{2}/u.test(prefix)) return [];
    const { findEmoji } = await load(() => import("./emoji.js"), this.#input);
    return findEmoji(prefix, offersLimit).map(({ emoji, name }) => ({
      text: `${emoji} `,
      title: emoji,
      detail: `:${name}:`,
    }));
  }

  /** @param {Offer[]} offers */
  #show(offers) {
    if (offers.length === 0 && this.#offers.length === 0) return;
    this.#offers = offers;
    this.#index = 0;
    this.#list.hidden = offers.length === 0;
    if (offers.length > 0) this.#input.setAttribute("aria-controls", this.#list.id);
    else this.#input.removeAttribute("aria-controls");
    this.#list.replaceChildren(
      ...offers.map((offer, index) =>
        el(
          "div",
          {
            role: "option",
            id: `offer-${index}`,
            on: {
              pointerdown: (/** @type {Event} */ event) => {
                event.preventDefault();
                this.#take(index);
              },
            },
          },
          el("b", {}, plain(offer.title)),
          ` ${offer.detail}`,
        ),
      ),
    );
    this.#mark();
  }

  #mark() {
    for (const [index, item] of [...this.#list.children].entries())
      item.setAttribute("aria-selected", String(index === this.#index));
    if (this.#offers.length > 0)
      this.#input.setAttribute("aria-activedescendant", `offer-${this.#index}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  #take(index) {
    const { text } = this.#offers[index];
    this.close();
    this.#input.setRangeText(text, this.#start, this.#input.selectionStart, "end");
    this.#input.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
