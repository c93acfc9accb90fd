// Durations that go on: elements that say since when they count get the seconds written into them, and a text for those
// who wait long appears when one counts longer than the text says.

import { all } from "./dom";

export function enableTimes(): void {
  const write = (): void => {
    for (const element of all<HTMLElement>("[data-since]")) {
      const text = duration(seconds(element));
      if (element.textContent !== text) element.textContent = text;
    }
    const longest = Math.max(0, ...all<HTMLElement>("[data-since]").map(seconds));
    for (const element of all<HTMLElement>("[data-late]")) element.hidden = longest < Number(element.dataset["late"]);
  };
  write();
  window.setInterval(write, 1000);
}

function seconds(element: HTMLElement): number {
  return (Date.now() - Number(element.dataset["since"])) / 1000;
}

/** Seconds as people read them. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}\u00a0s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}\u00a0min ${String(whole % 60).padStart(2, "0")}\u00a0s`;
  return `${Math.floor(whole / 3600)}\u00a0h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")}\u00a0min`;
}
