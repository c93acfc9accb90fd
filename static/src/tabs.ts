// Tabs as the ARIA practices describe them: one tab stop, arrow keys between tabs, panels shown by choice.

import { all } from "./dom";

export class Tabs {
  constructor(
    private readonly list: HTMLElement,
    private readonly chosen: (tab: HTMLElement) => void,
  ) {
    list.addEventListener("click", (event) => {
      const tab = (event.target as Element).closest<HTMLElement>('[role="tab"]');
      if (tab) this.choose(tab);
    });
    list.addEventListener("keydown", (event) => this.key(event));
  }

  tabs(): HTMLElement[] {
    return all<HTMLElement>('[role="tab"]', this.list);
  }

  current(): HTMLElement | undefined {
    return this.tabs().find((tab) => tab.getAttribute("aria-selected") === "true");
  }

  choose(chosen: HTMLElement): void {
    for (const tab of this.tabs()) {
      const selected = tab === chosen;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !selected;
    }
    this.chosen(chosen);
  }

  private key(event: KeyboardEvent): void {
    const tabs = this.tabs();
    const at = tabs.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const goals: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 };
    const goal = goals[event.key];
    if (goal === undefined) return;
    const tab = tabs[(goal + tabs.length) % tabs.length];
    tab?.focus();
    if (tab) this.choose(tab);
    event.preventDefault();
  }
}
