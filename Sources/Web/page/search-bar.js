// The search within a conversation.

import { el, iconButton } from "./dom.js";
import { day, time } from "./format.js";

export class SearchBar {
  #input = el("input", {
    type: "search", placeholder: "Search in this conversation", "aria-label": "Search in this conversation", autocomplete: "off",
    on: { keydown: (/** @type {any} */ event) => this.#key(event), input: () => this.#forget() },
  });
  #result = el("span", { class: "result", role: "status" });
  element = el("div", { class: "search", hidden: true, role: "search" }, this.#input, this.#result,
    iconButton("close", "Close the search", () => this.close()));
  /** The match that is shown. @type {number | undefined} */
  #found;
  #isSearching = false;
  #find;
  #focus;

  /**
   * @param {(query: string, options: {seq?: number, isNewer: boolean}) => Promise<any>} find shows the next match, and returns it
   * @param {() => void} focus leaves the search
   */
  constructor(find, focus) {
    this.#find = find;
    this.#focus = focus;
  }

  open() {
    this.element.hidden = false;
    this.#input.focus();
    this.#input.select();
  }

  close() {
    if (this.element.hidden) return;
    const hadFocus = this.element.matches(":focus-within");
    this.element.hidden = true;
    this.#forget();
    if (hadFocus) this.#focus();
  }

  #forget() {
    this.#found = undefined;
    this.#result.textContent = "";
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") { event.stopPropagation(); this.close(); }
    else if (event.key === "Enter") { event.preventDefault(); this.#search(event.shiftKey); }
  }

  /** Goes to the next older match, or to a newer one. @param {boolean} isNewer */
  async #search(isNewer) {
    if (this.#isSearching || this.#input.value.trim() === "") return;
    this.#isSearching = true;
    this.#result.textContent = "Searching…";
    try {
      const match = await this.#find(this.#input.value, { seq: this.#found, isNewer });
      if (match) this.#found = match.seq;
      this.#result.textContent = match ? `${day(match.at)}, ${time(match.at)}. Enter: older`
        : isNewer ? "No newer matches" : "No older matches";
    } catch {
      this.#result.textContent = "Older messages cannot be searched without a connection";
    } finally {
      this.#isSearching = false;
    }
  }
}
