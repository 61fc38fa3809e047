// A link to give away.

import { el } from "../dom.js";

/**
 * A field with the link, and a button that copies it.
 * @param {string} address
 */
export function link(address) {
  const field = el("input", {
    type: "text",
    class: "address",
    readOnly: true,
    value: address,
    "aria-label": "Link",
    on: { focus: () => field.select() },
  });
  const said = el("span", { class: "hidden-text", role: "status" });
  const copy = el(
    "button",
    {
      type: "button",
      class: "plain",
      on: {
        click: async () => {
          try {
            await navigator.clipboard.writeText(address);
            said.textContent = copy.textContent = "Copied";
          } catch {
            field.focus(); // over plain HTTP no page may copy: the person does it
            said.textContent = "Press Ctrl+C to copy the link.";
          }
        },
      },
    },
    "Copy",
  );
  return [el("div", { class: "copied" }, field, copy, said)];
}
