// A new room: what it is called, who may enter, and who is invited.

import { plain } from "../format.js";
import { show } from "../popups.js";
import { messageOf, say } from "../problems.js";
import { choice, form, input, label, problem, titleLimit, topicLimit, usersIn } from "./fields.js";
import { styled } from "./style.js";

/** @import { Room } from "../relay-client/room.js" */
/** @import { Messenger } from "../types.js" */

/**
 * @param {HTMLElement} place
 * @param {Messenger} messenger
 * @param {(room: Room, title: string) => void} open
 */
export function makeRoom(place, { relay, user, people }, open) {
  styled(place);
  const note = problem();
  const title = input("new-room-title", { maxLength: titleLimit });
  const topic = input("new-room-topic", { maxLength: topicLimit });
  const access = choice(
    "new-room-access",
    [
      ["private", "Private: only who is invited finds and reads it"],
      ["open", "Open: anyone who knows its address may enter"],
    ],
    "private",
  );
  const invited = input("new-room-invited", {
    autocapitalize: "none",
    spellcheck: false,
    placeholder: "bo, cy",
  });
  const ending = new AbortController();
  const create = async () => {
    const name = title.value.trim();
    if (!name) {
      title.focus();
      throw new Error("Write a title.");
    }
    const users = usersIn(invited.value, people).filter((one) => one !== user);
    const settings = {
      title: name,
      access: /** @type {"open" | "private"} */ (access.value),
      ...(topic.value.trim() ? { topic: topic.value.trim() } : {}),
    };
    const room = await relay.createRoom(settings, { signal: ending.signal });
    box.close();
    open(room, name);
    for (const one of users) {
      room.invite(one).catch((error) => {
        say(`${plain(people.name(one) ?? one)} was not invited: ${messageOf(error)}`);
      });
    }
  };
  const box = show(
    place,
    "New room",
    form(
      note,
      "Create",
      create,
      label(title.id, "Title"),
      title,
      label(topic.id, "Topic", "optional"),
      topic,
      label(access.id, "Who may enter"),
      access,
      label(invited.id, "Invite", "user names, optional"),
      invited,
    ),
  );
  box.addEventListener("close", () => ending.abort());
  title.focus();
}
