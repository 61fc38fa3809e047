// What a program changes in a room: what it sends, and the settings and members.
import { checkedContent, checkedEmoji, checkedFile, checkedText } from "./check.js";
import { Emitter } from "./emitter.js";
import { RelayError } from "./errors.js";
import { Membership } from "./membership.js";

/** @import { Sender } from "./sender.js" */
/** @import { Ack, Content, Departure, Event, FileOptions, Link, MemberOptions } from "./types.js" */
/** @import { Report, Role, RoomSettings, SendOptions } from "./types.js" */

const typingPauseMs = 3000;

/**
 * What `Room` is built on.
 * @template {Record<string, any>} Events
 * @extends {Emitter<Events>}
 */
export class MemberRoom extends Emitter {
  /** The entry that has ended the membership. @type {Departure | undefined} */
  departure;
  /** For `Room`. */
  membership = new Membership();
  /**
   * Accepts a direct room that a stranger has begun. `Relay` sets it.
   * @type {(options?: {signal?: AbortSignal}) => Promise<void>}
   */
  accept = /** @type {any} */ (undefined);
  #link;
  #sender;
  #typedAt = 0;

  /** @param {Link} link @param {Sender} sender @param {string} name */
  constructor(link, sender, name) {
    super();
    this.#link = link;
    this.#sender = sender;
    this.name = name;
  }

  // MARK: Sending

  /** @param {Content} content @param {SendOptions} [options] */
  send(content, options = {}) {
    return this.#send((limits) => checkedContent(content, options, limits), options);
  }

  /**
   * Sends a file, in its place among what is sent: what follows waits until it is uploaded.
   * @param {Blob | import("./types.js").SharedFile} file one of a message is sent on, without an upload
   * @param {FileOptions} [options]
   */
  sendFile(file, options = {}) {
    return this.#send((limits) => checkedFile(file, options, limits), options);
  }

  /** @param {number} target @param {string} text @param {SendOptions} [options] */
  edit(target, text, options) {
    return this.#send(
      (limits) => ({ kind: "edit", target, text: checkedText(text, limits) }),
      options,
    );
  }

  /** @param {number} target @param {SendOptions} [options] */
  delete(target, options) {
    return this.#send(() => ({ kind: "delete", target }), options);
  }

  /**
   * @param {number} target
   * @param {string} emoji
   * @param {boolean} [on]
   * @param {SendOptions} [options]
   */
  react(target, emoji, on = true, options) {
    return this.#send(() => ({ kind: "react", target, emoji: checkedEmoji(emoji), on }), options);
  }

  /** The person types, or has stopped. @param {boolean} [on] */
  typing(on = true) {
    const now = Date.now();
    if (on ? now - this.#typedAt < typingPauseMs : this.#typedAt === 0) return;
    this.#typedAt = on ? now : 0;
    this.#link.post({ type: "typing", room: this.name, on });
  }

  /** @param {(limits?: any) => Record<string, any>} fields @param {SendOptions} [options] */
  #send(fields, options) {
    this.#typedAt = 0; // an entry ends typing
    return this.#sender.send(this.name, fields, options);
  }

  // MARK: Settings and members

  /** `undefined` for a room without. */
  get settings() {
    return this.membership.settings;
  }

  /** What the user is in the room. */
  get role() {
    return this.membership.role;
  }

  /** The roles of the members, of a room of at most 50. */
  get members() {
    return this.membership.members;
  }

  /**
   * @param {RoomSettings} settings those that are to be others @param {MemberOptions} [options]
   * @returns {Promise<Ack>}
   */
  async change(settings, options) {
    return (await this.#act()).change(settings, options);
  }

  /** @param {string} user @param {MemberOptions & {role?: Role}} [options] */
  invite(user, { role = "member", ...options } = {}) {
    return this.setRole(user, role, options);
  }

  /** @param {string} user @param {MemberOptions} [options] */
  remove(user, options) {
    return this.setRole(user, "none", options);
  }

  /** @param {string} user @param {MemberOptions} [options] */
  ban(user, options) {
    return this.setRole(user, "banned", options);
  }

  /** @param {string} user @param {MemberOptions} [options] */
  mute(user, options) {
    return this.setRole(user, "muted", options);
  }

  /**
   * @param {string} user @param {Role} role @param {MemberOptions} [options]
   * @returns {Promise<Ack>}
   */
  async setRole(user, role, options) {
    return (await this.#act()).setRole(user, role, options);
  }

  /**
   * Tells the moderators of the room of an entry.
   * @param {number} seq @param {string} reason @param {{signal?: AbortSignal}} [options]
   */
  async report(seq, reason, options) {
    await (await this.#act()).report(seq, reason, options);
  }

  /**
   * What was reported, for a moderator.
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Report[]>}
   */
  async reports(options) {
    return (await this.#act()).reports(options);
  }

  async #act() {
    const { MemberActions } = await import("./member-actions.js"); // most programs do not need it
    return new MemberActions(this.#link, this.name);
  }

  /** For `Room`: an entry has ended the membership. @param {Event} left */
  depart({ seq, by, role, reason }) {
    this.departure = { seq, by, role, reason };
    return new RelayError("departed", `${by} has ended your membership.`);
  }
}
