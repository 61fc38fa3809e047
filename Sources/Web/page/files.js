// Files that are pasted, or dropped on the page: it has no use for them, and a browser would open
// them in its place.

const refusal =
  "Files and pictures cannot be sent: a message is a text. Send a link to the file instead.";

/** @param {Event} event whether it is about a place where text may be dropped */
const isField = (event) =>
  /** @type {Partial<Element>} */ (event.composedPath()[0]).closest?.("input, textarea") !== null;

/**
 * Refuses files within an element or the window, and says so. Text can be pasted and dropped as
 * always.
 * @param {GlobalEventHandlers} target
 * @param {(text: string) => void} say
 */
export function refuseFiles(target, say) {
  target.addEventListener("paste", (event) => {
    // A part of a document is copied as a text, and as a picture of it.
    if (
      event.defaultPrevented ||
      !event.clipboardData?.files.length ||
      event.clipboardData.types.includes("text/plain")
    )
      return;
    event.preventDefault();
    say(refusal);
  });
  for (const type of /** @type {const} */ (["dragover", "drop"])) {
    target.addEventListener(type, (event) => {
      const { dataTransfer } = event;
      if (event.defaultPrevented || !dataTransfer) return;
      const isFile = dataTransfer.types.includes("Files");
      if (!isFile && isField(event)) return;
      event.preventDefault(); // also a link would be opened
      if (!isFile) dataTransfer.dropEffect = "none";
      else if (type === "drop") say(refusal);
    });
  }
}
