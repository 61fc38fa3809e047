// A client of relay.v1 that loses no message and sends none twice, even if the browser is killed:
//
//   import { Client } from "./client.js";
//   const client = new Client("wss://chat.example.org/ws", "ada", ["general"], { show, warn, end, token });
//   await client.open();
//   client.connect();
//   client.say("general", { text: "hi" });

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = request.oncomplete = () => resolve(request.result);
  request.onerror = request.onabort = () => reject(request.error);
});

// Rooms, ids and emoji are keys of a Map: `__proto__` is a legal room, and a legal emoji.
class Room {
  log = []; // the entries as they came
  shown = new Map(); // texts and data by seq, folded
  last = 0; own = 0; // the last seq, and the last one that an ack named
  place = {}; // the epoch or lineage that `last` belongs to

  // Takes an entry. Returns what to show: the entry, or the one that it changes.
  fold(entry) {
    this.log.push(entry);
    const { kind, emoji, from } = entry;
    if (kind === "text" || kind === "data") this.shown.set(entry.seq, { ...entry });
    const shown = this.shown.get(kind === "text" || kind === "data" ? entry.seq : entry.target);
    if (!shown) return undefined; // its target is not kept
    if (kind === "edit") {
      Object.assign(shown, { text: entry.text, edited_at: entry.at });
    } else if (kind === "react") {
      const reactions = new Map(Object.entries(shown.reactions ?? {}));
      const users = new Set(reactions.get(emoji));
      users[entry.on ? "add" : "delete"](from);
      reactions[users.size > 0 ? "set" : "delete"](emoji, [...users]);
      shown.reactions = reactions.size > 0 ? Object.fromEntries(reactions) : undefined;
    } else if (kind === "delete") {
      for (const field of ["reply_to", "forward", "edited_at", "reactions"]) delete shown[field];
      Object.assign(shown, "data" in shown ? { data: null } : { text: "" }, { deleted: true });
    }
    return shown;
  }

  // Drops the entries after `after`, and what they changed.
  rewind(after) {
    const kept = this.log.filter((entry) => entry.seq <= after);
    Object.assign(this, { log: [], shown: new Map(), own: 0 });
    for (const entry of kept) this.fold(entry);
  }
}

// `show` gets each entry that is new or has changed, `warn` what a person should know, and `end` why
// the client does not come back. `token` returns a token, or nothing for an open relay. A journal
// is a database of the browser and serves one tab at a time.
export class Client {
  outbox = new Map(); // sends by id, in order, until acknowledged or refused
  prefix = [...crypto.getRandomValues(new Uint32Array(3))].join("."); // 96 bits
  work = Promise.resolve();

  constructor(url, journal, rooms, { show, warn, end, token = () => undefined }) {
    Object.assign(this, { url, wanted: rooms, show, warn, end, token, count: 0, failures: 0 });
    this.rooms = new Map(rooms.map((name) => [name, new Room()]));
    this.journal = journal;
  }

