// Many own entries at a time: several are on their way, and each is stored once, in order, also if
// one in the middle is refused, or the connection is lost.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { MemoryStore } from "../../Sources/JavaScript/relay-client/memory-store.js";
import { client, WebSocket } from "./support/client.js";
import { TCPProxy } from "./support/proxy.js";
import { folder, Relay, withoutLimits } from "./support/relay.js";
import { Scripted } from "./support/scripted.js";
import { wait } from "./support/wait.js";

const texts = (entries) => entries.map(({ text }) => text);
const numbered = (count, name = "line") => Array.from({ length: count }, (_, n) => `${name} ${n}`);
const quick = { pauseMs: 10, longestPauseMs: 50 };
const ack = ({ room, id, ref }, seq) => ({ type: "ack", room, id, ref, seq, at: 1 });

/** What a client uses, and how many sends it has seen refused for a while. */
function listener() {
  const heard = { refusals: 0 };
  const hear = (text) => {
    heard.refusals += text.split('"code":"unavailable"').length - 1;
  };
  heard.WebSocket = class extends WebSocket {
    set onmessage(receive) {
      super.onmessage = (event) => {
        hear(event.data);
        receive(event);
      };
    }
  };
  heard.fetch = async (...request) => {
    const response = await fetch(...request);
    if (String(request[0]).includes("requests")) hear(await response.clone().text());
    return response;
  };
  return heard;
}

for (const transport of ["websocket", "stream", "poll"]) {
  test(`a backlog over ${transport} keeps its order over a full disk, cuts and a kill`, async (t) => {
    const relay = await Relay.start(t, withoutLimits);
    const proxy = await TCPProxy.start(t, relay);
    const heard = listener();
    const ada = client(t, proxy.url, {
      user: "ada",
      transports: [transport],
      timing: quick,
      ...heard,
    });
    const rooms = ["general", "__proto__"].map((name) => ada.room(name, { after: 0 }));
    const typed = [];
    const outcomes = [];
    const type = (count) => {
      const lines = Array.from({ length: count }, (_, n) => `line ${typed.length + n}`);
      typed.push(...lines);
      for (const room of rooms)
        outcomes.push(
          ...lines.map((line, n) => {
            if (n === 7) room.delete(999_999).catch(() => {}); // is refused, in the middle
            return room.send(line);
          }),
        );
    };
    type(200);
    await outcomes[20];

    const before = heard.refusals;
    relay.fillDisk();
    type(50);
    await wait(() => heard.refusals > before, "lines are refused");
    type(50);
    relay.freeDisk();
    await Promise.all(outcomes);

    relay.fillDisk();
    type(50);
    const second = heard.refusals;
    await wait(() => heard.refusals > second, "lines are refused");
    proxy.cut();
    relay.freeDisk();
    type(150);
    await outcomes[outcomes.length - 300];
    proxy.cut();
    type(150);
    await outcomes[outcomes.length - 290];
    await relay.kill();
    type(20);
    await relay.start();
    await Promise.all(outcomes);
    t.diagnostic(`${heard.refusals} refusals`);
    for (const room of rooms) {
      assert.deepEqual(texts(await relay.history(room.name)), typed);
      await wait(() => room.last === typed.length, "all has arrived");
      await wait(
        () => room.pending.every(({ state, kind }) => state === "refused" && kind === "delete"),
        "nothing else is pending",
      );
    }
    assert.deepEqual(ada.failures, []);
  });

  test(`a backlog over ${transport} does not go at the pace of round trips`, async (t) => {
    const relay = await Relay.start(t, withoutLimits);
    const proxy = await TCPProxy.start(t, relay);
    proxy.delayMs = 20;
    const ada = client(t, proxy.url, { user: "ada", transports: [transport] });
    const room = ada.room("general", { after: 0 });
    await ada.ready;
    const lines = numbered(500);
    const start = Date.now();
    await Promise.all(lines.map((line) => room.send(line)));
    const ms = Date.now() - start;
    t.diagnostic(`${lines.length} lines in ${ms} ms`);
    assert.ok(ms < (lines.length * 2 * proxy.delayMs) / 4, `${ms} ms`);
    assert.deepEqual(texts(await relay.history("general")), lines);
  });

  test(`a backlog over ${transport} beyond the user's budget is slowed, and not refused`, async (t) => {
    const relay = await Relay.start(t, "limits: { sends_per_s: 200, burst: 20 }");
    const ada = client(t, relay.url, { user: "ada", transports: [transport] });
    const room = ada.room("general", { after: 0 });
    const lines = numbered(250);
    await Promise.all(lines.map((line) => room.send(line)));
    assert.deepEqual(texts(await relay.history("general")), lines);
    assert.deepEqual(ada.failures, []);
  });
}

