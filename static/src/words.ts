// The interface's words for scripts, as the server wrote them into the page.

let known: Record<string, string> | undefined;

/** A sentence; `{x}` in it is replaced. */
export function word(key: string, x: string | number = ""): string {
  known ??= JSON.parse(document.getElementById("words")?.textContent ?? "{}") as Record<string, string>;
  return (known[key] ?? key).replaceAll("{x}", String(x));
}
