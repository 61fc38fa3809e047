// What one writes in a conversation: messages, files, answers, edits and commands, and their drafts.

import { Composer } from "./composer.js";
import { el, unset } from "./dom.js";
import { plain } from "./format.js";
import { opened } from "./opening.js";
import { load, markTold } from "./problems.js";
import { gist } from "./row.js";
import { isCommand, unescaped } from "./slash.js";

/** @import { Place } from "./actions.js" */
/** @import { Conversation } from "./conversation.js" */
/** @import { Room } from "./relay-client/room.js" */
/** @import { Message, Sending } from "./relay-client/types.js" */
/** @import { Timeline } from "./timeline.js" */
/** @import { Scene } from "./types.js" */

// What is not needed at once comes later.
const attaching = () => import("./attachments.js");
const recording = () => import("./recorder.js");

export const refusals = {
  edit: "The edit was not accepted",
  delete: "The message was not deleted",
  react: "The reaction was not accepted",
};

/** Whether it has a text of its sender, which can be edited. @param {{kind: string}} message */
export const hasText = ({ kind }) => kind === "text" || kind === "file";

/**
 * What commands do elsewhere in the view.
 * @typedef {object} Host
 * @property {Timeline} timeline
 * @property {() => Place} place
 * @property {(query: string) => void} search
 * @property {() => void} leave
 */

export class Writing {
  composer = new Composer();
  /** @type {Scene} */
  #scene = unset();
  /** @type {{kind: "reply" | "edit", seq: number} | undefined} */
  #purpose;
  #near;
  #host;

