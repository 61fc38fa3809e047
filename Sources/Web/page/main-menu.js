// The menu of the page, and what only it leads to. Loaded when it is needed.

import { opened } from "./opening.js";
import { ask, menu, tell } from "./popups.js";
import { report } from "./problems.js";
import { rooms } from "./rooms/part.js";
import { remove } from "./sign-out.js";

/** @import { Notifier } from "./notifier.js" */
/** @import { Messenger as Shared } from "./types.js" */
/** @import { Session } from "./session.js" */

/**
 * @typedef {Shared & {session: Session, notifier?: Notifier, enter: (room: string) => void,
 *   searchAll: (query: string) => void, help: () => void, goTo: () => void,
 *   open: (row: {room: string, title: string}, options: {isOpened: boolean}) => void}} Messenger
 */

/** @param {HTMLElement} place @param {Messenger} messenger @param {HTMLElement} anchor */
export function showMainMenu(place, messenger, anchor) {
  const { notifier, session } = messenger;
  const entries = [
    { label: "Go to a conversation…", act: () => messenger.goTo() },
    { label: "Search all conversations…", act: () => messenger.searchAll("") },
    { label: "New room…", act: () => makeRoom(place, messenger) },
    { label: "Open or create a room…", act: () => openRoom(place, messenger) },
    ...(notifier && "Notification" in globalThis
      ? [
          {
            label: "Notifications",
            isOn: notifier.isOn("notifications"),
            act: () => toggleNotifications(place, notifier),
          },
        ]
      : []),
    ...(notifier
      ? [
          {
            label: "Sounds",
            isOn: notifier.isOn("sounds"),
            act: () => notifier.toggle("sounds"),
          },
        ]
      : []),
    ...session.menu(messenger),
    { label: "Keys", act: () => messenger.help() },
    { label: "Sign out", act: () => signOut(place, messenger) },
  ];
  menu(anchor, entries, { label: "Menu" });
}

const dialogs = () => import("./dialogs.js");

/** @param {HTMLElement} place @param {Messenger} messenger */
const openRoom = (place, { enter }) =>
  opened(place, dialogs, ({ askForRoom }) => askForRoom(place, enter), "Name of the room");

/** @param {HTMLElement} place @param {Messenger} messenger */
const makeRoom = (place, messenger) =>
  opened(
    place,
    rooms,
    ({ makeRoom }) =>
      makeRoom(place, messenger, ({ name: room }, title) =>
        messenger.open({ room, title }, { isOpened: true }),
      ),
    "Title",
  );

/** @param {HTMLElement} place @param {Notifier} notifier */
async function toggleNotifications(place, notifier) {
  const problem = await notifier.toggle("notifications");
  if (problem) tell(place, "Notifications are off", problem);
}

/** @param {HTMLElement} place @param {Messenger} messenger */
async function signOut(place, { relay, session }) {
  const isSettled = await Promise.race([
    relay.settled().then(() => true),
    new Promise((resolve) => setTimeout(resolve, 100)),
  ]);
  const isSure = await ask(place, {
    title: "Sign out?",
    confirm: "Sign out",
    text: isSettled
      ? "What is stored on this device is removed."
      : "Some messages are not sent yet. They are lost if you sign out now.",
  });
  if (!isSure) return;
  try {
    await session.signOut(() => relay.close(), remove);
  } catch (error) {
    report(error, undefined, "You are still signed in");
  }
}
