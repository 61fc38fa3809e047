// A browser's cookie signs in: the client gives no name and no token, and says whose it has to be.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { client } from "./support/client.js";
import { folder, Relay } from "./support/relay.js";
import { Scripted } from "./support/scripted.js";
import { next, take, wait } from "./support/wait.js";

test("the cookie of another account gets nothing, also with an empty store", async (t) => {
  const scripted = await Scripted.start(t);
  scripted.user = "bo";
  const ada = client(t, scripted.url, { account: "ada" });
  const sending = ada.room("general").send("for the eyes of ada");
  const refused = assert.rejects(sending, { code: "other_user" });
  await assert.rejects(ada.ready, { code: "other_user" });
  await refused;
  assert.deepEqual(scripted.received, []);
  assert.equal(scripted.connections.length, 1);
});

test("what was not sent waits for its account, and goes with no other one", async (t) => {
  const scripted = await Scripted.start(t);
  const path = join(folder(t), "journal");
  const away = client(t, "ws://127.0.0.1:1", { account: "ada", store: new FileStore(path) });
  const unsent = assert.rejects(away.room("general").send("hello"), { code: "closed" });
  await wait(() => away.health.state === "waiting", "it is away");
  await away.close();
  await unsent;
  scripted.user = "bo";
  for (const account of ["ada", "bo"]) {
    const wrong = client(t, scripted.url, { account, store: new FileStore(path) });
    await assert.rejects(wrong.ready, { code: "other_user" });
    await wrong.close();
  }
  assert.deepEqual(scripted.received, []);
  scripted.user = "ada";
  scripted.answer = ({ type, id, ref }) =>
    type === "send" ? [{ type: "ack", id, ref, seq: 1 }] : [];
  const ada = client(t, scripted.url, { account: "ada", store: new FileStore(path) });
  await ada.settled();
  assert.deepEqual(
    scripted.kinds("send").map(({ text }) => text),
    ["hello"],
  );
});

test("a session that is ended tells why", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { account: "ada" });
  await ada.ready;
  const ended = next(ada, "ended");
  scripted.say({ type: "error", code: "unauthorized", message: "The session was ended." });
  scripted.close(4401);
  const error = await ended;
  assert.equal(error.code, "unauthorized");
  assert.equal(error.message, "The session was ended.");
  assert.equal(scripted.connections.length, 1);
});

for (const transport of ["stream", "poll"]) {
  test(`over ${transport} the relay tells whose the cookie is`, async (t) => {
    const relay = await Relay.start(t);
    const asked = [];
    // A relay that believes names, behind what a relay with accounts does of a cookie.
    const withCookie = (url, init) => {
      asked.push(url.pathname + url.search);
      if (url.pathname === "/v1/me")
        return Promise.resolve(new Response(JSON.stringify({ user: "ada" })));
      const named = new URL(url);
      named.searchParams.set("user", "ada");
      return fetch(named, init);
    };
    const options = { transports: [transport], fetch: withCookie };
    const ada = client(t, relay.url, { ...options, account: "ada" });
    const room = ada.room("general");
    assert.equal((await room.send("hello")).seq, 1);
    assert.equal(ada.user, "ada");
    assert.equal((await take(room.messages, 1))[0].from, "ada");
    assert.ok(asked.every((address) => !address.includes("user=")));
    const bo = client(t, relay.url, { ...options, account: "bo" });
    await assert.rejects(bo.ready, { code: "other_user" });
    const anyone = client(t, relay.url, options);
    await anyone.ready;
    assert.equal(anyone.user, "ada");
  });
}
