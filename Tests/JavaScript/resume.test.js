// Coming back: what the log has, the client has, after every outcome of `resume`.
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { MemoryStore } from "../../Sources/JavaScript/relay-client/memory-store.js";
import { client } from "./support/client.js";
import { TCPProxy } from "./support/proxy.js";
import { folder, Relay, withoutLimits } from "./support/relay.js";
import { next, wait } from "./support/wait.js";

const texts = (entries) => entries.map(({ text }) => text);

test("rooms go on after a kill of the relay, without a gap", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const names = Array.from({ length: 40 }, (_, n) => `room-${n}`);
  const rooms = names.map((name) => ada.room(name, { after: 0 }));
  await wait(() => rooms.every(({ state }) => state === "live"), "all are live");
  await relay.kill();
  await wait(() => ada.health.state !== "online", "it is offline");
  await relay.start();
  await wait(() => ada.health.state === "online", "it is online");
  for (const name of names.slice(0, 10)) await relay.post("bo", name, { text: name });
  await wait(() => rooms.slice(0, 10).every(({ last }) => last === 1), "the entries have arrived");
  assert.deepEqual(
    rooms.slice(0, 10).map(({ latest }) => latest[0].text),
    names.slice(0, 10),
  );
});

test("a program that was away gets what it missed, and shows what it had before it is connected", async (t) => {
  const relay = await Relay.start(t);
  const path = join(folder(t), "journal");
  const first = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const before = first.room("general", { after: 0 });
  await relay.post("bo", "general", { text: "one" });
  await wait(() => before.last === 1, "it has arrived");
  await first.close();
  await relay.post("bo", "general", { text: "two" });
  await relay.kill();

  const second = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const room = second.room("general");
  await wait(() => room.latest.length === 1, "what is stored is shown");
  assert.deepEqual(texts((await room.history.newest()).messages), ["one"]);
  const missed = room.messages.next();
  await relay.start();
  assert.equal((await missed).value.text, "two");
  assert.deepEqual(texts(room.latest), ["one", "two"]);
});

test("diverged, reset and truncated leave what the log has", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("general", { after: 0 });
  const settle = async () => {
    await ada.settled();
    await wait(
      async () => {
        const log = await relay.history("general", { fold: true });
        return JSON.stringify(texts(room.latest)) === JSON.stringify(texts(log));
      },
      () => `it shows what the log has: ${texts(room.latest)}`,
    );
  };
  const restarted = async (change) => {
    await relay.kill();
    change();
    const reset = next(room, "reset");
    await relay.start();
    return reset;
  };
  const backup = join(relay.folder, "backup");
  await room.send("one");
  await relay.kill("SIGTERM");
  // A killed relay leaves its socket, which Node does not copy.
  cpSync(relay.data, backup, { recursive: true, filter: (name) => !name.endsWith(".sock") });
  await relay.start();
  await room.send("two");
  await room.edit(1, "one and a half");
  await room.react(1, "👍");
  await settle();
  const restore = () => {
    rmSync(relay.data, { recursive: true });
    cpSync(backup, relay.data, { recursive: true });
  };
  const diverged = await restarted(restore);
  assert.deepEqual(diverged, { reason: "diverged", after: 1 });
  await settle();
  assert.deepEqual(texts(room.latest), ["one"]); // the edit went with what was lost
  assert.equal(room.latest[0].reactions.size, 0);
  const iteration = room.messages;
  await room.send("three");
  await settle();

  const reset = await restarted(() => rmSync(relay.data, { recursive: true }));
  assert.deepEqual(reset, { reason: "reset", after: 0 });
  await room.send("four");
  await settle();
  assert.deepEqual(texts(room.latest), ["four"]);
  await iteration.return();

  // What it did not get is deleted while it is away.
  const path = join(relay.folder, "journal");
  const bo = client(t, relay.url, { user: "bo", store: new FileStore(path) });
  const his = bo.room("general", { after: 0 });
  await wait(() => his.last === 1, "he has the first entry");
  await bo.close();
  await relay.kill();
  relay.configuration += "\nlog: { keep_entries_per_room: 5 }";
  await relay.start();
  for (let n = 0; n < 12; n++) await relay.post("cy", "general", { text: `${n}` });
  await wait(
    async () => (await relay.get("rooms/general/messages", { user: "bo", after: 0 })).first > 2,
    "cut",
  );
  const again = client(t, relay.url, { user: "bo", store: new FileStore(path) });
  const cut = again.room("general");
  const reasons = [];
  cut.on("reset", ({ reason }) => reasons.push(reason));
  await wait(() => cut.last === 13, "he has the last entry");
  assert.deepEqual(reasons, ["opened", "truncated"]);
  const log = await relay.history("general");
  assert.deepEqual(texts(cut.latest), texts(log));
});