  async open() {
    const opening = indexedDB.open(this.journal, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("lines", { autoIncrement: true });
    this.database = await done(opening);
    const lines = this.database.transaction("lines").objectStore("lines").getAll();
    for (const line of await done(lines)) this.apply(JSON.parse(line));
  }

  // Does one thing after the other, since the journal takes its time.
  queue(task) {
    this.work = this.work.then(task).catch((error) => this.end(String(error)));
  }

  // Changes the state by a line of the journal: the state is what all lines make of it.
  apply(line, { type, id } = line) {
    if (type === "welcome") return void (this.user = line.user);
    const room = this.rooms.get(line.room) ?? new Room();
    this.rooms.set(line.room, room);
    if (type === "send") {
      this.outbox.set(id, line);
    } else if (type === "joined") {
      const { resume, after, epoch, lineage } = line;
      if (resume !== "ok" && resume !== "truncated") room.rewind(resume === "diverged" ? after : 0);
      Object.assign(room, { last: after, place: lineage ? { lineage } : { epoch } });
    } else if (type === "message") {
      room.last = line.seq;
      if (line.from === this.user) this.outbox.delete(id); // other users may use the same id
      return room.fold(line);
    } else { // ack, error
      room.own = Math.max(room.own, line.seq ?? 0);
      this.outbox.delete(id);
    }
  }

  // Appends a line to the journal, then applies it. A send is synced before it is sent.
  async store(line) {
    const durability = line.type === "send" ? "strict" : "relaxed";
    const transaction = this.database.transaction("lines", "readwrite", { durability });
    transaction.objectStore("lines").add(JSON.stringify(line));
    await done(transaction);
    return this.apply(line);
  }

  // Sends a message, now or once there is a connection: `say("general", { text: "hi" })`.
  say(room, fields) {
    const line = { type: "send", room, id: `${this.prefix}-${++this.count}`, ...fields };
    this.queue(async () => {
      await this.store(line);
      if (this.outbox.size === 1) this.flush();
    });
  }

  // Sends the first line of the outbox. One at a time: so a refusal does not reorder them.
  flush() {
    const [line] = this.outbox.values();
    if (this.session && line) this.send({ ...line, ref: line.id });
  }

  join(names) {
    const place = (room) => [room, this.rooms.get(room)];
    const rooms = names.map(place).map(([room, r]) => ({ room, after: r.last, ...r.place }));
    for (let i = 0; i < rooms.length; i += 16) { // within frame_bytes
      this.send({ type: "join", rooms: rooms.slice(i, i + 16) });
    }
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  async receive(m) {
    const [first] = this.outbox.keys();
    if (m.type === "welcome" && m.session !== this.session) {
      if (m.user !== (this.user ?? m.user)) return this.end(`the journal is that of ${this.user}`);
      await this.store({ type: "welcome", user: m.user });
      this.session = m.session;
      this.join(this.wanted);
      this.flush();
    } else if (m.type === "joined") {
      await this.store({ ...m, members: undefined });
      if (m.resume !== "ok") { // what was dropped may have changed what was kept
        this.warn(`${m.room}: ${m.resume}, continues after entry ${m.after}`);
        this.rooms.get(m.room).shown.forEach((entry) => this.show(entry));
      }
    } else if (m.type === "ack") {
      await this.store(m);
    } else if (m.type === "message" && m.seq === this.rooms.get(m.room).last + 1) {
      const shown = await this.store(m);
      if (shown) this.show(shown);
    } else if (m.type === "error") {
      await this.fail(m, this.session);
    } else if (m.type === "closing") {
      this.pause = m.reconnect_after_ms;
    }
    if (first && !this.outbox.has(first)) this.flush();
  }

  async fail({ ref, re, room, code, message, retry_after_ms: pause }, session) {
    const line = this.outbox.get(ref);
    const isJoin = re === "join" && this.rooms.has(room);
    const again = () => session === this.session && (line ? this.flush() : this.join([room]));
    if (pause !== undefined && (line || isJoin)) {
      setTimeout(() => this.queue(again), pause);
    } else if (line) {
      await this.refuse(line, message); // for good, also if the code is unknown
    } else if (code !== "superseded") {
      this.warn(message);
      if (isJoin) this.wanted = this.wanted.filter((name) => name !== room);
    }
  }

  async refuse({ room, id }, reason) {
    this.warn(`not sent to ${room}: ${reason}`);
    await this.store({ type: "error", room, id, message: reason });
  }

  connect() {
    const [start, token] = [Date.now(), this.token()];
    this.pause = undefined;
    this.socket = new WebSocket(this.url, "relay.v1");
    this.socket.onopen = () => token && this.send({ type: "auth", token });
    this.socket.onmessage = ({ data }) => this.queue(() => this.receive(JSON.parse(data)));
    this.socket.onclose = ({ code }) => this.queue(() => this.closed(code, start, token));
  }

  async closed(code, start, token) {
    this.session = undefined;
    const isFinal = [1000, 4403].includes(code) || (code === 4401 && this.token() === token);
    if (isFinal) return this.end(`closed with ${code}`);
    const [line] = this.outbox.values();
    if (code === 1009 && line) await this.refuse(line, "it is too large");
    const limit = Math.min(10_000, 200 * 2 ** this.failures);
    this.failures = Date.now() - start < limit ? Math.min(this.failures + 1, 6) : 0;
    setTimeout(() => this.connect(), this.pause ?? Math.random() * limit);
  }
}
