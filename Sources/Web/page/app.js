// The page: signs in, and shows the messenger.

import { Messenger, misnamed, place, worker } from "./messenger.js";
import { load, reportUnhandled } from "./problems.js";
import { root } from "./root.js";
import { Session } from "./session.js";

/** @import { Relay } from "./relay-client/relay.js" */

/** @param {string} [reason] */
async function begin(reason) {
  /** @type {ReturnType<typeof Session.restore>} */
  const restored = reason === undefined ? Session.restore() : { reason };
  let { session, reason: why } = restored;
  if (!session) {
    place.className = "";
    if (restored.misnamed !== undefined)
      why = (await load(misnamed)).userProblem(restored.misnamed);
    const { signIn } = await load(() => import("./sign-in.js"));
    session = await signIn(place, why);
    const query = new URLSearchParams(location.search);
    query.delete("user");
    for (const [name, value] of Object.entries(session.query)) query.set(name, value);
    history.replaceState({}, "", `${root.pathname}${query.size ? `?${query}` : ""}`);
  }
  /** @type {Relay | undefined} */
  let relay;
  await session.enter(async () => relay?.close());
  relay = session.connect();
  await new Messenger(session, relay, begin).start();
}

/**
 * What TypeScript does not know yet of the browser.
 * @typedef {{createPolicy(name: string, rules: WorkerPolicy): WorkerPolicy}} TrustedTypes
 */
/** @typedef {{createScriptURL(url: string): string}} WorkerPolicy */

/**
 * Installs the worker that lets the page open without a connection. Its address is the only one
 * that may become a script.
 */
function install() {
  const address = new URL("service-worker.js", root).href;
  const { trustedTypes } = /** @type {Window & {trustedTypes?: TrustedTypes}} */ (window);
  const policy = trustedTypes?.createPolicy("relay-worker", {
    createScriptURL: (url) => {
      if (url !== address) throw new TypeError("not an address of the worker");
      return url;
    },
  });
  worker()
    ?.register(policy ? policy.createScriptURL(address) : address)
    .catch((error) => console.warn("The page cannot be opened without a connection:", error));
  // The worker takes over the pages that are there. One that was just being opened was missed.
  worker()?.ready.then(({ active }) => {
    if (!worker()?.controller) active?.postMessage("take over");
  });
}

// Those of the page are relative, and its own address changes.
for (const link of document.querySelectorAll("link")) link.setAttribute("href", link.href);
reportUnhandled();
begin();
addEventListener("load", install, { once: true });
if (document.readyState === "complete") install();
