// Modules of the web page that need no browser, and what is read from its sources.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as words from "../../Sources/Web/page/accounts/words.js";
import { dateOf } from "../../Sources/Web/page/date-text.js";

process.env.TZ = "Europe/Berlin";
const project = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, project), "utf8");

/** The dates of wschat's own test: the page reads them alike. */
const dates = read("Tests/MessengerTests/DateTextTests.swift");
const [, understood, refused] = dates.match(
  /arguments: \[(.*?)\]\)\n {2}func `is understood`.*?arguments: \[(.*?)\]\)\n {2}func `is not guessed`/s,
);
const now = new Date(2026, 10, 24, 15, 30);
const two = (number) => String(number).padStart(2, "0");
const told = (date) =>
  date &&
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;

test("reads the dates that wschat reads", () => {
  const cases = [...understood.matchAll(/\("([^"]*)", "([^"]*)"\)/g)];
  assert.ok(cases.length > 20);
  for (const [, text, time] of cases) assert.equal(told(dateOf(text, now)), time, text);
});

test("guesses no other date", () => {
  const cases = [...refused.matchAll(/"([^"]*)"/g)].map(([, text]) => text);
  assert.ok(cases.length > 20);
  for (const text of [...cases.filter((one) => one !== "1"), "1".repeat(5000)])
    assert.equal(dateOf(text, now), undefined, text);
});

/** What listens to the events of each module of the library. */
const listeners = {
  "relay.js": /\brelay\.on\("(\w+)"/g,
  "room-list.js": /\brooms\.on\("(\w+)"/g,
  "directory.js": /\bpeople\.on\("(\w+)"/g,
  "room.js": /\broom\.on\("(\w+)"/g,
};

test("the page listens to each event of the library", () => {
  const names = readdirSync(new URL("Sources/Web/page/", project)).filter((name) =>
    /js$/.test(name),
  );
  const page = names.map((name) => read(`Sources/Web/page/${name}`)).join("\n");
  const library = new URL("Sources/JavaScript/relay-client/", project);
  let count = 0;
  for (const name of readdirSync(library).filter((name) => /js$/.test(name))) {
    const text = readFileSync(new URL(name, library), "utf8");
    const events = [...text.matchAll(/\bthis\.emit\("(\w+)"/g)].map(([, event]) => event);
    if (events.length === 0) continue;
    assert.ok(name in listeners, `${name} has events, and this test does not know of them`);
    const heard = new Set([...page.matchAll(listeners[name])].map(([, event]) => event));
    for (const event of new Set(events)) assert.ok(heard.has(event), `"${event}" of ${name}`);
    count += new Set(events).size;
  }
  assert.ok(count >= 13, `${count}`);
});

const mozilla = "Mozilla/5.0";
const like = "AppleWebKit/537.36 (KHTML, like Gecko)";
/** What browsers say of themselves, and what a person calls the device. */
const agents = [
  [`${mozilla} (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0`, "Firefox on Linux"],
  [
    `${mozilla} (Windows NT 10.0; Win64; x64) ${like} Chrome/149.0.0.0 Safari/537.36`,
    "Chrome on Windows",
  ],
  [
    `${mozilla} (Windows NT 10.0) ${like} Chrome/149.0.0.0 Safari/537.36 Edg/149.0.0.0`,
    "Edge on Windows",
  ],
  [
    `${mozilla} (Linux; Android 16; K) ${like} Chrome/149.0.0.0 Mobile Safari/537.36`,
    "Chrome on Android",
  ],
  [
    `${mozilla} (Linux; Android 16) ${like} SamsungBrowser/30.0 Chrome/140.0.0.0 Mobile Safari/537.36`,
    "Samsung Internet on Android",
  ],
  [
    `${mozilla} (X11; CrOS x86_64 14541.0.0) ${like} Chrome/149.0.0.0 Safari/537.36`,
    "Chrome on ChromeOS",
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1`,
    "Safari on iPhone",
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/149.0 Mobile/15E148 Safari/604.1`,
    "Chrome on iPhone",
  ],
  [
    `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/19.0 Safari/605.1.15`,
    "Safari on Mac",
  ],
  ["", "Browser"],
  ["x".repeat(10_000), "Browser"],
];

test("a device has the name that a person calls it by", () => {
  for (const [agent, name] of agents) assert.equal(words.deviceName(agent), name, agent);
  const [mac] = agents.find(([, name]) => name === "Safari on Mac");
  assert.equal(words.deviceName(mac, 5), "Safari on iPad");
  const longest = Math.max(...agents.map(([agent]) => words.deviceName(agent).length));
  assert.ok(longest <= words.deviceNameLimit);
});

test("a code is taken as a person types it", () => {
  for (const text of ["WDJB-MJHT", "wdjb mjht", " wdjbmjht ", "w-d-j-b m.j.h.t", "WDJB–MJHT"])
    assert.equal(words.userCode(text), "WDJB-MJHT", text);
  for (const [text, code] of [
    ["", ""],
    ["wdj", "WDJ"],
    ["wdjb", "WDJB"],
    ["<b>", "B"],
    ["wdjb-mjhtx", "WDJB-MJHTX"],
  ])
    assert.equal(words.userCode(text), code, text);
});

test("rooms are named by a list", () => {
  assert.deepEqual(words.roomsIn(" general, #Team;general\tlunch "), ["general", "team", "lunch"]);
  assert.deepEqual(words.roomsIn(" , # "), []);
});

test("each failure of a provider is a sentence, and so is an unknown one", () => {
  const unknown = words.failure("unheard of");
  for (const code of ["toString", "__proto__", "constructor", ""])
    assert.equal(words.failure(code), unknown);
  for (const code of [
    "access_denied",
    "expired",
    "provider_unavailable",
    "provider_refused",
    "not_a_member",
    "account_disabled",
    "state_mismatch",
  ]) {
    assert.notEqual(words.failure(code), unknown, code);
    assert.match(words.failure(code), /^[A-Z].*\.$/);
  }
});
