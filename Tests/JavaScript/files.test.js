// Files: uploaded in parts, over broken connections, each in its place among what is sent.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FileStore } from "../../Sources/JavaScript/relay-client/file-store.js";
import { MemoryStore } from "../../Sources/JavaScript/relay-client/memory-store.js";
import { client } from "./support/client.js";
import { folder, token } from "./support/relay.js";
import { joined, Scripted } from "./support/scripted.js";
import { Uploads } from "./support/uploads.js";
import { wait } from "./support/wait.js";

const bytes = (count) => Buffer.from(Array.from({ length: count }, (_, n) => (n * 7) % 251));
const blob = (count) => new Blob([bytes(count)], { type: "image/png" });

/** A relay that takes files and acknowledges what is sent. */
async function scriptedRelay(t) {
  const relay = await Scripted.start(t);
  const uploads = new Uploads();
  relay.serve = uploads.serve;
  let head = 0;
  relay.answer = ({ type, ref, rooms }) => {
    if (type === "join") return rooms.map(({ room }) => ({ ...joined(head), room }));
    if (type === "send") return [{ type: "ack", ref, seq: ++head, at: 1 }];
    if (type === "history") return [{ type: "entries", ref, entries: [], head: 0, epoch: "e" }];
    return [];
  };
  return { relay, uploads };
}

const said = (relay) => relay.kinds("send").map(({ kind, text, file }) => file ?? text ?? kind);

test("a file is sent in its place among texts, and its upload tells its progress", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  const progress = [];
  const before = room.send("before");
  const sending = room.sendFile(blob(500_000), {
    name: "a picture.png",
    text: "look",
    replyTo: 1,
    onProgress: ({ sent, size }) => progress.push([sent, size]),
  });
  const after = room.send("after");
  const { kind, state, name, upload } = sending.local;
  assert.deepEqual([kind, state, name, upload.size], ["file", "queued", "a picture.png", 500_000]);
  const acks = await Promise.all([before, sending, after]);
  assert.deepEqual(
    acks.map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.deepEqual(said(relay), ["before", "f1", "after"]);
  const { type: _, id: __, ref: ___, ...fields } = relay.kinds("send")[1];
  assert.deepEqual(fields, {
    room: "general",
    kind: "file",
    name: "a picture.png",
    text: "look",
    reply_to: 1,
    file: "f1",
  });
  const { bytes: taken, filename, filetype, room: named } = uploads.files.get("f1");
  assert.deepEqual(taken, bytes(500_000));
  assert.deepEqual([filename, filetype, named], ["a picture.png", "image/png", "general"]);
  assert.deepEqual(progress[0], [0, 500_000]);
  assert.deepEqual(progress.at(-1), [500_000, 500_000]);
  assert.ok(progress.length > 2, `${progress}`);
  assert.deepEqual(
    progress.map(([sent]) => sent),
    progress.map(([sent]) => sent).sort((a, b) => a - b),
  );
});

test("over broken connections an upload goes on where the relay is, and never from 0", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  uploads.fails = (method, count) => {
    if (method === "PATCH" && count % 3 === 0) return { cut: 70_000 };
    if (method === "HEAD" && count % 5 === 0) return { status: 503 };
  };
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  await room.sendFile(blob(600_000), { name: "a.png" });
  assert.deepEqual(uploads.files.get("f1").bytes, bytes(600_000));
  const parts = uploads.requests.filter((request) => request.startsWith("PATCH"));
  assert.equal(parts.filter((part) => part === "PATCH 0").length, 1, `${uploads.requests}`);
  assert.equal(uploads.requests.filter((request) => request === "POST").length, 1);
});

test("a part that was repeated on the way is no reason to refuse the file", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  uploads.fails = (method, count) => {
    if (method !== "PATCH" || count > 2) return undefined;
    uploads.files.get("f1").bytes = bytes(50_000);
    return { status: 409 };
  };
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  await room.sendFile(blob(300_000), { name: "a.png" });
  assert.deepEqual(uploads.files.get("f1").bytes, bytes(300_000));
  assert.deepEqual(uploads.requests.slice(0, 4), ["POST", "PATCH 0", "HEAD", "PATCH 50000"]);
});

test("an upload that the relay has no more begins again", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  uploads.fails = (method, count) => {
    if (method !== "PATCH" || count > 3) return undefined;
    uploads.files.clear();
    return { cut: 1 };
  };
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  await room.sendFile(blob(300_000), { name: "a.png" });
  assert.deepEqual([...uploads.files.values()].at(-1).bytes, bytes(300_000));
});

test("a file that is refused says why, and can be sent again; what follows it is sent", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  const problem = { code: "limit_reached", field: "file_bytes", detail: "The file is too large." };
  uploads.fails = () => ({ status: 413, problem });
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  const sending = room.sendFile(blob(1000), { name: "a.png" });
  const after = room.send("after");
  await assert.rejects(sending, { code: "limit_reached", message: "The file is too large." });
  await after;
  assert.deepEqual(said(relay), ["after"]);
  const [refused] = room.pending;
  assert.deepEqual([refused.state, refused.error.field], ["refused", "file_bytes"]);
  uploads.fails = () => undefined;
  await room.retry(refused.id);
  assert.deepEqual(said(relay), ["after", "f1"]);
  assert.deepEqual(uploads.files.get("f1").bytes, bytes(1000));
});

