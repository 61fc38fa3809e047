// The page for operators: asks who administers, and shows one section at a time.

import { Access } from "./admin/access.js";
import { el } from "./dom.js";
import { load, messageOf, reportUnhandled } from "./problems.js";
import { root } from "./root.js";

/** @import { Refusal } from "./accounts/request.js" */

/**
 * A section shows itself in a place, until the signal ends it.
 * @typedef {{show: (place: HTMLElement, access: Access, signal: AbortSignal) => Promise<void>}} Section
 */

/** @type {{id: string, title: string, part: () => Promise<Section>}[]} */
const sections = [
  { id: "now", title: "Now", part: () => import("./admin/now.js") },
  { id: "rooms", title: "Rooms", part: () => import("./admin/rooms.js") },
  { id: "connections", title: "Connections", part: () => import("./admin/connections.js") },
  { id: "users", title: "Users and sessions", part: () => import("./admin/users.js") },
  { id: "reports", title: "Reports", part: () => import("./admin/reports.js") },
  { id: "audit", title: "Audit", part: () => import("./admin/audit.js") },
  { id: "invitations", title: "Invitations", part: () => import("./admin/invitations.js") },
];

const place = /** @type {HTMLElement} */ (document.getElementById("app"));
const access = new Access();

/** Shows the sections to an operator, and to others a field for a token. */
async function begin() {
  try {
    await access.check();
  } catch (error) {
    return signIn(/** @type {Refusal} */ (error));
  }
  showSections();
}

/** @param {Refusal} refusal */
function signIn(refusal) {
  const wasAsked = access.hasToken || refusal.status !== 401;
  const note = el(
    "p",
    { class: "problem", role: "alert", id: "admin-problem" },
    wasAsked ? messageOf(refusal) : "",
  );
  const input = el("input", {
    id: "admin-token",
    type: "password",
    autocomplete: "off",
    spellcheck: false,
    required: true,
    "aria-describedby": "admin-problem",
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    access.token = input.value.trim();
    begin();
  };
  place.replaceChildren(
    el(
      "main",
      { class: "sign-in-page" },
      el(
        "form",
        { class: "sign-in", on: { submit } },
        el("h1", {}, "Administration"),
        el(
          "p",
          {},
          "For operators of this relay. Who has an account signs in on ",
          el("a", { href: root.pathname }, "its page"),
          " first; others enter their token, or the one in admin.token. It is forgotten when this page is closed.",
        ),
        el("label", { htmlFor: "admin-token" }, "Token"),
        input,
        note,
        el("button", { type: "submit", class: "primary" }, "Continue"),
      ),
    ),
  );
  input.focus();
}

function showSections() {
  const links = sections.map(({ id, title }) => el("a", { href: `#${id}` }, title));
  const main = el("main", {});
  /** Ends the section that is shown. */
  let ending = new AbortController();
  const show = async () => {
    const at = Math.max(
      0,
      sections.findIndex(({ id }) => `#${id}` === location.hash),
    );
    const { title, part } = sections[at];
    for (const [index, link] of links.entries()) {
      if (index === at) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${title} – Administration – relay`;
    ending.abort();
    ending = new AbortController();
    const { signal } = ending;
    const heading = el("h2", { tabIndex: -1 }, title);
    const content = el("div", { class: "section" });
    main.replaceChildren(heading, content);
    heading.focus();
    const section = await load(part);
    if (!signal.aborted) await section.show(content, access, signal);
  };
  place.replaceChildren(
    el(
      "div",
      { class: "administration" },
      el(
        "header",
        {},
        el("h1", {}, "Administration"),
        el("nav", { "aria-label": "Sections" }, ...links),
      ),
      main,
    ),
  );
  addEventListener("hashchange", show);
  show();
}

reportUnhandled();
begin();