  /** @param {HTMLElement} near the view @param {Host} host */
  constructor(near, host) {
    this.#near = near;
    this.#host = host;
    this.composer.addEventListener("send", () => this.#send(this.composer.text));
    this.composer.addEventListener("typing", () => {
      if (this.#purpose?.kind !== "edit") this.#room?.typing();
    });
    this.composer.addEventListener("change", () => this.#keepDraft());
    this.composer.addEventListener("cancel", () => this.cancel());
    this.composer.addEventListener("edit-last", () => this.#editLast());
    this.composer.addEventListener("attach", () => this.#chooseFiles());
    this.composer.addEventListener("record", () => this.#record());
    this.composer.mentions = () => this.#mentionable();
  }

  get #room() {
    return this.#scene?.conversation?.room;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.#scene = scene;
    this.#restoreDraft();
  }

  close() {
    this.#keepDraft();
    this.#setPurpose();
  }

  /** Writes an answer. @param {Message} message */
  reply(message) {
    if (this.#purpose?.kind === "edit") this.cancel();
    const { people } = this.#scene.messenger;
    this.#setPurpose(
      { kind: "reply", seq: message.seq },
      {
        title: `Reply to ${people.name(message.from) ?? message.from}`,
        text: gist(message).slice(0, 200),
      },
    );
    this.composer.focus();
  }

  /** @param {string} text */
  #send(text) {
    const room = this.#room;
    if (!room || this.composer.isLocked) return;
    const purpose = this.#purpose;
    const isEdit = purpose?.kind === "edit";
    const options = purpose ? { replyTo: purpose.seq } : {};
    const files = isEdit ? [] : this.composer.takeFiles();
    if (files.length > 0) return this.#sendFiles(files, text, options);
    if (!isEdit) {
      if (isCommand(text)) return this.#perform(text);
      text = unescaped(text);
    }
    if (!isEdit || text !== this.#scene.conversation?.message(purpose.seq)?.text) {
      const sending = isEdit ? room.edit(purpose.seq, text) : room.send(text, options);
      if (!this.isTaken(sending, (why) => this.composer.say(`Not sent: ${why}`))) return;
    }
    if (!isEdit) this.composer.text = "";
    this.cancel();
    this.#keepDraft();
  }

  /** @param {File[]} files */
  async attach(files) {
    if (this.composer.isLocked) return;
    const part = await load(attaching, this.#near);
    this.composer.attach(part, files, this.#scene.messenger.relay.limits?.file_bytes);
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
    const { ended } = this.#scene;
    // What is recorded for another conversation than the one that is open then is not wanted.
    const take = (/** @type {File} */ file) => !ended.aborted && this.attach([file]);
    return opened(this.#near, recording, ({ record }) => record(this.#near, take));
  }

  /**
   * Sends files in their order; the text is the caption of the last one.
   * @param {File[]} files @param {string} text
   * @param {import("./relay-client/types.js").SendOptions} options
   */
  async #sendFiles(files, text, options) {
    const room = /** @type {Room} */ (this.#room);
    const { sendable } = await load(attaching, this.#near); // it is here
    for (const [index, file] of files.entries()) {
      const caption = index === files.length - 1 ? text.trim() : "";
      const sending = room.sendFile(file, { name: sendable(file.name), text: caption, ...options });
      if (!this.isTaken(sending, (why) => this.composer.say(`Not sent: ${why}`))) {
        this.attach(files.slice(index));
        return;
      }
    }
    this.composer.text = "";
    this.cancel();
    this.#keepDraft();
  }

  /**
   * Performs a command. A text that is none stays where it was written, and is never sent.
   * @param {string} text
   */
  async #perform(text) {
    const conversation = /** @type {Conversation} */ (this.#scene.conversation);
    const { perform } = await load(() => import("./commands.js"), this.#near);
    if (conversation !== this.#scene.conversation || this.composer.text !== text) return; // one writes on
    await perform(text.trim(), {
      messenger: this.#scene.messenger,
      row: this.#scene.row,
      conversation,
      timeline: this.#host.timeline,
      target: this.#purpose?.seq,
      place: this.#host.place(),
      done: () => {
        this.composer.text = "";
        this.cancel();
        this.#keepDraft();
      },
      say: (sentence) => this.composer.say(sentence),
      send: (words) => this.#sendWords(words),
      search: (query) => this.#host.search(query),
      leave: () => this.#host.leave(),
    });
  }

  /**
   * Sends the text of a command; one that cannot be sent is where it was written.
   * @param {string} words
   */
  #sendWords(words) {
    const room = this.#room;
    if (!room) return;
    this.isTaken(room.send(words), (why) => {
      this.composer.text = words;
      this.composer.say(`Not sent: ${why}`);
    });
  }

  /**
   * Whether an entry is on its way. If not, says why at once, and the text stays where it is. What
   * the relay refuses is told by its row, or by `tellRefused`.
   * @param {Sending} sending
   * @param {(why: string) => void} refuse
   */
  isTaken(sending, refuse) {
    const { error } = sending.local;
    sending.catch(markTold);
    if (error) refuse(plain(error.message));
    return error === undefined;
  }

  /**
   * Changes are shown at once; those that were refused are as before, and a sentence says why, as
   * soon as one looks.
   */
  async tellRefused() {
    const refused = this.#room?.pending.some(
      ({ kind, state }) => state === "refused" && kind in refusals,
    );
    if (!refused || document.visibilityState !== "visible") return;
    const until = this.#scene.ended;
    const { tellRefused } = await load(() => import("./refused.js"), this.#near);
    if (!this.#room || until.aborted) return;
    tellRefused(this.#room, refusals, {
      near: this.#near,
      until,
      isFree: () => !this.#purpose && this.composer.text.trim() === "",
      edit: (seq, text) => this.edit(seq, text),
    });
  }

  /**
   * Edits a message, in place of what one writes: that comes back afterwards.
   * @param {number} seq
   * @param {string} text
   */
  edit(seq, text) {
    if (this.#purpose?.kind !== "edit") this.#keepDraft();
    this.#setPurpose({ kind: "edit", seq }, { title: "Edit your message", text: "Escape cancels" });
    this.composer.text = text;
    this.#keepDraft();
  }

  /**
   * @param {{kind: "reply" | "edit", seq: number}} [purpose]
   * @param {{title: string, text: string}} [banner]
   */
  #setPurpose(purpose, banner) {
    this.#purpose = purpose;
    this.composer.announce(banner);
  }

  cancel() {
    const wasEdit = this.#purpose?.kind === "edit";
    this.#setPurpose();
    if (wasEdit) {
      this.#scene.messenger.keptInTab?.remove("edit", this.#scene.row.room);
      this.#restoreDraft();
    }
    this.composer.focus();
  }

  #editLast() {
    const mayEdit = (/** @type {Message} */ { from, kind, forward, deleted }) =>
      from === this.#scene.messenger.user && hasText({ kind }) && !forward && !deleted;
    const sent = this.#room?.pending.filter((one) => hasText(one) && one.state !== "refused");
    const last =
      sent
        ?.map((one) => /** @type {Conversation} */ (this.#scene.conversation).arriving(one))
        .findLast(mayEdit) ?? this.#scene.conversation?.items.findLast(mayEdit);
    if (!last?.seq) return; // not before it is stored
    this.edit(last.seq, last.text ?? "");
    this.composer.focus();
  }

  /** Keeps what one writes: a message for all tabs, an edit for this one. */
  #keepDraft() {
    if (!this.#scene) return;
    const { kept, keptInTab } = this.#scene.messenger;
    const { room } = this.#scene.row;
    const { text } = this.composer;
    if (this.#purpose?.kind === "edit")
      keptInTab?.set("edit", { seq: this.#purpose.seq, text }, room);
    else if (text.trim() === "") kept?.remove("draft", room);
    else kept?.set("draft", text, room);
  }

  #restoreDraft() {
    this.composer.text = this.#scene.messenger.kept?.get("draft", this.#scene.row.room) ?? "";
    const edit = /** @type {{seq?: unknown, text?: unknown} | undefined} */ (
      this.#scene.messenger.keptInTab?.value("edit", this.#scene.row.room)
    );
    if (typeof edit?.seq === "number" && typeof edit.text === "string")
      this.edit(edit.seq, edit.text);
  }

  /** The names of users that one may mention, by user. @returns {Map<string, string>} */
  #mentionable() {
    const { people, user: me } = this.#scene.messenger;
    const users = [...(this.#room?.marks.keys() ?? []), ...people.known.keys()];
    return new Map(users.flatMap((one) => (one === me ? [] : [[one, people.name(one) ?? one]])));
  }
}
