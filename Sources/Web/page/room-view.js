// One conversation: its head, its messages, and the composer.

import { avatar } from "./avatars.js";
import { Conversation } from "./conversation.js";
import { el, iconButton } from "./dom.js";
import { brief, day, folded, line, plain, rest, time } from "./format.js";
import { gist } from "./row.js";
import { mentions } from "./text.js";
import "./composer.js";
import "./timeline.js";

const emoji = ["👍", "❤️", "😂", "😮", "😢", "🎉", "👀", "✅", "🙏", "🔥", "🤔", "👎"];

// Not needed at once.
const popups = () => import("./popups.js");

/**
 * What all conversations share.
 * @typedef {object} Messenger
 * @property {any} relay
 * @property {string} user
 * @property {import("./people.js").People} people
 * @property {import("./avatars.js").Pictures} pictures
 * @property {import("./announcer.js").Announcer} announcer
 * @property {Storage} [drafts]
 * @property {(text: string, near: Node) => void} [forward]
 */

/** Reports `back` and `read`. */
export class RoomView extends HTMLElement {
  /** @type {Messenger} */
  #messenger = /** @type {any} */ (undefined);
  /** @type {Conversation | undefined} */
  #conversation;
  /** @type {any} */
  #row;
  /** @type {{kind: "reply" | "edit", seq: number} | undefined} */
  #purpose;
  /** How far all others have received and read. */
  #others = { received: 0, read: 0, count: 0 };
  #ending = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  connectedCallback() {
    if (this.#timeline) return;
    this.#title = el("h1", { dir: "auto" });
    this.#subtitle = el("p", { class: "subtitle" });
    this.#picture = el("span");
    this.#notice = el("div", { class: "notice", role: "status", hidden: true });
    this.#timeline = el("relay-timeline");
    this.#composer = el("relay-composer");
    this.#search = el("input", {
      type: "search", placeholder: "Search in this conversation", "aria-label": "Search in this conversation", autocomplete: "off",
      on: { keydown: (/** @type {any} */ event) => this.#searchKey(event), input: () => { this.#found = undefined; this.#result.textContent = ""; } },
    });
    this.#result = el("span", { class: "result", role: "status" });
    this.#searchBar = el("div", { class: "search", hidden: true, role: "search" }, this.#search, this.#result,
      iconButton("close", "Close the search", () => this.closeSearch()));
    this.append(
      el("header", { class: "head" },
        iconButton("back", "Back to the conversations", () => this.dispatchEvent(new Event("back")), { class: "icon-button back" }),
        this.#picture, el("div", { class: "titles" }, this.#title, this.#subtitle),
        iconButton("search", "Search", () => this.openSearch()),
        iconButton("more", "About this conversation", (event) => this.#showMenu(/** @type {any} */ (event.currentTarget)))),
      this.#searchBar, this.#notice, this.#timeline, this.#composer);
    this.#composer.addEventListener("send", (/** @type {CustomEvent} */ event) => this.#send(event.detail.text));
    this.#composer.addEventListener("typing", () => { if (this.#purpose?.kind !== "edit") this.#room?.typing(); });
    this.#composer.addEventListener("change", () => this.#keepDraft());
    this.#composer.addEventListener("cancel", () => this.#cancel());
    this.#composer.addEventListener("edit-last", () => this.#editLast());
    this.#composer.addEventListener("leave", () => this.#timeline.enter());
    this.#composer.mentions = (/** @type {string} */ prefix) => this.#candidates(prefix);
    this.#timeline.addEventListener("view", () => this.#readSeen());
    this.#timeline.addEventListener("leave", () => this.#composer.focus());
  }
  /** @type {any} */ #timeline;
  /** @type {any} */ #composer;
  /** @type {any} */ #title;
  /** @type {any} */ #subtitle;
  /** @type {any} */ #picture;
  /** @type {any} */ #notice;
  /** @type {any} */ #search;
  /** @type {any} */ #searchBar;
  /** @type {any} */ #result;

  get room() { return this.#room?.name; }
  get timeline() { return this.#timeline; }
  get composer() { return this.#composer; }
  get #room() { return this.#conversation?.room; }

  /**
   * @param {Messenger} messenger
   * @param {{room: string, title: string, peer?: string}} row
   */
  open(messenger, row) {
    this.close();
    this.#messenger = messenger;
    this.#row = row;
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const { relay, people } = messenger;
    const room = relay.room(row.room);
    const conversation = new Conversation(room);
    this.#conversation = conversation;
    this.#countMarks();
    conversation.addEventListener("marks", () => this.#countMarks(), { signal });
    conversation.addEventListener("typing", () => this.#showSubtitle(), { signal });
    conversation.addEventListener("state", () => { this.#countMarks(); this.#showSubtitle(); this.#showNotice(); }, { signal });
    conversation.addEventListener("arrive", (event) => this.#arrived(/** @type {CustomEvent} */ (event).detail.messages), { signal });
    people.addEventListener("presence", () => this.#showSubtitle(), { signal });
    people.addEventListener("change", () => { this.#showHead(); this.#timeline.refresh(); }, { signal });
    relay.on("health", () => this.#showNotice(), { signal });
    addEventListener("focus", () => this.#readSeen(), { signal });
    document.addEventListener("visibilitychange", () => this.#readSeen(), { signal });
    this.#showTitle();
    this.#showNotice();
    this.#timeline.open(conversation, this.#context());
    this.#restoreDraft();
  }

  close() {
    if (!this.#conversation) return;
    this.#keepDraft();
    this.#cancel(true);
    this.closeSearch();
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#timeline.close();
    this.#conversation.close();
    // The relay tells of other rooms by `activity`; what waits in the outbox is sent all the same.
    this.#room.close();
    this.#conversation = undefined;
  }

  focus() {
    this.#composer.focus();
  }

  /** The name has come, or is another one. @param {string} title */
  rename(title) {
    this.#row = { ...this.#row, title };
    this.#showTitle();
  }

  // MARK: What rows need

  #context() {
    const { user: me, people, pictures } = this.#messenger;
    return {
      user: me,
      isDirect: this.#row.peer !== undefined,
      name: (/** @type {string} */ user) => people.name(user) ?? (user === me || this.#isMember(user) ? user : undefined),
      pictures: (/** @type {string} */ user) => (people.known.get(user)?.avatar ? pictures : undefined),
      message: (/** @type {number} */ seq) => this.#conversation?.get(seq),
      mark: (/** @type {any} */ message) => this.#mark(message),
      act: (/** @type {string} */ action, /** @type {any[]} */ ...rest) => this.#act(action, ...rest),
      key: (/** @type {KeyboardEvent} */ event, /** @type {any} */ message) => this.#rowKey(event, message),
      empty: () => this.#emptyText(),
    };
  }

  /** @param {string} user */
  #isMember(user) {
    return this.#room?.marks?.has(user) ?? false;
  }

  #emptyText() {
    if (this.#room?.state === "refused") return "";
    if (this.#conversation?.isLoading || this.#conversation?.older) {
      return this.#messenger.relay.health.state === "online" ? "Loading…" : "Nothing is stored on this device. Messages will appear when there is a connection.";
    }
    return `No messages yet. Say hello to ${plain(this.#row.title)}.`;
  }

  #countMarks() {
    const { user } = this.#messenger;
    const others = [...(this.#room?.marks ?? [])].filter(([name]) => name !== user).map(([, marks]) => marks);
    this.#others = {
      count: others.length,
      received: Math.min(...others.map((marks) => marks.received)),
      read: Math.min(...others.map((marks) => marks.read)),
    };
  }

  /** @param {any} message */
  #mark(message) {
    if (message.seq === undefined) return message.state === "refused" ? "refused" : "waiting";
    const { count, received, read } = this.#others;
    if (count === 0) return "stored";
    return read >= message.seq ? "read" : received >= message.seq ? "received" : "stored";
  }

  // MARK: The head

  #showTitle() {
    const title = plain(this.#row.title);
    this.setAttribute("aria-label", `Conversation: ${title}`);
    this.#composer.open(`Message ${title}`, this.#messenger.relay.limits?.text_bytes);
    this.#showHead();
  }

  #showHead() {
    const { people, pictures } = this.#messenger;
    const { peer, room, title } = this.#row;
    this.#title.textContent = plain(title);
    this.#picture.replaceChildren(peer === undefined ? avatar(room, title, undefined, { room: true })
      : avatar(peer, people.name(peer) ?? peer, people.known.get(peer)?.avatar ? pictures : undefined));
    this.#showSubtitle();
  }

  #showSubtitle() {
    const { people, user: me } = this.#messenger;
    const { peer } = this.#row;
    const typists = [...(this.#room?.typists ?? [])].filter((user) => user !== me)
      .map((user) => plain(people.name(user) ?? user));
    this.#subtitle.classList.toggle("typing", typists.length > 0);
    if (typists.length > 0) {
      this.#subtitle.textContent = peer !== undefined ? "typing…"
        : typists.length > 2 ? `${typists.length} people are typing…`
          : `${typists.join(" and ")} ${typists.length > 1 ? "are" : "is"} typing…`;
    } else if (peer !== undefined) {
      const presence = people.presence(peer);
      const seen = people.lastSeen(peer);
      this.#subtitle.textContent = people.known.get(peer)?.bot ? "bot" : presence === "online" ? "online"
        : presence === "away" ? "away" : seen ? `last seen ${brief(seen)}` : presence ?? "";
    } else {
      const members = this.#room?.marks?.size ?? 0;
      this.#subtitle.textContent = members > 0 ? `${members} ${members === 1 ? "member" : "members"}` : "";
    }
  }

  /** Says what is wrong with the connection or the room. */
  #showNotice() {
    clearTimeout(this.#timer);
    const { relay } = this.#messenger;
    const { state, retryAt, why } = relay.health;
    let text = "";
    /** @type {any} */
    let button;
    if (this.#room?.state === "refused") text = `This conversation cannot be opened: ${plain(this.#room.error?.message ?? "")}`;
    else if (state === "waiting") {
      const left = (retryAt ?? 0) - Date.now();
      text = `No connection${left > 0 ? `. Next attempt in ${rest(left)}` : ""}. What you write is sent as soon as there is one.`;
      button = el("button", { type: "button", class: "link", on: { click: () => relay.retry() } }, "Try now");
      this.#timer = setTimeout(() => this.#showNotice(), 1000);
    } else if (state === "ended") text = `Disconnected: ${plain(why ?? "the session has ended")}`;
    const key = `${text}${Boolean(button)}`;
    if (this.#notice.dataset.key === key) return;
    this.#notice.dataset.key = key;
    this.#notice.hidden = text === "";
    this.#notice.replaceChildren(text, button ? " " : "", button ?? "");
  }

  /** @param {HTMLElement} button */
  async #showMenu(button) {
    const { menu } = await popups();
    const isRoom = this.#row.peer === undefined;
    menu(button, [
      { label: "Go to a date…", act: () => this.#chooseDate(button) },
      { label: "Go to the first message", act: () => this.#timeline.show(this.#conversation?.first) },
      ...(isRoom ? [{ label: "Leave this room", isDangerous: true, act: () => this.dispatchEvent(new CustomEvent("leave-room", { detail: this.#row.room })) }] : []),
    ], { label: "This conversation" });
  }

  /** @param {HTMLElement} button */
  #chooseDate(button) {
    const input = el("input", {
      type: "date", class: "date-input", "aria-label": "Date", max: new Date().toISOString().slice(0, 10),
      on: {
        change: () => {
          if (!input.valueAsDate) return;
          const [year, month, date] = input.value.split("-").map(Number);
          this.#timeline.show(new Date(year, month - 1, date));
        },
        blur: () => input.remove(),
        keydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Escape" || event.key === "Enter") { event.preventDefault(); this.#composer.focus(); }
        },
      },
    });
    button.after(input);
    input.focus();
    try { input.showPicker(); } catch { /* the field itself takes the date */ }
  }

  // MARK: Reading

  /** @param {any[]} messages */
  #arrived(messages) {
    const { user, people, announcer } = this.#messenger;
    for (const message of messages) {
      if (message.from === user) continue;
      if (document.visibilityState === "visible") announcer.say(`${plain(people.name(message.from) ?? message.from)}: ${gist(message)}`);
    }
    this.dispatchEvent(new CustomEvent("arrived", { detail: messages.filter((message) => message.from !== user) }));
    this.#readSeen();
  }

  #readSeen() {
    if (!this.#conversation || document.visibilityState !== "visible" || !document.hasFocus() || this.offsetParent === null) return;
    const { room } = this.#conversation;
    const seen = this.#timeline.seen;
    if (room.state !== "live" || seen === undefined || seen <= (room.mine?.read ?? 0)) return;
    room.read(seen);
    this.dispatchEvent(new CustomEvent("read", { detail: seen }));
  }

  // MARK: Writing

  /** @param {string} text */
  #send(text) {
    const room = this.#room;
    if (!room) return;
    const purpose = this.#purpose;
    this.#composer.text = "";
    this.#cancel();
    if (purpose?.kind === "edit") {
      if (text !== this.#conversation?.get(purpose.seq)?.text) this.#watch(room.edit(purpose.seq, text), "The edit was not accepted");
    } else {
      room.send(text, purpose ? { replyTo: purpose.seq } : {}).catch(() => {}); // the row says why
    }
    this.#keepDraft();
  }

  /** @param {Promise<any>} sending @param {string} title */
  #watch(sending, title) {
    sending.catch((error) => {
      if (error.code === "closed") return;
      this.#messenger.announcer.say(`${title}: ${error.message}`);
      this.#flash(`${title}: ${plain(error.message)}`);
    });
  }

  /** Shows a sentence for a while. @param {string} text */
  #flash(text) {
    const toast = el("div", { class: "toast", role: "alert" }, text);
    this.append(toast);
    toast.addEventListener("animationend", () => toast.remove());
  }

  #cancel(isQuiet = false) {
    const wasEdit = this.#purpose?.kind === "edit";
    this.#purpose = undefined;
    this.#composer.announce();
    if (wasEdit) this.#composer.text = "";
    if (!isQuiet) this.#composer.focus();
  }

  #editLast() {
    const items = this.#conversation?.items ?? [];
    const last = items.findLast((item) => item.from === this.#messenger.user && item.kind === "text" && !item.deleted);
    if (last) this.#act("edit", last.seq);
  }

  get #draftKey() { return `relay.draft:${this.#messenger.user}:${this.#row?.room}`; }

  #keepDraft() {
    if (this.#purpose?.kind === "edit" || !this.#messenger?.drafts) return;
    const { text } = this.#composer;
    if (text.trim() === "") this.#messenger.drafts.removeItem(this.#draftKey);
    else this.#messenger.drafts.setItem(this.#draftKey, text);
  }

  #restoreDraft() {
    this.#composer.text = this.#messenger.drafts?.getItem(this.#draftKey) ?? "";
  }

  /** @param {string} prefix */
  #candidates(prefix) {
    const { people, user: me } = this.#messenger;
    const users = new Set([...(this.#room?.marks?.keys() ?? []), ...people.known.keys()]);
    users.delete(me);
    return [...users].map((user) => ({ user, title: people.name(user) ?? user }))
      .filter(({ user, title }) => user.startsWith(prefix) || folded(title).split(/\s+/).some((word) => word.startsWith(prefix)));
  }

  // MARK: Actions on messages

  /** @param {string} action @param {...any} rest */
  #act(action, ...rest) {
    const room = this.#room;
    const [seq, detail, isOn] = rest;
    const message = typeof seq === "number" ? this.#conversation?.get(seq) : undefined;
    const name = message && (this.#messenger.people.name(message.from) ?? message.from);
    if (action === "show") this.#timeline.show(seq).then((/** @type {any} */ row) => row?.focus({ preventScroll: true }));
    else if (action === "react") this.#watch(room.react(seq, detail, isOn), "The reaction was not accepted");
    else if (action === "retry") this.#watch(Promise.resolve(room.retry(seq)), "Not sent");
    else if (action === "discard") room.discard(seq);
    else if (action === "reactions") this.#chooseReaction(message, detail);
    else if (action === "menu") this.#messageMenu(message, detail);
    else if (action === "reply") {
      this.#purpose = { kind: "reply", seq };
      this.#composer.announce({ title: `Reply to ${name}`, text: gist(message).slice(0, 200) });
      this.#composer.focus();
    } else if (action === "edit") {
      this.#keepDraft();
      this.#purpose = { kind: "edit", seq };
      this.#composer.announce({ title: "Edit your message", text: "Escape cancels" });
      this.#composer.text = message.text;
      this.#composer.focus();
    }
  }

  /** @param {any} message @param {HTMLElement} anchor */
  async #chooseReaction(message, anchor) {
    const { menu } = await popups();
    const { user } = this.#messenger;
    menu(anchor, emoji.map((one) => ({
      label: one, picture: one, isOn: message.reactions?.get(one)?.includes(user) ?? false,
      act: () => this.#act("react", message.seq, one, !message.reactions?.get(one)?.includes(user)),
    })), { label: "React", isGrid: true });
  }

  /** @param {any} message @param {HTMLElement} anchor */
  async #messageMenu(message, anchor) {
    const { menu } = await popups();
    const isOwn = message.from === this.#messenger.user;
    const isText = message.kind === "text";
    menu(anchor, [
      { label: "Reply", act: () => this.#act("reply", message.seq) },
      { label: "React", act: () => this.#chooseReaction(message, anchor) },
      ...(isText ? [{ label: "Copy text", act: () => { navigator.clipboard?.writeText(message.text).catch(() => {}); } }] : []),
      ...(isText && this.#messenger.forward ? [{ label: "Forward…", act: () => this.#forward(message) }] : []),
      ...(isOwn && isText ? [{ label: "Edit", act: () => this.#act("edit", message.seq) }] : []),
      ...(isOwn ? [{ label: "Delete…", isDangerous: true, act: () => this.#delete(message) }] : []),
    ], { label: "Message" });
  }

  /** @param {any} message */
  #forward(message) {
    /** @type {any} */ (this.#messenger.forward)({ room: this.#row.room, seq: message.seq }, this);
  }

  /** @param {any} message */
  async #delete(message) {
    const room = this.#room;
    const { ask } = await popups();
    const isSure = await ask(this, {
      title: "Delete this message?", text: gist(message).slice(0, 300) || "The message is deleted for everyone.", confirm: "Delete for everyone",
    });
    if (isSure) this.#watch(room.delete(message.seq), "The message was not deleted");
    this.#timeline.enter();
  }

  /** @param {KeyboardEvent} event @param {any} message */
  #rowKey(event, message) {
    const row = this.#timeline.row(message.seq);
    const anchor = row?.querySelector(".bubble");
    const isUsable = message.seq !== undefined && !message.deleted;
    if (event.key === "Escape") this.#composer.focus();
    else if (!isUsable) return false;
    else if (event.key === "Enter" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.#messageMenu(message, anchor);
    else if (event.key === "r") this.#act("reply", message.seq);
    else if (event.key === "+" || event.key === ":") this.#chooseReaction(message, anchor);
    else if (event.key === "e" && message.from === this.#messenger.user && message.kind === "text") this.#act("edit", message.seq);
    else if (event.key === "f" && this.#messenger.forward && message.kind === "text") this.#forward(message);
    else if (event.key === "Delete" && message.from === this.#messenger.user) this.#delete(message);
    else return false;
    return true;
  }

  // MARK: Searching

  /** @type {number | undefined} */
  #found;
  #isSearching = false;

  openSearch() {
    this.#searchBar.hidden = false;
    this.#search.focus();
    this.#search.select();
  }

  closeSearch() {
    if (this.#searchBar.hidden) return;
    const hadFocus = this.#searchBar.contains(this.#search.getRootNode().activeElement);
    this.#searchBar.hidden = true;
    this.#found = undefined;
    this.#result.textContent = "";
    if (hadFocus) this.#composer.focus();
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") { event.stopPropagation(); this.closeSearch(); }
    else if (event.key === "Enter") { event.preventDefault(); this.#find(event.shiftKey); }
  }

  /** Goes to the next older message that has the words, or to a newer one. @param {boolean} isNewer */
  async #find(isNewer) {
    const words = folded(this.#search.value).split(/\s+/).filter(Boolean);
    const conversation = this.#conversation;
    if (words.length === 0 || this.#isSearching || !conversation) return;
    const { people } = this.#messenger;
    const has = (/** @type {any} */ message) => {
      const text = folded(`${people.name(message.from) ?? message.from} ${message.text ?? ""}`);
      return !message.deleted && words.every((word) => text.includes(word));
    };
    this.#isSearching = true;
    this.#result.textContent = "Searching…";
    try {
      const { signal } = this.#ending;
      let items = conversation.items;
      let at = this.#found === undefined ? (isNewer ? -1 : items.length) : conversation.index(this.#found);
      let match;
      if (isNewer) match = items.slice(at + 1).find(has);
      else {
        match = items.slice(0, at).findLast(has);
        let isOlder = conversation.older;
        for (let before = items[0]?.seq; !match && isOlder && before !== undefined;) {
          const page = await conversation.room.history.before(before, { limit: 500, signal });
          match = page.messages.findLast(has);
          isOlder = page.older && page.messages.length > 0;
          before = page.messages[0]?.seq;
        }
      }
      if (!match) {
        this.#result.textContent = isNewer ? "No newer matches" : "No older matches";
        return;
      }
      this.#found = match.seq;
      this.#result.textContent = `${day(match.at)}, ${time(match.at)}. Enter: older`;
      await this.#timeline.show(match.seq);
    } catch {
      this.#result.textContent = "Older messages cannot be searched without a connection";
    } finally {
      this.#isSearching = false;
    }
  }
}
customElements.define("relay-conversation", RoomView);

/** The text of a notification. @param {any} message @param {any} people @param {boolean} isDirect */
export const notice = (message, people, isDirect) =>
  isDirect ? gist(message) : `${plain(people.name(message.from) ?? message.from)}: ${gist(message)}`;

/** Whether a person wants to know of a message at once. @param {any} message @param {string} user @param {boolean} isDirect */
export const isUrgent = (message, user, isDirect) => isDirect || mentions(line(message.text ?? ""), user);
