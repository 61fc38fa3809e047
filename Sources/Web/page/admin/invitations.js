// Links that let people in: those of the operator, and those of commands.

import { Refusal } from "../accounts/request.js";
import { el } from "../dom.js";
import { brief } from "../format.js";
import { button, listing, table } from "./parts.js";

/** @import { Access } from "./access.js" */

/**
 * @typedef {{invitation: string, user?: string, rooms?: string[], uses: number, used_by: string[],
 *   created_at: number, expires_at: number}} Invitation
 */

/** @param {HTMLElement} place @param {Access} access @param {AbortSignal} signal */
export async function show(place, access, signal) {
  const made = el("input", {
    type: "text",
    readOnly: true,
    hidden: true,
    "aria-label": "The new link",
  });
  const list = listing(place, signal, async () => {
    /** @type {{invites: Invitation[]}} */
    const { invites } = await access.request("GET", "v1/invites").catch(explain);
    return [
      el(
        "div",
        { class: "named" },
        el(
          "button",
          { type: "button", class: "plain", on: { click: () => list.act(invite) } },
          "Make a link for one person",
        ),
        made,
      ),
      invites.length === 0
        ? el("p", {}, "There are no invitations.")
        : table(
            "Invitations",
            ["Made", "For", "Rooms", "Used by", "Until", "Change"],
            invites.map((one) => [
              brief(one.created_at),
              one.user ?? (one.uses === 1 ? "one person" : `${one.uses} people`),
              one.rooms?.join(", ") ?? "",
              one.used_by.join(", "),
              brief(one.expires_at),
              one.used_by.length < one.uses
                ? button("Withdraw", one.user ?? one.invitation, () => withdraw(one))
                : "",
            ]),
          ),
    ];
  });

  async function invite() {
    const { url } = await access.request("POST", "v1/invites", {});
    made.value = url;
    made.hidden = false;
  }

  /** @param {Invitation} one */
  const withdraw = ({ invitation }) =>
    list.act(() => access.request("DELETE", `v1/invites/${encodeURIComponent(invitation)}`), {
      title: "Withdraw this invitation?",
      text: "Its link lets no further people in.",
      confirm: "Withdraw",
    });

  await list.update();
}

/** @param {unknown} error */
function explain(error) {
  const { code } = /** @type {Refusal} */ (error);
  throw code === "unknown_type" ? new Refusal(404, "This relay has no accounts.") : error;
}
