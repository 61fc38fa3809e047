// Blocked users, requests of strangers and reports, mostly beside a relay that says what the test wants.
import assert from "node:assert/strict";
import { test } from "node:test";
import { client } from "./support/client.js";
import { Relay } from "./support/relay.js";
import { joined, Scripted } from "./support/scripted.js";
import { next, wait } from "./support/wait.js";

const room = "dm:ada:bo";
const entry = (seq, fields) => ({ type: "message", room, seq, at: seq, ...fields });
const text = (seq, from = "bo") =>
  entry(seq, { id: `${from}-${seq}`, from, kind: "text", text: `text ${seq}` });
const hidden = (seq) => entry(seq, { kind: "hidden" });

/** A relay with a direct room, and lists that the test may change. */
async function scripted(t, { entries = [], row = {}, users = [] } = {}) {
  const relay = await Scripted.start(t);
  relay.users = users;
  const answers = {
    history: ({ limit }) => ({
      type: "history",
      room,
      entries: entries.slice(-limit),
      first: 1,
      head: entries.length,
      more: false,
      epoch: "e",
    }),
    join: () => ({
      ...joined(entries.length),
      room,
      after: entries.length,
      members: [
        { user: "ada", read: 0, received: 0 },
        { user: "bo", read: 0, received: 0 },
      ],
    }),
    rooms: () => ({
      type: "rooms",
      rooms: [{ room, title: "bo", peer: "bo", head: 0, read: 0, unread: 0, ...row }],
    }),
    blocks: () => ({ type: "blocks", users: relay.users }),
    block({ user, on }) {
      relay.users = relay.users.filter((one) => one !== user).concat(on ? [user] : []);
      return { type: "ok" };
    },
  };
  relay.answer = (message) => {
    const answer = answers[message.type]?.(message) ?? (message.ref && { type: "ok" });
    return answer ? [{ ...answer, ref: message.ref }] : [];
  };
  relay.answers = answers;
  return { relay, ada: client(t, relay.url, { user: "ada" }) };
}

test("blocks are loaded with the first use, change here and elsewhere, and are loaded again", async (t) => {
  const { relay, ada } = await scripted(t, { users: ["cy"] });
  await ada.ready;
  assert.equal(relay.kinds("blocks").length, 0);
  assert.equal(ada.blocks.size, 0);
  assert.deepEqual([...(await next(ada, "blocks"))], ["cy"]);
  await ada.block("bo");
  assert.deepEqual([...ada.blocks], ["cy", "bo"]);
  await ada.block("cy", false);
  assert.deepEqual([...ada.blocks], ["bo"]);
  assert.deepEqual(
    relay.kinds("block").map(({ user, on }) => [user, on]),
    [
      ["bo", true],
      ["cy", false],
    ],
  );
  relay.say({ type: "blocks", users: ["bo", "dee"] });
  assert.deepEqual([...(await next(ada, "blocks"))], ["bo", "dee"]);
  relay.users = [];
  relay.close();
  assert.equal((await next(ada, "blocks")).size, 0);
  assert.deepEqual(ada.failures, []);
});

test("a relay without blocks is none with a failure, and any other refusal is one", async (t) => {
  const { relay, ada } = await scripted(t);
  let code = "unknown_type";
  relay.answers.blocks = () => ({ type: "error", code, message: "no" });
  await ada.ready;
  assert.equal(ada.blocks.size, 0);
  await wait(() => relay.kinds("blocks").length === 1, "they are requested");
  await ada.request({ type: "ping" });
  assert.deepEqual(ada.failures, []);
  code = "internal";
  relay.close();
  await wait(() => ada.failures.length === 1, "it is a failure");
  await assert.rejects(
    ada.block("ada").then(() => ada.request({ type: "blocks" })),
    { code },
  );
});

