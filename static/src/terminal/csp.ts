// Lets xterm.js live under a content security policy without inline styles: its style elements carry the page's nonce,
// and its style attributes are set through the object model, which the policy does not concern.

import { meta } from "../dom";

export function allowStyles(): void {
  const nonce = meta("atelier-style-nonce");
  const create = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  }) as typeof document.createElement;

  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (this: Element, name: string, value: string): void {
    if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}
