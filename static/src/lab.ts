// The lab page: lesson and workbench side by side, terminals, and the switch between them on narrow screens.

import { all, must, onEvery } from "./dom";
import { enableSplit } from "./split";
import { Tabs } from "./tabs";
import { Bench } from "./terminal/bench";
import { allowStyles } from "./terminal/csp";

allowStyles();
enableSplit(must<HTMLElement>("#split"));

const bench = new Bench();
const tabs = new Tabs(must<HTMLElement>("#workbench-tabs"), (tab) => bench.chosen(tab));
bench.use(tabs);
bench.listen();

const place = must<HTMLElement>("#workbench");
if (place.dataset["terminals"] !== undefined) {
  void bench.begin(place.dataset["terminals"].split(",").filter(Boolean).map(Number));
}

onEvery("click", "[data-show-pane]", (button) => {
  document.body.dataset["pane"] = button.dataset["showPane"] ?? "lesson";
  for (const other of all<HTMLElement>("[data-show-pane]")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  if (button.dataset["showPane"] === "bench") bench.current()?.focus();
});

// What was opened at the foot's edge is brought into view. "toggle" does not bubble.
must<HTMLElement>(".criteria").addEventListener(
  "toggle",
  (event) => {
    const details = event.target as HTMLDetailsElement;
    if (details.open) details.closest(".criterion")?.scrollIntoView({ block: "nearest" });
  },
  { capture: true },
);

const find = must<HTMLFormElement>("#terminal-find");
find.addEventListener("submit", (event) => {
  event.preventDefault();
  const back = (event.submitter as HTMLButtonElement | null)?.value === "back";
  bench.current()?.find(String(new FormData(find).get("text") ?? ""), back);
});

const reader = must<HTMLInputElement>("#terminal-screen-reader");
reader.checked = window.localStorage.getItem("atelier-screen-reader") === "yes";
reader.addEventListener("change", () => {
  window.localStorage.setItem("atelier-screen-reader", reader.checked ? "yes" : "no");
  bench.each((view) => view.setScreenReader(reader.checked));
});
