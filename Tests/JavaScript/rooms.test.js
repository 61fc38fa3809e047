// What a room tells, beside a real relay.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../Sources/JavaScript/relay-client/emitter.js";
import { messagesSince } from "../../Sources/JavaScript/relay-client/iteration.js";
import { client } from "./support/client.js";
import { Relay } from "./support/relay.js";
import { next, patienceMs, take, wait } from "./support/wait.js";

const texts = (messages) => messages.map(({ text }) => text);

test("a message that arrives between an iteration's look and its wait is shown", async (t) => {
  const room = Object.assign(new Emitter(), { get: (seq) => messages[seq - 1] });
  const messages = [];
  const after = (seq) => {
    const found = messages.slice(seq);
    if (found.length === 0) queueMicrotask(arrive);
    return found;
  };
  const arrive = () => {
    messages.push({ seq: messages.length + 1 });
    room.emit("messages", messages.slice(-1));
  };
  const stop = new AbortController();
  const held = { start: () => 0, after, ended: stop.signal };
  const timer = setTimeout(() => stop.abort(), patienceMs);
  t.after(() => clearTimeout(timer));
  assert.equal((await take(messagesSince(room, held, 0), 3)).length, 3);
});

test("a message is shown at once, acknowledged with its seq, and arrives at everyone", async (t) => {
  const relay = await Relay.start(t);
  const [ada, bo] = ["ada", "bo"].map((user) => client(t, relay.url, { user }));
  const room = ada.room("general");
  const sending = room.send("hello");
  assert.equal(sending.local.text, "hello");
  assert.equal(sending.local.state, "queued");
  assert.deepEqual(
    room.pending.map(({ id }) => id),
    [sending.local.id],
  );
  assert.deepEqual((await sending).seq, 1);
  await wait(
    () => room.latest.length === 1 && room.pending.length === 0,
    "the message has arrived",
  );
  assert.equal(room.latest[0].id, sending.local.id);

  const [message] = await take(bo.room("general", { after: 0 }).messages, 1);
  assert.equal(message.text, "hello");
  assert.equal(message.from, "ada");
});

test("the newest entries are there when a room is opened, and `messages` gives what follows", async (t) => {
  const relay = await Relay.start(t);
  for (let n = 1; n <= 5; n++) await relay.post("bo", "general", { text: `${n}` });
  const room = client(t, relay.url, { user: "ada" }).room("general", { backlog: 3 });
  const following = take(room.messages, 1);
  await wait(() => room.state === "live", "it is live");
  assert.deepEqual(texts(room.latest), ["3", "4", "5"]);
  await relay.post("bo", "general", { text: "6" });
  assert.deepEqual(texts(await following), ["6"]);
  assert.deepEqual(texts(await take(room.since(3), 3)), ["4", "5", "6"]);
  assert.deepEqual(texts(await take(room.since(0), 6)), ["1", "2", "3", "4", "5", "6"]);
});

test("edits, deletions and reactions are folded, live as in the relay's history", async (t) => {
  const relay = await Relay.start(t);
  const room = client(t, relay.url, { user: "ada" }).room("general");
  const one = (await room.send("one")).seq;
  const two = (await room.send("two", { replyTo: one })).seq;
  const data = (await room.send({ data: { __proto__: null, move: "e4" } })).seq;
  const forwarded = (await room.send({ forward: { room: "general", seq: one } })).seq;
  await room.edit(one, "one and a half");
  await relay.post("bo", "general", { kind: "react", target: one, emoji: "__proto__", on: true });
  await room.react(one, "👍");
  await room.react(two, "👍");
  await room.react(two, "👍", false);
  await room.delete(two);
  await room.edit(one, "one");
  const log = await relay.history("general", { fold: true });
  await wait(() => room.last === 11, "all has arrived");
  for (const { seq, text, data: json, edited_at: editedAt, deleted, reactions = {} } of log) {
    const message = room.get(seq);
    assert.equal(message.text, text);
    assert.deepEqual(message.data, json);
    assert.equal(message.editedAt, editedAt);
    assert.equal(message.deleted, deleted);
    assert.deepEqual([...message.reactions], Object.entries(reactions));
  }
  assert.deepEqual(room.get(one).reactions.get("__proto__"), ["bo"]);
  assert.deepEqual(room.get(data).data, { move: "e4" });
  assert.deepEqual(room.get(forwarded).forward, { room: "general", seq: one, from: "ada" });
  assert.equal(room.get(two).deleted, true);
});

