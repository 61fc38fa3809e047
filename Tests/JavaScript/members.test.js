// Rooms with settings and members, beside a real relay.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../Sources/JavaScript/relay-client/relay-client.js";
import { client } from "./support/client.js";
import { Relay } from "./support/relay.js";
import { next, wait } from "./support/wait.js";

/** A private room of ada with bo and cy, open at all of them. */
async function team(t, settings = {}) {
  const relay = await Relay.start(t);
  const [ada, bo, cy] = ["ada", "bo", "cy"].map((user) => client(t, relay.url, { user }));
  const own = await ada.createRoom({ title: "Team", access: "private", ...settings });
  await own.invite("bo", { role: "moderator" });
  await own.invite("cy");
  const rooms = { ada: own, bo: bo.room(own.name), cy: cy.room(own.name) };
  for (const [user, room] of Object.entries(rooms))
    await wait(() => room.state === "live" && room.members.size === 3, `${user} is in`);
  return { relay, bo, cy, rooms };
}

test("a new room has settings, its maker owns it, and roles are known to all", async (t) => {
  const { rooms, relay } = await team(t, { topic: "Lunch", slowSeconds: 2 });
  assert.match(rooms.ada.name, /^r-[0-9a-f]{32}$/);
  const settings = { title: "Team", topic: "Lunch", access: "private", slowSeconds: 2 };
  for (const room of Object.values(rooms)) {
    assert.deepEqual(room.settings, { ...settings, history: "all", post: "everyone" });
    assert.deepEqual(Object.fromEntries(room.members), {
      ada: "owner",
      bo: "moderator",
      cy: "member",
    });
  }
  assert.deepEqual(
    [rooms.ada.role, rooms.bo.role, rooms.cy.role],
    ["owner", "moderator", "member"],
  );
  await rooms.bo.change({ topic: "", slowSeconds: 0 });
  await rooms.ada.setRole("cy", "moderator");
  for (const room of Object.values(rooms)) {
    await wait(() => room.members.get("cy") === "moderator", "the role has changed");
    assert.deepEqual([room.settings.topic, room.settings.slowSeconds], ["", 0]);
  }
  assert.equal(rooms.cy.role, "moderator");
  // Who joins later knows the same, as far as the newest entries tell.
  const again = client(t, relay.url, { user: "bo" }).room(rooms.bo.name);
  await wait(() => again.state === "live", "it is live");
  assert.deepEqual(again.settings, rooms.bo.settings);
  const brief = client(t, relay.url, { user: "bo" }).room(rooms.bo.name, { after: 5 });
  await wait(() => brief.state === "live", "it is live");
  assert.deepEqual(brief.settings, { title: "Team", topic: "", access: "private" });
});

test("a room may have a chosen name, and open rooms without settings are as ever", async (t) => {
  const relay = await Relay.start(t);
  const ada = client(t, relay.url, { user: "ada" });
  const room = await ada.createRoom({ title: "Lunch" }, { name: "lunch" });
  assert.equal(room.name, "lunch");
  await wait(() => room.state === "live", "it is live");
  assert.deepEqual([room.settings.access, room.role], ["open", "owner"]);
  await assert.rejects(ada.createRoom({ title: "Lunch" }, { name: "Lunch" }), { field: "room" });
  await assert.rejects(ada.createRoom({}), { code: "bad_field" });
  await relay.post("bo", "general", { text: "hello" });
  const general = ada.room("general");
  await wait(() => general.members.size === 2, "both are members");
  assert.deepEqual(
    [general.settings, general.role, general.members.get("bo")],
    [undefined, undefined, undefined],
  );
});

test("a removed member is told why, keeps what was read, and can be let in again", async (t) => {
  const { cy, rooms } = await team(t);
  await rooms.ada.send("before");
  await wait(() => rooms.cy.latest.some(({ text }) => text === "before"), "it is read");
  const departing = next(rooms.cy, "departure");
  const listed = () => cy.rooms.list.some(({ room }) => room === rooms.cy.name);
  await wait(listed, "it is in the list");
  const { seq } = await rooms.bo.remove("cy", { reason: "spam" });
  assert.deepEqual(await departing, { seq, by: "bo", role: "none", reason: "spam" });
  assert.deepEqual([rooms.cy.state, rooms.cy.error.code], ["refused", "departed"]);
  assert.equal(rooms.cy.last, seq);
  const [text, notice] = rooms.cy.latest.slice(-2);
  assert.equal(text.text, "before");
  assert.deepEqual(notice.member, { user: "cy", role: "none", reason: "spam" });
  assert.ok(!listed(), "it is not in the list");
  await assert.rejects(rooms.cy.send("after"), { code: "no_such_room" });
  assert.equal(rooms.cy.pending[0].state, "refused");
  for (const room of [rooms.ada, rooms.bo])
    await wait(() => !room.members.has("cy") && !room.marks.has("cy"), "cy is no member");
  await rooms.ada.invite("cy");
  await wait(listed, "it is in the list again");
  const again = cy.room(rooms.cy.name);
  assert.notEqual(again, rooms.cy);
  await wait(() => again.state === "live", "it is live again");
  assert.equal(again.latest.at(-1).member.role, "member");
  assert.equal(again.departure, undefined);
  await again.send("back");
  assert.deepEqual(cy.failures, []);
});

