// Another token, while one is signed in by a token. Loaded when it is needed.

import { askForToken as ask, askToSwitch } from "./dialogs.js";
import { Session, subject } from "./session.js";

let isAsking = false;

/**
 * Asks for a token, until there is one: `place` tells by `renewed` that it came otherwise.
 * @param {HTMLElement} place @param {Session} session
 */
export function askForToken(place, session) {
  if (isAsking) return;
  isAsking = true;
  const box = ask(place, (token) => session.renew(token));
  const close = () => box.close();
  place.addEventListener("renewed", close);
  box.addEventListener("close", () => {
    isAsking = false;
    place.removeEventListener("renewed", close);
  });
}

/**
 * Signs in by a token of another user, after a question.
 * @param {HTMLElement} place @param {string} user @param {string} token
 */
export async function switchTo(place, user, token) {
  if (!(await askToSwitch(place, user, subject(token)))) return;
  Session.keep(token);
  location.reload();
}
