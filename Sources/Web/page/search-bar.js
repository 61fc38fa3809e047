// The search within a conversation.

import { el, iconButton, keys } from "./dom.js";
import { day, time } from "./format.js";
import { loaded, messageOf } from "./problems.js";

/** @import { Conversation } from "./conversation.js" */
/** @import { Message } from "./relay-client/types.js" */
/** @import { Timeline } from "./timeline.js" */

/**
 * What is searched.
 * @typedef {{conversation?: Conversation, timeline: Timeline, ended: AbortSignal,
 *   name: (user: string) => string | undefined}} Searched
 */

/** @param {Message} match */
const about = (match) => `${day(match.at)}, ${time(match.at)}. Enter: older`;

export class SearchBar {
  #input = el("input", {
    type: "search",
    placeholder: "Search in this conversation",
    "aria-label": "Search in this conversation",
    autocomplete: "off",
    on: { keydown: keys((event) => this.#key(event)), input: () => this.#forget() },
  });
  #result = el("span", { class: "result", role: "status" });
  element = el(
    "div",
    { class: "search", hidden: true, role: "search" },
    this.#input,
    this.#result,
    iconButton("up", "Older match", () => this.#search(false)),
    iconButton("down", "Newer match", () => this.#search(true)),
    iconButton("close", "Close the search", () => this.close()),
  );
  #ending = new AbortController();
  /** The match that is shown. @type {Message | undefined} */
  #found;
  #isSearching = false;
  #find;
  #focus;

  /**
   * @param {(query: string, options: {seq?: number, isNewer: boolean, signal: AbortSignal}) =>
   *   Promise<Message | undefined>} find shows the next match, and returns it; an empty query ends showing one
   * @param {() => void} focus leaves the search
   */
  constructor(find, focus) {
    this.#find = find;
    this.#focus = focus;
  }

  /** @param {string} [query] what is looked for at once */
  open(query) {
    this.element.hidden = false;
    this.#input.focus();
    if (query) {
      this.#forget();
      this.#input.value = query;
      this.#search(false);
    } else this.#input.select();
  }

  /** The day or the zone is another one. */
  refresh() {
    if (this.#found && !this.#isSearching) this.#result.textContent = about(this.#found);
  }

  close() {
    if (this.element.hidden) return;
    const hadFocus = this.element.matches(":focus-within");
    this.element.hidden = true;
    this.#forget();
    if (hadFocus) this.#focus();
  }

  /** Ends a search that is going on, too. */
  #forget() {
    this.#ending.abort();
    this.#ending = new AbortController();
    if (this.#found !== undefined) this.#find("", { isNewer: false, signal: this.#ending.signal });
    this.#found = undefined;
    this.#result.textContent = "";
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#search(event.shiftKey);
    }
  }

  /** Goes to the next older match, or to a newer one. @param {boolean} isNewer */
  async #search(isNewer) {
    if (this.#isSearching || this.#input.value.trim() === "") return;
    this.#isSearching = true;
    const { signal } = this.#ending;
    this.#result.textContent = "Searching…";
    try {
      const match = await this.#find(this.#input.value, { seq: this.#found?.seq, isNewer, signal });
      if (signal.aborted) return;
      if (match) this.#found = match;
      this.#result.textContent = match
        ? about(match)
        : isNewer
          ? "No newer matches"
          : "No older matches";
    } catch (error) {
      if (signal.aborted) return;
      this.#result.textContent = `The search ended: ${messageOf(error)}`;
    } finally {
      this.#isSearching = false;
    }
  }
}

/**
 * A search in the conversation that is open then.
 * @param {() => Searched} searched
 * @param {() => void} focus leaves the search
 */
export const searchBar = (searched, focus) =>
  new SearchBar(async (query, options) => {
    const { conversation, timeline, ended, name } = searched();
    const { find, mark, matcher } = await loaded(() => import("./find.js"), timeline);
    mark(undefined);
    const isMatch = matcher(query, name);
    const signal = AbortSignal.any([options.signal, ended]);
    const match =
      isMatch && conversation && (await find(conversation, isMatch, { ...options, signal }));
    if (match) mark(await timeline.show(match.seq), query);
    return match;
  }, focus);
