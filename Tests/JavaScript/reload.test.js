// A page that ends in the moment in which it shows an own entry: in Chromium, without a relay.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, startPages } from "./support/browser.js";
import { shows, startClient } from "./support/pages.js";
import { Relay, withoutLimits } from "./support/relay.js";
import { wait } from "./support/wait.js";

const texts = (entries) => entries.filter(({ text }) => text).map(({ text }) => text);

/** A relay with the messages "one" and "two", a page that has them, and no relay any more. */
async function start(t, isShared) {
  const pages = await startPages(t);
  const relay = await Relay.start(t, `auth: { origins: ["${pages}"] }\n${withoutLimits}`);
  const browser = await Browser.start(t);
  for (const text of ["one", "two"]) await relay.post("ada", "general", { text });
  const tab = await open(browser, pages, relay, isShared);
  await tab.run(shows, ["one", "two"]);
  await relay.kill();
  return { pages, relay, browser, tab };
}

async function open(browser, pages, relay, isShared) {
  const tab = await browser.open(pages);
  await tab.run(startClient, relay.url, isShared);
  return tab;
}

/** Runs a function in the page, which ends within the same turn, and loads it again. */
async function runAndReload(tab, body, ...args) {
  await tab.run(
    `(...args) => {
    window.isOld = true;
    (${body})(...args);
    location.reload();
  }`,
    ...args,
  );
  const isNew = () => !window.isOld && document.readyState === "complete";
  await wait(() => tab.run(isNew).catch(() => false), "it is loaded");
}

/** The keys of what the page has kept for the store. */
const left = (tab) =>
  tab.run(() => Object.keys(localStorage).filter((key) => key.startsWith("relay-client/line/")));

for (const isShared of [false, true]) {
  const mode = isShared ? "of all tabs" : "of one tab";

  test(`what a page ${mode} has shown is there after 30 reloads at once, in its order`, async (t) => {
    const { relay, tab } = await start(t, isShared);
    const sent = [];
    for (let n = 0; n < 30; n++) {
      const lines = [`${n} first`, `${n} second`, `${n} third`];
      sent.push(...lines);
      await runAndReload(
        tab,
        (lines) => {
          for (const line of lines) window.room.send(line);
          if (window.room.pending.slice(-lines.length).some(({ text }, n) => text !== lines[n]))
            throw new Error("It is not shown.");
        },
        lines,
      );
      await tab.run(startClient, relay.url, isShared);
      // Every other time the store has not been opened before the page ends again.
      if (n % 2 === 0) continue;
      await wait(
        () => tab.run((count) => window.room.pending.length === count, sent.length),
        "all is shown",
      );
    }
    const pending = () => tab.run(() => window.room.pending.map(({ text }) => text));
    await wait(async () => (await pending()).length >= sent.length, "all is shown");
    assert.deepEqual(await pending(), sent);
    assert.equal((await tab.stored("ada", "outbox")).length, sent.length);
    assert.deepEqual(await left(tab), []);
    await relay.start();
    await tab.run(() => window.relay.retry());
    await tab.run(shows, ["one", "two", ...sent]);
    assert.deepEqual(texts(await relay.history("general")), ["one", "two", ...sent]);
    assert.deepEqual(await tab.run(() => [window.room.pending.length, window.failures]), [0, []]);
  });

  test(`edits, deletions and reactions of a page ${mode} survive a reload and a crash at once`, async (t) => {
    const { pages, relay, browser, tab } = await start(t, isShared);
    await runAndReload(tab, () => {
      window.room.edit(1, "1");
      window.room.react(1, "👍");
      window.room.delete(2);
    });
    await tab.run(startClient, relay.url, isShared);
    await tab.run(() => void window.room.send({ data: { three: 3 } }));
    await tab.crash();
    const other = await open(browser, pages, relay, isShared);
    await other.run(shows, ["1", ""]); // without a relay
    await relay.start();
    await other.run(() => window.relay.retry());
    await wait(async () => (await relay.history("general")).length >= 6, "all is stored");
    await other.run(() => window.relay.settled());
    const [, , ...changes] = await relay.history("general");
    assert.deepEqual(
      changes.map(({ kind, target }) => [kind, target]),
      [
        ["edit", 1],
        ["react", 1],
        ["delete", 2],
        ["data", undefined],
      ],
    );
    assert.deepEqual(await left(other), []);
  });
}

