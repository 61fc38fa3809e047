// What one does with a message: by its buttons, its menu and keys.

import { unset } from "./dom.js";
import { opened } from "./opening.js";
import { say } from "./problems.js";
import { isContent } from "./relay-client/fold.js";
import { hasText, refusals } from "./writing.js";

/** @import { Place } from "./actions.js" */
/** @import { Shown } from "./row.js" */
/** @import { Timeline } from "./timeline.js" */
/** @import { Act, Scene } from "./types.js" */
/** @import { Writing } from "./writing.js" */

// What is not needed at once comes later.
const actions = () => import("./actions.js");
const viewing = () => import("./viewer.js");

export class MessageActions {
  /** @type {Scene} */
  #scene = unset();
  #near;
  #timeline;
  #writing;
  #place;

  /**
   * @param {HTMLElement} near the view
   * @param {Timeline} timeline
   * @param {Writing} writing
   * @param {() => Place} place
   */
  constructor(near, timeline, writing, place) {
    this.#near = near;
    this.#timeline = timeline;
    this.#writing = writing;
    this.#place = place;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.#scene = scene;
  }

  /** @type {Act} */
  act = async (action, key, detail, isOn) => {
    const room = this.#scene.conversation?.room;
    if (!room) return;
    const isWriting = ["react", "reactions", "reply", "edit", "delete", "retry"].includes(action);
    if (isWriting && this.#writing.composer.isLocked)
      return say("You cannot write in this room now.", this.#near);
    if (action === "retry")
      return this.#writing.isTaken(room.retry(String(key)), (why) =>
        say(`Not sent: ${why}`, this.#near),
      );
    if (action === "discard") return room.discard(String(key));
    if (action === "expand" && key !== undefined) return this.#timeline.expand(key);
    const anchor = /** @type {HTMLElement} */ (detail);
    const seq = Number(key);
    const message = this.#scene.conversation?.message(seq);
    if (action === "show")
      this.#timeline.show(seq).then((row) => row?.focus({ preventScroll: true }));
    else if (action === "react")
      this.#writing.isTaken(room.react(seq, String(detail), isOn), (why) =>
        say(`${refusals.react}: ${why}`, this.#near),
      );
    else if (action === "view")
      opened(this.#near, viewing, (part) =>
        part.view(this.#near, this.#scene.conversation?.items ?? [], seq),
      );
    else if (action === "forward")
      this.#scene.messenger.forward?.({
        room: room.name,
        seq,
        file: message?.file,
        text: message?.text,
      });
    else if (action === "reply") {
      if (message) this.#writing.reply(message);
    } else if (action === "edit") {
      this.#writing.edit(seq, message?.text ?? "");
      this.#writing.composer.focus();
    } else if (action === "delete") {
      const ask = (/** @type {typeof import("./actions.js")} */ { askToDelete }) =>
        message && askToDelete(this.#place(), message);
      if (await opened(this.#near, actions, ask))
        this.#writing.isTaken(room.delete(seq), (why) =>
          say(`${refusals.delete}: ${why}`, this.#near),
        );
      this.#timeline.enter();
    } else {
      const asked = {
        ...this.#place(),
        message,
        anchor,
        canWrite: !this.#writing.composer.isLocked,
        act: this.act,
      };
      await opened(
        this.#near,
        actions,
        (part) => part.offer(action, asked),
        action === "reactions" ? "Name of an emoji" : undefined,
      );
    }
  };

  /** @param {KeyboardEvent} event @param {Shown} message */
  key(event, message) {
    const { seq } = message;
    const row = seq === undefined ? undefined : this.#timeline.row(seq);
    const anchor = /** @type {HTMLElement} */ (row?.querySelector(".bubble"));
    const isOwn = message.from === this.#scene.messenger.user;
    const isText = hasText(message);
    if (event.key === "Escape") this.#writing.composer.focus();
    else if (seq === undefined || message.deleted) return false;
    else if (!anchor) {
      if (event.key !== "Enter" || !isContent(message)) return false;
      this.#timeline.expand(seq);
    } else if (
      event.key === "Enter" ||
      event.key === "ContextMenu" ||
      (event.key === "F10" && event.shiftKey)
    )
      this.act("menu", seq, anchor);
    else if (event.key === "v" && message.file?.thumbnail) this.act("view", seq);
    else if (event.key === "r") this.act("reply", seq);
    else if (event.key === "+" || event.key === ":") this.act("reactions", seq, anchor);
    else if (event.key === "e" && isOwn && isText) this.act("edit", seq);
    else if (event.key === "f" && this.#scene.messenger.forward && isText) this.act("forward", seq);
    else if (event.key === "Delete") this.act("delete", seq);
    else return false;
    return true;
  }
}
