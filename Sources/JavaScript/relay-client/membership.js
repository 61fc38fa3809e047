// What a room with settings and members of its own is, as `joined` tells it and entries change it.

/** @import { Entry, Role, RoomSettings, Wire } from "./types.js" */

/** What a new room is, besides what its first entry says. @type {RoomSettings} */
const usual = { access: "open", history: "all", post: "everyone", slowSeconds: 0 };

/** @param {any} object @returns {any} without fields that are undefined */
export const defined = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** The settings in an entry. @param {any} entry @returns {RoomSettings} */
export const settingsOf = ({ title, topic, access, history, post, slow_s: slowSeconds }) =>
  defined({ title, topic, access, history, post, slowSeconds });

/** What an entry makes of a user. @param {any} entry @returns {import("./types.js").MemberChange} */
export const memberOf = ({ user, role, until, reason }) => defined({ user, role, until, reason });

/** The fields of an entry with settings. @param {RoomSettings} settings */
export const settingsFields = ({ slowSeconds, ...settings }) =>
  defined({ kind: "settings", ...settings, slow_s: slowSeconds });

export class Membership {
  /** `undefined` for a room without. @type {RoomSettings | undefined} */
  settings;
  /** What the user is in the room. @type {Role | undefined} */
  role;
  /** Of a room of at most 50 members; by user. @type {Map<string, Role | undefined>} */
  members = new Map();
  #isSmall = false;
  /** `joined` has told what the entries up to this one have made of the room. */
  #knownTo = 0;

  /** @param {Wire} joined */
  join({ resume, head, title, topic, access, role, members }) {
    const isSameLog = resume === "ok" || resume === "truncated";
    this.settings = access && { ...(isSameLog && this.settings), title, topic, access };
    this.role = role;
    this.#isSmall = members !== undefined;
    this.members = new Map(
      members?.map((/** @type {{user: string, role?: Role}} */ { user, role }) => [user, role]),
    );
    this.#knownTo = head;
  }

  /**
   * Takes entries of the room, of any kind. Returns whether they have changed anything.
   * @param {Entry[]} entries @param {string | undefined} user the client's
   */
  take(entries, user) {
    let isChanged = false;
    for (const entry of entries) {
      if (entry.kind === "settings") this.#takeSettings(entry, user);
      else if (entry.kind === "member") this.#takeMember(memberOf(entry), entry.seq, user);
      else continue;
      isChanged = true;
    }
    return isChanged;
  }

  /** @param {Entry} entry @param {string | undefined} user */
  #takeSettings(entry, user) {
    const { title, topic, access, ...others } = settingsOf(entry);
    const isNews = entry.seq > this.#knownTo;
    this.settings = {
      ...(entry.seq === 1 && usual),
      ...this.settings,
      ...others,
      ...(isNews && defined({ title, topic, access })),
    };
    // Whoever makes a room owns it.
    if (entry.seq === 1) this.#takeMember({ user: entry.from, role: "owner" }, 1, user);
  }

  /**
   * @param {import("./types.js").MemberChange} change @param {number} seq
   * @param {string | undefined} user
   */
  #takeMember(change, seq, user) {
    if (seq <= this.#knownTo) return;
    if (change.user === user) this.role = change.role;
    if (!this.#isSmall) return;
    this.members = new Map(this.members);
    if (isOut(change.role)) this.members.delete(change.user);
    else this.members.set(change.user, change.role);
  }
}

/** Whether a user with this role is no member. @param {Role} role */
export const isOut = (role) => role === "none" || role === "banned";
