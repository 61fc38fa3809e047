// One conversation: its head, its messages, and the composer.

import { calendar } from "./calendar.js";
import { Conversation } from "./conversation.js";
import { el, iconButton, unset } from "./dom.js";
import { receiveFiles } from "./files.js";
import { plain } from "./format.js";
import { MessageActions } from "./message-actions.js";
import { opened } from "./opening.js";
import { load, report } from "./problems.js";
import { isContent } from "./relay-client/fold.js";
import { RoomHead } from "./room-head.js";
import { gist, wordsOfNotices } from "./row.js";
import { Timeline } from "./timeline.js";
import { Writing } from "./writing.js";

/** @import { Room } from "./relay-client/room.js" */
/** @import { Message } from "./relay-client/types.js" */
/** @import { Context, Shown } from "./row.js" */
/** @import { SearchBar } from "./search-bar.js" */
/** @import { Messenger, Open, Scene } from "./types.js" */

// What is not needed at once comes later.
const actions = () => import("./actions.js");
const searching = () => import("./search-bar.js");

/** Reports `back` and `leave-room`. */
export class RoomView extends HTMLElement {
  /** @type {Scene} */
  #scene = unset();
  /** How far all others have received and read. */
  #others = { received: 0, read: 0, count: 0 };
  #ending = new AbortController();
  #timeline = new Timeline();
  #writing = new Writing(this, {
    timeline: this.#timeline,
    place: () => this.#place,
    search: (query) => this.openSearch(query),
    leave: () => this.#askToLeave(),
  });
  #actions = new MessageActions(this, this.#timeline, this.#writing, () => this.#place);
  #head = new RoomHead((what, anchor) => this.#actions.act(what, undefined, anchor));
  /** The search, once it was wanted. @type {SearchBar | undefined} */
  #search;

  connectedCallback() {
    if (this.firstChild) return;
    this.append(
      el(
        "header",
        { class: "head" },
        iconButton(
          "back",
          "Back to the conversations",
          () => this.dispatchEvent(new Event("back")),
          { class: "icon-button back" },
        ),
        this.#head.picture,
        this.#head.titles,
        iconButton("search", "Search", () => this.openSearch()),
        iconButton("more", "About this conversation", (event) =>
          this.#showMenu(/** @type {HTMLElement} */ (event.currentTarget)),
        ),
      ),
      this.#head.notice,
      this.#timeline,
      this.composer,
    );
    this.composer.addEventListener("leave", () => this.#timeline.enter());
    receiveFiles(this, (files) => this.attach(files));
    this.#timeline.addEventListener("view", () => this.#readSeen());
    this.#timeline.addEventListener("leave", () => this.composer.focus());
  }

  get room() {
    return this.#room?.name;
  }
  /** Why the relay does not open the room. */
  get refusal() {
    return this.#room?.error;
  }
  /** What one may do in the room. */
  get ownRole() {
    const isOperator = this.#messenger.isOperator && this.#row.peer === undefined;
    return isOperator ? "owner" : this.#room?.role;
  }

  get timeline() {
    return this.#timeline;
  }
  get composer() {
    return this.#writing.composer;
  }
  get #messenger() {
    return this.#scene.messenger;
  }
  get #row() {
    return this.#scene.row;
  }
  get #conversation() {
    return this.#scene?.conversation;
  }
  get #room() {
    return this.#conversation?.room;
  }

  /**
   * @param {Messenger} messenger
   * @param {Open} row
   */
  open(messenger, row) {
    this.close();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const { relay, people } = messenger;
    const room = relay.room(row.room);
    const conversation = new Conversation(room, messenger.user);
    this.#scene = { messenger, row, conversation, ended: signal };
    this.#actions.open(this.#scene);
    this.#countMarks();
    conversation.on(
      "marks",
      () => {
        this.#countMarks();
        this.#head.showSubtitle();
      },
      { signal },
    );
    conversation.on("pending", () => this.#writing.tellRefused(), { signal });
    room.on("progress", (progress) => this.#timeline.progress(progress), { signal });
    conversation.on("problem", (error) => report(error, this, "The messages could not be loaded"), {
      signal,
    });
    conversation.on("typing", () => this.#head.showSubtitle(), { signal });
    conversation.on(
      "state",
      () => {
        this.#countMarks();
        this.#head.showSubtitle();
        this.#head.showNotice();
        this.#showTitle();
      },
      { signal },
    );
    conversation.on("arrive", (messages) => this.#arrived(messages), { signal });
    conversation.on("membership", () => this.#showMembership(), { signal });
    conversation.on(
      "departure",
      async (departure) => {
        const { departureText } = await wordsOfNotices();
        if (signal.aborted) return;
        this.#head.departure = departureText(departure, this.#context());
        this.#head.showNotice();
        this.#showTitle();
        messenger.announcer.say([this.#head.departure]);
      },
      { signal },
    );
    people.addEventListener("presence", () => this.#head.showSubtitle(), { signal });
    people.addEventListener(
      "change",
      () => {
        this.#head.show();
        this.#timeline.refresh();
      },
      { signal },
    );
    relay.on("health", () => this.#head.showNotice(), { signal });
    relay.on(
      "blocks",
      () => {
        this.#head.showSubtitle();
        this.#timeline.refresh();
      },
      { signal },
    );
    calendar.addEventListener(
      "change",
      () => {
        this.#head.showSubtitle();
        this.#timeline.refresh();
        this.#search?.refresh();
      },
      { signal },
    );
    addEventListener("focus", () => this.#readSeen(), { signal });
    document.addEventListener(
      "visibilitychange",
      () => {
        this.#readSeen();
        this.#writing.tellRefused();
      },
      { signal },
    );
    this.#showTitle();
    this.#head.open(messenger, row, room);
    this.#timeline.open(conversation, this.#context());
    this.#writing.open(this.#scene);
  }

  close() {
    if (!this.#conversation) return;
    this.#writing.close();
    this.#search?.close();
    this.#ending.abort();
    this.#head.close();
    this.#timeline.close();
    this.#conversation.close();
    // The relay tells of other rooms by `activity`; what waits in the outbox is sent all the same.
    this.#conversation.room.close();
    this.#scene.conversation = undefined;
  }

  /** @param {File[]} files */
  attach(files) {
    return this.#writing.attach(files);
  }

  /** @override */
  focus() {
    this.composer.focus();
  }

  /** The name has come, or is another one. @param {string} title */
  rename(title) {
    this.#scene.row = { ...this.#row, title };
    this.#showTitle();
    this.#head.show(title);
  }

  /** The settings, the members or the own role may be others. */
  #showMembership() {
    const title = this.#room?.settings?.title;
    if (title !== undefined && title !== this.#row.title) this.rename(title);
    else this.#showTitle();
    this.#countMarks();
    this.#head.showSubtitle();
  }

  // MARK: What rows need

  /** @returns {Context} */
  #context() {
    const { user: me, people, pictures } = this.#messenger;
    return {
      user: me,
      isDirect: this.#row.peer !== undefined,
      name: (user) => people.name(user) ?? (user === me || this.#isMember(user) ? user : undefined),
      isBlocked: (user) => this.#isClosed(user),
      pictures: (user) => (people.known.get(user)?.avatar ? pictures : undefined),
      message: (seq) => this.#conversation?.message(seq),
      mark: (message) => this.#mark(message),
      act: this.#actions.act,
      key: (event, message) => this.#actions.key(event, message),
      empty: () => this.#emptyText(),
      refresh: () => this.#timeline.refresh(),
    };
  }

  /** Whether messages of a user are closed. @param {string} user */
  #isClosed(user) {
    return this.#row.peer === undefined && this.#messenger.relay.blocks.has(user);
  }

  /** @param {string} user */
  #isMember(user) {
    return this.#room?.marks.has(user) ?? false;
  }

  #emptyText() {
    if (this.#room?.state === "refused") return "";
    if (this.#conversation?.isLoading || this.#conversation?.older) {
      return this.#messenger.relay.health.state === "online"
        ? "Loading…"
        : "Nothing is stored on this device. Messages will appear when there is a connection.";
    }
    return `No messages yet. Say hello to ${plain(this.#row.title)}.`;
  }

  #countMarks() {
    const { user } = this.#messenger;
    const others = [...(this.#room?.marks ?? [])]
      .filter(([name]) => name !== user)
      .map(([, marks]) => marks);
    this.#others = {
      count: others.length,
      received: Math.min(...others.map((marks) => marks.received)),
      read: Math.min(...others.map((marks) => marks.read)),
    };
  }

  /** @param {Shown} message */
  #mark(message) {
    if (message.seq === undefined) return message.state === "refused" ? "refused" : "waiting";
    const { count, received, read } = this.#others;
    if (count === 0) return "stored";
    return read >= message.seq ? "read" : received >= message.seq ? "received" : "stored";
  }

  #showTitle() {
    const title = plain(this.#row.title);
    this.setAttribute("aria-label", `Conversation: ${title}`);
    const room = this.#room;
    const { relay } = this.#messenger;
    const isQuiet =
      room?.settings?.post === "moderators" && !/^(owner|moderator)$/.test(this.ownRole ?? "");
    this.composer.open(
      room?.role === "muted"
        ? `You are muted in ${title}`
        : isQuiet
          ? `Only moderators write in ${title}`
          : `Message ${title}`,
      relay.limits?.text_bytes,
    );
    this.composer.lock(
      room?.state === "refused" ? this.#head.departure || "You cannot write here" : undefined,
    );
  }

  /** @param {HTMLElement} button */
  async #showMenu(button) {
    await opened(this, actions, ({ conversationMenu }) =>
      conversationMenu(button, {
        isMuted: this.#messenger.muted?.has(this.#row.room),
        mute: () => this.#messenger.muted?.toggle(this.#row.room),
        first: this.#conversation?.first ?? 1,
        focus: () => this.composer.focus(),
        leave: () => this.#askToLeave(),
        place: this.#place,
      }),
    );
  }

  // MARK: Reading

  /** @param {Message[]} messages */
  #arrived(messages) {
    const { user, people, announcer } = this.#messenger;
    if (document.visibilityState !== "visible") return;
    announcer.say(
      messages.filter((one) => one.from !== user && isContent(one) && !this.#isClosed(one.from)),
      (message) => `${plain(people.name(message.from) ?? message.from)}: ${gist(message)}`,
    );
  }

  #readSeen() {
    if (!this.#conversation || document.visibilityState !== "visible" || !document.hasFocus())
      return;
    const { room } = this.#conversation;
    const seen = this.#timeline.seen;
    if (room.state !== "live" || seen === undefined || seen <= room.mine.read) return;
    room.read(seen);
  }

  // MARK: Writing

  async #askToLeave() {
    const { room } = this.#row;
    if (await opened(this, actions, ({ askToLeave }) => askToLeave(this.#place)))
      this.dispatchEvent(new CustomEvent("leave-room", { detail: room }));
  }

  /** What the dialogs of a room need. @returns {import("./actions.js").Place} */
  get #place() {
    const [messenger, room] = [this.#messenger, /** @type {Room} */ (this.#room)];
    const { title, peer } = this.#row;
    const show = (/** @type {number | Date} */ place) => this.#timeline.show(place);
    const messages = () => this.#conversation?.items ?? [];
    return { near: this, messenger, room, title, peer, role: () => this.ownRole, show, messages };
  }

  // MARK: Searching

  /** @param {string} [query] what is looked for at once */
  async openSearch(query) {
    await opened(
      this,
      searching,
      ({ searchBar }) => {
        if (!this.#search) {
          this.#search = searchBar(this.#searched, () => this.composer.focus());
          this.#head.notice.before(this.#search.element);
        }
        this.#search.open(query);
      },
      "Search in this conversation",
    );
  }

  /** What the search needs of the conversation that is open then. */
  #searched = () => {
    const { people } = this.#messenger;
    return {
      conversation: this.#conversation,
      timeline: this.#timeline,
      name: (/** @type {string} */ user) => people.name(user),
      ended: this.#ending.signal,
    };
  };

  /**
   * Shows a message that was found by some words, once the conversation is open.
   * @param {number} seq
   * @param {string} query
   */
  async show(seq, query) {
    const conversation = /** @type {Conversation} */ (this.#conversation);
    const { signal } = this.#ending;
    if (this.#messenger.relay.health.state === "online") await conversation.opened(signal);
    if (signal.aborted) return;
    const row = await this.#timeline.show(seq);
    row?.focus({ preventScroll: true });
    const { mark } = await load(() => import("./find.js"), this);
    mark(row, query);
  }
}
customElements.define("relay-conversation", RoomView);