test("an entry of a blocked user is a hidden message, live and in pages, and nothing else", async (t) => {
  const entries = [text(1), hidden(2), hidden(3)];
  const { relay, ada } = await scripted(t, { entries, row: { head: 3, last: text(1) } });
  const direct = ada.room(room);
  await wait(() => direct.state === "live", "it is live");
  const row = () => ada.rooms.list[0];
  await wait(row, "it is in the list");
  const joins = relay.kinds("join").length;
  relay.say(hidden(4));
  const [message] = await next(direct, "messages");
  assert.deepEqual(
    [message.seq, message.kind, message.from, message.id, message.text],
    [4, "hidden", undefined, undefined, undefined],
  );
  await wait(() => row().head === 4, "the row goes on");
  assert.deepEqual([row().unread, row().last.seq], [0, 1]);
  assert.deepEqual(
    direct.latest.map(({ kind }) => kind),
    ["text", "hidden", "hidden", "hidden"],
  );
  const page = await direct.history.newest();
  assert.deepEqual(
    page.messages.map(({ seq, kind }) => [seq, kind]),
    [
      [1, "text"],
      [2, "hidden"],
      [3, "hidden"],
    ],
  );
  // A change of a hidden one, and of one that is not, arrive hidden too.
  relay.say(hidden(5));
  relay.say(text(6, "ada"));
  await wait(() => direct.last === 6, "all have arrived");
  await new Promise((resolve) => setTimeout(resolve, 1100)); // members would be asked for again
  assert.equal(relay.kinds("join").length, joins);
  assert.deepEqual(ada.failures, []);
});

test("a request is a row until it is accepted, or answered", async (t) => {
  const { relay, ada } = await scripted(t, { row: { request: true } });
  const row = () => ada.rooms.list[0];
  await wait(() => row()?.request, "it is a request");
  const direct = ada.room(room);
  await direct.accept();
  assert.deepEqual(
    relay.kinds("accept").map((message) => message.room),
    [room],
  );
  assert.equal(row().request, undefined);

  const other = await scripted(t, { row: { request: true } });
  const rows = other.ada.rooms;
  await wait(() => rows.list[0]?.request, "it is a request");
  const activity = { room, type: "activity", head: 1, unread: 1, request: true, last: text(1) };
  other.relay.say(activity);
  await wait(() => rows.list[0].head === 1, "a message has come");
  assert.equal(rows.list[0].request, true);
  other.relay.say({ ...activity, request: undefined });
  await wait(() => !rows.list[0].request, "another device accepts it");
  other.relay.say(activity);
  await wait(() => rows.list[0].request, "it is a request");
  other.relay.say({ ...activity, head: 2, unread: 0, last: text(2, "ada") });
  await wait(() => !rows.list[0].request, "an own message accepts it");
});

test("a request that another device accepts is none on any transport", async (t) => {
  const relay = await Relay.start(t, "rooms: { requests: true }");
  const bo = client(t, relay.url, { user: "bo" });
  await bo.room(room).send("hello");
  const devices = ["websocket", "stream", "poll"].map((transport) =>
    client(t, relay.url, { user: "ada", transports: [transport] }),
  );
  const requests = () => devices.map(({ rooms }) => rooms.list[0]?.request);
  await wait(() => requests().every((request) => request === true), "it is a request");
  await devices[0].rooms.accept(room);
  await wait(() => requests().every((request) => request === undefined), "it is none");
});

test("what is reported is told to moderators, with a copy for as long as it is kept", async (t) => {
  const { relay, ada } = await scripted(t);
  const direct = ada.room(room);
  await direct.report(3, "spam");
  const [{ seq, reason }] = relay.kinds("report");
  assert.deepEqual([seq, reason], [3, "spam"]);
  const about = { room, by: "cy", reason: "spam", at: 7 };
  relay.answers.reports = () => ({
    type: "reports",
    reports: [
      { ...about, seq: 1, copy: text(1) },
      { ...about, seq: 2 },
    ],
  });
  const [first, second] = await direct.reports();
  assert.deepEqual([first.by, first.reason, first.at, first.seq], ["cy", "spam", 7, 1]);
  assert.deepEqual([first.copy.from, first.copy.text], ["bo", "text 1"]);
  assert.equal(second.copy, undefined);
  relay.answers.reports = () => ({ type: "error", code: "forbidden", message: "no" });
  await assert.rejects(direct.reports(), { code: "forbidden" });
});
