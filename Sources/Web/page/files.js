// Files that are pasted, or dropped on the page: a browser would open them in its place.

/** @param {Event} event whether it is about a place where text may be dropped */
const isField = (event) =>
  /** @type {Partial<Element>} */ (event.composedPath()[0]).closest?.("input, textarea") !== null;

/**
 * Takes files within an element or the window. Text can be pasted and dropped as always.
 * @param {GlobalEventHandlers} target
 * @param {(files: File[]) => void} take
 */
export function receiveFiles(target, take) {
  target.addEventListener("paste", (event) => {
    const { clipboardData } = event;
    // A part of a document is copied as a text, and as a picture of it.
    if (
      event.defaultPrevented ||
      !clipboardData?.files.length ||
      clipboardData.types.includes("text/plain")
    )
      return;
    event.preventDefault();
    take([...clipboardData.files]);
  });
  for (const type of /** @type {const} */ (["dragover", "drop"])) {
    target.addEventListener(type, (event) => {
      const { dataTransfer } = event;
      if (event.defaultPrevented || !dataTransfer) return;
      const isFile = dataTransfer.types.includes("Files");
      if (!isFile && isField(event)) return;
      event.preventDefault(); // also a link would be opened
      if (!isFile) dataTransfer.dropEffect = "none";
      else if (type === "drop") take([...dataTransfer.files]);
    });
  }
}
