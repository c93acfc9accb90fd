// Says something to screen readers, and shows it for a moment to everyone.

import { must } from "./dom";

const SHOWN_FOR = 5000;

export function announce(text: string): void {
  const place = must<HTMLElement>("#announcements");
  const line = document.createElement("p");
  line.textContent = text;
  // Only the latest is seen; what came before stays for screen readers, which may not have come to it yet.
  for (const earlier of place.children) earlier.className = "visually-hidden";
  place.append(line);
  window.setTimeout(() => line.remove(), SHOWN_FOR);
}
