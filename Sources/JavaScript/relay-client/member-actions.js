// What changes the settings and members of a room, and what is reported there. Loaded when it is
// needed.
import { messageOf } from "./fold.js";
import { settingsFields } from "./membership.js";
import { newId } from "./sender.js";

/** @import { Ack, Link, MemberOptions, Report, Role, RoomSettings, Wire } from "./types.js" */

export class MemberActions {
  #link;
  #room;

  /** @param {Link} link @param {string} room */
  constructor(link, room) {
    this.#link = link;
    this.#room = room;
  }

  /** @param {RoomSettings} settings @param {MemberOptions} [options] */
  change(settings, options) {
    return this.#notify(settingsFields(settings), options);
  }

  /** @param {string} user @param {Role} role @param {MemberOptions} [options] */
  setRole(user, role, { until, reason, signal } = {}) {
    const end = until && Number(until);
    return this.#notify({ kind: "member", user, role, until: end, reason }, { signal });
  }

  /** @param {number} seq @param {string} reason @param {{signal?: AbortSignal}} [options] */
  async report(seq, reason, options) {
    await this.#ask({ type: "report", seq, reason }, options);
  }

  /** @param {{signal?: AbortSignal}} [options] @returns {Promise<Report[]>} */
  async reports(options) {
    const { reports } = await this.#ask({ type: "reports" }, options);
    return reports.map((/** @type {any} */ { copy, ...report }) => ({
      ...report,
      copy: copy && messageOf(copy, this.#link),
    }));
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
    return this.#link.request({ room: this.#room, ...message }, signal);
  }
}

/**
 * Makes a room; see `Relay`.
 * @param {Link} link @param {RoomSettings} settings @param {string} room @param {AbortSignal} [signal]
 * @returns {Promise<Wire>} the ack, which has the name
 */
export const createRoom = (link, settings, room, signal) =>
  link.request({ type: "send", room, id: newId(), ...settingsFields(settings) }, signal);
