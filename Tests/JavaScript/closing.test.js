// After which closes a client comes back, and when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Unauthorized } from "../../Sources/JavaScript/relay-client/relay-client.js";
import { client } from "./support/client.js";
import { Relay, token, withTokens } from "./support/relay.js";
import { Scripted } from "./support/scripted.js";
import { next, wait } from "./support/wait.js";

for (const [code, error] of [
  [1000, "closed"],
  [4401, "unauthorized"],
  [4403, "forbidden"],
]) {
  test(`after ${code} it does not come back`, async (t) => {
    const scripted = await Scripted.start(t);
    const ada = client(t, scripted.url, { user: "ada" });
    await ada.ready;
    const sending = ada.room("general").send("never");
    const ended = next(ada, "ended");
    scripted.close(code);
    assert.equal((await ended).code, error);
    assert.equal(ada.health.state, "ended");
    await assert.rejects(sending, { code: error });
    assert.equal(scripted.connections.length, 1);
  });
}

test("after every other close it comes back", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { user: "ada", timing: { longestPauseMs: 20 } });
  let count = 0;
  for (const code of [undefined, 1001, 1008, 1011, 1012, 1013, 4408, 4429, 4999]) {
    count += 1;
    await wait(
      () => scripted.connections.length === count && ada.health.state === "online",
      `${code}`,
    );
    scripted.close(code);
  }
  await wait(() => scripted.connections.length === count + 1, "it is back");
  assert.equal(ada.health.transport, "websocket");
});

test("it comes back when the relay has asked it to", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { user: "ada" });
  await ada.ready;
  scripted.say({ type: "closing", reason: "a test", reconnect_after_ms: 700 });
  const end = Date.now();
  scripted.close(1012);
  await wait(() => ada.health.state === "waiting", "it waits");
  assert.ok(ada.health.retryAt >= end + 600, "it tells when it comes back");
  await wait(() => scripted.connections.length === 2, "it is back");
  assert.ok(scripted.connections[1] - end >= 650, `${scripted.connections[1] - end} ms`);
});

test("pauses grow, and `retry()` ends one", async (t) => {
  const relay = await Relay.start(t);
  await relay.kill();
  const ada = client(t, relay.url, {
    user: "ada",
    timing: { pauseMs: 1_000_000, longestPauseMs: 10_000_000 },
  });
  for (let n = 0; n < 4; n++) {
    await wait(() => ada.health.state === "waiting", "it waits");
    ada.retry();
    assert.equal(ada.health.state, "waiting");
    await next(ada, "health", ({ state }) => state === "waiting");
  }
  await relay.start();
  ada.retry();
  await ada.ready;
});

test("a token is asked for before each connection and renewed on it", async (t) => {
  const relay = await Relay.start(t, withTokens);
  const asked = [];
  const getToken = ({ rejected }) => {
    asked.push(rejected);
    return token({ sub: "ada", exp: asked.length === 1 ? 1 : 3600 });
  };
  const ada = client(t, relay.url, { getToken });
  await ada.ready;
  assert.equal(ada.user, "ada");
  await wait(() => asked.length >= 2, "it is renewed");
  assert.equal((await ada.room("general").send("hello")).seq, 1);
  assert.deepEqual(asked.slice(0, 2), [undefined, undefined]);
});

test("a new token that allows less ends the rooms that it does not allow", async (t) => {
  const relay = await Relay.start(t, withTokens);
  const claims = [
    { sub: "ada", exp: 1 },
    { sub: "ada", rooms: { join: ["tea"] } },
  ];
  const ada = client(t, relay.url, {
    getToken: () => token(claims.length > 1 ? claims.shift() : claims[0]),
  });
  const [general, tea] = ["general", "tea"].map((name) => ada.room(name));
  await wait(() => general.state === "refused", "the room has ended");
  assert.equal(general.error.code, "forbidden");
  await wait(() => tea.state === "live", "the other one goes on");
});

test("a token that was refused is not tried again, another one is", async (t) => {
  const relay = await Relay.start(t, withTokens);
  const expired = token({ sub: "ada", exp: -60 });
  const asked = [];
  const ada = client(t, relay.url, {
    getToken: ({ rejected }) => {
      asked.push(rejected);
      return asked.length === 1 ? expired : token({ sub: "ada" });
    },
  });
  await ada.ready;
  assert.deepEqual(asked, [undefined, expired]);

  const bo = client(t, relay.url, { getToken: () => expired });
  await assert.rejects(bo.ready, { code: "token_expired" });
});

test("`getToken` ends the client by Unauthorized, and is asked again after any other error", async (t) => {
  const relay = await Relay.start(t, withTokens);
  let count = 0;
  const ada = client(t, relay.url, {
    getToken: () => {
      count += 1;
      if (count < 3) throw new TypeError("fetch failed");
      return token({ sub: "ada" });
    },
  });
  await ada.ready;
  assert.equal(count, 3);
  const bo = client(t, relay.url, {
    getToken: async () => {
      throw new Unauthorized("signed out");
    },
  });
  await assert.rejects(bo.ready, {
    name: "RelayError",
    code: "unauthorized",
    message: "signed out",
  });
});
