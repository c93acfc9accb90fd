// The line over a terminal that says what is wrong with it, and the button that goes with it.

import { announce } from "../announce";
import { word } from "../words";
import type { Ended } from "./frames";
import type { Status } from "./link";

/** A short interruption is not worth a word. */
const PATIENCE = 1500;

export class Notice {
  private readonly line = document.createElement("p");
  private readonly text = document.createElement("span");
  private readonly button = document.createElement("button");
  private later: number | undefined;
  private current: Status = "connecting";

  constructor(panel: HTMLElement, retry: () => void) {
    this.line.className = "notice";
    this.line.hidden = true;
    this.button.type = "button";
    this.button.textContent = word("retry");
    this.button.addEventListener("click", retry);
    this.line.append(this.text, this.button);
    panel.prepend(this.line);
  }

  status(status: Status, detail?: Ended | string): void {
    const wasLost = this.current === "lost" && !this.line.hidden;
    this.current = status;
    if (status === "connecting") return;
    window.clearTimeout(this.later);
    switch (status) {
      case "open":
        this.line.hidden = true;
        if (wasLost) announce(word("terminal-back"));
        break;
      case "lost":
        this.later = window.setTimeout(() => this.show(word("terminal-lost"), true), PATIENCE);
        break;
      case "no-upgrade":
        this.show(word("terminal-no-upgrade"), false);
        break;
      case "ended":
        this.show(endedText(detail as Ended), false);
        break;
      case "refused":
        this.show(word(`terminal-refused-${String(detail)}`), false);
        break;
    }
  }

  restarted(droppedKeys: boolean): void {
    announce(word(droppedKeys ? "terminal-restarted-keys" : "terminal-restarted"));
  }

  /** While the connection is lost: how much typing is kept. */
  keysWaiting(count: number): void {
    if (this.line.hidden || this.current === "open") return;
    if (this.current === "lost" && count > 0) this.text.textContent = word("terminal-lost-keys", count);
  }

  private show(text: string, retry: boolean): void {
    if (this.current === "open") return;
    this.text.textContent = text;
    this.button.hidden = !retry;
    if (this.line.hidden) announce(text);
    this.line.hidden = false;
  }
}

function endedText(ended: Ended): string {
  if (ended.reason) return word(`terminal-ended-${ended.reason}`);
  return ended.code === null ? word("terminal-ended-killed") : word("terminal-ended-code", ended.code);
}