test("a file that is withdrawn is not sent, and its upload is ended", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  const stop = new AbortController();
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  const onProgress = ({ sent }) => sent > 0 && stop.abort();
  const sending = room.sendFile(blob(900_000), { name: "a", signal: stop.signal, onProgress });
  const after = room.send("after");
  await assert.rejects(sending, { name: "AbortError" });
  await after;
  assert.deepEqual(said(relay), ["after"]);
  await wait(() => uploads.files.size === 0, "the upload is ended");
  assert.deepEqual(
    room.pending.filter(({ kind }) => kind === "file"),
    [],
  );
});

test("a name that would show another one, or a path, is refused before anything is uploaded", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  const room = client(t, relay.url, { user: "ada" }).room("general", { after: 0 });
  for (const name of ["", "a/b", "a\u202egnp.exe", "a\nb", "é".repeat(128), undefined])
    await assert.rejects(room.sendFile(blob(10), { name }), { code: "bad_field", field: "name" });
  assert.deepEqual(uploads.requests, []);
});

test("a file goes on with the next client of its store; where none keeps it, it is refused", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  uploads.fails = (method) => (method === "PATCH" ? { cut: 50_000 } : undefined);
  const store = new MemoryStore();
  const first = client(t, relay.url, { user: "ada", store });
  const sending = first.room("general", { after: 0 }).sendFile(blob(200_000), { name: "a" });
  await wait(() => uploads.files.get("f1")?.bytes.length > 0, "some of it has come");
  await first.close();
  await assert.rejects(sending, { code: "closed" });
  uploads.fails = () => undefined;
  const second = client(t, relay.url, { user: "ada", store });
  second.room("general", { after: 0 });
  await second.settled();
  assert.deepEqual(uploads.files.get("f1").bytes, bytes(200_000));
  assert.deepEqual(said(relay), ["f1"]);

  const path = join(folder(t), "ada.journal");
  relay.close(1001);
  uploads.fails = () => ({ status: 503 });
  const third = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const lost = third.room("general", { after: 0 }).sendFile(blob(10), { name: "b" });
  await wait(() => uploads.requests.filter((one) => one === "POST").length > 1, "it is tried");
  await third.close();
  await assert.rejects(lost, { code: "closed" });
  const fourth = client(t, relay.url, { user: "ada", store: new FileStore(path) });
  const room = fourth.room("general", { after: 0 });
  await wait(() => room.pending[0]?.state === "refused", "it is refused");
  assert.equal(room.pending[0].error.code, "file_gone");
});

test("a message has its file, and addresses of it: with a token they are signed for a while", async (t) => {
  const { relay, uploads } = await scriptedRelay(t);
  const entry = {
    type: "message",
    room: "general",
    seq: 1,
    id: "1",
    from: "bo",
    at: 1,
    kind: "file",
    file: "f7",
    name: "a.png",
    size: 10,
    media_type: "image/png",
    width: 30,
    height: 20,
    thumbnail: { width: 3, height: 2, placeholder: "AA==" },
  };
  const take = async (options) => {
    const room = client(t, relay.url, options).room("general", { after: 0 });
    await wait(() => room.state === "live", "it is joined");
    relay.say(entry);
    await wait(() => room.latest.length === 1, "the message is here");
    return { room, file: room.latest[0].file };
  };
  const { room, file } = await take({ user: "ada" });
  const { url, thumbnailUrl, ...known } = file;
  assert.deepEqual(known, {
    id: "f7",
    name: "a.png",
    size: 10,
    mediaType: "image/png",
    width: 30,
    height: 20,
    durationMs: undefined,
    thumbnail: entry.thumbnail,
  });
  const base = relay.url.replace("ws", "http");
  assert.equal(await url(), `${base}/v1/files/f7?user=ada`);
  assert.equal(await thumbnailUrl(), `${base}/v1/files/f7/thumbnail?user=ada`);
  assert.equal(
    await url("b.png"),
    `${base}/v1/files/f7?user=ada&name=b.png&disposition=attachment`,
  );
  assert.deepEqual(uploads.requests, []);
  // One of a message is sent on without an upload.
  await room.sendFile(file, { text: "again" });
  assert.deepEqual(said(relay), ["f7"]);
  assert.equal(relay.kinds("send")[0].name, "a.png");

  const signed = await take({ getToken: () => token({ sub: "ada", exp: 60 }) });
  assert.equal(await signed.file.url(), `${base}/v1/files/f7?sig=1`);
  assert.equal(await signed.file.thumbnailUrl(), `${base}/v1/files/f7/thumbnail?sig=1`);
  assert.deepEqual(uploads.requests, ["POST"]);
  // Files may have a host of their own.
  uploads.link = (id) => ({ url: `http://files.test/v1/files/${id}?sig=2` });
  const { file: other } = await take({ getToken: () => token({ sub: "ada", exp: 60 }) });
  assert.equal(await other.thumbnailUrl(), "http://files.test/v1/files/f7/thumbnail?sig=2");
  assert.equal(
    await other.url("a.png"),
    "http://files.test/v1/files/f7?sig=2&name=a.png&disposition=attachment",
  );
  relay.say({ ...entry, seq: 2, id: "2", kind: "edit", target: 1, text: "a caption" });
  relay.say({ ...entry, seq: 3, id: "3", from: "bo", kind: "delete", target: 1 });
  await wait(() => signed.room.latest[0].deleted, "it is deleted");
  assert.equal(signed.room.latest[0].file, undefined);
});