test("at most 100 lines are on their way, and 64 KiB, the rooms taking turns", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { user: "ada" });
  await ada.ready;
  const [general, tea] = ["general", "tea"].map((name) => ada.room(name, { after: 0 }));
  const sends = () => scripted.kinds("send");
  const answer = (messages) => {
    for (const message of messages) scripted.say(ack(message, 1));
  };
  const sending = numbered(150).map((line) => general.send(line));
  await wait(() => sends().length === 100, "a window is sent");
  sending.push(tea.send("tea"));
  general.typing();
  await wait(() => scripted.kinds("typing").length === 1, "what is sent later has arrived");
  assert.equal(sends().length, 100);
  answer(sends().slice(0, 2));
  await wait(() => sends().length === 102, "two more are sent");
  assert.deepEqual(texts(sends().slice(100)).sort(), ["line 100", "tea"]);
  answer(sends().slice(2));
  await wait(() => sends().length === 151, "the rest is sent");
  answer(sends().slice(102));
  await Promise.all(sending);

  // A withdrawn line was not sent; what is on its way cannot be withdrawn.
  const large = numbered(12).map((line) => general.send(line.padEnd(8000, ".")));
  await wait(() => sends().length === 151 + 8, "as much as fits is sent");
  general.discard(large[0].local.id);
  general.discard(large[11].local.id);
  await assert.rejects(large[11], { code: "discarded" });
  tea.typing();
  await wait(() => scripted.kinds("typing").length === 2, "what is sent later has arrived");
  assert.equal(sends().length, 151 + 8);
  answer(sends().slice(151));
  await wait(() => sends().length === 151 + 11, "the rest is sent");
  answer(sends().slice(151 + 8));
  await Promise.all(large.slice(0, 11));
});

test("acks that come while the store is busy are told together", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  let release = () => {};
  const held = new Promise((resolve) => {
    release = resolve;
  });
  class SlowStore extends MemoryStore {
    async commit(change) {
      if (change.settled) await held;
      await super.commit(change);
    }
  }
  const ada = client(t, relay.url, { user: "ada", store: new SlowStore() });
  const rooms = ["general", "tea"].map((name) => ada.room(name, { after: 0 }));
  await wait(() => rooms.every(({ state }) => state === "live"), "both are live");
  const sending = rooms.flatMap((room) => numbered(50).map((line) => room.send(line)));
  await wait(() => rooms[1].pending.length === 50, "they are pending");
  const told = { pending: 0, messages: 0 };
  for (const event of ["pending", "messages"]) {
    rooms[0].on(event, () => {
      told[event] += 1;
    });
  }
  await wait(async () => (await relay.history("tea")).length === 50, "all are stored");
  await ada.request({ type: "ping" }); // its answer follows theirs
  assert.equal(rooms[0].pending.length, 50);
  release();
  await Promise.all(sending);
  await wait(() => rooms.every(({ last }) => last === 50), "all has arrived");
  await wait(() => rooms.every(({ pending }) => pending.length === 0), "nothing is pending");
  t.diagnostic(JSON.stringify(told));
  assert.ok(told.pending < 25 && told.messages < 25, JSON.stringify(told));
  assert.deepEqual(texts(rooms[0].latest), numbered(50));
});

test("no line overtakes one that may have been refused long ago", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { user: "ada" });
  const room = ada.room("general", { after: 0 });
  const sends = () => scripted.kinds("send");
  const first = room.send("one");
  await wait(() => sends().length === 1, "it is sent");
  const end = Date.now() + 550; // beyond the 500 ms of outbox.js
  await wait(() => Date.now() > end, "there was no answer for too long");
  const second = room.send("two");
  room.typing();
  await wait(() => scripted.kinds("typing").length === 1, "what is sent later has arrived");
  assert.deepEqual(texts(sends()), ["one"]);
  scripted.say(ack(sends()[0], 1));
  await wait(() => sends().length === 2, "the second is sent");
  scripted.say(ack(sends()[1], 2));
  assert.deepEqual([(await first).seq, (await second).seq], [1, 2]);
});

test("what was not sent stays in the store, for whatever reason the client ends", async (t) => {
  const scripted = await Scripted.start(t);
  const path = join(folder(t), "journal");
  const first = client(t, scripted.url, { user: "ada", store: new FileStore(path) });
  await first.ready;
  const sending = numbered(150).map((line) => first.room("general").send(line));
  await wait(() => scripted.kinds("send").length === 100, "a window is sent");
  scripted.close(4403);
  await assert.rejects(sending[149], { code: "forbidden" });
  await first.close();

  const relay = await Relay.start(t, withoutLimits);
  const second = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  await second.settled();
  assert.deepEqual(texts(await relay.history("general")), numbered(150));
});

test("over HTTP no line overtakes one that is refused, although batches are not on one connection", async (t) => {
  let refusals = 2;
  const batches = [];
  const accepted = [];
  let open = () => {};
  const isOpen = new Promise((resolve) => {
    open = resolve;
  });
  const answer = ({ type, ref, id, room, text }) => {
    if (type === "ping") return { type: "pong", ref, time: 0 };
    if (type !== "send") return { type: "ok", ref };
    if (refusals > 0) {
      const error = { type: "error", code: "unavailable", message: "no", re: type };
      return { ...error, ref, id, room, retry_after_ms: 20 };
    }
    accepted.push(text);
    return ack({ room, id, ref }, accepted.length);
  };
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return response.writeHead(200).flushHeaders(); // a stream
    const requests = await json(request);
    const sends = texts(requests.filter(({ type }) => type === "send"));
    if (sends.length > 0) batches.push(sends);
    if (sends.length > 0) await isOpen;
    response.end(JSON.stringify(requests.map(answer)));
    if (sends.length > 0) refusals -= 1;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  const ada = client(t, url, { user: "ada", transports: ["stream"] });
  await ada.ready;
  const room = ada.room("general", { after: 0 });
  const sending = [room.send("line 0"), room.send("line 1")];
  await wait(() => batches.length === 1, "the first batch waits for its answer");
  // These wait behind it, and go together with those that are refused.
  for (const line of numbered(20).slice(2)) sending.push(room.send(line));
  await new Promise(setImmediate); // the store is in memory: they are in the transport by now
  open();
  await Promise.all(sending);
  assert.deepEqual(accepted, numbered(20));
  assert.deepEqual(batches, [numbered(2), numbered(20), numbered(20)]);
});
