// The ladder of transports: each loses nothing, and the best one that works is used.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { connect } from "../../Sources/JavaScript/relay-client/relay-client.js";
import { client, WebSocket } from "./support/client.js";
import { TCPProxy } from "./support/proxy.js";
import { Relay, token, withoutLimits, withTokens } from "./support/relay.js";
import { next, take, wait } from "./support/wait.js";

const texts = (entries) => entries.map(({ text }) => text);
const quick = { pauseMs: 10, longestPauseMs: 50 };

for (const transport of ["stream", "poll"]) {
  test(`a conversation over ${transport}`, async (t) => {
    const relay = await Relay.start(t, withoutLimits);
    const ada = client(t, relay.url, { user: "ada", transports: [transport], timing: quick });
    const room = ada.room("general", { after: 0 });
    const empty = ada.room("__proto__");
    await wait(() => room.state === "live" && empty.state === "live", "both rooms are live");
    assert.equal(ada.user, "ada");
    assert.equal(ada.health.transport, transport);
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
    const acks = await Promise.all(lines.map((line) => room.send(line)));
    assert.deepEqual(
      acks.map(({ seq }) => seq),
      lines.map((_, n) => n + 1),
    );
    await relay.post("bo", "general", { kind: "edit", target: 1, text: "" }).catch(() => {});
    await relay.post("bo", "general", { text: "from bo" });
    await relay.post("bo", "__proto__", { text: "there" });
    await wait(() => room.latest.length === 21 && empty.latest.length === 1, "all has arrived");
    assert.deepEqual(texts(room.latest), [...lines, "from bo"]);
    assert.equal(room.pending.length, 0);
    const bo = client(t, relay.url, { user: "bo" }).room("general");
    await wait(() => bo.marks.get("ada")?.received === 21, "the mark is told");
    room.read();
    await wait(() => bo.marks.get("ada").read === 21, "the mark is told");
    assert.deepEqual(texts((await room.history.before(3)).messages), ["line 0", "line 1"]);
    ada.presence.set("away");
    room.typing();
    assert.equal((await ada.people.page()).people.length >= 0, true);
    await assert.rejects(take(ada.room("dm:bo:eve").messages, 1), { code: "forbidden" });
    await assert.rejects(room.delete(99), { code: "no_such_entry" });

    // A kill loses nothing.
    const sending = room.send("over a kill");
    await relay.kill();
    await relay.start();
    assert.equal((await sending).seq, 22);
    await relay.post("bo", "general", { text: "the end" });
    await wait(() => room.last === 23, "all has arrived");
    assert.deepEqual(texts(await relay.history("general")), texts(room.latest));
    assert.deepEqual(
      ada.failures.map(({ code }) => code),
      ["forbidden"],
    );
  });

  test(`a token over ${transport}`, async (t) => {
    const relay = await Relay.start(t, withTokens);
    let count = 0;
    const getToken = () => token({ sub: "ada", exp: ++count === 1 ? -60 : 3600 });
    const ada = client(t, relay.url, { getToken, transports: [transport], timing: quick });
    await ada.ready;
    assert.equal(ada.user, "ada");
    assert.equal(count, 2);
    assert.equal((await ada.room("general").send("hello")).seq, 1);
    const bo = client(t, relay.url, { getToken: () => "x.y.z", transports: [transport] });
    await assert.rejects(bo.ready, { code: "unauthorized" });
  });

  test(`another log over ${transport}`, async (t) => {
    const relay = await Relay.start(t);
    const ada = client(t, relay.url, { user: "ada", transports: [transport], timing: quick });
    const room = ada.room("general", { after: 0 });
    await room.send("one");
    await wait(() => room.last === 1, "it has arrived");
    await relay.kill();
    rmSync(relay.data, { recursive: true });
    const reset = next(room, "reset");
    await relay.start();
    assert.deepEqual(await reset, { reason: "reset", after: 0 });
    await room.send("two");
    await wait(
      () => texts(room.latest).join() === "two",
      () => `it has arrived: ${room.last} ${texts(room.latest)} ${JSON.stringify(ada.health)}`,
    );
  });
}

