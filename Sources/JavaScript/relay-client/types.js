// The types of relay-client, as JSDoc: no program loads this file. `../../../docs/javascript.md`
// explains them.

/**
 * @typedef {object} Options
 * @property {string} [user] the name, on a relay that uses no tokens
 * @property {GetToken} [getToken] called before each connection and before a token expires
 * @property {string} [account] on a relay with accounts, the user that the cookie of this browser has
 *   to name: otherwise the client ends with `other_user`, and sends nothing
 * @property {Store} [store] by default memory: what it keeps ends with the program
 * @property {AbortSignal} [signal] closes the client, as `close()` does
 * @property {WebSocketClass} [WebSocket] where none is built in: Node before 22, with the package
 *   `ws`
 * @property {typeof fetch} [fetch]
 * @property {TransportName[]} [transports] the ladder, best first; by default all
 * @property {Partial<Timing>} [timing] for tests
 */

/**
 * Returns a token. Throws `Unauthorized` if there will be none: the client then ends. Any other
 * error is temporary: it is called again after a pause.
 * @callback GetToken
 * @param {{signal: AbortSignal, rejected?: string}} context `rejected` is the token that the relay
 *   refused last
 * @returns {string | Promise<string>}
 */

/** @typedef {"websocket" | "stream" | "poll"} TransportName */
/** @typedef {new (url: string, protocols?: string | string[]) => any} WebSocketClass */

/**
 * @typedef {object} Health
 * @property {"connecting" | "online" | "waiting" | "ended"} state `waiting` is the pause before the
 *   next attempt
 * @property {TransportName} transport the one in use, or tried next
 * @property {string} [why] a reason for a person: why it waits, has ended, or uses a lesser
 *   transport
 * @property {number} since when `state` or `transport` changed last, in milliseconds since 1970
 * @property {number} [retryAt] when the next attempt begins, while `waiting`
 * @property {number} [roundTripMs] of the last ping that was answered in time, on this connection
 * @property {number} [unansweredMs] for how long the oldest ping or request has had no answer, while
 *   the page is visible
 */

/**
 * What a room shows: a text or data, in its current state. A change makes a new object.
 * @typedef {object} Message
 * @property {string} room
 * @property {number} seq
 * @property {string} id
 * @property {string} from
 * @property {number} at when the relay accepted it, in milliseconds since 1970
 * @property {"text" | "data" | "file" | "settings" | "member" | "hidden"} kind `settings` and `member` tell
 *   that the room has changed, or a member of it; a `hidden` one is of a user that this one has
 *   blocked, and has no `id`, no `from` and no text
 * @property {string} [text] `""` if it was deleted; of a file, its caption
 * @property {any} [data]
 * @property {SharedFile} [file] absent if it was deleted
 * @property {RoomSettings} [settings] of kind `settings`: those that it has changed
 * @property {MemberChange} [member] of kind `member`
 * @property {number} [replyTo] the `seq` of the message to which it replies
 * @property {{room: string, seq: number, from: string}} [forward] the origin of a forwarded text
 * @property {number} [editedAt]
 * @property {boolean} [deleted]
 * @property {string} [deletedBy] the moderator who has deleted it; absent if that is its sender
 * @property {Map<string, string[]>} reactions users by emoji
 * @property {Map<string, number>} [reactionsMore] how many further users, by emoji
 * @property {Pending[]} [pending] own edits, deletions and reactions that are shown already, and are
 *   not in the log yet
 */

/**
 * An own entry that is not acknowledged yet, or was refused.
 * @typedef {object} Pending
 * @property {string} room
 * @property {string} id becomes the `id` of the message
 * @property {number} at when it was written, by the local clock
 * @property {EntryKind} kind
 * @property {string} [text]
 * @property {any} [data]
 * @property {string} [name] of a file
 * @property {Blob} [upload] the file, if the relay did not have it
 * @property {string} [file] the id of the file, once the relay has it
 * @property {string} [begun] the id of its upload
 * @property {number} [replyTo]
 * @property {{room: string, seq: number}} [forward]
 * @property {number} [target] of an edit, a deletion, a reaction
 * @property {string} [emoji]
 * @property {boolean} [on]
 * @property {"queued" | "stored" | "refused"} state `stored`: acknowledged, and about to come as a
 *   message
 * @property {number} [seq] once it is stored
 * @property {import("./errors.js").RelayError} [error] why it was refused
 */

