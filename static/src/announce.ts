// Says something to screen readers, and shows it for a moment to everyone.

import { must } from "./dom";

const SHOWN_FOR = 6000;

export function announce(text: string): void {
  const place = must<HTMLElement>("#announcements");
  const line = document.createElement("p");
  line.textContent = text;
  place.append(line);
  window.setTimeout(() => line.remove(), SHOWN_FOR);
}
