// Blocks a person, or ends that. Loaded with what leads to it.

import { ask } from "./popups.js";
import { report } from "./problems.js";

/** @import { Relay } from "./relay-client/relay.js" */

/**
 * Blocks a user after a question.
 * @param {HTMLElement} near @param {Relay} relay @param {string} user @param {string} name
 */
export async function askToBlock(near, relay, user, name) {
  const question = {
    title: `Block ${name}?`,
    confirm: "Block",
    text: `You do not see what ${name} writes to you, and ${name} does not see when you are here or what you have read. ${name} is not told. In rooms, messages of ${name} are closed until you open them.`,
  };
  if (await ask(near, question)) await change(near, relay, user, true, `${name} was not blocked`);
}

/** @param {HTMLElement} near @param {Relay} relay @param {string} user @param {string} name */
export const unblock = (near, relay, user, name) =>
  change(near, relay, user, false, `${name} is still blocked`);

/**
 * @param {HTMLElement} near @param {Relay} relay @param {string} user @param {boolean} on
 * @param {string} failure
 */
async function change(near, relay, user, on, failure) {
  try {
    await relay.block(user, on);
  } catch (error) {
    report(error, near, failure);
  }
}