/** @typedef {"text" | "data" | "file" | "edit" | "delete" | "react"} EntryKind */

/**
 * A file of a message. The last four are known of pictures, and of sounds and films, by their content.
 * @typedef {object} SharedFile
 * @property {string} id
 * @property {string} name
 * @property {number} size in bytes
 * @property {string} mediaType
 * @property {number} [width] in pixels
 * @property {number} [height]
 * @property {number} [durationMs]
 * @property {{width: number, height: number, placeholder: string}} [thumbnail]
 * @property {(savedAs?: string) => Promise<string>} url an address for a moment, from which the file can be loaded; with a
 *   name, a browser saves it under that one, and does not show it
 * @property {() => Promise<string>} thumbnailUrl
 */

/** @typedef {{room: string, id: string, sent: number, size: number}} Progress of a file, in bytes */
/**
 * @typedef {SendOptions & {name?: string, text?: string, onProgress?: (progress: Progress) => void}}
 *   FileOptions `text` is the caption
 */

/**
 * @typedef {object} Ack
 * @property {number} seq
 * @property {number} [at] by the relay's clock
 */

/** @typedef {Promise<Ack> & {local: Pending}} Sending `local` is there at once */
/**
 * @typedef {string | {text: string} | {data: any} | {forward: {room: string, seq: number}}} Content
 */
/** @typedef {{replyTo?: number, signal?: AbortSignal}} SendOptions */
/** @typedef {{limit?: number, signal?: AbortSignal}} PageOptions */

/**
 * @typedef {object} Page
 * @property {Message[]} messages in rising `seq`
 * @property {number} first the oldest `seq` that the relay keeps
 * @property {number} head the newest `seq` in the room
 * @property {boolean} older whether there are older messages
 * @property {boolean} newer
 */

/**
 * @typedef {object} RoomOptions
 * @property {number} [backlog] how many of the newest entries to begin with if the store has none;
 *   100 by default
 * @property {number} [after] begins after this entry if the store has none, without backlog; 0: all
 *   of the room
 */

/** @typedef {{read: number, received: number}} Marks */

/**
 * `none`: has left, or was removed; `muted`: a member who may read, and not send.
 * @typedef {"owner" | "moderator" | "member" | "muted" | "none" | "banned"} Role
 */

/**
 * @typedef {object} RoomSettings
 * @property {string} [title] 1 to 100 characters
 * @property {string} [topic] up to 1,000 characters
 * @property {"open" | "private"} [access]
 * @property {"all" | "joined"} [history] what members may read: all, or what came since they joined
 * @property {"everyone" | "moderators"} [post] who may send
 * @property {number} [slowSeconds] between two texts of a member; 0 to 3,600
 */

/**
 * @typedef {{user: string, role: Role, until?: number, reason?: string}} MemberChange `until` is in
 *   milliseconds since 1970
 */
/** @typedef {{until?: Date | number, reason?: string, signal?: AbortSignal}} MemberOptions */

/**
 * The entry that has ended a membership.
 * @typedef {{seq: number, by: string, role?: Role, reason?: string}} Departure without a role the
 *   room has become private
 */

/**
 * @typedef {object} RoomRow
 * @property {string} room
 * @property {string} title
 * @property {string} [topic]
 * @property {"open" | "private"} [access] absent for a room without settings
 * @property {Role} [role] of the user
 * @property {number} head
 * @property {number} read
 * @property {number} unread
 * @property {boolean} [unreadMore] there may be more
 * @property {boolean} [listed]
 * @property {string} [peer] of a direct room
 * @property {boolean} [request] a stranger has begun it, and it is not accepted yet
 * @property {string} [avatar] of the peer
 * @property {Message} [last]
 */

