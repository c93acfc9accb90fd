// Says something to screen readers, and shows it for a moment to everyone.

import { must } from "./dom";

const SHOWN_FOR = 5000;
/** More would cover what one is working on; screen readers have heard them all the same. */
const AT_ONCE = 2;

export function announce(text: string): void {
  const place = must<HTMLElement>("#announcements");
  const line = document.createElement("p");
  line.textContent = text;
  place.append(line);
  while (place.childElementCount > AT_ONCE) place.firstElementChild?.remove();
  window.setTimeout(() => line.remove(), SHOWN_FOR);
}
