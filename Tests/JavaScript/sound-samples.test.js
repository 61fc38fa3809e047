// How much memory sound takes once it is decoded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { samplesLimit } from "../../Sources/Web/page/sound-samples.js";

const unknown = Number.POSITIVE_INFINITY;
const limit = (bytes) => samplesLimit(new Uint8Array(bytes).buffer);
const sample = (name) => [
  ...readFileSync(new URL(`../MediaTests/Samples/${name}`, import.meta.url)),
];
const text = (letters) => [...letters].map((letter) => letter.charCodeAt(0));
const repeated = (count, bytes) => Array.from({ length: count }, () => bytes).flat();
/** Two frames of 60 ms, without content: the longest packet. */
const longest = 0x19;

/** A page of Ogg with packets that are not cut. */
const page = (packets, { flags = 0, stream = 1 } = {}) => [
  ...text("OggS"),
  ...[0, flags, ...repeated(8, [0]), stream, ...repeated(11, [0])],
  ...[packets.length, ...packets.map((packet) => packet.length)],
  ...packets.flat(),
];
const head = (channels) => [...text("OpusHead"), 1, channels, ...repeated(9, [0])];

test("what browsers record is decoded, and other sound is not", () => {
  const seconds = (name) => limit(sample(name)) / 48_000;
  // 1.5 s, and what the encoder puts before it.
  for (const name of ["opus.ogg", "recorded.webm", "sound.webm"])
    assert.ok(seconds(name) > 1.5 && seconds(name) < 1.8, name);
  // Of AAC no more is known than the number of frames.
  for (const name of ["fragmented.mp4", "sound.m4a"])
    assert.ok(seconds(name) > 1.5 && seconds(name) < 5, name);
  for (const name of ["vorbis.ogg", "counted.mp3", "silence.flac", "sound.wav"])
    assert.equal(limit(sample(name)), unknown, name);
});

test("packets without content count with the time that they claim, of each channel", () => {
  const packets = repeated(240, [[longest]]);
  const sound = (channels) => [
    ...page([head(channels)], { flags: 2 }),
    ...repeated(100, page(packets)),
  ];
  const samples = limit(sound(1));
  assert.ok(samples >= 24_000 * 5760 && samples < 24_100 * 5760);
  assert.equal(limit(sound(8)), 8 * samples);

  const block = [0xa3, 0x85, 0x81, 0, 0, 0, longest];
  assert.ok(limit([...sample("sound.webm"), ...repeated(10_000, block)]) >= 10_000 * 5760);
});

test("a packet that goes on in the next page counts once, and one that does not, twice", () => {
  const first = page([head(1)], { flags: 2 });
  const cut = page([[longest, ...repeated(254, [0])]]);
  const count = (flags) =>
    limit([...first, ...cut, ...page([[longest]], { flags })]) - limit(first);
  assert.equal(count(1), 5760);
  assert.equal(count(0), 2 * 5760);
});

test("what a decoder may understand in another way is not decoded", () => {
  const first = page([head(1)], { flags: 2 });
  assert.equal(limit([...first, ...page([[longest]], { stream: 2 })]), unknown);
  assert.equal(limit([...first, 0, ...page([[longest]])]), unknown);
  const webm = sample("sound.webm");
  const laced = [0xa3, 0x85, 0x81, 0, 0, 2, longest];
  assert.equal(limit([...webm, ...laced]), unknown);
  assert.equal(limit([...webm, 0x6d, 0x80, 0x80]), unknown);
  assert.equal(limit([...webm, 0xec, 0x84, 0]), unknown);
  const box = (name, content) => [0, 0, 0, content.length + 8, ...text(name), ...content];
  const mp4 = sample("sound.m4a");
  assert.equal(limit([...mp4, ...box("stsd", [...repeated(12, [0]), ...text("Opus")])]), unknown);
  assert.ok(limit([...mp4, ...box("trun", [0, 0, 0, 0, 0, 1, 0, 0])]) > 65_536 * 2048);
});

test("a file that ends anywhere is no error", () => {
  for (const name of ["opus.ogg", "recorded.webm", "fragmented.mp4"]) {
    const bytes = sample(name);
    for (let end = 0; end < bytes.length; end++) {
      const part = bytes.slice(0, end);
      assert.ok(limit(part) <= limit(bytes) || limit(part) === unknown, `${name}, ${end} bytes`);
    }
  }
});
