// Own entries: each becomes one entry, in order, whatever fails.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { client } from "./support/client.js";
import { TCPProxy } from "./support/proxy.js";
import { folder, Relay, withoutLimits } from "./support/relay.js";
import { joined, Scripted } from "./support/scripted.js";
import { wait } from "./support/wait.js";

const texts = (entries) => entries.map(({ text }) => text);

test("lines that are written offline are there once each, in order", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  await relay.kill();
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("general");
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`);
  const sending = lines.map((line) => room.send(line));
  assert.equal(room.pending.length, 100);
  await relay.start();
  const acks = await Promise.all(sending);
  assert.deepEqual(
    acks.map(({ seq }) => seq),
    lines.map((_, n) => n + 1),
  );
  assert.deepEqual(texts(await relay.history("general")), lines);
  await wait(() => room.pending.length === 0, "nothing is pending");
});

test("an ack that was lost makes no second entry", async (t) => {
  const relay = await Relay.start(t);
  const proxy = await TCPProxy.start(t, relay);
  const ada = client(t, proxy.url, { user: "ada", timing: { pongMs: 50 } });
  const room = ada.room("general");
  await ada.ready;
  // The send goes through, its answer does not.
  for (let n = 0; n < 10; n++) {
    const sending = room.send(`line ${n}`);
    if (n % 2 === 0)
      await wait(async () => (await relay.history("general")).length > n, "it is stored");
    proxy.cut();
    assert.equal((await sending).seq, n + 1);
  }
  assert.equal((await relay.history("general")).length, 10);
});

test("what a program has accepted survives its end, and is sent by the next one", async (t) => {
  const relay = await Relay.start(t);
  await relay.kill();
  const path = join(folder(t), "ada.journal");
  const first = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const sending = [first.room("general").send("one"), first.room("general").send("two")];
  await first.close();
  for (const line of sending) await assert.rejects(line, { code: "closed" });
  await relay.start();
  const second = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const room = second.room("general", { after: 0 });
  await wait(() => room.pending.length + room.latest.length > 0, "the lines are shown");
  await second.settled();
  await wait(() => room.latest.length === 2, "they have arrived");
  assert.deepEqual(texts(await relay.history("general")), ["one", "two"]);
  assert.deepEqual(
    room.latest.map(({ id }) => id),
    sending.map(({ local }) => local.id),
  );
});

test("a refused entry is there again after the end of the program, until it is discarded or sent again", async (t) => {
  const relay = await Relay.start(t);
  await relay.post("bo", "general", { text: "his" });
  const path = join(folder(t), "ada.journal");
  const open = async () => {
    const ada = client(t, relay.url, { user: "ada", store: new FileStore(path) });
    const room = ada.room("general", { after: 0 });
    await wait(() => room.latest.length > 0, "it is open");
    return { ada, room };
  };
  const first = await open();
  await assert.rejects(first.room.edit(1, "hers"), { code: "forbidden" });
  await assert.rejects(first.room.send("a reply", { replyTo: 99 }), { code: "no_such_entry" });
  await first.room.send("two");
  await wait(() => first.room.last === 2, "it has arrived");
  const shown = ({ id, kind, text, replyTo, target, state, error }) => {
    const { code, message, field, retryable } = error;
    return { id, kind, text, replyTo, target, state, code, message, field, retryable };
  };
  const refused = first.room.pending.map(shown);
  assert.equal(refused.length, 2);
  await first.ada.close();

  const second = await open();
  assert.deepEqual(second.room.pending.map(shown), refused);
  await second.ada.settled(); // it waits for nothing
  assert.equal(second.room.get(1).text, "his");
  const [edit, reply] = second.room.pending;
  const again = second.room.retry(reply.id);
  await assert.rejects(again, { code: "no_such_entry" });
  second.room.discard(edit.id);
  assert.deepEqual(
    second.room.pending.map(({ id }) => id),
    [again.local.id],
  );
  await second.ada.close();

  const third = await open();
  assert.deepEqual(
    third.room.pending.map(({ id, text, replyTo }) => [id, text, replyTo]),
    [[again.local.id, "a reply", 99]],
  );
  assert.deepEqual(texts(await relay.history("general")), ["his", "two"]);
});

test("the newest 100 refused entries are kept", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const path = join(folder(t), "ada.journal");
  const first = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const rooms = ["general", "tea"].map((name) => first.room(name, { after: 0 }));
  const sending = Array.from({ length: 103 }, (_, n) => rooms[n % 2].delete(1000 + n));
  await Promise.allSettled(sending);
  await wait(() => rooms[0].pending.length + rooms[1].pending.length === 100, "the oldest go");
  await first.close();
  const second = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const kept = ["general", "tea"].map((name) => second.room(name));
  await wait(() => kept[0].pending.length + kept[1].pending.length === 100, "they are back");
  assert.deepEqual(
    kept.map(({ pending }) => pending[0].target),
    [1004, 1003],
  );
});

test("ids cannot be guessed, and another user's entry with the same id settles nothing", async (t) => {
  const scripted = await Scripted.start(t);
  scripted.answer = ({ type }) => (type === "join" ? [joined(0)] : []);
  const ada = client(t, scripted.url, { user: "ada" });
  const room = ada.room("general", { after: 0 });
  const sending = room.send("mine");
  await wait(() => scripted.kinds("send").length === 1, "it is sent");
  const [{ id }] = scripted.kinds("send");
  assert.match(id, /^[0-9a-f]{32}$/);
  assert.notEqual(room.send("other").local.id.slice(0, 8), id.slice(0, 8));
  const entry = { type: "message", room: "general", id, at: 1, kind: "text" };
  scripted.say({ ...entry, seq: 1, from: "mallory", text: "not hers" });
  await wait(() => room.last === 1, "it has arrived");
  assert.equal(room.pending.length, 2);
  scripted.say({ ...entry, seq: 2, from: "ada", text: "mine" });
  assert.equal((await sending).seq, 2);
  await wait(() => room.pending.length === 1, "it has gone");
});

test("an error is permanent unless it says when to try again, and what follows keeps its order", async (t) => {
  const scripted = await Scripted.start(t);
  const left = new Map([
    ["later", 2],
    ["wait", 1],
  ]);
  let seq = 0;
  // What was refused for a while, and has to come before anything else.
  let held;
  scripted.answer = ({ type, text, room, id, ref }) => {
    if (type !== "send") return [];
    const error = { type: "error", re: "send", room, id, ref, message: "no" };
    if (held && held !== id) return [{ ...error, code: "unavailable", retry_after_ms: 20 }];
    if (text === "new") return [{ ...error, code: "invented_later" }];
    if (left.get(text) > 0) {
      left.set(text, left.get(text) - 1);
      held = id;
      return [{ ...error, code: text === "wait" ? "unavailable" : "invented", retry_after_ms: 20 }];
    }
    held = undefined;
    seq += 1;
    return [{ type: "ack", room, id, ref, seq, at: 1 }];
  };
  const room = client(t, scripted.url, { user: "ada" }).room("general", { after: 0 });
  const lines = ["one", "new", "later", "two", "wait", "three"];
  const outcomes = await Promise.allSettled(lines.map((line) => room.send(line)));
  assert.deepEqual(
    outcomes.map(({ value, reason }) => value?.seq ?? reason.code),
    [1, "invented_later", 2, 3, 4, 5],
  );
  assert.equal(outcomes[1].reason.retryable, false);
  // What was on its way is sent again from the refused one on.
  assert.deepEqual(texts(scripted.kinds("send")), [
    ...lines,
    ...lines.slice(2),
    ...lines.slice(2),
    ...lines.slice(4),
  ]);
});

test("what is too large for the relay is given up, and the rest is sent", async (t) => {
  const scripted = await Scripted.start(t);
  scripted.answer = ({ type, text, data, room, id, ref }) => {
    if (data) return void scripted.close(1009);
    return type === "send" ? [{ type: "ack", room, id, ref, seq: text.length, at: 1 }] : [];
  };
  const ada = client(t, scripted.url, { user: "ada" });
  const room = ada.room("general", { after: 0 });
  const sending = [room.send("1"), room.send({ data: "large for a proxy" }), room.send("333")];
  const outcomes = await Promise.allSettled(sending);
  assert.deepEqual(
    outcomes.map(({ value, reason }) => value?.seq ?? reason.code),
    [1, "too_large", 3],
  );
});

test("a store belongs to one user", async (t) => {
  const relay = await Relay.start(t);
  const path = join(folder(t), "journal");
  const ada = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  await ada.room("general").send("hers");
  await ada.close();
  const bo = client(t, relay.url, { user: "bo", store: new FileStore(path) });
  await assert.rejects(bo.ready, { code: "other_user" });
});

test("without its store a client goes on in memory, and says so", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada", store: new FileStore("/nonexistent/journal") });
  const room = ada.room("general");
  assert.equal((await room.send("hello")).seq, 1);
  await wait(() => room.latest.length === 1, "it has arrived");
  assert.equal(ada.failures[0].code, "store_failed");
});
