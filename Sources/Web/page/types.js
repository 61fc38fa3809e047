// What the parts of a conversation share, as types.

/** @import { Announcer } from "./announcer.js" */
/** @import { Pictures } from "./avatars.js" */
/** @import { Conversation } from "./conversation.js" */
/** @import { Kept } from "./kept.js" */
/** @import { Muted } from "./muted.js" */
/** @import { People } from "./people.js" */
/** @import { Relay } from "./relay-client/relay.js" */
/** @import { Message } from "./relay-client/types.js" */

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

/**
 * What is open in a view. It stays known once it is closed, but for the conversation, until another one is open.
 * @typedef {object} Scene
 * @property {Messenger} messenger
 * @property {Open} row
 * @property {Conversation} [conversation]
 * @property {AbortSignal} ended
 */

export {};
