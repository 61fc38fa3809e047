// Own edits, deletions and reactions: shown at once, and taken back if they are refused.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { client } from "./support/client.js";
import { folder, Relay } from "./support/relay.js";
import { joined, Scripted } from "./support/scripted.js";
import { next, wait } from "./support/wait.js";

const kinds = (message) => message.pending?.map(({ kind }) => kind);

/** What a view has shown of one message, one after the other. */
function shown(room, seq, look) {
  const states = [];
  const note = () => {
    const state = JSON.stringify(look(room.get(seq)));
    if (states[states.length - 1] !== state) states.push(state);
  };
  for (const event of ["messages", "changes", "pending", "reset"]) room.on(event, note);
  note();
  return states;
}

test("own changes are shown at once, and are pending until the log has them", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = ada.room("general");
  for (const text of ["one", "two", "three"]) await room.send(text);
  await relay.post("bo", "general", { text: "four" });
  await wait(() => room.last === 4, "all has arrived");
  const held = room.get(1);
  await relay.kill();
  await wait(() => ada.health.state !== "online", "it is offline");

  const changes = [];
  room.on("changes", (messages) => changes.push(messages.map(({ seq }) => seq)));
  const sending = [
    room.edit(1, "one and a half"),
    room.edit(1, "two halves"),
    room.delete(2),
    room.react(4, "👍"),
    room.react(4, "🎉"),
    room.react(4, "🎉", false),
  ];
  const [one, two, three, four] = room.latest;
  assert.deepEqual([one.text, kinds(one)], ["two halves", ["edit", "edit"]]);
  assert.ok(one.editedAt > 0);
  assert.deepEqual([two.deleted, two.text, kinds(two)], [true, "", ["delete"]]);
  assert.equal(three.pending, undefined);
  assert.deepEqual([...four.reactions], [["👍", ["ada"]]]);
  assert.equal(room.get(1), one);
  assert.equal(held.text, "one"); // a change makes a new message
  assert.deepEqual(changes, [[1], [1], [2], [4], [4], [4]]);
  assert.deepEqual(
    (await room.history.newest()).messages.map(({ text }) => text),
    ["two halves", "", "three", "four"],
  );

  await relay.start();
  await Promise.all(sending);
  await wait(() => room.pending.length === 0, "nothing is pending");
  const log = await relay.history("general", { fold: true });
  for (const { seq, text, edited_at: editedAt, deleted, reactions = {} } of log) {
    const message = room.get(seq);
    assert.deepEqual(
      [message.text, message.editedAt, message.deleted, Object.fromEntries(message.reactions)],
      [text, editedAt, deleted, reactions],
    );
    assert.equal(message.pending, undefined);
    assert.ok(room.latest.includes(message));
  }
});

test("a change that the log takes over is never taken back in between", async (t) => {
  const relay = await Relay.start(t);
  const room = client(t, relay.url, { user: "ada" }).room("general");
  await room.send("one");
  await wait(() => room.last === 1, "it has arrived");
  const states = shown(room, 1, ({ text, reactions, pending }) => [
    text,
    [...reactions.keys()].join(),
    pending?.length ?? 0,
  ]);
  for (const [action, state] of [
    [() => room.react(1, "👍"), ["one", "👍"]],
    [() => room.edit(1, "two"), ["two", "👍"]],
    [() => room.react(1, "👍", false), ["two", ""]],
  ]) {
    states.length = 0;
    await action();
    await wait(() => room.pending.length === 0, "nothing is pending");
    assert.deepEqual(states.map(JSON.parse), [
      [...state, 1],
      [...state, 0],
    ]);
  }
});

test("a change that is refused is taken back, and those around it stay", async (t) => {
  const relay = await Relay.start(t);
  await relay.post("bo", "general", { text: "his" });
  const room = client(t, relay.url, { user: "ada" }).room("general");
  await wait(() => room.latest.length === 1, "it has arrived");
  const before = room.get(1);
  await relay.kill();
  const reaction = room.react(1, "👍");
  const edit = room.edit(1, "hers");
  const deletion = room.delete(1);
  assert.deepEqual([room.get(1).deleted, room.get(1).text], [true, ""]);
  assert.deepEqual(kinds(room.get(1)), ["react", "edit", "delete"]);
  const changed = next(room, "changes", ([{ pending }]) => pending === undefined);
  await relay.start();
  await assert.rejects(edit, { code: "forbidden" });
  await assert.rejects(deletion, { code: "forbidden" });
  await reaction;
  const [after] = await changed;
  assert.deepEqual([after.text, after.deleted], ["his", undefined]);
  assert.deepEqual([...after.reactions], [["👍", ["ada"]]]);
  assert.equal(room.latest[0], after);
  assert.equal(before.reactions.size, 0);
  assert.deepEqual(
    room.pending.map(({ id, state, target }) => [id, state, target]),
    [edit, deletion].map(({ local }) => [local.id, "refused", 1]),
  );
});

test("changes that were not sent are shown again by the next program, also on a page of the past", async (t) => {
  const relay = await Relay.start(t);
  const path = join(folder(t), "journal");
  const first = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const before = first.room("general", { after: 0 });
  for (let n = 1; n <= 3; n++) await relay.post("bo", "general", { text: `${n}` });
  await wait(() => before.last === 3, "all has arrived");
  await relay.kill();
  before.react(2, "👍").catch(() => {});
  await first.close();

  const second = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const room = second.room("general");
  await wait(() => room.latest.length === 3, "what is stored is shown");
  assert.deepEqual(kinds(room.get(2)), ["react"]);
  assert.deepEqual([...room.latest[1].reactions], [["👍", ["ada"]]]);
  await relay.start();
  await second.settled();
  await wait(() => room.get(2).pending === undefined, "it is in the log");

  // A message that is not among the newest.
  const third = client(t, relay.url, { user: "ada" }).room("general", { backlog: 1 });
  await wait(() => third.state === "live", "it is live");
  const sending = third.react(1, "🎉");
  assert.equal(third.get(1), undefined);
  const [one] = (await third.history.before(2)).messages;
  assert.deepEqual([...one.reactions.keys()], ["🎉"]);
  await sending;
  await wait(() => third.pending.length === 0, "it has arrived");
  assert.deepEqual([...third.get(1).reactions], [["🎉", ["ada"]]]);
  assert.equal(third.get(1).pending, undefined);
});

test("a change that went with its log is taken back", async (t) => {
  const scripted = await Scripted.start(t);
  const entry = { type: "message", room: "general", from: "bo", at: 1, kind: "text" };
  let joins = 0;
  scripted.answer = ({ type, room, id, ref }) => {
    if (type === "send") return [{ type: "ack", room, id, ref, seq: 2, at: 1 }];
    if (type !== "join") return [];
    joins += 1;
    return joins === 1
      ? [joined(2), { ...entry, seq: 1, id: "1", text: "one" }]
      : [{ ...joined(1), after: 1, resume: "diverged", epoch: "f" }];
  };
  const room = client(t, scripted.url, { user: "ada" }).room("general", { after: 0 });
  await wait(() => room.last === 1, "it has arrived");
  await room.react(1, "👍");
  await wait(() => room.pending[0]?.state === "stored", "it is acknowledged");
  assert.equal(room.get(1).reactions.size, 1);
  const reset = next(room, "reset");
  scripted.close();
  assert.deepEqual(await reset, { reason: "diverged", after: 1 });
  assert.deepEqual(room.pending, []);
  assert.equal(room.get(1).reactions.size, 0);
  assert.equal(room.get(1).pending, undefined);
});
