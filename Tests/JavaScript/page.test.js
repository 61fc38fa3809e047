// Modules of the web page that need no browser, and what is read from its sources.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

process.env.TZ = "Europe/Berlin";
const project = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, project), "utf8");
/** Imports a module that imports nothing. Node 18 takes a file for one only below a package.json. */
const load = (path) => import(`data:text/javascript,${encodeURIComponent(read(path))}`);
const { dateOf } = await load("Sources/Web/page/date-text.js");

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
