// The conversations: rooms and people, the latest message first.

import { avatar } from "./avatars.js";
import { calendar } from "./calendar.js";
import { Conversations } from "./conversations.js";
import { el, focused, iconButton, keys, unset } from "./dom.js";
import { brief, line, plain, time } from "./format.js";
import { healthText, isOverdue } from "./health.js";
import { load } from "./problems.js";
import { gist } from "./row.js";

/** How soon the list of a hidden page changes. */
const hiddenMs = 500;

/** @import { Pictures } from "./avatars.js" */
/** @import { Last, Row } from "./conversations.js" */
/** @import { Muted } from "./muted.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Requests } from "./requests.js" */
/** @import { Messenger } from "./types.js" */

/** @typedef {HTMLLIElement & {row: Row, button: HTMLButtonElement, signature?: string}} Item */

/** Reports `choose` {row, isOpened}, `menu` {anchor}, `search` {query} and `count`. */
export class ConversationList extends HTMLElement {
  /** @type {Conversations} */
  conversations = unset();
  /** @type {Relay} */
  #relay = unset();
  /** @type {People} */
  #people = unset();
  /** @type {Pictures} */
  #pictures = unset();
  #user = "";
  /** @type {Muted | undefined} */
  #muted;
  /** @type {Muted | undefined} */
  #ignored;
  /** Once there are requests. @type {Promise<Requests> | undefined} */
  #requests;
  /** The state of the connection for which the list was drawn. @type {string | undefined} */
  #state;
  #isLoading = false;
  /** How many rows the list had when it was drawn last. */
  #drawn = 0;
  /** @type {Row[]} */
  #rows = [];
  /** @type {Map<string, Item>} */
  #elements = new Map();
  #query = "";
  #searching = new AbortController();
  /** @type {string | undefined} */
  #current;
  #frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hidden;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  #me = el("div", { class: "account" });
  #health = el("p", { class: "health" });
  #input = el("input", {
    type: "search",
    placeholder: "Search or start a conversation",
    "aria-label": "Search or start a conversation",
    autocomplete: "off",
    spellcheck: false,
    on: {
      input: () => this.#search(),
      keydown: keys((event) => this.#inputKey(event)),
    },
  });
  #list = el("ul", {
    class: "conversations",
    "aria-label": "Conversations",
    on: {
      keydown: keys((event) => this.#key(event)),
    },
  });
  #messages = el("button", {
    type: "button",
    class: "search-messages",
    hidden: true,
    on: {
      click: () =>
        this.dispatchEvent(new CustomEvent("search", { detail: { query: this.#query } })),
    },
  });
  #foot = el("div", { class: "foot", role: "status" });

  connectedCallback() {
    if (this.firstChild) return;
    this.append(
      el(
        "header",
        {},
        this.#me,
        iconButton(
          "menu",
          "Menu",
          (event) =>
            this.dispatchEvent(
              new CustomEvent("menu", { detail: { anchor: event.currentTarget } }),
            ),
          { class: "icon-button menu-button" },
        ),
      ),
      el("div", { class: "find" }, this.#input),
      this.#list,
      this.#messages,
      this.#foot,
    );
    this.#list.addEventListener("scroll", () => this.#more(), { passive: true });
  }

  /** @param {Messenger} messenger */
  start({ relay, people, pictures, user, muted, ignored, kept }) {
    this.conversations = new Conversations({ relay, people, user, muted, kept });
    this.#muted = muted;
    this.#ignored = ignored;
    for (const one of [muted, ignored]) one?.addEventListener("change", () => this.#later());
    relay.on("blocks", () => this.#later());
    this.#user = user;
    this.#relay = relay;
    this.#people = people;
    this.#pictures = pictures;
    relay.rooms.on("change", () => {
      this.#later();
      this.conversations.keep();
    });
    relay.on("health", ({ state }) => {
      this.#showHealth();
      if (state === this.#state) return;
      this.#state = state;
      this.#later();
      this.#more();
    });
    calendar.addEventListener("change", () => this.#later());
    for (const type of ["change", "presence"]) people.addEventListener(type, () => this.#later());
    people.addEventListener("change", () => this.#showHealth());
    people.addEventListener("problem", () => this.#showFoot());
    this.#showHealth();
    this.#later();
  }

  /** The relay has said who this is. */
  ready() {
    this.#people.more();
    this.#showHealth();
  }

  /** @override */
  focus() {
    const item = this.#elements.get(this.#current ?? this.conversations.open ?? "");
    (item?.button ?? this.#list.querySelector("button") ?? this.#input).focus();
  }

  focusSearch() {
    this.#input.focus();
    this.#input.select();
  }

  /** Marks the open conversation. @param {string | undefined} room */
  select(room) {
    this.conversations.open = room;
    this.#current = room;
    this.#update();
    this.#elements.get(room ?? "")?.scrollIntoView({ block: "nearest" });
  }

  /**
   * The conversation before or after the open one.
   * @param {number} step
   * @param {boolean} isUnread
   */
  neighbor(step, isUnread) {
    const { open } = this.conversations;
    const rows = this.#rows.filter((row) => row.room === open || !isUnread || row.unread > 0);
    const index = rows.findIndex((row) => row.room === open);
    return rows.length === 0 ? undefined : rows[(index + step + rows.length) % rows.length];
  }

  // MARK: Drawing

  #later() {
    this.#frame ||= requestAnimationFrame(() => this.#update());
    // A page that is hidden is not painted, but its title tells what is unread.
    this.#hidden ??= setTimeout(() => this.#update(), hiddenMs);
  }

  #update() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#hidden);
    this.#frame = 0;
    this.#hidden = undefined;
    if (!this.#relay) return;
    const found = this.conversations.find(this.#query);
    this.#rows = this.#query ? found : found.filter(({ request }) => !request);
    this.#showRequests(this.#query ? [] : found.filter(({ request }) => request));
    const rooms = new Set(this.#rows.map((row) => row.room));
    const hadFocus = this.#list.contains(focused());
    for (const [room, element] of this.#elements) {
      if (rooms.has(room)) continue;
      element.remove();
      this.#elements.delete(room);
    }
    let place = this.#list.firstElementChild;
    for (const row of this.#rows) {
      const element = this.#elements.get(row.room) ?? this.#add(row);
      this.#draw(element, row);
      if (element === place) place = place.nextElementSibling;
      else this.#list.insertBefore(element, place);
    }
    this.#messages.hidden = this.#query === "";
    if (this.#query) this.#messages.textContent = `Search messages for “${plain(this.#query)}”`;
    this.#setTabStop();
    if (hadFocus && !this.#list.contains(focused())) this.focus();
    this.#showFoot();
    if (this.#list.childElementCount !== this.#drawn) this.#more();
    this.#drawn = this.#list.childElementCount;
    this.dispatchEvent(new Event("count"));
  }

  /** @param {Row[]} rows */
  async #showRequests(rows) {
    const { blocks } = this.#relay;
    const wanted = rows.filter(
      ({ room, user = "" }) => !this.#ignored?.has(room) && !blocks.has(user),
    );
    if (wanted.length === 0 && !this.#requests) return;
    this.#requests ??= load(() => import("./requests.js")).then(({ Requests }) => {
      const requests = new Requests(this.#relay, this.#ignored, (row) => this.#choose(row, true));
      this.#list.before(requests.element);
      return requests;
    });
    (await this.#requests).show(wanted);
  }

  /** @param {Row} row @returns {Item} */
  #add(row) {
    const button = el("button", {
      type: "button",
      class: "conversation",
      tabIndex: -1,
      on: { click: () => this.#choose(item.row, true) },
    });
    const item = Object.assign(el("li", {}, button), { row, button });
    this.#elements.set(row.room, item);
    return item;
  }

  /** @param {Item} element @param {Row} row */
  #draw(element, row) {
    const presence = row.user === undefined ? undefined : this.#people.presence(row.user);
    const isOpen = row.room === this.conversations.open;
    const picture = row.user !== undefined && this.#people.known.get(row.user)?.avatar;
    const isBlocked = row.last && row.user === undefined && this.#relay.blocks.has(row.last.from);
    /** @type {Last | undefined} */
    const last = row.last && isBlocked ? { ...row.last, kind: "hidden", deleted: false } : row.last;
    const isMuted = this.#muted?.has(row.room) ?? false;
    const signature = [
      isMuted,
      row.title,
      row.isNew,
      row.unread,
      row.unreadMore,
      presence,
      isOpen,
      picture,
      last?.seq,
      isBlocked,
      last?.editedAt,
      last?.deleted,
      last && brief(last.at),
      last && row.user === undefined && this.#people.name(last.from),
    ].join("\n");
    element.row = row;
    if (element.signature === signature) return;
    element.signature = signature;
    const { button } = element;
    const title = plain(row.title);
    const who = !last
      ? ""
      : last.from === this.#user
        ? "You: "
        : row.user === undefined
          ? `${plain(this.#people.name(last.from) ?? last.from)}: `
          : "";
    const count = row.unread > 99 || row.unreadMore ? "99+" : String(row.unread);
    const face = el(
      "span",
      { class: `face ${presence ?? ""}` },
      row.user === undefined
        ? avatar(row.room, title, undefined, { room: true })
        : avatar(row.user, title, picture ? this.#pictures : undefined),
    );
    button.replaceChildren(
      face,
      el("span", { class: "title", dir: "auto" }, title),
      last ? el("time", {}, brief(last.at)) : "",
      el(
        "span",
        { class: "last", dir: "auto" },
        last ? `${who}${line(gist(last)).slice(0, 120)}` : this.#about(row),
      ),
      row.unread > 0 ? el("span", { class: "unread" }, count) : "",
    );
    button.classList.toggle("is-unread", row.unread > 0);
    button.classList.toggle("is-muted", isMuted);
    if (isOpen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    button.setAttribute(
      "aria-label",
      [
        title,
        row.isNew ? this.#about(row) : row.user === undefined ? "room" : presence,
        row.unread > 0 && `${count} unread`,
        isMuted && "muted",
        last && `${who}${gist(last).slice(0, 120)}`,
      ]
        .filter(Boolean)
        .join(", "),
    );
  }

  /** @param {Row} row */
  #about(row) {
    if (row.isNew)
      return row.user === undefined ? `Open the room #${row.room}` : `Write to @${row.user}`;
    if (row.user === undefined) return "No messages yet";
    return this.#people.known.get(row.user)?.bot ? "Bot" : `@${row.user}`;
  }

  #setTabStop() {
    const current =
      this.#elements.get(this.#current ?? "") ??
      this.#elements.get(this.conversations.open ?? "") ??
      this.#list.firstElementChild;
    for (const item of this.#elements.values()) {
      const index = item === current ? 0 : -1;
      if (item.button.tabIndex !== index) item.button.tabIndex = index;
    }
  }

  #showHealth() {
    clearTimeout(this.#timer);
    const { health } = this.#relay;
    const { state, why } = health;
    const user = this.#user;
    const name = plain(this.#people.name(user) ?? user);
    if (this.#me.dataset.name !== name) {
      this.#me.dataset.name = name;
      this.#me.replaceChildren(
        avatar(user, name, this.#people.known.get(user)?.avatar ? this.#pictures : undefined),
        el("div", {}, el("b", { dir: "auto", title: user }, name), this.#health),
      );
    }
    this.#health.dataset.state = state;
    this.#health.classList.toggle("overdue", state === "online" && isOverdue(health));
    this.#health.textContent = healthText(health);
    this.#health.title = why ?? "";
    if (state === "waiting") this.#timer = setTimeout(() => this.#showHealth(), 1000);
  }

  /** Says what is wrong with the directory, and when that ends. */
  #showFoot() {
    const { problem, isLoading } = this.#people;
    let text = "";
    if (problem?.code === "directory_limited") {
      const at = problem.resetAt;
      text = `The directory is rate-limited${at ? ` until ${time(at)}` : ""}; the list may be old or incomplete.`;
    } else if (this.#relay.rooms.problem)
      text = `The conversations could not be loaded: ${plain(this.#relay.rooms.problem.message)}`;
    else if (problem?.code === "directory_failed")
      text = "The directory cannot be reached; the list may be old or incomplete.";
    else if (isLoading && this.#people.known.size === 0) text = "Loading people…";
    else if (this.#rows.length === 0 && this.#relay.rooms.complete)
      text = this.#query ? "Nothing matches." : "Nobody is here yet.";
    if (this.#foot.textContent !== text) this.#foot.textContent = text;
    this.#foot.hidden = text === "";
  }

  /** Loads more when the end of the list is near. */
  #more() {
    if (this.#isLoading || this.#relay.health.state !== "online") return;
    const { scrollTop, scrollHeight, clientHeight } = this.#list;
    if (scrollHeight - scrollTop - clientHeight > 400) return;
    if (this.#relay.rooms.complete) this.#people.more();
    else {
      this.#isLoading = true;
      this.#relay.rooms.more({}).finally(() => {
        this.#isLoading = false;
      });
    }
  }

  // MARK: Choosing

  /** @param {Row} row @param {boolean} isOpened */
  #choose(row, isOpened) {
    if (this.#query) {
      this.#input.value = "";
      this.#query = "";
    }
    this.dispatchEvent(new CustomEvent("choose", { detail: { row, isOpened } }));
  }

  #search() {
    this.#query = this.#input.value.trim();
    this.#searching.abort();
    this.#searching = new AbortController();
    const { signal } = this.#searching;
    if (this.#query) this.#people.search(this.#query, signal);
    this.#update();
  }

  /** @param {KeyboardEvent} event */
  #inputKey(event) {
    if (event.key === "Enter" && this.#rows[0] && this.#query) this.#choose(this.#rows[0], true);
    else if (event.key === "ArrowDown") this.#list.querySelector("button")?.focus();
    else if (event.key === "Escape" && this.#query) {
      event.stopPropagation();
      this.#input.value = "";
      this.#search();
    } else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = /** @type {Element} */ (event.target).closest("li");
    const moves = {
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -8,
      PageDown: 8,
      Home: -Infinity,
      End: Infinity,
    };
    if (!item || !(event.key in moves)) return;
    event.preventDefault();
    const items = /** @type {Item[]} */ ([...this.#list.children]);
    const next =
      items.indexOf(/** @type {Item} */ (item)) +
      moves[/** @type {keyof typeof moves} */ (event.key)];
    if (next < 0 && event.key === "ArrowUp") return this.#input.focus();
    const { row, button } = items[Math.max(0, Math.min(items.length - 1, next))];
    this.#current = row.room;
    this.#setTabStop();
    button.focus();
  }
}
customElements.define("relay-list", ConversationList);
