// In a real browser: the store in IndexedDB, and one connection for all tabs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, startPages } from "./support/browser.js";
import { shows, startClient } from "./support/pages.js";
import { TCPProxy } from "./support/proxy.js";
import { Relay, withoutLimits } from "./support/relay.js";
import { wait } from "./support/wait.js";

const texts = (entries) => entries.map(({ text }) => text);

async function start(t) {
  const pages = await startPages(t);
  const relay = await Relay.start(t, `auth: { origins: ["${pages}"] }\n${withoutLimits}`);
  const browser = await Browser.start(t);
  return { pages, relay, browser };
}

test("IndexedDB keeps cursor, entries and outbox over reloads and a crash", async (t) => {
  const { pages, relay, browser } = await start(t);
  let tab = await browser.open(pages);
  await tab.run(startClient, relay.url, false);
  await relay.post("bo", "general", { text: "one" });
  await tab.run(shows, ["one"]);
  await relay.post("bo", "general", { kind: "edit", target: 1, text: "1" });
  await tab.run(shows, ["1"]);
  await relay.kill();
  await tab.run(() => {
    window.room.send("two");
    window.room.send("three");
  });
  await wait(async () => (await tab.stored("ada", "outbox")).length === 2, "both are stored");
  await tab.crash();
  tab = await browser.open(pages);
  await tab.run(startClient, relay.url, false);
  await tab.run(shows, ["1"]); // without a relay
  assert.deepEqual(await tab.run(() => window.room.pending.map(({ text }) => text)), [
    "two",
    "three",
  ]);
  await relay.start();
  await tab.run(shows, ["1", "two", "three"]);
  await tab.reload();
  await relay.post("bo", "general", { text: "four" });
  await tab.run(startClient, relay.url, false);
  await tab.run(shows, ["1", "two", "three", "four"]);
  assert.equal((await relay.history("general")).length, 5);
  assert.deepEqual(await tab.run(() => [window.room.pending.length, window.failures]), [0, []]);
});

test("IndexedDB does what the store in memory does", async (t) => {
  const pages = await startPages(t);
  const browser = await Browser.start(t);
  const tab = await browser.open(pages);
  const [durable, memory] = await tab.run(async () => {
    const { IndexedDBStore } = await import("/relay-client/indexeddb-store.js");
    const { MemoryStore } = await import("/relay-client/memory-store.js");
    const entry = (room, seq) => ({
      room,
      seq,
      id: `${seq}`,
      from: "bo",
      at: seq,
      kind: "text",
      text: `${seq}`,
    });
    const line = (id) => ({ type: "send", room: "a", id, at: 1, kind: "text", text: id });
    const cursor = (room, last) => ({ room, last, lineage: [{ epoch: "e", after: 0 }] });
    const seqs = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const play = async (store) => {
      const seen = [await store.open()];
      const look = async () => {
        const all = async (room, range) => (await store.entries(room, range)).map(({ seq }) => seq);
        seen.push(
          await store.open(),
          await all("a", { limit: 100 }),
          await all("__proto__", { limit: 2 }),
          await all("a", { limit: 3, before: 6 }),
          await all("b", { limit: 9 }),
        );
      };
      await store.commit({ user: "ada", outbox: [line("z"), line("a"), line("m")] });
      await look();
      await store.commit({
        entries: seqs(1, 9).map((seq) => entry("a", seq)),
        cursors: [cursor("a", 9)],
        settled: ["a"],
      });
      await store.commit({
        entries: seqs(4, 7).map((seq) => entry("__proto__", seq)),
        cursors: [cursor("__proto__", 7)],
      });
      await look();
      await store.commit({
        drop: [{ room: "a", after: 5 }],
        entries: [entry("a", 6)],
        cursors: [cursor("a", 6)],
      });
      await store.commit({ settled: ["none", "z"], outbox: [line("b"), line("b")] });
      await store.commit({ outbox: [{ ...line("m"), refused: { code: "forbidden" } }] });
      await look();
      await store.commit({ forget: ["a"] });
      await look();
      await store.close();
      for (const one of seen) one.cursors?.sort((a, b) => (a.room < b.room ? -1 : 1));
      return seen;
    };
    return [await play(new IndexedDBStore("x")), await play(new MemoryStore())];
  });
  assert.deepEqual(durable, memory);
  assert.equal(durable.length, 1 + 4 * 5);
});

