// The movable line between lesson and workbench: by mouse, touch and arrow keys, and remembered.

const LEAST = 25;
const MOST = 75;
const STEP = 2;

export function enableSplit(separator: HTMLElement): void {
  const area = separator.parentElement;
  if (!area) return;
  const set = (percent: number): void => {
    const kept = Math.min(MOST, Math.max(LEAST, Math.round(percent * 10) / 10));
    document.documentElement.style.setProperty("--split", `${kept}%`);
    separator.setAttribute("aria-valuenow", String(Math.round(kept)));
    window.localStorage.setItem("atelier-split", String(kept));
  };
  const now = (): number => Number(separator.getAttribute("aria-valuenow"));
  const remembered = Number(window.localStorage.getItem("atelier-split"));
  if (remembered) set(remembered);

  separator.addEventListener("pointerdown", (event) => {
    separator.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  separator.addEventListener("pointermove", (event) => {
    if (!separator.hasPointerCapture(event.pointerId)) return;
    const { left, width } = area.getBoundingClientRect();
    set(((event.clientX - left) / width) * 100);
  });
  separator.addEventListener("keydown", (event) => {
    const moves: Record<string, number> = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -100, End: 100 };
    const move = moves[event.key];
    if (move === undefined) return;
    set(now() + move);
    event.preventDefault();
  });
}
