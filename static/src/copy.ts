// Copy buttons, and what Ctrl+C takes along out of code.

import { announce } from "./announce";
import { onEvery } from "./dom";
import { plain } from "./text";
import { word } from "./words";

/** The text of the block that a button belongs to. */
export function codeOf(button: HTMLElement): string {
  return plain(button.closest(".code")?.querySelector("code")?.textContent ?? "").replace(/\n$/, "");
}

export function enableCopy(): void {
  onEvery("click", "[data-copy]", (button) => {
    void navigator.clipboard.writeText(codeOf(button)).then(
      () => announce(word("copied")),
      () => announce(word("not-copied")),
    );
  });
  document.addEventListener("copy", (event) => {
    const selection = document.getSelection();
    const inCode = selection?.anchorNode?.parentElement?.closest("code, pre");
    if (!selection || !inCode || !event.clipboardData) return;
    event.clipboardData.setData("text/plain", plain(selection.toString()));
    event.preventDefault();
  });
}
