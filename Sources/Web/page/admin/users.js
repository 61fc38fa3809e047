// The accounts and the devices that are signed in.

import { Refusal } from "../accounts/request.js";
import { el } from "../dom.js";
import { brief, plain } from "../format.js";
import { button, listing, table } from "./parts.js";

/** @import { Access } from "./access.js" */

/**
 * @typedef {{session: string, device: string, used_at: number, address: string}} Session
 * @typedef {{user: string, name: string, operator?: boolean, disabled?: boolean, issuer?: string,
 *   sessions: Session[]}} Account
 */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  /** Where the pages so far begin. */
  const pages = [""];
  const list = listing(place, signal, async () => {
    /** @type {Account[]} */
    const accounts = [];
    /** @type {string | undefined} */
    let next;
    for (const after of pages) {
      const page = await access
        .request("GET", `v1/accounts?after=${encodeURIComponent(after)}`)
        .catch(explain);
      accounts.push(...page.accounts);
      next = page.next;
    }
    const following = next;
    return [
      table("Accounts", ["User", "Name", "Is", "Devices", "Change"], accounts.map(row)),
      following === undefined
        ? ""
        : el(
            "button",
            {
              type: "button",
              class: "plain",
              on: {
                click: () => {
                  pages.push(following);
                  list.update();
                },
              },
            },
            "More",
          ),
    ];
  });

  /** @param {Account} account */
  const row = ({ user, name, operator, disabled, issuer, sessions }) => [
    user,
    name,
    [operator && "operator", disabled && "disabled", issuer && `by ${issuer}`]
      .filter(Boolean)
      .join(", "),
    el("ul", {}, ...sessions.map((session) => device(user, session))),
    el(
      "div",
      { class: "row-buttons" },
      disabled
        ? button("Enable", user, () => change(user, { disabled: false }))
        : button("Disable…", user, () =>
            change(user, { disabled: true }, `Disable ${user}?`, "Disable"),
          ),
      operator
        ? button("No operator", user, () => change(user, { operator: false }))
        : button("Make operator…", user, () =>
            change(user, { operator: true }, `Make ${user} an operator?`, "Make operator"),
          ),
      sessions.length > 0 && button("End all…", user, () => end(user, "", "all devices")),
    ),
  ];

  /** @param {string} user @param {Session} session */
  const device = (user, { session, device: name, used_at: at, address }) =>
    el(
      "li",
      {},
      el("span", { dir: "auto" }, `${plain(name)}, ${brief(at)}, ${plain(address)} `),
      button("End…", `${user}, ${name}`, () =>
        end(user, `/${encodeURIComponent(session)}`, plain(name)),
      ),
    );

  /**
   * @param {string} user
   * @param {object} what
   * @param {string} [title]
   * @param {string} [confirm]
   */
  const change = (user, what, title, confirm = "") =>
    list.act(
      () => access.request("PATCH", `v1/accounts/${encodeURIComponent(user)}`, what),
      title === undefined
        ? undefined
        : { title: plain(title), text: "It takes effect at once, on every device.", confirm },
    );

  /** @param {string} user @param {string} path @param {string} what */
  const end = (user, path, what) =>
    list.act(
      () => access.request("DELETE", `v1/accounts/${encodeURIComponent(user)}/sessions${path}`),
      {
        title: `Sign ${plain(user)} out?`,
        text: `It ends the session of ${what} at once. The user can sign in again.`,
        confirm: "Sign out",
      },
    );

  await list.update();
}

/** @param {unknown} error */
function explain(error) {
  const { code } = /** @type {Refusal} */ (error);
  throw code === "unknown_type" ? new Refusal(404, "This relay has no accounts.") : error;
}
