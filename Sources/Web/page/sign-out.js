// Removes what is kept of a user on this device. Loaded when one may sign out.

import { messageOf } from "./problems.js";
import { deviceStorage } from "./relay-client/guarded-storage.js";
import { IndexedDBStore } from "./relay-client/indexeddb-store.js";
import { nameKey } from "./session.js";

/** @import { Session } from "./session.js" */

/**
 * Ends what writes in this tab, waits for all other tabs, and removes what is kept.
 * @callback Remove
 * @param {Session} session
 * @param {() => Promise<void>} close ends what writes in this tab
 * @param {() => void} leave this tab has the session no longer
 * @param {(hold: () => Promise<unknown>) => Promise<void>} locked resolves when no tab has it
 * @returns {Promise<string>} what is to be told, or nothing
 */

/** @type {Remove} */
export async function remove(session, close, leave, locked) {
  let free = () => {};
  try {
    await close();
    leave();
    const removed = new Promise((resolve) => {
      free = () => resolve(undefined);
    });
    await locked(() => removed);
    if (deviceStorage.get(nameKey) === session.user) deviceStorage.remove(nameKey);
    session.kept.forget();
    session.keptInTab.forget();
    await IndexedDBStore.delete(session.name);
    return "";
  } catch (error) {
    return (
      "You are signed out, but not all that is stored on this device could be removed: " +
      `${messageOf(error)} Remove the data of this site in the settings of the browser.`
    );
  } finally {
    free();
  }
}
