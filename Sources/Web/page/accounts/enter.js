// The door to the accounts: who is signed in on this browser, and what the address wants. Nothing of
// this folder is loaded on a relay without accounts.

import { loaded } from "../problems.js";
import { deviceStorage } from "../relay-client/guarded-storage.js";
import { root } from "../root.js";
import { accountKey } from "../session.js";
import { Account } from "./account.js";
import { readMe } from "./request.js";
import { styled } from "./style.js";
import { failure } from "./words.js";

/** @import { Session } from "../session.js" */
/** @import { Me, Refusal } from "./request.js" */

/** A page that can show something waits no longer for the relay. */
const patienceMs = 1500;

/**
 * @param {HTMLElement} place
 * @param {string} reason why one is asked again
 * @returns {Promise<Session>}
 */
export async function enter(place, reason) {
  const known = deviceStorage.get(accountKey);
  const path = location.pathname.slice(root.pathname.length);
  const [, code] = /^join\/([^/]+)\/?$/.exec(path) ?? [];
  const isForDevice = path === "sign-in/device";
  const isKnown = known !== undefined && !reason && code === undefined && !isForDevice;
  const { me, problem, status, refusal } = await whoIsSignedIn(isKnown ? patienceMs : undefined);
  if (status === 404 && known !== undefined) {
    deviceStorage.remove(accountKey);
    location.reload(); // the relay has no accounts any more
    return new Promise(() => {});
  }
  let why = reason || (refusal ?? "");
  if (!me && !problem && known !== undefined) why = await new Account(known).signedOut(refusal);
  // Without an answer, what this browser has is shown: the connection tells what has become of it.
  if (problem && isKnown) return new Account(known);
  const query = new URLSearchParams(location.search);
  const failed = query.get("sign_in_error");
  if (failed !== null) {
    query.delete("sign_in_error");
    history.replaceState({}, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
    why = failure(failed);
  }
  if (me && !why && code === undefined && !isForDevice) return new Account(me.user, me);
  const [{ SignIn }] = await Promise.all([loaded(() => import("./screens.js")), styled()]);
  const screens = new SignIn(place, { me, why, problem });
  if (code !== undefined) await screens.join(decoded(code));
  else if (isForDevice) await screens.allowDevice(query.get("code") ?? "");
  else await screens.choose();
  if (!screens.me) throw new Error("The sign-in has ended without an account.");
  return new Account(screens.me.user, screens.me);
}

/**
 * @param {number} [ms] how long an answer may take
 * @returns {Promise<{me?: Me, problem?: string, status?: number, refusal?: string}>} a problem: it is
 *   not known; a refusal: the account may not come in
 */
async function whoIsSignedIn(ms) {
  try {
    return { me: await readMe(ms) };
  } catch (error) {
    const { status, message } = /** @type {Refusal} */ (error);
    if (status === 401) return { status };
    return status === 403 ? { status, refusal: message } : { status, problem: message };
  }
}

/** @param {string} text of an address */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
