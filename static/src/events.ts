// Live updates: the server sends pieces of the page as they change, and sentences to announce.

import { announce } from "./announce";
import { meta, must } from "./dom";
import { morph } from "./morph";

interface Piece {
  region: string;
  html: string;
}

/** A connection that has been gone for this long is worth a word. */
const PATIENCE = 4000;

/** Follows the stream that the page names, if it names one. */
export function follow(): void {
  const stream = meta("atelier-events");
  if (!stream) return;
  let lost: number | undefined;
  const source = new EventSource(stream);
  const banner = must<HTMLElement>("#connection");
  source.addEventListener("open", () => {
    window.clearTimeout(lost);
    lost = undefined;
    banner.hidden = true;
  });
  source.addEventListener("error", () => {
    lost ??= window.setTimeout(() => {
      banner.hidden = false;
    }, PATIENCE);
    // A browser gives up after an answer that is not a stream, as a proxy gives while the server restarts.
    if (source.readyState === EventSource.CLOSED) window.setTimeout(() => again(source), PATIENCE);
  });
  source.addEventListener("piece", (event) => show(JSON.parse(event.data) as Piece));
  source.addEventListener("say", (event) => announce(JSON.parse(event.data) as string));
  source.addEventListener("reload", () => window.location.reload());
  window.addEventListener("pagehide", () => source.close());
}

function again(old: EventSource): void {
  old.close();
  follow();
}

function show({ region, html }: Piece): void {
  const place = document.querySelector(`[data-region="${region}"]`);
  if (!place) return;
  morph(place, html);
  place.dispatchEvent(new CustomEvent("atelier:update", { bubbles: true }));
}