test("a member is muted and banned for a time, and says until when", async (t) => {
  const { rooms } = await team(t);
  const until = Date.now() + 3_600_000;
  await rooms.bo.mute("cy", { until: new Date(until) });
  await wait(() => rooms.cy.role === "muted", "it is muted");
  const { member } = rooms.cy.latest.at(-1);
  assert.deepEqual(member, { user: "cy", role: "muted", until });
  await assert.rejects(rooms.cy.send("hello"), (error) => {
    assert.deepEqual([error.code, error.until], ["forbidden", new Date(until)]);
    return true;
  });
  await assert.rejects(rooms.bo.ban("ada"), { code: "forbidden" });
  await assert.rejects(rooms.bo.ban("cy", { until: 1 }), { code: "bad_field", field: "until" });
  await assert.rejects(rooms.ada.remove("ada"), { code: "forbidden", field: "role" });
  await rooms.ada.change({ access: "open" });
  const departing = next(rooms.cy, "departure");
  await rooms.bo.ban("cy", { until });
  assert.equal((await departing).role, "banned");
});

test("one who is no member when the room becomes private leaves it", async (t) => {
  const relay = await Relay.start(t);
  const [ada, bo] = ["ada", "bo"].map((user) => client(t, relay.url, { user }));
  const own = await ada.createRoom({ title: "Team" }, { name: "team" });
  const room = bo.room("team");
  await wait(() => room.state === "live", "it is live");
  assert.equal(room.role, undefined);
  const departing = next(room, "departure");
  const { seq } = await own.change({ access: "private" });
  assert.deepEqual(await departing, { seq, by: "ada", role: undefined, reason: undefined });
  assert.match(room.error.message, /ada has ended your membership/);
});

test("notices are messages, and neither unread nor the last message of a room", async (t) => {
  const { bo, rooms } = await team(t);
  const row = () => bo.rooms.list.find(({ room }) => room === rooms.bo.name);
  await wait(row, "it is in the list");
  await rooms.ada.mute("cy");
  await wait(() => rooms.bo.members.get("cy") === "muted", "the entry has arrived");
  assert.equal(row().last, undefined);
  await rooms.ada.send("hello");
  await wait(() => row()?.last?.text === "hello", "it is the last message");
  rooms.bo.close();
  await rooms.ada.change({ title: "Lunch" });
  await rooms.ada.mute("cy");
  await wait(() => row()?.title === "Lunch", "the list has the title");
  const { last, access, role } = row();
  assert.deepEqual([last.text, access, role], ["hello", "private", "moderator"]);
  const page = await rooms.ada.history.newest();
  assert.deepEqual(
    page.messages.map(({ kind }) => kind),
    ["settings", "member", "member", "member", "text", "settings", "member"],
  );
  assert.deepEqual(page.messages[5].settings, { title: "Lunch" });
  assert.deepEqual(
    rooms.ada.latest.map(({ seq, kind }) => [seq, kind]),
    page.messages.map(({ seq, kind }) => [seq, kind]),
  );
});

test("a moderator's deletion names the moderator, live as in the history", async (t) => {
  const { rooms } = await team(t);
  const one = await rooms.cy.send("one");
  const two = await rooms.cy.send("two");
  await rooms.bo.delete(one.seq);
  await rooms.cy.delete(two.seq);
  for (const room of Object.values(rooms)) {
    await wait(() => room.get(two.seq)?.deleted, "it is deleted");
    assert.deepEqual([room.get(one.seq).deletedBy, room.get(two.seq).deletedBy], ["bo", undefined]);
  }
  const page = await rooms.ada.history.newest();
  const of = (seq) => page.messages.find((message) => message.seq === seq);
  assert.deepEqual([of(one.seq).deletedBy, of(two.seq).deletedBy], ["bo", undefined]);
  await assert.rejects(rooms.bo.delete((await rooms.ada.send("three")).seq), {
    code: "forbidden",
  });
});

test("a client that begins again knows settings from its store, and is removed meanwhile", async (t) => {
  const { relay, rooms } = await team(t);
  const store = new MemoryStore();
  const first = client(t, relay.url, { user: "cy", store });
  await wait(() => first.room(rooms.cy.name).settings?.post, "the settings are known");
  await first.close();
  await relay.kill();
  const second = client(t, relay.url, { user: "cy", store });
  const room = second.room(rooms.cy.name);
  await wait(() => room.latest.length > 0, "the store has it");
  assert.deepEqual([room.settings.title, room.settings.history], ["Team", "all"]);
  await relay.start();
  await wait(() => room.state === "live", "it is live");
  assert.deepEqual([room.role, room.settings.history], ["member", "all"]);
});