test("a proxy without WebSockets is found out, told, and tried again later", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const proxy = await TCPProxy.start(t, relay);
  let hasSockets = false;
  let hasStreams = true;
  proxy.admits = (head) =>
    (hasSockets || !/upgrade: websocket/i.test(head)) &&
    (hasStreams || !head.startsWith("GET /v1/stream"));
  const ada = client(t, proxy.url, { user: "ada", timing: { ...quick, climbMs: 300 } });
  const room = ada.room("general", { after: 0 });
  assert.equal((await room.send("over a stream")).seq, 1);
  await wait(() => room.latest.length === 1, "it arrives");
  assert.equal(ada.health.transport, "stream");
  assert.match(ada.health.why, /^WebSocket does not work/);

  hasStreams = false;
  proxy.cut();
  await wait(() => ada.health.transport === "poll" && ada.health.state === "online", "it polls");
  await relay.post("bo", "general", { text: "over a poll" });
  await wait(() => room.latest.length === 2, "it arrives");
  assert.match(ada.health.why, /^event streams do not work/);

  hasSockets = true;
  await wait(
    () => ada.health.transport === "websocket" && ada.health.state === "online",
    "it climbs",
  );
  assert.equal(ada.health.why, undefined);
  await room.send("over a WebSocket");
  await wait(() => room.latest.length === 3, "it arrives");
  assert.deepEqual(texts(await relay.history("general")), texts(room.latest));
});

test("a proxy that swallows WebSockets, and then event streams, is found out", async (t) => {
  const relay = await Relay.start(t, withoutLimits);
  const proxy = await TCPProxy.start(t, relay);
  proxy.swallows = (head) => /upgrade: websocket/i.test(head) || head.startsWith("GET /v1/stream");
  // As usual, the patience is longer than what a good connection lasts.
  const timing = { ...quick, welcomeMs: 1000, goodMs: 500 };
  const ada = client(t, proxy.url, { user: "ada", timing });
  const room = ada.room("general", { after: 0 });
  const sending = room.send("over requests");
  await wait(
    () => room.latest.length === 1,
    () => `it arrives: ${JSON.stringify(ada.health)}`,
  );
  assert.equal((await sending).seq, 1);
  assert.equal(ada.health.transport, "poll");
  assert.match(ada.health.why, /^event streams do not work/);
});

test("a relay that is down is not the fault of a transport", async (t) => {
  const relay = await Relay.start(t);
  await relay.kill();
  const ada = client(t, relay.url, { user: "ada", timing: { pauseMs: 1, longestPauseMs: 2 } });
  for (let n = 0; n < 6; n++) await next(ada, "health", ({ state }) => state === "waiting");
  assert.equal(ada.health.transport, "websocket");
  await relay.start();
  await ada.ready;
  assert.equal(ada.health.transport, "websocket");
});

test("a relay that starts between an attempt and the look at it is not the fault of a transport", async (t) => {
  const relay = await Relay.start(t);
  const down = await TCPProxy.start(t, relay);
  down.admits = () => false;
  let isUp = false;
  let looks = 0;
  class Late extends WebSocket {
    constructor(url, protocols) {
      super(isUp ? url : down.url, protocols);
    }
  }
  const fetch = async () => {
    looks += 1;
    if (looks < 4) throw new TypeError("It is down.");
    isUp = true;
    return new Response();
  };
  const ada = client(t, relay.url, { user: "ada", WebSocket: Late, fetch, timing: quick });
  await ada.ready;
  assert.equal(ada.health.transport, "websocket");
  assert.equal(looks, 4);
});

test("without a WebSocket class a client begins with a stream, and says why", async (t) => {
  if (globalThis.WebSocket) return t.skip("it is built in");
  const relay = await Relay.start(t);
  const ada = connect(relay.url, { user: "ada" });
  t.after(() => ada.close());
  await ada.ready;
  assert.equal(ada.health.transport, "stream");
  assert.match(ada.health.why, /WebSocket/);
});
