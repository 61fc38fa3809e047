// One conversation: its head, its messages, and the composer.

import { calendar } from "./calendar.js";
import { Conversation } from "./conversation.js";
import { el, iconButton } from "./dom.js";
import { refuseFiles } from "./files.js";
import { folded, plain } from "./format.js";
import { RoomHead } from "./room-head.js";
import { gist } from "./row.js";
import { isCommand, unescaped } from "./slash.js";
import "./composer.js";
import "./timeline.js";

// Not needed at once.
const actions = () => import("./actions.js");

const refusals = { edit: "The edit was not accepted", delete: "The message was not deleted", react: "The reaction was not accepted" };

/**
 * What all conversations share.
 * @typedef {object} Messenger
 * @property {any} relay
 * @property {string} user
 * @property {import("./people.js").People} people
 * @property {import("./avatars.js").Pictures} pictures
 * @property {import("./announcer.js").Announcer} announcer
 * @property {Storage} [drafts]
 * @property {import("./muted.js").Muted} [muted]
 * @property {(user: string) => void} [write] opens the conversation with a person
 * @property {(room: string) => void} [enter] opens a room, or a new one
 * @property {(query: string) => void} [searchAll]
 * @property {() => void} [help]
 * @property {(origin: {room: string, seq: number}) => void} [forward]
 */

