// Files in the web page: chosen, on their way, and shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPage } from "./support/page.js";
import { wait } from "./support/wait.js";

/** Chooses files as a person does who drops them on the conversation. */
const drop = (files) => {
  const transfer = new DataTransfer();
  for (const [name, size, type] of files)
    transfer.items.add(new File([new Uint8Array(size).fill(65)], name, { type }));
  const options = { dataTransfer: transfer, bubbles: true, cancelable: true, composed: true };
  document.querySelector("relay-timeline").dispatchEvent(new DragEvent("drop", options));
};
const write = (text) => {
  const field = document.querySelector("relay-composer textarea");
  field.value = text;
  field.dispatchEvent(new Event("input"));
};
const send = () => document.querySelector("relay-composer .send").click();
const rows = () =>
  [...document.querySelectorAll(".row")].map((row) => row.querySelector(".text").textContent);

const isOnline = () =>
  document.querySelector(".health")?.dataset.state === "online" &&
  !!document.querySelector("relay-composer textarea");

test("files are chosen with a caption, show their progress, and stay in their order", async (t) => {
  const { relay, uploads, tab } = await startPage(t);
  await wait(() => tab.run(isOnline), "the page is online");
  let isHeld = true;
  uploads.fails = (method) => (isHeld && method === "PATCH" ? { cut: 100_000 } : undefined);
  await tab.run(drop, [
    ["one.txt", 300_000, "text/plain"],
    ["\u202etwo/x.txt", 10, "text/plain"],
  ]);
  const chosen = () => document.querySelectorAll(".attachments li").length;
  await wait(async () => (await tab.run(chosen)) === 2, "both are chosen");
  await tab.run(write, "the caption");
  await tab.run(send);
  const isPending = () => document.querySelectorAll(".row progress").length === 2;
  await wait(() => tab.run(isPending), "both are on their way");
  await tab.run(write, "after them");
  await tab.run(send);
  await wait(
    () => tab.run(() => document.querySelector(".row progress").value > 0),
    "there is progress",
  );
  // The page is loaded again in between.
  await wait(async () => {
    const lines = await tab.stored("relay:ada", "outbox");
    return lines.length === 3 && lines[0].begun === "f1";
  }, "all is stored");
  await tab.reload();
  isHeld = false;
  await wait(() => relay.kinds("send").length === 3, "all is sent");
  const sent = relay.kinds("send").map(({ kind, name, text }) => [kind, name, text]);
  assert.deepEqual(sent, [
    ["file", "one.txt", ""],
    ["file", "two_x.txt", "the caption"],
    ["text", undefined, "after them"],
  ]);
  assert.equal(uploads.files.get("f1").bytes.length, 300_000);
  assert.equal(uploads.files.size, 2);
  await wait(
    async () => (await tab.run(rows)).join() === ",the caption,after them",
    "all is shown",
  );
  const cards = await tab.run(() =>
    [...document.querySelectorAll(".row .file b")].map((name) => name.textContent),
  );
  assert.deepEqual(cards, ["one.txt", "two_x.txt"]);
});

test("an upload is ended by its button, and one that is refused can be sent again", async (t) => {
  const { relay, uploads, tab } = await startPage(t);
  await wait(() => tab.run(isOnline), "the page is online");
  uploads.fails = (method) => (method === "PATCH" ? { status: 503 } : undefined);
  await tab.run(drop, [["one.txt", 10, "text/plain"]]);
  await wait(() => tab.run(() => !!document.querySelector(".attachments li")), "it is chosen");
  await tab.run(send);
  await wait(() => uploads.requests.includes("PATCH 0"), "its upload has begun");
  await tab.run(() => document.querySelector(".row .stop").click());
  await wait(() => tab.run(() => document.querySelectorAll(".row").length === 0), "it has gone");
  await wait(() => uploads.files.size === 0, "its upload has ended");
  const problem = { code: "limit_reached", detail: "You have too many files." };
  uploads.fails = () => ({ status: 409, problem });
  await tab.run(drop, [["two.txt", 10, "text/plain"]]);
  await wait(() => tab.run(() => !!document.querySelector(".attachments li")), "it is chosen");
  await tab.run(send);
  const refusal = () => document.querySelector(".refusal")?.textContent ?? "";
  await wait(
    async () => (await tab.run(refusal)).includes("You have too many files."),
    "it is refused",
  );
  uploads.fails = () => undefined;
  await tab.run(() => document.querySelector(".refusal button").click());
  await wait(() => relay.kinds("send").length === 1, "it is sent");
});