/**
 * A message that a member has reported.
 * @typedef {object} Report
 * @property {string} room
 * @property {number} seq of the entry
 * @property {string} by
 * @property {string} reason
 * @property {number} at in milliseconds since 1970
 * @property {Message} [copy] the message as it was; absent once it is not kept any more
 */

/** @typedef {"online" | "away" | "offline"} PresenceName */
/** @typedef {{user: string, presence: PresenceName, lastSeen?: number}} Presence */

/**
 * @typedef {object} Person
 * @property {string} user
 * @property {string} name
 * @property {string} [avatar]
 * @property {PresenceName} presence
 * @property {number} [lastSeen]
 * @property {boolean} [bot]
 * @property {string} [room] the direct room; absent if there can be none
 */

/**
 * @typedef {object} PeoplePage
 * @property {Person[]} people
 * @property {string} [next] the cursor of the next page; absent at the end
 * @property {string} source
 * @property {number} asOf when the list was read, in milliseconds since 1970
 */

/**
 * Keeps what must survive: entries with the cursor up to which they go, and the outbox. Serves one
 * client at a time, and one user.
 * @typedef {object} Store
 * @property {() => Promise<Stored>} open reads what an earlier client has left
 * @property {(change: Change) => Promise<void>} commit makes all of a change durable, or nothing of
 *   it
 * @property {(room: string, range: {before?: number, limit: number}) => Promise<Entry[]>} entries
 *   the
 *   newest before `before`, in rising `seq`
 * @property {() => Promise<void>} close
 * @property {import("./line-backup.js").LineBackup} [backup] keeps a line from the turn in which it
 *   is shown until it is committed; `open` gives what a page has left there as part of the outbox
 */

/**
 * @typedef {{user?: string, cursors: Cursor[], outbox: Line[]}} Stored the outbox is in its order
 */

/**
 * A change of the store. It is applied in the order of the fields.
 * @typedef {object} Change
 * @property {string} [user]
 * @property {{room: string, after: number}[]} [drop] removes the entries of a room beyond `after`
 * @property {string[]} [forget] removes these rooms
 * @property {Entry[]} [entries]
 * @property {Cursor[]} [cursors]
 * @property {Line[]} [outbox] appends lines, or replaces those with the same `id`
 * @property {string[]} [settled] removes lines by id
 */

/**
 * @typedef {{room: string, last: number, lineage: Epoch[]}} Cursor the last entry that is stored,
 *   and of which log
 */
/** @typedef {{epoch: string, after: number}} Epoch */
/**
 * @typedef {{type: "send", room: string, id: string, at: number, kind: EntryKind,
 *   upload?: Blob, begun?: string, refused?: Record<string, any>} & Record<string, any>} Line `upload`
 *   is a file that the relay does not have yet, `begun` the id of its upload, and `refused` the
 *   relay's `error`
 */

/**
 * An entry as the relay sends it: a `message` of relay.v1.
 * @typedef {{room: string, seq: number, id: string, from: string, at: number, kind: string} &
 *   Record<string, any>} Entry
 */

// Between the modules:

/**
 * What a request beside the connection needs.
 * @typedef {{base: URL, user?: string, token?: string, fetch: typeof globalThis.fetch,
 *   signal: AbortSignal}} Access `signal` ends with the client
 */

/** @typedef {{type: string} & Record<string, any>} Wire a message of relay.v1 */

/**
 * @typedef {object} Timing
 * @property {number} welcomeMs patience for `welcome`
 * @property {number} pongMs patience for the answer to a ping
 * @property {number} probeMs how often the round trip is measured while a person looks
 * @property {number} goodMs a connection that lasted this long shows that its transport works
 * @property {number} climbMs how often a better transport is tried
 * @property {number} pauseMs the longest first pause between attempts; each failure doubles it
 * @property {number} longestPauseMs
 */

