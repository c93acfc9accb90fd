// Makes an element look like new HTML while keeping what did not change: focus, selection, unfolded details.

/** Replaces the content of `target` by `html`, touching only what differs. */
export function morph(target: Element, html: string): void {
  const wanted = document.createElement("template");
  wanted.innerHTML = html;
  children(target, wanted.content);
}

function children(target: ParentNode & Node, wanted: ParentNode & Node): void {
  const keyed = new Map<string, Element>();
  for (const child of target.children) {
    const key = keyOf(child);
    if (key) keyed.set(key, child);
  }
  let at: ChildNode | null = target.firstChild;
  for (const next of [...wanted.childNodes]) {
    const key = next instanceof Element ? keyOf(next) : undefined;
    const same: ChildNode | null = key ? (keyed.get(key) ?? null) : at;
    if (same && alike(same, next)) {
      if (same !== at) target.insertBefore(same, at);
      else at = at.nextSibling;
      node(same, next);
    } else {
      target.insertBefore(next, at);
    }
  }
  while (at) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}

function alike(have: Node, want: Node): boolean {
  if (have.nodeType !== want.nodeType) return false;
  if (!(have instanceof Element) || !(want instanceof Element)) return true;
  return have.tagName === want.tagName && keyOf(have) === keyOf(want);
}

function node(have: Node, want: Node): void {
  if (have instanceof Element && want instanceof Element) {
    attributes(have, want);
    children(have, want);
  } else if (have.nodeValue !== want.nodeValue) {
    have.nodeValue = want.nodeValue;
  }
}

function attributes(have: Element, want: Element): void {
  for (const { name } of [...have.attributes]) {
    // Whether details are unfolded is the reader's own doing.
    if (name !== "open" && !want.hasAttribute(name)) have.removeAttribute(name);
  }
  for (const { name, value } of [...want.attributes]) {
    if (name !== "open" && have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
}

function keyOf(element: Element): string | undefined {
  return element.getAttribute("data-key") ?? (element.id || undefined);
}
