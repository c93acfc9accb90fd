// The workbench's terminals: which are open, their tabs, and the commands that the lesson sends to them.

import { announce } from "../announce";
import { must, onEvery, post } from "../dom";
import { codeOf } from "../copy";
import type { Tabs } from "../tabs";
import { word } from "../words";
import { TerminalView } from "./view";

export class Bench {
  private readonly views = new Map<number, TerminalView>();
  private tabs: Tabs | undefined;
  private readonly list = must<HTMLElement>("#workbench-tabs");
  private readonly panels = must<HTMLElement>("#workbench-panels");
  private readonly refusal = must<HTMLElement>("#terminal-refusal");
  private readonly place = must<HTMLElement>("#workbench");
  private last: number | undefined;

  use(tabs: Tabs): void {
    this.tabs = tabs;
  }

  /** Shows the terminals that the server has, and opens a first one. */
  async begin(open: number[]): Promise<void> {
    for (const number of open) this.add(number);
    if (open.length === 0) await this.open(false);
    else this.select(open[0]);
  }

  listen(): void {
    must<HTMLElement>("#terminal-new").addEventListener("click", () => void this.open(true));
    onEvery("click", "[data-run]", (button) => this.runCommand(codeOf(button)));
    onEvery("click", "[data-close-terminal]", (button, event) => {
      event.stopPropagation();
      void this.close(Number(button.dataset["closeTerminal"]));
    });
  }

  /** What choosing a tab means for terminals. */
  chosen(tab: HTMLElement): void {
    const number = Number(tab.dataset["terminal"]);
    if (!number) return;
    this.last = number;
    this.views.get(number)?.focus();
  }

  each(act: (view: TerminalView) => void): void {
    this.views.forEach(act);
  }

  current(): TerminalView | undefined {
    return this.last === undefined ? undefined : this.views.get(this.last);
  }

  private runCommand(text: string): void {
    const view = this.current() ?? [...this.views.values()][0];
    if (!view) {
      announce(word("terminal-none"));
      return;
    }
    this.select(view.number);
    view.command(text);
    document.body.dataset["pane"] = "bench";
  }

  private async open(focus: boolean): Promise<void> {
    const answer = await post("/terminals", { lab: this.place.dataset["lab"] }).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as { number?: number; message?: string } | undefined;
    if (!answer?.ok || !body?.number) {
      this.refusal.textContent = body?.message ?? word("terminal-lost");
      this.refusal.hidden = false;
      this.tabs?.choose(must<HTMLElement>("#tab-board"));
      return;
    }
    this.refusal.hidden = true;
    this.add(body.number);
    this.select(body.number, focus);
  }

  private async close(number: number): Promise<void> {
    await post(`/terminals/${number}`, undefined, "DELETE").catch(() => undefined);
    this.views.get(number)?.dispose();
    this.views.delete(number);
    document.getElementById(`terminal-tab-${number}`)?.parentElement?.remove();
    document.getElementById(`terminal-panel-${number}`)?.remove();
    this.last = undefined;
    const next = [...this.views.keys()][0];
    if (next === undefined) await this.open(true);
    else this.select(next);
  }

  private select(number: number | undefined, focus = true): void {
    const tab = document.getElementById(`terminal-tab-${number}`);
    if (!tab) return;
    if (focus || !this.tabs?.current()?.dataset["terminal"]) this.tabs?.choose(tab);
  }

  private add(number: number): void {
    const fragment = must<HTMLTemplateElement>("#terminal-tab-template").content.cloneNode(true) as DocumentFragment;
    const tab = must<HTMLElement>('[role="tab"]', fragment);
    const label = word("terminal-name", number);
    tab.id = `terminal-tab-${number}`;
    tab.dataset["terminal"] = String(number);
    tab.setAttribute("aria-controls", `terminal-panel-${number}`);
    tab.append(label);
    const close = must<HTMLElement>("[data-close-terminal]", fragment);
    close.dataset["closeTerminal"] = String(number);
    close.setAttribute("aria-label", word("terminal-close", number));
    this.list.insertBefore(fragment, must("#workbench-tabs > .after-terminals"));

    const panel = document.createElement("div");
    panel.id = `terminal-panel-${number}`;
    panel.className = "terminal-panel";
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    this.panels.append(panel);
    this.views.set(number, new TerminalView(number, panel, () => this.leave(tab)));
    panel.hidden = tab.getAttribute("aria-selected") !== "true";
  }

  private leave(tab: HTMLElement): void {
    tab.focus();
    announce(word("terminal-left"));
  }
}
