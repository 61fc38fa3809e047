// The relay is killed again and again, and so are the programs; some connections are cut. Nothing
// is lost, doubled or reordered, in neither direction. KILLS=30 for more than the usual run has.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, startPages } from "./support/browser.js";
import { TCPProxy } from "./support/proxy.js";
import { Relay, withoutLimits } from "./support/relay.js";
import { wait } from "./support/wait.js";

const kills = Number(process.env.KILLS ?? 6);
const rooms = ["general", "__proto__", "tea"];
const program = fileURLToPath(new URL("support/member.js", import.meta.url));

/** A user whose program crashes, and who types again what it has not accepted. */
class Member {
  /** What was typed: `[room, text]`. */
  typed = [];
  failures = [];
  /** The last states of its connection, the newest last, with the time of each. */
  connection = [];
  isSettled = false;

  constructor(user, url, journal) {
    Object.assign(this, { user, url, journal });
  }

  /** How many lines have not come back as messages. */
  get backlog() {
    const own = (messages) => messages.filter(({ from }) => from === this.user).length;
    return (
      this.typed.length - [...this.shown.values()].reduce((sum, messages) => sum + own(messages), 0)
    );
  }

  /** What is known about it, for a test that fails. */
  get state() {
    const { user, typed, said, backlog, failures } = this;
    const shown = rooms.map((room) => `${this.shown.get(room).length} of ${room}`);
    const connection = this.connection.join("; ");
    return `${user} typed ${typed.length}, ${said.size} stored, ${backlog} not shown (${shown}) ${failures} [${connection}]`;
  }