/**
 * @typedef {object} TransportContext
 * @property {URL} base the relay's address, `http:` or `https:`, with a slash at the end
 * @property {string} [user]
 * @property {string} [token]
 * @property {any} WebSocket
 * @property {typeof globalThis.fetch} fetch
 * @property {() => void} opened
 * @property {(message: Wire) => void} receive
 * @property {(code: number, why?: string, isFit?: boolean) => void} closed `isFit`: the transport
 *   works here; by default it does once there was a `welcome`
 * @property {Timing} timing
 */

/** @typedef {{send(message: Wire, text: string): void, close(code: number): void}} Transport */
/** @typedef {(context: TransportContext) => Transport} OpenTransport */

/**
 * @typedef {object} SessionOptions
 * @property {URL} base
 * @property {string} [user]
 * @property {string} [token]
 * @property {any} WebSocket
 * @property {typeof globalThis.fetch} fetch
 * @property {Timing} timing
 * @property {() => Promise<string | undefined>} [getToken]
 * @property {(session: import("./session.js").Session, welcome: Wire) => void} welcome
 * @property {(message: Wire) => void} message
 * @property {(ms: number, beganAt: number) => void} roundTrip
 */

/**
 * @typedef {object} SessionEnd
 * @property {number} code a close code; 0 if it could not begin
 * @property {string} why
 * @property {import("./errors.js").RelayError} [error]
 * @property {boolean} isWelcome
 * @property {number} lifeMs 0 for one in which the transport did not work
 * @property {number} [reconnectAfterMs]
 * @property {string} [token]
 */

/**
 * @typedef {object} ConnectionEvents
 * @property {(welcome: Wire) => void} welcome
 * @property {(message: Wire) => void} message
 * @property {(health: Health) => void} health
 * @property {(error: import("./errors.js").RelayError) => void} ended
 * @property {() => Sent[]} sent what is on its way, besides requests
 * @property {() => number} unansweredMs for how long the oldest of that has had no answer
 */

/**
 * @typedef {{size: number, refuse(error: import("./errors.js").RelayError): void}} Sent a message
 *   that the relay may be about to refuse; the size is in bytes
 */

/**
 * What a client tells its view: messages of relay.v1, and
 * `opened` {room, reason, last, entries, lines}, `entries` {room, entries}, `line` {room, line},
 * `progress` {room, id, sent, size},
 * `settled` {room, outcomes: Settled[]}, `health` {health}, `ended` {error}, `failed` {error},
 * `store` {error}, without an error from a tab whose store works.
 * @typedef {{type: string} & Record<string, any>} Event
 */

/**
 * @typedef {{id: string, ack?: Ack, error?: import("./errors.js").RelayError}} Settled a line has
 *   its ack, was refused or withdrawn
 */

/**
 * What a view is built on: a client of its own, or one that all tabs share.
 * @typedef {object} Link
 * @property {string | undefined} user
 * @property {Health} health
 * @property {(tell: (event: Event) => void) => void} start
 * @property {(room: string, options: RoomOptions) => void} open answered by `opened`
 * @property {(room: string, forget: boolean) => void} close
 * @property {(line: Line, replaced?: string) => void} send answered by `line` and `settled`, in the
 *   place of a refused one
 * @property {(room: string, id: string) => void} withdraw if it was not sent yet, or was refused
 * @property {(message: Wire) => void} post
 * @property {(message: Wire, signal?: AbortSignal) => Promise<Wire>} request
 * @property {(room: string, range: {before?: number, limit: number}) => Promise<Entry[]>} entries
 * @property {(path: string, name?: string) => Promise<string>} fileUrl below `v1/files/`; a browser saves
 *   the file under the name
 * @property {() => Promise<void>} settled
 * @property {() => void} look
 * @property {() => Promise<number | undefined>} probe for how long the oldest ping or request has had
 *   no answer
 * @property {() => Promise<void>} end
 */

export {};