test("an iteration reads what is no longer held from the relay", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("general", { after: 0 });
  const iteration = room.messages;
  const bo = client(t, relay.url, { user: "bo" }).room("general");
  const count = 700; // more than `latest` has
  await Promise.all(Array.from({ length: count }, (_, n) => bo.send(`${n}`)));
  await wait(() => room.last === count, "all have arrived");
  assert.equal(room.latest.length, 500);
  for (let n = 0; n < count; n++) assert.equal((await iteration.next()).value.text, `${n}`);
  await iteration.return();
});

test("thousands of entries are stored and told in small commits, and in order", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const commits = [];
  let release = () => {};
  const held = new Promise((resolve) => {
    release = resolve;
  });
  class SlowStore extends MemoryStore {
    async commit(change) {
      commits.push(change);
      if (change.entries) await held; // everything that arrives meanwhile waits
      this.apply(change);
    }
  }
  const ada = client(t, relay.url, { user: "ada", store: new SlowStore() });
  const room = ada.room("general", { after: 0 });
  const told = [];
  room.on("messages", (messages) => told.push(messages.map(({ seq }) => seq)));
  await wait(() => room.state === "live", "the room is open");
  const bo = client(t, relay.url, { user: "bo" }).room("general");
  const count = 1200;
  await Promise.all(Array.from({ length: count }, (_, n) => bo.send(`${n}`)));
  await ada.request({ type: "history", room: "general", limit: 1 }); // its answer follows the entries
  release();
  await wait(() => room.last === count, "all have arrived");
  const sizes = commits.map(({ entries }) => entries?.length ?? 0);
  assert.ok(Math.max(...sizes) <= 250 && sizes.length < 20, `${sizes}`);
  assert.ok(commits.every(({ cursors = [] }) => cursors.length <= 1));
  assert.ok(told.every((seqs) => seqs.length <= 250));
  assert.deepEqual(
    told.flat(),
    Array.from({ length: count }, (_, n) => n + 1),
  );
});

test("a connection that dies silently is found by a ping", async (t) => {
  const relay = await Relay.start(t, "limits: { heartbeat_s: 1, idle_timeout_s: 60 }");
  const proxy = await TCPProxy.start(t, relay);
  const ada = client(t, proxy.url, { user: "ada", timing: { pongMs: 100 } });
  await ada.ready;
  await wait(() => ada.health.roundTripMs !== undefined, "the round trip is measured");
  proxy.isSilent = true;
  await wait(() => ada.health.state === "waiting", "it notices");
  assert.match(ada.health.why, /does not answer/);
  proxy.isSilent = false;
  await wait(() => ada.health.state === "online", "it is back");
  assert.equal((await ada.room("general").send("hello")).seq, 1);
});

test("a connection that is silent right after its welcome is noticed long before a heartbeat", async (t) => {
  const relay = await Relay.start(t);
  const proxy = await TCPProxy.start(t, relay);
  const ada = client(t, proxy.url, { user: "ada", timing: { pongMs: 200, longestPauseMs: 50 } });
  // Told within the welcome, before anything is answered.
  await next(ada, "health", ({ state }) => {
    proxy.isSilent = state === "online";
    return proxy.isSilent;
  });
  const welcomedAt = Date.now();
  const { why } = await next(ada, "health", ({ state }) => state === "waiting");
  assert.match(why, /does not answer/);
  assert.ok(Date.now() - welcomedAt < 20_000, "a heartbeat is 25 s");
  proxy.isSilent = false;
  await ada.ready;
  assert.equal((await ada.room("general").send("hello")).seq, 1);
});
