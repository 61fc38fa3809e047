// Time in which the program did not run is no silence of the relay, and what never answers is gone
// on without.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded, Deadline } from "../../Sources/JavaScript/relay-client/deadline.js";
import { MemoryStore } from "../../Sources/JavaScript/relay-client/memory-store.js";
import { client } from "./support/client.js";
import { Relay } from "./support/relay.js";
import { Scripted } from "./support/scripted.js";
import { next, wait } from "./support/wait.js";

/** Stands still, as in a debugger or on a machine that is suspended: what comes waits in sockets. */
const standStill = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const turn = () => new Promise(setImmediate);
const never = () => new Promise(() => {});

test("a program that stood still reads the answer to its ping before it judges", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada", timing: { pongMs: 1000 } });
  await ada.ready;
  const states = [];
  ada.on("health", ({ state }) => states.push(state));
  for (let n = 0; n < 3; n++) {
    const answered = next(ada, "health");
    ada.retry(); // pings
    standStill(2500);
    await answered;
  }
  assert.deepEqual(new Set(states), new Set(["online"]));
});

test("a program that stood still while it connected is connected", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada", timing: { welcomeMs: 1000 } });
  const states = [];
  ada.on("health", ({ state }) => states.push(state));
  await turn();
  standStill(2500);
  await ada.ready;
  assert.ok(!states.includes("waiting"), `${states}`);
});

test("a relay that is silent is given up all the same", async (t) => {
  const scripted = await Scripted.start(t);
  const ada = client(t, scripted.url, { user: "ada", timing: { pongMs: 200 } });
  await ada.ready;
  for (const socket of scripted.server.clients) socket.removeAllListeners("message");
  ada.retry();
  const { why } = await next(ada, "health", ({ state }) => state === "waiting");
  assert.equal(why, "The relay does not answer.");
});

test("a deadline passes after its time, and not while the program stands still", async () => {
  let passed = 0;
  const began = performance.now();
  await new Promise((resolve) => new Deadline(400, resolve));
  assert.ok(performance.now() - began >= 395);
  const deadline = new Deadline(400, () => {
    passed += 1;
  });
  standStill(3000);
  await turn();
  await turn();
  assert.equal(passed, 0);
  await wait(() => passed === 1, "it has passed");
  deadline.end();
});

test("a deadline passes in a program whose timers are always late", async () => {
  let isPassed = false;
  new Deadline(400, () => {
    isPassed = true;
  });
  await wait(() => {
    if (!isPassed) standStill(1200);
    return isPassed;
  }, "it has passed");
});

test("work that a deadline ends is told so", async () => {
  const work = bounded(
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal))),
    "The service",
    100,
  );
  await assert.rejects(work, {
    code: "timed_out",
    message: "The service did not answer within 0.1 s.",
  });
});

class Never extends MemoryStore {
  constructor(names) {
    super();
    for (const name of names) this[name] = never;
  }
}

for (const names of [["open"], ["open", "close"], ["commit"], ["commit", "entries", "close"]]) {
  test(`a store whose ${names.join(", ")} never answers is gone on without`, async (t) => {
    const relay = await Relay.start(t);
    await relay.post("bo", "general", { text: "before" });
    const ada = client(t, relay.url, { user: "ada", store: new Never(names) });
    const room = ada.room("general");
    const sending = room.send("line");
    assert.equal((await sending).seq, 2);
    await wait(() => room.latest.length === 2, "both are shown");
    assert.deepEqual(
      ada.failures.map(({ code }) => code),
      ["store_failed"],
    );
    assert.match(ada.failures[0].message, /The store did not answer within \d+ s/);
  });
}

test("a store that fails twice at the same time is replaced once", async (t) => {
  const relay = await Relay.start(t);
  await relay.kill();
  const store = new MemoryStore();
  const fail = (ms) => () =>
    new Promise((_, reject) => setTimeout(() => reject(new Error("a broken disk")), ms));
  store.commit = fail(10);
  store.entries = fail(50);
  const ada = client(t, relay.url, { user: "ada", store });
  const room = ada.room("general");
  const sending = room.send("line");
  await wait(() => ada.failures.length > 0, "it has failed");
  const [entries] = await Promise.allSettled([
    room.history.newest({ signal: AbortSignal.timeout(500) }),
  ]);
  assert.equal(entries.status, "rejected"); // the memory has nothing, and there is no relay
  await relay.start();
  assert.equal((await sending).seq, 1);
  assert.equal(ada.failures.length, 1);
});
