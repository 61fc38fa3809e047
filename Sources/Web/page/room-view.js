// One conversation: its head, its messages, and the composer.

import { calendar } from "./calendar.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { el, iconButton, unset } from "./dom.js";
import { receiveFiles } from "./files.js";
import { plain } from "./format.js";
import { opened } from "./opening.js";
import { load, markTold, report, say } from "./problems.js";
import { foldPending, isContent } from "./relay-client/fold.js";
import { RoomHead } from "./room-head.js";
import { gist, wordsOfNotices } from "./row.js";
import { isCommand, unescaped } from "./slash.js";
import { Timeline } from "./timeline.js";

/** @import { Announcer } from "./announcer.js" */
/** @import { Pictures } from "./avatars.js" */
/** @import { Kept } from "./kept.js" */
/** @import { Muted } from "./muted.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Room } from "./relay-client/room.js" */
/** @import { Message, Pending, Sending } from "./relay-client/types.js" */
/** @import { Context, Shown } from "./row.js" */
/** @import { SearchBar } from "./search-bar.js" */

// What is not needed at once comes later.
const actions = () => import("./actions.js");
const searching = () => import("./search-bar.js");
const attaching = () => import("./attachments.js");
const recording = () => import("./recorder.js");
const viewing = () => import("./viewer.js");
const refusals = {
  edit: "The edit was not accepted",
  delete: "The message was not deleted",
  react: "The reaction was not accepted",
};

/**
 * The open conversation.
 * @typedef {{room: string, title: string, peer?: string}} Open
 */

/**
 * Does something with a message, or asks what to do: `key` is its `seq`, or its id if it has none.
 * @callback Act
 * @param {Action} action
 * @param {number | string} [key]
 * @param {HTMLElement | string} [detail] what a menu is beside; of a reaction, the emoji
 * @param {boolean} [isOn]
 */

/**
 * @typedef {"show" | "view" | "react" | "retry" | "discard" | "expand" | "forward" | "reply" | "edit" |
 *   "delete" | "reactions" | "menu" | "person" | "members"} Action
 */

/**
 * What is forwarded: a file is sent on as one, with its caption.
 * @typedef {{room: string, seq: number, file?: Message["file"], text?: string}} Origin
 */

/**
 * What all conversations share.
 * @typedef {object} Messenger
 * @property {Relay} relay
 * @property {string} user
 * @property {People} people
 * @property {Pictures} pictures
 * @property {Announcer} announcer
 * @property {Kept} [kept]
 * @property {Kept} [keptInTab]
 * @property {Muted} [muted]
 * @property {Muted} [ignored] requests
 * @property {boolean} [isOperator] of the relay: then one may do in a room what its owners may
 * @property {(near: HTMLElement, room: string, title: string) => void} [linkTo] makes a link that
 *   invites into a room
 * @property {(user: string) => void} [write] opens the conversation with a person
 * @property {(room: string) => void} [enter] opens a room, or a new one
 * @property {(query: string) => void} [searchAll]
 * @property {() => void} [help]
 * @property {(origin: Origin) => void} [forward]
 */

/** Whether it has a text of its sender, which can be edited. @param {{kind: string}} message */
const hasText = ({ kind }) => kind === "text" || kind === "file";

