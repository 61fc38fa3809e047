// The settings and members of a room, what changes them, and what is reported there.
import { Emitter } from "./emitter.js";
import { RelayError } from "./errors.js";
import { Membership, settingsFields } from "./membership.js";
import { newId } from "./sender.js";

/** @import { Ack, Departure, Event, Link, MemberOptions, Report, Role } from "./types.js" */
/** @import { RoomSettings, Wire } from "./types.js" */

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

  /** @param {Link} link @param {string} name */
  constructor(link, name) {
    super();
    this.#link = link;
    this.name = name;
  }

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

  /** @param {RoomSettings} settings those that are to be others @param {MemberOptions} [options] */
  change(settings, options) {
    return this.#notify(settingsFields(settings), options);
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

  /** @param {string} user @param {Role} role @param {MemberOptions} [options] */
  setRole(user, role, { until, reason, signal } = {}) {
    const end = until && Number(until);
    return this.#notify({ kind: "member", user, role, until: end, reason }, { signal });
  }

  /**
   * Tells the moderators of the room of an entry.
   * @param {number} seq @param {string} reason @param {{signal?: AbortSignal}} [options]
   */
  async report(seq, reason, options) {
    await this.#ask({ type: "report", seq, reason }, options);
  }

  /**
   * What was reported, for a moderator.
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Report[]>}
   */
  async reports(options) {
    const { withCopies } = await import("./iteration.js"); // most programs do not need it
    return withCopies(await this.#ask({ type: "reports" }, options));
  }

  /**
   * Sends an entry that the program does not keep: a person waits for its outcome.
   * @param {Record<string, any>} fields @param {MemberOptions} [options]
   * @returns {Promise<Ack>}
   */
  async #notify(fields, options) {
    const { seq, at } = await this.#ask({ type: "send", id: newId(), ...fields }, options);
    return { seq, at };
  }

  /** @param {Wire} message @param {{signal?: AbortSignal}} [options] */
  #ask(message, { signal } = {}) {
    return this.#link.request({ room: this.name, ...message }, signal);
  }

  /** For `Room`: an entry has ended the membership. @param {Event} left */
  depart({ seq, by, role, reason }) {
    this.departure = { seq, by, role, reason };
    return new RelayError("departed", `${by} has ended your membership.`);
  }
}
