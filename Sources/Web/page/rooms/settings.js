// What a room is called, who may enter and write: owners change all of it, moderators some.

import { el } from "../dom.js";
import { plain } from "../format.js";
import { show } from "../popups.js";
import { button, choice, form, input, label, problem, titleLimit, topicLimit } from "./fields.js";
import { showReports } from "./reports.js";
import { styled } from "./style.js";

/** @import { Room } from "../relay-client/room.js" */
/** @import { RoomSettings } from "../relay-client/types.js" */
/** @import { Place } from "../actions.js" */

/** @type {[string, string][]} */
const pauses = [
  ["0", "None"],
  ["10", "10 seconds"],
  ["30", "30 seconds"],
  ["60", "1 minute"],
  ["300", "5 minutes"],
  ["3600", "1 hour"],
];

/** Where this page does not know what is set. @type {[string, string]} */
const unknown = ["", "Unchanged"];

/** @param {Place} place */
export function changeSettings(place) {
  const { near, room, role, title: shown } = place;
  styled(near);
  const { settings = {} } = room;
  const note = problem();
  const title = input("room-title", {
    maxLength: titleLimit,
    value: settings.title ?? "",
  });
  const topic = input("room-topic", {
    maxLength: topicLimit,
    value: settings.topic ?? "",
  });
  /**
   * @param {string} id @param {string | undefined} value @param {[string, string][]} options
   */
  const list = (id, value, options) =>
    choice(id, value === undefined ? [unknown, ...options] : options, value ?? "");
  const access = list("room-access", settings.access, [
    ["open", "Everyone who knows its address"],
    ["private", "Only members"],
  ]);
  const history = list("room-history", settings.history, [
    ["all", "All messages"],
    ["joined", "Messages since they were let in"],
  ]);
  const post = list("room-post", settings.post, [
    ["everyone", "Everyone"],
    ["moderators", "Owners and moderators"],
  ]);
  const seconds = settings.slowSeconds === undefined ? undefined : String(settings.slowSeconds);
  const isUsual = seconds === undefined || pauses.some(([value]) => value === seconds);
  const slow = list(
    "room-slow",
    seconds,
    isUsual ? pauses : [...pauses, [seconds, `${seconds} seconds`]],
  );
  const save = async () => {
    const name = title.value.trim();
    if (!name && settings.title) {
      title.focus();
      throw new Error("Write a title.");
    }
    const wanted = {
      title: name || undefined,
      topic: topic.value.trim() || (settings.topic ? "" : undefined),
      access: access.value || undefined,
      history: history.value || undefined,
      post: post.value || undefined,
      slowSeconds: slow.value === "" ? undefined : Number(slow.value),
    };
    const changed = Object.entries(wanted).filter(
      ([key, value]) => value !== undefined && value !== Reflect.get(settings, key),
    );
    if (changed.length > 0)
      await room.change(/** @type {RoomSettings} */ (Object.fromEntries(changed)), {
        signal: ending.signal,
      });
    box.close();
  };
  const ending = new AbortController();
  const isOwner = role() === "owner";
  const box = show(
    near,
    `Settings of ${plain(shown)}`,
    form(
      note,
      "Save",
      save,
      label(title.id, "Title"),
      title,
      label(topic.id, "Topic"),
      topic,
      ...(isOwner
        ? [
            label(access.id, "Who may enter"),
            access,
            label(history.id, "What new members read"),
            history,
          ]
        : []),
      label(post.id, "Who may write"),
      post,
      label(slow.id, "Pause between two messages of a member"),
      slow,
      isOwner
        ? ""
        : el(
            "p",
            { class: "aside" },
            "Owners also choose who may enter, and what new members read.",
          ),
    ),
  );
  const toReports = () => {
    box.close();
    showReports(place);
  };
  box.querySelector(".buttons")?.prepend(button("Reports…", toReports));
  box.addEventListener("close", () => ending.abort());
  title.focus();
}