test("a change makes a new message, also of a page that was read", async (t) => {
  const relay = await Relay.start(t);
  for (let n = 1; n <= 20; n++) await relay.post("bo", "general", { text: `${n}` });
  const room = client(t, relay.url, { user: "ada" }).room("general", { backlog: 5 });
  await wait(() => room.state === "live", "it is live");
  const page = await room.history.before(16, { limit: 5 });
  assert.deepEqual(texts(page.messages), ["11", "12", "13", "14", "15"]);
  assert.deepEqual([page.older, page.newer, page.first, page.head], [true, true, 1, 20]);
  const changed = next(room, "changes");
  await relay.post("bo", "general", { kind: "edit", target: 12, text: "a dozen" });
  assert.deepEqual(texts(await changed), ["a dozen"]);
  assert.equal(page.messages[1].text, "12");
  assert.equal(room.get(12).text, "a dozen");
});

test("one jumps to a seq and to a time", async (t) => {
  const relay = await Relay.start(t);
  const times = [];
  for (let n = 1; n <= 30; n++)
    times.push((await relay.post("bo", "general", { text: `${n}` })).at);
  const room = client(t, relay.url, { user: "ada" }).room("general");
  const around = await room.jump(10, { limit: 6 });
  assert.deepEqual(texts(around.messages), ["8", "9", "10", "11", "12", "13"]);
  const first = times.indexOf(times[19]) + 1; // several may have come in one millisecond
  const then = await room.jump(new Date(times[19]), { limit: 6 });
  assert.ok(texts(then.messages).includes(`${first}`), `${first} is among ${texts(then.messages)}`);
  assert.equal(await room.history.seqAt(new Date(times[19])), first);
  assert.equal(await room.history.seqAt(new Date(0)), 1);
  assert.equal(await room.history.seqAt(new Date(times[29] + 1000)), 30);
});

test("marks and typing of members are told", async (t) => {
  const relay = await Relay.start(t);
  const [ada, bo] = ["ada", "bo"].map((user) => client(t, relay.url, { user }).room("general"));
  await wait(() => ada.state === "live" && bo.state === "live", "both are live");
  const { seq } = await ada.send("hello");
  await wait(() => ada.marks.get("bo")?.received === seq, "bo's client has received it");
  assert.equal(ada.marks.get("bo").read, 0);
  await wait(() => bo.last === seq, "it has arrived");
  bo.read();
  assert.deepEqual(bo.mine, { read: seq, received: seq });
  await wait(() => ada.marks.get("bo").read === seq, "bo has read it");
  assert.deepEqual(ada.mine, { read: seq, received: seq });
  bo.typing();
  bo.typing();
  await wait(() => ada.typists.has("bo"), "bo types");
  await bo.send("hello, ada");
  await wait(() => ada.last === seq + 1, "the answer has arrived");
  assert.equal(ada.typists.size, 0);
});

test("the list of rooms follows joined rooms and others", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("open");
  await room.send("mine");
  assert.deepEqual(ada.rooms.list, []);
  await next(ada.rooms, "change");
  const row = (name) => ada.rooms.list.find(({ room }) => room === name);
  assert.equal(row("open").last.text, "mine");
  await relay.post("bo", "open", { text: "one" });
  await wait(() => row("open").unread === 1, "it is unread");
  assert.equal(ada.rooms.list[0].room, "open");
  await relay.post("bo", "dm:ada:bo", { text: "psst" });
  await wait(() => row("dm:ada:bo")?.unread === 1, "the new room is in the list");
  assert.equal(row("dm:ada:bo").peer, "bo");
  assert.equal(ada.rooms.list[0].room, "dm:ada:bo");
  room.read();
  assert.equal(row("open").unread, 0);
  assert.equal(await ada.rooms.more(), false);
  assert.equal(ada.rooms.complete, true);
});

test("people are paged, and their presence is told", async (t) => {
  const relay = await Relay.start(t, "bots: [{ user: echo, name: Echo, behaviour: [echo] }]");
  const ada = client(t, relay.url, { user: "ada" });
  const first = await ada.people.page({ limit: 1 });
  const last = await ada.people.page({ limit: 1, cursor: first.next });
  assert.deepEqual(
    [...first.people, ...last.people].map(({ user, bot, room }) => [user, bot, room]),
    [
      ["ada", undefined, undefined],
      ["echo", true, "dm:ada:echo"],
    ],
  );
  assert.equal(last.next, undefined);
  const all = [];
  for await (const { user } of ada.people.all()) all.push(user);
  assert.deepEqual(all, ["ada", "echo"]);
  await wait(() => ada.presence.of("echo").presence === "online", "echo is online");
  const told = next(ada, "presence", ({ user }) => user === "bo");
  ada.room("dm:ada:bo");
  assert.equal((await told).presence, "offline");
  const bo = client(t, relay.url, { user: "bo" });
  await wait(() => ada.presence.of("bo").presence === "online", "bo is online");
  bo.presence.set("away");
  await wait(() => ada.presence.of("bo").presence === "away", "bo is away");
});