test("what was discarded is not there after a reload at once, and what was tried again is there once", async (t) => {
  const { relay, tab } = await start(t, true);
  await relay.start();
  await tab.run(() => window.relay.retry());
  const refused = () => tab.run(() => window.room.pending.map(({ state }) => state).join());
  await tab.run(() => void window.room.delete(99));
  await wait(async () => (await refused()) === "refused", "it is refused");
  await relay.kill();
  await runAndReload(tab, () => {
    const [{ id }] = window.room.pending;
    window.room.retry(id);
    window.room.discard(window.room.send("discarded").local.id);
    const abort = new AbortController();
    window.room.send("aborted", { signal: abort.signal });
    abort.abort();
  });
  await tab.run(startClient, relay.url, true);
  await wait(async () => (await refused()) !== "", "it is shown");
  assert.equal(await refused(), "queued");
  await relay.start();
  await tab.run(() => window.relay.retry());
  await wait(async () => (await refused()) === "refused", "it is refused again");
  await tab.run(() => window.room.discard(window.room.pending[0].id));
  await wait(async () => (await tab.stored("ada", "outbox")).length === 0, "it has gone");
  assert.deepEqual(texts(await relay.history("general")), ["one", "two"]);
  assert.deepEqual(await left(tab), []);
});

test("a tab sends what it has left before it knew the tab that leads", async (t) => {
  const { pages, relay, browser } = await start(t, true);
  await relay.start();
  const tab = await browser.open(pages);
  await tab.run(async () => {
    const { IndexedDBStore } = await import("/relay-client/indexeddb-store.js");
    const line = { type: "send", room: "general", at: Date.now(), kind: "text" };
    const { backup } = new IndexedDBStore("ada");
    for (const text of ["three", "four"]) backup.put({ ...line, id: `id of ${text}`, text });
    new IndexedDBStore("bo").backup.put({ ...line, id: "of another user", text: "five" });
    localStorage.setItem("relay-client/line/broken/ada", "{");
    localStorage.setItem("relay-client/line/other/ada", "null");
  });
  await tab.run(startClient, relay.url, true);
  await tab.run(shows, ["one", "two", "three", "four"]);
  assert.deepEqual(texts(await relay.history("general")), ["one", "two", "three", "four"]);
  await tab.run(async () => {
    const { IndexedDBStore } = await import("/relay-client/indexeddb-store.js");
    await IndexedDBStore.delete("bo");
  });
  assert.deepEqual((await left(tab)).sort(), [
    "relay-client/line/broken/ada",
    "relay-client/line/other/ada",
  ]);
});

test("a page keeps a bounded number of lines and characters for its store, and sends all", async (t) => {
  const { relay, tab } = await start(t, true);
  const kept = await tab.run(async () => {
    const { backupLines, backupCharacters, LineBackup } = await import(
      "/relay-client/line-backup.js"
    );
    const count = () =>
      Object.keys(localStorage).filter((key) => key.startsWith("relay-client/line/")).length;
    const seen = { backupLines };
    for (let n = 0; n < backupLines + 50; n++) window.room.send(`${n}`);
    seen.lines = count();
    await new Promise((resolve) => {
      const look = () => (count() === 0 ? resolve() : setTimeout(look, 5));
      look();
    });
    window.room.send("again"); // what the store has makes room
    seen.again = count();
    const backup = new LineBackup("wide");
    const text = "é".repeat(backupCharacters / 4);
    const put = (id) => backup.put({ type: "send", room: "a", id, at: 0, kind: "text", text });
    seen.wide = ["a", "b", "c", "d", "e"].map(put);
    new LineBackup("wide").remove("a"); // as another tab does
    seen.after = put("f");
    for (const id of ["b", "c", "f"]) backup.remove(id);
    // A browser that has no room left, or none at all.
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    seen.full = put("g");
    window.room.send("full");
    return seen;
  });
  const { backupLines, ...rest } = kept;
  assert.equal(backupLines, 1000);
  assert.deepEqual(rest, {
    lines: backupLines,
    again: 1,
    wide: [true, true, true, false, false],
    after: true,
    full: false,
  });
  await relay.start();
  await tab.run(() => window.relay.retry());
  await tab.run(() => window.relay.settled());
  const sent = texts(await relay.history("general")).slice(2);
  const numbers = Array.from({ length: backupLines + 50 }, (_, n) => `${n}`);
  assert.deepEqual(sent, [...numbers, "again", "full"]);
  assert.deepEqual(await left(tab), []);
});
