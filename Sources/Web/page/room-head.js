// The head of a conversation: who or what it is with, whether they are here, and what is wrong.

import { avatar } from "./avatars.js";
import { el, unset } from "./dom.js";
import { brief, plain, rest } from "./format.js";

/** @import { Room } from "./relay-client/room.js" */
/** @import { Messenger, Open } from "./types.js" */

export class RoomHead {
  picture = el("button", {
    type: "button",
    class: "person",
    tabIndex: -1,
    on: { click: () => this.#tell("person") },
  });
  titles;
  notice = el("div", { class: "notice", role: "status", hidden: true });
  #title = el("h1", { dir: "auto" });
  #subtitle = el("p", { class: "subtitle" });
  #members = el("button", {
    type: "button",
    class: "members",
    hidden: true,
    on: { click: () => this.#tell("members") },
  });
  #topic = el("p", { class: "subtitle topic", dir: "auto", hidden: true });
  /** @type {Messenger} */
  #messenger = unset();
  /** @type {Open} */
  #row = unset();
  /** @type {Room | undefined} */
  #room;
  /** Why one is no member any more. */
  departure = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #tell;

  /**
   * @param {(what: "person" | "members", anchor: HTMLElement) => void} ask when one points to the
   *   picture, or to the number of members
   */
  constructor(ask) {
    this.titles = el(
      "div",
      { class: "titles" },
      this.#title,
      this.#subtitle,
      el("div", { class: "facts" }, this.#members, this.#topic),
    );
    this.#tell = (/** @type {"person" | "members"} */ what) =>
      ask(what, what === "person" ? this.picture : this.#members);
  }

  /**
   * @param {Messenger} messenger
   * @param {Open} row
   * @param {Room} room
   */
  open(messenger, row, room) {
    this.#messenger = messenger;
    this.#row = row;
    this.#room = room;
    this.departure = "";
    this.show();
    this.showNotice();
  }

  close() {
    clearTimeout(this.#timer);
    this.#room = undefined;
  }

  /** @param {string} [title] another one */
  show(title = this.#row.title) {
    this.#row = { ...this.#row, title };
    const { people, pictures } = this.#messenger;
    const { peer, room } = this.#row;
    this.#title.textContent = plain(title);
    this.picture.hidden = false;
    this.picture.disabled = peer === undefined;
    this.picture.setAttribute("aria-label", peer === undefined ? "Room" : `About ${plain(title)}`);
    this.picture.replaceChildren(
      peer === undefined
        ? avatar(room, title, undefined, { room: true })
        : avatar(
            peer,
            people.name(peer) ?? peer,
            people.known.get(peer)?.avatar ? pictures : undefined,
          ),
    );
    this.showSubtitle();
  }

  showSubtitle() {
    const { people, user: me } = this.#messenger;
    const { peer } = this.#row;
    const typists = [...(this.#room?.typists ?? [])]
      .filter((user) => user !== me)
      .map((user) => plain(people.name(user) ?? user));
    this.#subtitle.classList.toggle("typing", typists.length > 0);
    const members = this.#room?.members.size ?? 0;
    const topic = plain(this.#room?.settings?.topic ?? "");
    this.#topic.hidden = typists.length > 0 || topic === "";
    this.#topic.textContent = this.#topic.title = topic;
    this.#members.hidden = typists.length > 0 || peer !== undefined || members === 0;
    this.#members.textContent = `${members} ${members === 1 ? "member" : "members"}`;
    this.#subtitle.hidden = !this.#members.hidden;
    if (typists.length > 0) {
      this.#subtitle.textContent =
        peer !== undefined
          ? "typing…"
          : typists.length > 2
            ? `${typists.length} people are typing…`
            : `${typists.join(" and ")} ${typists.length > 1 ? "are" : "is"} typing…`;
    } else if (peer !== undefined) {
      const presence = people.presence(peer);
      const seen = people.lastSeen(peer);
      const what = this.#messenger.relay.blocks.has(peer)
        ? "blocked"
        : people.known.get(peer)?.bot
          ? "bot"
          : presence === "online"
            ? "online"
            : presence === "away"
              ? "away"
              : seen
                ? `last seen ${brief(seen)}`
                : (presence ?? "");
      // Several people may have the same name.
      this.#subtitle.textContent = what ? `@${peer} · ${what}` : `@${peer}`;
    } else this.#subtitle.textContent = "";
  }

  /** Says what is wrong with the connection or the room. */
  showNotice() {
    clearTimeout(this.#timer);
    const { relay } = this.#messenger;
    const { state, retryAt, why } = relay.health;
    // An attempt may fail at once: what changed its height twice in one frame would move the
    // messages.
    if (state === "connecting" && !this.notice.hidden && this.#room?.state !== "refused") return;
    let text = "";
    /** @type {HTMLElement | undefined} */
    let button;
    if (this.departure) text = this.departure;
    else if (this.#room?.state === "refused")
      text = `This conversation cannot be opened: ${plain(this.#room.error?.message ?? "")}`;
    else if (state === "waiting") {
      const left = (retryAt ?? 0) - Date.now();
      const next = left > 0 ? ` Next attempt in ${rest(left)}.` : "";
      text = `No connection.${next} What you write is sent as soon as there is one.`;
      button = el(
        "button",
        { type: "button", class: "link", on: { click: () => relay.retry() } },
        "Try now",
      );
      this.#timer = setTimeout(() => this.showNotice(), 1000);
    } else if (state === "ended") text = `Disconnected: ${plain(why ?? "the session has ended")}`;
    const key = `${text}${Boolean(button)}`;
    if (this.notice.dataset.key === key) return;
    this.notice.dataset.key = key;
    this.notice.hidden = text === "";
    this.notice.replaceChildren(text, button ? " " : "", button ?? "");
  }
}