/** Reports `back` and `leave-room`. */
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
  #head = new RoomHead((what, anchor) => this.#act(what, undefined, anchor));
  #timeline = el("relay-timeline");
  #composer = el("relay-composer");
  /** The search, once it was wanted. @type {import("./search-bar.js").SearchBar | undefined} */
  #search;

  connectedCallback() {
    if (this.firstChild) return;
    this.append(
      el("header", { class: "head" },
        iconButton("back", "Back to the conversations", () => this.dispatchEvent(new Event("back")), { class: "icon-button back" }),
        this.#head.picture, this.#head.titles,
        iconButton("search", "Search", () => this.openSearch()),
        iconButton("more", "About this conversation", (event) => this.#showMenu(/** @type {any} */ (event.currentTarget)))),
      this.#head.notice, this.#timeline, this.#composer);
    this.#composer.addEventListener("send", (/** @type {CustomEvent} */ event) => this.#send(event.detail.text));
    this.#composer.addEventListener("typing", () => { if (this.#purpose?.kind !== "edit") this.#room?.typing(); });
    this.#composer.addEventListener("change", () => this.#keepDraft());
    this.#composer.addEventListener("cancel", () => this.#cancel());
    this.#composer.addEventListener("edit-last", () => this.#editLast());
    this.#composer.addEventListener("leave", () => this.#timeline.enter());
    this.#composer.mentions = (/** @type {string} */ prefix) => this.#candidates(prefix);
    refuseFiles(this, (text) => this.#composer.say(text));
    this.#timeline.addEventListener("view", () => this.#readSeen());
    this.#timeline.addEventListener("leave", () => this.#composer.focus());
  }

  get room() { return this.#room?.name; }
  /** Why the relay does not open the room. */
  get refusal() { return this.#room?.error; }
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
    conversation.addEventListener("marks", () => { this.#countMarks(); this.#head.showSubtitle(); }, { signal });
    conversation.addEventListener("pending", () => this.#tellRefused(), { signal });
    conversation.addEventListener("typing", () => this.#head.showSubtitle(), { signal });
    conversation.addEventListener("state", () => { this.#countMarks(); this.#head.showSubtitle(); this.#head.showNotice(); }, { signal });
    conversation.addEventListener("arrive", (event) => this.#arrived(/** @type {CustomEvent} */ (event).detail.messages), { signal });
    people.addEventListener("presence", () => this.#head.showSubtitle(), { signal });
    people.addEventListener("change", () => { this.#head.show(); this.#timeline.refresh(); }, { signal });
    relay.on("health", () => this.#head.showNotice(), { signal });
    calendar.addEventListener("change", () => { this.#head.showSubtitle(); this.#timeline.refresh(); this.#search?.refresh(); }, { signal });
    addEventListener("focus", () => this.#readSeen(), { signal });
    document.addEventListener("visibilitychange", () => this.#readSeen(), { signal });
    this.#showTitle();
    this.#head.open(messenger, row, room);
    this.#timeline.open(conversation, this.#context());
    this.#restoreDraft();
  }

  close() {
    if (!this.#conversation) return;
    this.#keepDraft();
    this.#cancel(true);
    this.#search?.close();
    this.#ending.abort();
    this.#head.close();
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
    this.#head.show(title);
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

  #showTitle() {
    const title = plain(this.#row.title);
    this.setAttribute("aria-label", `Conversation: ${title}`);
    this.#composer.open(`Message ${title}`, this.#messenger.relay.limits?.text_bytes);
  }

  /** @param {HTMLElement} button */
  async #showMenu(button) {
    const { conversationMenu } = await actions();
    conversationMenu(button, {
      isRoom: this.#row.peer === undefined, isMuted: this.#messenger.muted?.has(this.#row.room),
      mute: () => this.#messenger.muted?.toggle(this.#row.room), first: this.#conversation?.first ?? 1,
      show: (place) => this.#timeline.show(place), focus: () => this.#composer.focus(),
      leave: () => this.#askToLeave(),
    });
  }

  // MARK: Reading

  /** @param {any[]} messages */
  #arrived(messages) {
    const { user, people, announcer } = this.#messenger;
    if (document.visibilityState !== "visible") return;
    announcer.say(messages.filter((message) => message.from !== user),
      (message) => `${plain(people.name(message.from) ?? message.from)}: ${gist(message)}`);
  }

  #readSeen() {
    if (!this.#conversation || document.visibilityState !== "visible" || !document.hasFocus()) return;
    const { room } = this.#conversation;
    const seen = this.#timeline.seen;
    if (room.state !== "live" || seen === undefined || seen <= (room.mine?.read ?? 0)) return;
    room.read(seen);
  }

  // MARK: Writing

  /** @param {string} text */
  #send(text) {
    const room = this.#room;
    if (!room) return;
    const purpose = this.#purpose;
    if (purpose?.kind !== "edit") {
      if (isCommand(text)) return this.#perform(text);
      text = unescaped(text);
    }
    this.#composer.text = "";
    this.#cancel();
    if (purpose?.kind === "edit") {
      if (text !== this.#conversation?.get(purpose.seq)?.text) room.edit(purpose.seq, text).catch(() => {}); // see tellRefused
    } else {
      room.send(text, purpose ? { replyTo: purpose.seq } : {}).catch(() => {}); // the row says why
    }
    this.#keepDraft();
  }

  /** Performs a command. A text that is none stays where it was written, and is never sent. @param {string} text */
  async #perform(text) {
    const conversation = /** @type {Conversation} */ (this.#conversation);
    try {
      const { perform } = await import("./commands.js");
      if (conversation !== this.#conversation || this.#composer.text !== text) return; // one writes on
      await perform(text.trim(), {
        messenger: this.#messenger, row: this.#row, conversation, timeline: this.#timeline,
        done: () => { this.#composer.text = ""; this.#cancel(); this.#keepDraft(); },
        say: (sentence) => this.#composer.say(sentence),
        send: (words) => this.#room.send(words).catch(() => {}), // the row says why
        search: (query) => this.openSearch(query),
        leave: () => this.#askToLeave(),
      });
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#composer.say(`The command failed, and nothing was sent: ${plain(/** @type {Error} */ (error).message)}`);
    }
  }

  async #askToLeave() {
    const { room, title } = this.#row;
    const { askToLeave } = await actions();
    if (await askToLeave(this, plain(title))) this.dispatchEvent(new CustomEvent("leave-room", { detail: room }));
  }

  /** Changes are shown at once; those that were refused are as before, and a sentence says why. */
  #tellRefused() {
    const room = this.#room;
    const isTold = (/** @type {any} */ { kind, state }) => state === "refused" && kind in refusals;
    for (let change; (change = room.pending.find(isTold));) {
      room.discard(change.id);
      const title = refusals[/** @type {keyof typeof refusals} */ (change.kind)];
      if (document.visibilityState === "visible") this.#tell(`${title}: ${plain(change.error.message)}`);
    }
  }

  /** Shows a sentence for a while. @param {string} text */
  #tell(text) {
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
  async #act(action, ...rest) {
    const room = this.#room;
    const [seq, detail, isOn] = rest;
    const message = typeof seq === "number" ? this.#conversation?.get(seq) : undefined;
    const name = message && (this.#messenger.people.name(message.from) ?? message.from);
    if (action === "show") this.#timeline.show(seq).then((/** @type {any} */ row) => row?.focus({ preventScroll: true }));
    else if (action === "react") room.react(seq, detail, isOn).catch(() => {}); // see tellRefused
    else if (action === "retry") room.retry(seq).catch(() => {}); // the row says why
    else if (action === "expand") this.#timeline.expand(seq);
    else if (action === "discard") room.discard(seq);
    else if (action === "forward") this.#messenger.forward?.({ room: room.name, seq });
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
    } else {
      const { askToDelete, chooseReaction, messageMenu, peopleMenu } = await actions();
      const { user, forward, people, write } = this.#messenger;
      const { peer } = this.#row;
      const view = {
        user, canForward: forward !== undefined, name: (/** @type {string} */ one) => plain(people.name(one) ?? one),
        person: peer === undefined ? write : undefined,
        act: (/** @type {string} */ name, /** @type {any[]} */ ...more) => this.#act(name, ...more),
      };
      if (action === "reactions") chooseReaction(view, message, detail);
      else if (action === "menu") messageMenu(view, message, detail);
      else if (action === "person") peopleMenu(view, [message?.from ?? peer], detail, "Person");
      else if (action === "members") peopleMenu(view, [...room.marks.keys()].sort(), detail, "Members");
      else if (action === "delete") {
        if (await askToDelete(this, message)) room.delete(seq).catch(() => {}); // see tellRefused
        this.#timeline.enter();
      }
    }
  }

  /** @param {KeyboardEvent} event @param {any} message */
  #rowKey(event, message) {
    const { seq } = message;
    const anchor = this.#timeline.row(seq)?.querySelector(".bubble");
    const isOwn = message.from === this.#messenger.user;
    const isText = message.kind === "text";
    if (event.key === "Escape") this.#composer.focus();
    else if (seq === undefined || message.deleted) return false;
    else if (event.key === "Enter" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.#act("menu", seq, anchor);
    else if (event.key === "r") this.#act("reply", seq);
    else if (event.key === "+" || event.key === ":") this.#act("reactions", seq, anchor);
    else if (event.key === "e" && isOwn && isText) this.#act("edit", seq);
    else if (event.key === "f" && this.#messenger.forward && isText) this.#act("forward", seq);
    else if (event.key === "Delete" && isOwn) this.#act("delete", seq);
    else return false;
    return true;
  }

  // MARK: Searching

  /** @param {string} [query] what is looked for at once */
  async openSearch(query) {
    const { SearchBar } = await import("./search-bar.js");
    if (!this.#search) {
      this.#search = new SearchBar((query, options) => this.#find(query, options), () => this.#composer.focus());
      this.#head.notice.before(this.#search.element);
    }
    this.#search.open(query);
  }

  /** @param {string} query @param {{seq?: number, isNewer: boolean, signal: AbortSignal}} options */
  async #find(query, options) {
    const conversation = this.#conversation;
    const { find, mark, matcher } = await import("./find.js");
    mark(undefined);
    const isMatch = matcher(query, (user) => this.#messenger.people.name(user));
    const match = isMatch && conversation && await find(conversation, isMatch, { ...options, signal: AbortSignal.any([options.signal, this.#ending.signal]) });
    if (match) mark(await this.#timeline.show(match.seq), query);
    return match;
  }

  /** Shows a message that was found by some words, once the conversation is open. @param {number} seq @param {string} query */
  async show(seq, query) {
    const conversation = /** @type {Conversation} */ (this.#conversation);
    const { signal } = this.#ending;
    if (this.#messenger.relay.health.state === "online") await conversation.opened(signal);
    if (signal.aborted) return;
    const row = await this.#timeline.show(seq);
    row?.focus({ preventScroll: true });
    const { mark } = await import("./find.js");
    mark(row, query);
  }
}
customElements.define("relay-conversation", RoomView);