/** A ThumbHash of its author's examples. */
const placeholder = "1QcSHQRnh493V4dIh4eXh1h4kJUI";

test("100 pictures do not move the messages, and are viewed by keys", async (t) => {
  const entries = Array.from({ length: 100 }, (_, index) => ({
    type: "message",
    room: "general",
    seq: index + 1,
    id: `bo-${index}`,
    from: "bo",
    at: Date.now() - 1000 * (100 - index),
    kind: "file",
    file: `p${index}`,
    name: `picture ${index}.png`,
    size: 1000,
    media_type: "image/png",
    width: 100 + 37 * (index % 20),
    height: 60 + 91 * (index % 9),
    thumbnail: { width: 64, height: 64, placeholder },
  }));
  const { uploads, tab } = await startPage(t, entries);
  await wait(() => tab.run(isOnline), "the page is online");
  const places = () =>
    [...document.querySelectorAll(".row")].map((row) => [
      row.message.seq,
      Math.round(row.getBoundingClientRect().top),
      row.querySelector(".picture").offsetHeight,
    ]);
  await wait(async () => (await tab.run(places)).length >= 30, "pictures are shown");
  // None is loaded yet: the relay answers 404 so far.
  const before = await tab.run(places);
  assert.ok(before.every(([, , height]) => height >= 40 && height <= 320));
  const isDrawn = () => {
    const seen = [...document.querySelectorAll(".picture")].filter((frame) => {
      const { top, bottom } = frame.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    return seen.length > 0 && seen.every((frame) => frame.querySelector("canvas"));
  };
  await wait(() => tab.run(isDrawn), "placeholders are drawn");
  uploads.picture = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await tab.run(() => {
    for (const image of document.querySelectorAll(".picture img"))
      if (image.src) image.src = `${image.src}&again`;
  });
  const isLoaded = () => [...document.querySelectorAll(".picture img")].at(-1).naturalWidth === 1;
  await wait(() => tab.run(isLoaded), "a picture is loaded");
  const after = new Map((await tab.run(places)).map(([seq, ...place]) => [seq, place]));
  for (const [seq, ...place] of before.slice(-10))
    assert.deepEqual(after.get(seq), place, `${seq}`);

  await tab.run(() => [...document.querySelectorAll(".picture")].at(-1).click());
  const shown = () => document.querySelector(".viewer")?.getAttribute("aria-label");
  await wait(
    async () => (await tab.run(shown)) === "Picture 100 of 100: picture 99.png",
    "it opens",
  );
  const press = (key) =>
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
  await tab.run(press, "ArrowLeft");
  await wait(
    async () => (await tab.run(shown)) === "Picture 99 of 100: picture 98.png",
    "the one before",
  );
  await tab.run(press, "+");
  const scale = () => document.querySelector(".viewer img").style.transform;
  assert.match(await tab.run(scale), /scale\(1\.5\)/);
  await tab.run(press, "-");
  assert.match(await tab.run(scale), /scale\(1\)/);
});

test("a voice message is recorded, and sent as a file", async (t) => {
  const flags = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
  const { relay, uploads, tab } = await startPage(t, [], flags);
  await wait(() => tab.run(isOnline), "the page is online");
  const begin = () => document.querySelector(".microphone").click();
  const isRecording = () => !!document.querySelector(".recorder[open] .primary");
  const chosen = () => document.querySelectorAll(".attachments li").length;
  await tab.run(begin);
  await wait(() => tab.run(isRecording), "it is recorded");
  await tab.run(() => document.querySelector(".recorder .icon-button").click());
  await wait(async () => !(await tab.run(isRecording)), "it is cancelled");
  await tab.run(begin);
  await wait(() => tab.run(isRecording), "it is recorded again");
  const time = () => document.querySelector(".recorder .time").textContent;
  await wait(async () => (await tab.run(time)) === "0:01", "the time goes on");
  await tab.run(() => document.querySelector(".recorder .primary").click());
  await wait(async () => (await tab.run(chosen)) === 1, "it can be sent");
  await tab.run(send);
  await wait(() => relay.kinds("send").length === 1, "it is sent");
  const [{ name, file }] = relay.kinds("send");
  assert.match(name, /^Voice message\.(ogg|webm)$/);
  assert.match(uploads.files.get(file).filetype, /^audio\/(ogg|webm)$/);
  assert.ok(uploads.files.get(file).bytes.length > 500);
});