/** Reports `back` and `leave-room`. */
export class RoomView extends HTMLElement {
  /** @type {Messenger} */
  #messenger = unset();
  /** @type {Conversation | undefined} */
  #conversation;
  /** @type {Open} */
  #row = unset();
  /** @type {{kind: "reply" | "edit", seq: number} | undefined} */
  #purpose;
  /** How far all others have received and read. */
  #others = { received: 0, read: 0, count: 0 };
  #ending = new AbortController();
  #head = new RoomHead((what, anchor) => this.#act(what, undefined, anchor));
  #timeline = new Timeline();
  #composer = new Composer();
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
      this.#composer,
    );
    this.#composer.addEventListener("send", () => this.#send(this.#composer.text));
    this.#composer.addEventListener("typing", () => {
      if (this.#purpose?.kind !== "edit") this.#room?.typing();
    });
    this.#composer.addEventListener("change", () => this.#keepDraft());
    this.#composer.addEventListener("cancel", () => this.#cancel());
    this.#composer.addEventListener("edit-last", () => this.#editLast());
    this.#composer.addEventListener("leave", () => this.#timeline.enter());
    this.#composer.mentions = () => this.#mentionable();
    receiveFiles(this, (files) => this.attach(files));
    this.#composer.addEventListener("attach", () => this.#chooseFiles());
    this.#composer.addEventListener("record", () => this.#record());
    this.#timeline.addEventListener("view", () => this.#readSeen());
    this.#timeline.addEventListener("leave", () => this.#composer.focus());
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
    return this.#composer;
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
    this.#messenger = messenger;
    this.#row = row;
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const { relay, people } = messenger;
    const room = relay.room(row.room);
    const conversation = new Conversation(room);
    this.#conversation = conversation;
    this.#countMarks();
    conversation.on(
      "marks",
      () => {
        this.#countMarks();
        this.#head.showSubtitle();
      },
      { signal },
    );
    conversation.on("pending", () => this.#tellRefused(), { signal });
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
        this.#tellRefused();
      },
      { signal },
    );
    this.#showTitle();
    this.#head.open(messenger, row, room);
    this.#timeline.open(conversation, this.#context());
    this.#restoreDraft();
  }

  close() {
    if (!this.#conversation) return;
    this.#keepDraft();
    this.#setPurpose();
    this.#search?.close();
    this.#ending.abort();
    this.#head.close();
    this.#timeline.close();
    this.#conversation.close();
    // The relay tells of other rooms by `activity`; what waits in the outbox is sent all the same.
    this.#conversation.room.close();
    this.#conversation = undefined;
  }

  /** @override */
  focus() {
    this.#composer.focus();
  }

  /** The name has come, or is another one. @param {string} title */
  rename(title) {
    this.#row = { ...this.#row, title };
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
      message: (seq) => this.#message(seq),
      mark: (message) => this.#mark(message),
      act: (...action) => this.#act(...action),
      key: (event, message) => this.#rowKey(event, message),
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
    this.#composer.open(
      room?.role === "muted"
        ? `You are muted in ${title}`
        : isQuiet
          ? `Only moderators write in ${title}`
          : `Message ${title}`,
      relay.limits?.text_bytes,
    );
    this.#composer.lock(
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
        focus: () => this.#composer.focus(),
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

  /** @param {string} text */
  #send(text) {
    const room = this.#room;
    if (!room || this.#composer.isLocked) return;
    const purpose = this.#purpose;
    const isEdit = purpose?.kind === "edit";
    const options = purpose ? { replyTo: purpose.seq } : {};
    const files = isEdit ? [] : this.#composer.takeFiles();
    if (files.length > 0) return this.#sendFiles(files, text, options);
    if (!isEdit) {
      if (isCommand(text)) return this.#perform(text);
      text = unescaped(text);
    }
    if (!isEdit || text !== this.#message(purpose.seq)?.text) {
      const sending = isEdit ? room.edit(purpose.seq, text) : room.send(text, options);
      if (!this.#isTaken(sending, (why) => this.#composer.say(`Not sent: ${why}`))) return;
    }
    if (!isEdit) this.#composer.text = "";
    this.#cancel();
    this.#keepDraft();
  }

  /** @param {File[]} files */
  async attach(files) {
    if (this.#composer.isLocked) return;
    const part = await load(attaching, this);
    this.#composer.attach(part, files, this.#messenger.relay.limits?.file_bytes);
  }

  #chooseFiles() {
    const input = el("input", {
      type: "file",
      multiple: true,
      on: { change: () => this.attach([...(input.files ?? [])]) },
    });
    input.click();
  }

  #record() {
    const { signal } = this.#ending;
    // What is recorded for another conversation than the one that is open then is not wanted.
    const take = (/** @type {File} */ file) => !signal.aborted && this.attach([file]);
    return opened(this, recording, ({ record }) => record(this, take));
  }

  /**
   * Sends files in their order; the text is the caption of the last one.
   * @param {File[]} files @param {string} text
   * @param {import("./relay-client/types.js").SendOptions} options
   */
  async #sendFiles(files, text, options) {
    const room = /** @type {Room} */ (this.#room);
    const { sendable } = await load(attaching, this); // it is here
    for (const [index, file] of files.entries()) {
      const caption = index === files.length - 1 ? text.trim() : "";
      const sending = room.sendFile(file, { name: sendable(file.name), text: caption, ...options });
      if (!this.#isTaken(sending, (why) => this.#composer.say(`Not sent: ${why}`))) {
        this.attach(files.slice(index));
        return;
      }
    }
    this.#composer.text = "";
    this.#cancel();
    this.#keepDraft();
  }

  /**
   * Performs a command. A text that is none stays where it was written, and is never sent.
   * @param {string} text
   */
  async #perform(text) {
    const conversation = /** @type {Conversation} */ (this.#conversation);
    const { perform } = await load(() => import("./commands.js"), this);
    if (conversation !== this.#conversation || this.#composer.text !== text) return; // one writes on
    await perform(text.trim(), {
      messenger: this.#messenger,
      row: this.#row,
      conversation,
      timeline: this.#timeline,
      target: this.#purpose?.seq,
      place: this.#place,
      done: () => {
        this.#composer.text = "";
        this.#cancel();
        this.#keepDraft();
      },
      say: (sentence) => this.#composer.say(sentence),
      send: (words) => this.#sendWords(words),
      search: (query) => this.openSearch(query),
      leave: () => this.#askToLeave(),
    });
  }

  /**
   * Sends the text of a command; one that cannot be sent is where it was written.
   * @param {string} words
   */
  #sendWords(words) {
    const room = this.#room;
    if (!room) return;
    this.#isTaken(room.send(words), (why) => {
      this.#composer.text = words;
      this.#composer.say(`Not sent: ${why}`);
    });
  }

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

  /**
   * Whether an entry is on its way. If not, says why at once, and the text stays where it is. What
   * the relay refuses is told by its row, or by `tellRefused`.
   * @param {Sending} sending
   * @param {(why: string) => void} refuse
   */
  #isTaken(sending, refuse) {
    const { error } = sending.local;
    sending.catch(markTold);
    if (error) refuse(plain(error.message));
    return error === undefined;
  }

  /**
   * Changes are shown at once; those that were refused are as before, and a sentence says why, as
   * soon as one looks.
   */
  async #tellRefused() {
    const refused = this.#room?.pending.some(
      ({ kind, state }) => state === "refused" && kind in refusals,
    );
    if (!refused || document.visibilityState !== "visible") return;
    const { signal: until } = this.#ending;
    const { tellRefused } = await load(() => import("./refused.js"), this);
    if (!this.#room || until.aborted) return;
    tellRefused(this.#room, refusals, {
      near: this,
      until,
      isFree: () => !this.#purpose && this.#composer.text.trim() === "",
      edit: (seq, text) => this.#edit(seq, text),
    });
  }

  /**
   * Edits a message, in place of what one writes: that comes back afterwards.
   * @param {number} seq
   * @param {string} text
   */
  #edit(seq, text) {
    if (this.#purpose?.kind !== "edit") this.#keepDraft();
    this.#setPurpose({ kind: "edit", seq }, { title: "Edit your message", text: "Escape cancels" });
    this.#composer.text = text;
    this.#keepDraft();
  }

  /**
   * @param {{kind: "reply" | "edit", seq: number}} [purpose]
   * @param {{title: string, text: string}} [banner]
   */
  #setPurpose(purpose, banner) {
    this.#purpose = purpose;
    this.#composer.announce(banner);
  }

  #cancel() {
    const wasEdit = this.#purpose?.kind === "edit";
    this.#setPurpose();
    if (wasEdit) {
      this.#messenger.keptInTab?.remove("edit", this.#row.room);
      this.#restoreDraft();
    }
    this.#composer.focus();
  }

  #editLast() {
    const mayEdit = (/** @type {Message} */ { from, kind, forward, deleted }) =>
      from === this.#messenger.user && hasText({ kind }) && !forward && !deleted;
    const sent = this.#room?.pending.filter((one) => hasText(one) && one.state !== "refused");
    const last =
      sent?.map((one) => this.#arriving(one)).findLast(mayEdit) ??
      this.#conversation?.items.findLast(mayEdit);
    if (last?.seq) this.#act("edit", last.seq); // not before it is stored
  }

  /**
   * A message that is loaded, or an own one that is stored and about to arrive.
   * @param {number} seq
   * @returns {Message | undefined}
   */
  #message(seq) {
    const loaded = this.#conversation?.get(seq);
    const stored = loaded ? undefined : this.#room?.pending.find((one) => one.seq === seq);
    return stored ? this.#arriving(stored) : loaded;
  }

  /**
   * An own message that is not here yet, with the own changes of it.
   * @param {Pending} sent
   */
  #arriving(sent) {
    const { user: from } = this.#messenger;
    const { file: _, ...said } = sent;
    const message = /** @type {Message} */ ({ ...said, from, reactions: new Map() });
    const changes = (this.#room?.pending ?? []).filter(
      ({ target, state }) => target !== undefined && target === sent.seq && state !== "refused",
    );
    return foldPending(message, changes, from);
  }

  /** Keeps what one writes: a message for all tabs, an edit for this one. */
  #keepDraft() {
    if (!this.#row) return;
    const { kept, keptInTab } = this.#messenger;
    const { room } = this.#row;
    const { text } = this.#composer;
    if (this.#purpose?.kind === "edit")
      keptInTab?.set("edit", { seq: this.#purpose.seq, text }, room);
    else if (text.trim() === "") kept?.remove("draft", room);
    else kept?.set("draft", text, room);
  }

  #restoreDraft() {
    this.#composer.text = this.#messenger.kept?.get("draft", this.#row.room) ?? "";
    const edit = /** @type {{seq?: unknown, text?: unknown} | undefined} */ (
      this.#messenger.keptInTab?.value("edit", this.#row.room)
    );
    if (typeof edit?.seq === "number" && typeof edit.text === "string")
      this.#edit(edit.seq, edit.text);
  }

  /** The names of users that one may mention, by user. @returns {Map<string, string>} */
  #mentionable() {
    const { people, user: me } = this.#messenger;
    const users = [...(this.#room?.marks.keys() ?? []), ...people.known.keys()];
    return new Map(users.flatMap((one) => (one === me ? [] : [[one, people.name(one) ?? one]])));
  }

  // MARK: Actions on messages

  /** @type {Act} */
  async #act(action, key, detail, isOn) {
    const room = this.#room;
    if (!room) return;
    const isWriting = ["react", "reactions", "reply", "edit", "delete", "retry"].includes(action);
    if (isWriting && this.#composer.isLocked)
      return say("You cannot write in this room now.", this);
    if (action === "retry")
      return this.#isTaken(room.retry(String(key)), (why) => say(`Not sent: ${why}`, this));
    if (action === "discard") return room.discard(String(key));
    if (action === "expand" && key !== undefined) return this.#timeline.expand(key);
    const anchor = /** @type {HTMLElement} */ (detail);
    const seq = Number(key);
    const message = this.#message(seq);
    if (action === "show")
      this.#timeline.show(seq).then((row) => row?.focus({ preventScroll: true }));
    else if (action === "react")
      this.#isTaken(room.react(seq, String(detail), isOn), (why) =>
        say(`${refusals.react}: ${why}`, this),
      );
    else if (action === "view")
      opened(this, viewing, (part) => part.view(this, this.#conversation?.items ?? [], seq));
    else if (action === "forward")
      this.#messenger.forward?.({ room: room.name, seq, file: message?.file, text: message?.text });
    else if (action === "reply") {
      if (this.#purpose?.kind === "edit") this.#cancel();
      const name = message && (this.#messenger.people.name(message.from) ?? message.from);
      this.#setPurpose(
        { kind: "reply", seq },
        { title: `Reply to ${name}`, text: gist(message).slice(0, 200) },
      );
      this.#composer.focus();
    } else if (action === "edit") {
      this.#edit(seq, message?.text ?? "");
      this.#composer.focus();
    } else if (action === "delete") {
      const ask = (/** @type {typeof import("./actions.js")} */ { askToDelete }) =>
        message && askToDelete(this.#place, message);
      if (await opened(this, actions, ask))
        this.#isTaken(room.delete(seq), (why) => say(`${refusals.delete}: ${why}`, this));
      this.#timeline.enter();
    } else {
      const asked = {
        ...this.#place,
        message,
        anchor,
        canWrite: !this.#composer.isLocked,
        /** @type {Act} */
        act: (...action) => this.#act(...action),
      };
      await opened(
        this,
        actions,
        (part) => part.offer(action, asked),
        action === "reactions" ? "Name of an emoji" : undefined,
      );
    }
  }

  /** @param {KeyboardEvent} event @param {Shown} message */
  #rowKey(event, message) {
    const { seq } = message;
    const row = seq === undefined ? undefined : this.#timeline.row(seq);
    const anchor = /** @type {HTMLElement} */ (row?.querySelector(".bubble"));
    const isOwn = message.from === this.#messenger.user;
    const isText = hasText(message);
    if (event.key === "Escape") this.#composer.focus();
    else if (seq === undefined || message.deleted) return false;
    else if (!anchor) {
      if (event.key !== "Enter" || !isContent(message)) return false;
      this.#timeline.expand(seq);
    } else if (
      event.key === "Enter" ||
      event.key === "ContextMenu" ||
      (event.key === "F10" && event.shiftKey)
    )
      this.#act("menu", seq, anchor);
    else if (event.key === "v" && message.file?.thumbnail) this.#act("view", seq);
    else if (event.key === "r") this.#act("reply", seq);
    else if (event.key === "+" || event.key === ":") this.#act("reactions", seq, anchor);
    else if (event.key === "e" && isOwn && isText) this.#act("edit", seq);
    else if (event.key === "f" && this.#messenger.forward && isText) this.#act("forward", seq);
    else if (event.key === "Delete") this.#act("delete", seq);
    else return false;
    return true;
  }

  // MARK: Searching

  /** @param {string} [query] what is looked for at once */
  async openSearch(query) {
    await opened(
      this,
      searching,
      ({ searchBar }) => {
        if (!this.#search) {
          this.#search = searchBar(this.#searched, () => this.#composer.focus());
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