  start() {
    this.said = this.said ?? new Set();
    this.shown = new Map(rooms.map((room) => [room, []]));
    const child = spawn(
      "setpriv",
      [
        "--pdeathsig",
        "KILL",
        process.execPath,
        program,
        this.url,
        this.journal,
        this.user,
        ...rooms,
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    this.process = child;
    child.stdin.on("error", () => {});
    this.read = new Promise((resolve) => child.once("close", resolve));
    createInterface({ input: child.stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
    for (const line of this.typed) if (!this.said.has(line[1])) this.#type(line);
  }

  type(line) {
    this.typed.push(line);
    this.#type(line);
  }

  #type(line) {
    this.process.stdin.write(`${JSON.stringify(line)}\n`);
  }

  #hear({ said, failed, settled, health, ...message }) {
    if (said) this.said.add(said);
    else if (failed) this.failures.push(failed);
    else if (health) {
      this.connection.push(`${new Date().toISOString().slice(17)} ${health.join(" ")}`);
      if (this.connection.length > 20) this.connection.shift();
    } else if (settled) this.isSettled = true;
    else this.shown.get(message.room).push(message);
  }

  /**
   * Ends the program at once. What is in its journal is accepted, although it may not have said so.
   */
  async kill() {
    this.process.kill("SIGKILL");
    await this.read;
    for (const line of readFileSync(this.journal, "utf8").split("\n").slice(0, -1)) {
      for (const { text } of JSON.parse(line).outbox ?? []) this.said.add(text);
    }
  }
}

/** Each line of a user is in the log once, in the order in which it was typed in its room. */
function check(log, user, typed, room) {
  const texts = log.filter(({ from }) => from === user).map(({ text }) => text);
  assert.deepEqual(
    texts,
    typed.filter(([name]) => name === room).map(([, text]) => text),
  );
}

test(`programs agree with the log after ${kills} kills of the relay, and of their own`, async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const proxy = await TCPProxy.start(t, relay);
  const members = ["ada", "bo"].map(
    (user, n) =>
      new Member(user, n === 0 ? relay.url : proxy.url, join(relay.folder, `${user}.journal`)),
  );
  t.after(() => {
    for (const member of members) member.process.kill("SIGKILL");
  });
  for (const member of members) member.start();
  let count = 0;
  const type = () => {
    // They type no faster than it is sent.
    if (members.some((member) => member.backlog > 40)) return;
    for (const member of members)
      member.type([rooms[count % rooms.length], `${member.user} ${count}`]);
    count += 1;
  };
  const typing = setInterval(type, 3);
  t.after(() => clearInterval(typing));
  for (let n = 0; n < kills; n++) {
    const goal = members[n % 2].said.size + 40;
    await wait(
      () => members[n % 2].said.size >= goal,
      () => `they type: ${members.map((member) => member.state).join(", ")}`,
    );
    await relay.kill();
    if (n % 3 === 1) {
      await members[n % 2].kill();
      members[n % 2].start();
    }
    if (n % 3 === 2) proxy.cut();
    await relay.start();
  }
  clearInterval(typing);
  for (const member of members) member.process.stdin.end();
  await wait(() => members.every(({ isSettled }) => isSettled), "all is sent");
  for (const room of rooms) {
    const log = (await relay.history(room)).map(({ room, seq, from, text }) => ({
      room,
      seq,
      from,
      text,
    }));
    for (const { user, typed, shown } of members) {
      check(log, user, typed, room);
      await wait(() => shown.get(room).length >= log.length, "all has arrived");
      assert.deepEqual(shown.get(room), log);
    }
  }
  for (const { failures, typed } of members) {
    assert.deepEqual(failures, []);
    assert.ok(typed.length > 20 * kills, `${typed.length} lines`);
  }
  t.diagnostic(`${count} lines of each`);
});

test("a page agrees with the log after kills of the relay, and reloads and crashes of its own", async (t) => {
  const pages = await startPages(t);
  const relay = await Relay.start(t, `auth: { origins: ["${pages}"] }\n${withoutLimits}`);
  const browser = await Browser.start(t);
  let tab = await browser.open(pages);
  const open = () =>
    tab.run(async (url) => {
      const { connect } = await import("/relay-client/relay-client.js");
      const { IndexedDBStore } = await import("/relay-client/indexeddb-store.js");
      window.relay = connect(url, {
        user: "ada",
        store: new IndexedDBStore("ada"),
        timing: { longestPauseMs: 100 },
      });
      window.room = window.relay.room("general", { after: 0 });
      await new Promise((resolve) => window.room.on("reset", resolve));
    }, relay.url);
  await open();
  const typed = [];
  for (let n = 0; n < Math.ceil(kills / 2); n++) {
    const lines = Array.from({ length: 20 }, (_, line) => `${n} ${line}`);
    typed.push(...lines.map((line) => ["general", line]));
    const posts = Promise.all(
      lines.map((line) => relay.post("bo", "general", { text: `bo ${line}` }).catch(() => {})),
    );
    // What was accepted is in the store before the page goes.
    const accepted = await tab.run(
      (lines) => lines.map((line) => window.room.send(line).local.id),
      lines,
    );
    await wait(async () => {
      const [outbox, entries] = [
        await tab.stored("ada", "outbox"),
        await tab.stored("ada", "entries"),
      ];
      const latest = await tab.run(() => window.room.latest.map(({ id }) => ({ id })));
      const left = new Set([...outbox, ...latest, ...entries].map(({ id }) => id));
      return accepted.every((id) => left.has(id));
    }, "they are stored");
    await relay.kill();
    if (n % 2 === 0) {
      await tab.crash();
      tab = await browser.open(pages);
    } else {
      await tab.reload();
    }
    await relay.start();
    await posts;
    await open();
  }
  await tab.run(() => window.relay.settled());
  const log = await relay.history("general");
  check(log, "ada", typed, "general");
  const shown = await tab.run(
    async (head) => {
      const all = [];
      for await (const { seq, text } of window.room.since(0)) {
        all.push([seq, text]);
        if (seq === head) return all;
      }
    },
    log[log.length - 1].seq,
  );
  assert.deepEqual(
    shown,
    log.map(({ seq, text }) => [seq, text]),
  );
});