test("all tabs share one connection, and another tab goes on when the first one crashes", async (t) => {
  const { pages, relay, browser } = await start(t);
  const proxy = await TCPProxy.start(t, relay);
  const tabs = [];
  for (let n = 0; n < 3; n++) {
    tabs.push(await browser.open(pages));
    await tabs[n].run(startClient, proxy.url, true);
    await tabs[n].run(() => window.relay.ready);
  }
  assert.equal(proxy.count, 1);
  const sent = [];
  for (const [n, tab] of tabs.entries()) {
    sent.push(`from tab ${n}`);
    assert.equal(await tab.run(async (text) => (await window.room.send(text)).seq, sent[n]), n + 1);
  }
  for (const tab of tabs) await tab.run(shows, sent);
  await wait(
    () => tabs[2].run(() => window.room.state === "live" && window.room.pending.length === 0),
    "it is live",
  );
  assert.deepEqual(
    await tabs[2].run(() => [window.relay.user, window.room.state, window.room.pending.length]),
    ["ada", "live", 0],
  );
  // A request, a page of history, and an error reach the tab that has asked.
  assert.equal(
    await tabs[1].run(async () => (await window.room.history.newest()).messages.length),
    3,
  );
  assert.equal(
    await tabs[1].run(() => window.room.delete(99).catch(({ code, name }) => `${name} ${code}`)),
    "RelayError no_such_entry",
  );
  // All see that it is refused, and that one of them discards it.
  const pending = () =>
    Promise.all(
      tabs.map((tab) => tab.run(() => window.room.pending.map(({ error }) => error?.code))),
    );
  const isPending = async (codes) => (await pending()).every((one) => one.join() === codes);
  await wait(() => isPending("no_such_entry"), "all see the refused entry");
  await tabs[2].run(() => window.room.discard(window.room.pending[0].id));
  await wait(() => isPending(""), "it has gone everywhere");

  await relay.kill();
  const sending = tabs[2].run(async () => (await window.room.send("over a crash")).seq);
  await tabs[0].crash();
  await relay.start();
  assert.equal(await sending, 4);
  sent.push("over a crash");
  await relay.post("bo", "general", { text: "from bo" });
  sent.push("from bo");
  for (const tab of tabs.slice(1)) await tab.run(shows, sent);
  await tabs[1].run(() => window.relay.close());
  assert.equal(await tabs[2].run(async () => (await window.room.send("alone")).seq), 6);
  await tabs[2].run(shows, [...sent, "alone"]);
  assert.deepEqual(texts(await relay.history("general")), [...sent, "alone"]);
});

test("without Web Locks each tab has a connection, and the one that was opened last has the store", async (t) => {
  // As over plain HTTP, on a host that is not this machine's.
  const rules = "--host-resolver-rules=MAP chat.example 127.0.0.1";
  const pages = (await startPages(t)).replace("127.0.0.1", "chat.example");
  const relay = await Relay.start(t, `auth: { origins: ["${pages}"] }\n${withoutLimits}`);
  const proxy = await TCPProxy.start(t, relay);
  const browser = await Browser.start(t, [rules]);
  const open = async () => {
    const tab = await browser.open(pages);
    await tab.run(startClient, proxy.url, true);
    await tab.run(() => window.relay.ready);
    return tab;
  };
  const send = (tab, text) => tab.run(async (text) => (await window.room.send(text)).seq, text);
  const failures = (tab) => tab.run(() => window.failures);
  const first = await open();
  assert.deepEqual(await first.run(() => [isSecureContext, navigator.locks === undefined]), [
    false,
    true,
  ]);
  assert.equal(await send(first, "one"), 1);
  await first.run(shows, ["one"]);
  assert.deepEqual(await failures(first), []);
  const second = await open();
  await second.run(shows, ["one"]);
  assert.equal(proxy.count, 2);
  assert.equal(await send(first, "two"), 2);
  assert.equal(await send(second, "three"), 3);
  for (const tab of [first, second]) await tab.run(shows, ["one", "two", "three"]);
  assert.deepEqual(await failures(first), ["store_failed"]);
  assert.deepEqual(await failures(second), []);

  // What is sent without a relay survives the end of the tab that has the store.
  await relay.kill();
  for (const tab of [first, second])
    await wait(() => tab.run(() => window.relay.health.state !== "online"), "it is offline");
  await second.run(() => void window.room.send("four"));
  await wait(async () => (await second.stored("ada", "outbox")).length === 1, "it is stored");
  const sending = send(first, "five");
  await second.crash();
  await relay.start();
  await sending;
  const third = await open();
  await third.run(() => window.relay.settled());
  const log = texts(await relay.history("general"));
  assert.deepEqual(log, ["one", "two", "three", "five", "four"]);
  for (const tab of [first, third]) await tab.run(shows, log);
  await third.reload();
  await third.run(startClient, proxy.url, true);
  await third.run(shows, log);
  await wait(() => third.run(() => window.room.state === "live"), "it is live");
  await third.run(shows, log);
});
