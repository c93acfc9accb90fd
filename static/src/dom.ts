// Small helpers around the DOM. Nothing here knows what the elements mean.

/** The one element that a page must have; a missing one is an error of the template. */
export function must<T extends Element>(selector: string, within: ParentNode = document): T {
  const found = within.querySelector<T>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

export function all<T extends Element>(selector: string, within: ParentNode = document): T[] {
  return [...within.querySelectorAll<T>(selector)];
}

/** Handles an event of every element that matches, also of those that come later. */
export function onEvery(
  type: string,
  selector: string,
  handle: (element: HTMLElement, event: Event) => void,
): void {
  document.addEventListener(type, (event) => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
    if (target) handle(target, event);
  });
}

/** A value of the page's head. */
export function meta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

/** An address of this server, also below a proxy's prefix. */
export function address(path: string): string {
  return meta("atelier-base") + path;
}

/** Asks the server to do something. */
export function post(path: string, body?: unknown, method = "POST"): Promise<Response> {
  const headers: Record<string, string> = { "x-atelier-token": meta("atelier-token") };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  return fetch(address(path), init);
}