test("what would be refused is refused before it is sent", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  await ada.ready;
  const room = ada.room("general");
  const fails = async (sending, code, field) => {
    assert.equal(sending.local.state, "refused");
    await assert.rejects(sending, { name: "RelayError", code, field, retryable: false });
  };
  await fails(room.send(" \u200b\n"), "bad_field", "text");
  await fails(room.send("a\0b"), "bad_field", "text");
  await fails(room.send("é".repeat(4097)), "too_large", undefined);
  await fails(room.send({ data: "\ud83d" }), "bad_field", "data");
  await fails(room.send({ data: undefined }), "bad_field", "data");
  await fails(room.react(1, "a b"), "bad_field", "emoji");
  await assert.rejects(room.send({ data: "x".repeat(70_000) }), { code: "too_large" });
  assert.throws(() => ada.room("Tea"), { code: "bad_field", field: "room" });
  assert.throws(() => ada.room(".."), { code: "bad_field" });
  const { seq } = await room.send("half of a pair: \ud83d.");
  assert.equal((await relay.history("general"))[0].text, "half of a pair: \ufffd.");
  await wait(() => room.get(seq), "it arrives");
  assert.equal(room.get(seq).text, "half of a pair: \ufffd.");
  assert.deepEqual(await room.send({ data: "\\ud83d" }).then(({ seq }) => seq), 2);
});

test("a refused entry stays pending until it is discarded or sent again", async (t) => {
  const relay = await Relay.start(t);
  const room = client(t, relay.url, { user: "ada" }).room("general");
  const sending = room.delete(7);
  await assert.rejects(sending, { code: "no_such_entry", field: "target" });
  assert.deepEqual(
    room.pending.map(({ id, state }) => [id, state]),
    [[sending.local.id, "refused"]],
  );
  await assert.rejects(room.retry(sending.local.id), { code: "no_such_entry" });
  assert.equal(room.pending.length, 1);
  room.discard(room.pending[0].id);
  assert.deepEqual(room.pending, []);
});

test("a room that may not be read is refused, and ends its iteration with the error", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("dm:bo:eve");
  await assert.rejects(take(room.messages, 1), { code: "forbidden" });
  assert.equal(room.state, "refused");
  assert.equal(ada.failures[0].code, "forbidden");
});

test("a room that is called __proto__ is like any other", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("__proto__");
  await room.send("hello");
  await wait(() => room.latest.length === 1, "it has arrived");
  assert.notEqual(ada.room("constructor"), room);
  assert.equal(ada.room("__proto__"), room);
});

test("a signal ends what it was given to", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("general");
  await ada.ready;
  const stop = new AbortController();
  const reading = take(room.since(0, { signal: stop.signal }), 1);
  stop.abort();
  await assert.rejects(reading, { name: "AbortError" });
  await assert.rejects(room.history.newest({ signal: stop.signal }), { name: "AbortError" });
  await assert.rejects(ada.people.page({ signal: stop.signal }), { name: "AbortError" });
  await assert.rejects(room.send("hello", { signal: stop.signal }), { name: "AbortError" });

  // Without a connection what was not sent is withdrawn.
  await relay.kill();
  await wait(() => ada.health.state !== "online", "it is offline");
  const other = new AbortController();
  const withdrawn = room.send("withdrawn", { signal: other.signal });
  const kept = room.send("kept");
  other.abort();
  await assert.rejects(withdrawn, { name: "AbortError" });
  await relay.start();
  await kept;
  assert.deepEqual(
    (await relay.history("general")).map(({ text }) => text),
    ["kept"],
  );

  const all = new AbortController();
  const bo = client(t, relay.url, { user: "bo", signal: all.signal });
  const ended = next(bo, "ended");
  all.abort();
  assert.equal((await ended).code, "closed");
  await assert.rejects(bo.request({ type: "ping" }), { code: "closed" });
});

test("a room that is closed and opened again goes on", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const first = ada.room("tea");
  await first.send("one");
  await wait(() => first.state === "live" && first.last === 1, "it is live");
  first.close();
  const again = ada.room("tea");
  assert.notEqual(again, first);
  await relay.post("bo", "tea", { text: "two" });
  await wait(() => again.last === 2 && again.state === "live", "it goes on");
  assert.deepEqual(texts(again.latest), ["one", "two"]);
  assert.equal(first.state, "closed");
});

test("a room that is closed with `forget` ends its iterations and the membership", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("tea");
  await room.send("hello");
  await wait(() => room.state === "live", "it is live");
  const isMember = async () =>
    (await relay.get("rooms", { user: "ada" })).rooms.some(({ room }) => room === "tea");
  assert.equal(await isMember(), true);
  const iteration = take(room.messages, 100);
  room.close({ forget: true });
  await iteration;
  assert.equal(room.state, "closed");
  await wait(async () => !(await isMember()), "the membership has ended");
  assert.notEqual(ada.room("tea"), room);
});
