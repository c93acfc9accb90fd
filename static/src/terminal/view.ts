// One terminal on the screen: xterm.js, its socket, and what the reader is told about both.

import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import { announce } from "../announce";
import { address, meta } from "../dom";
import { isReply, pasted } from "../text";
import { word } from "../words";
import { colours } from "./colours";
import { type Act, Link } from "./link";
import { Notice } from "./notice";

const SCROLLBACK = 10_000;
const utf8 = new TextEncoder();

function newPageName(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class TerminalView {
  readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly search = new SearchAddon();
  private readonly link = new Link(meta("atelier-token"), newPageName());
  private readonly notice: Notice;
  private socket: WebSocket | undefined;
  private replaying = 0;
  private readonly timer: number;

  constructor(
    readonly number: number,
    private readonly panel: HTMLElement,
    private readonly leave: () => void,
  ) {
    this.terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      fontFamily: 'ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
      fontSize: 13,
      lineHeight: 1.25,
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK,
      screenReaderMode: window.localStorage.getItem("atelier-screen-reader") === "yes",
      theme: colours(),
    });
    for (const addon of [this.fit, this.search, new WebLinksAddon(), new Unicode11Addon()]) {
      this.terminal.loadAddon(addon);
    }
    this.terminal.unicode.activeVersion = "11";
    const screen = document.createElement("div");
    screen.className = "screen";
    panel.append(screen);
    this.notice = new Notice(panel, () => this.run(this.link.hurry(Date.now())));
    this.terminal.open(screen);
    this.listen(screen);
    this.timer = window.setInterval(() => this.run(this.link.tick(Date.now())), 1000);
    this.fitNow();
    this.run(this.link.start(Date.now(), this.terminal.cols, this.terminal.rows));
  }

  focus(): void {
    this.fitNow();
    this.terminal.focus();
  }

  /** Types a command as if the reader had, and runs it. */
  command(text: string): void {
    this.type(`${pasted(text, this.terminal.modes.bracketedPasteMode)}\r`);
    this.terminal.scrollToBottom();
    this.terminal.focus();
  }

  find(text: string, back: boolean): void {
    if (back) this.search.findPrevious(text);
    else this.search.findNext(text);
  }

  setScreenReader(on: boolean): void {
    this.terminal.options.screenReaderMode = on;
  }

  recolour(): void {
    this.terminal.options.theme = colours();
  }

  dispose(): void {
    window.clearInterval(this.timer);
    this.socket?.close();
    this.terminal.dispose();
  }

  private listen(screen: HTMLElement): void {
    this.terminal.onData((data) => {
      if (this.replaying > 0 && isReply(data)) return;
      this.type(data);
    });
    this.terminal.onBinary((data) => this.run(this.link.input(Uint8Array.from(data, (c) => c.charCodeAt(0)))));
    this.terminal.onResize(({ cols, rows }) => this.run(this.link.resize(cols, rows)));
    this.terminal.attachCustomKeyEventHandler((event) => this.key(event));
    // Before xterm.js sees it: its own paste would let control characters through.
    screen.addEventListener("paste", (event) => this.paste(event), { capture: true });
    new ResizeObserver(() => this.fitNow()).observe(this.panel);
    const hurry = (): void => this.run(this.link.hurry(Date.now()));
    window.addEventListener("online", hurry);
    document.addEventListener("visibilitychange", hurry);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  private key(event: KeyboardEvent): boolean {
    if (event.type !== "keydown" || !event.ctrlKey) return true;
    if (event.key === "Escape") {
      this.leave();
      return false;
    }
    if (event.shiftKey && event.key.toLowerCase() === "c" && this.terminal.hasSelection()) {
      void navigator.clipboard.writeText(this.terminal.getSelection());
      event.preventDefault();
      return false;
    }
    // The browser turns Ctrl+V and Ctrl+Shift+V into a paste event.
    return event.key.toLowerCase() !== "v";
  }

  private paste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    event.preventDefault();
    event.stopImmediatePropagation();
    this.type(pasted(text, this.terminal.modes.bracketedPasteMode));
  }

  private type(data: string): void {
    this.run(this.link.input(utf8.encode(data)));
    this.notice.keysWaiting(this.link.keysWaiting());
  }

  private fitNow(): void {
    if (this.panel.offsetWidth > 0 && this.panel.offsetHeight > 0) this.fit.fit();
  }

  private run(acts: Act[]): void {
    for (const act of acts) this.carryOut(act);
  }

  private carryOut(act: Act): void {
    switch (act.do) {
      case "open":
        this.open();
        break;
      case "close":
        this.socket?.close();
        break;
      case "send":
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(act.frame);
        break;
      case "draw":
        this.draw(act.bytes, act.upTo, act.old);
        break;
      case "restore":
        this.terminal.write(act.bytes);
        break;
      case "gap":
        this.terminal.write(`\r\n\u001b[2m${word("terminal-gap")}\u001b[0m\r\n`);
        break;
      case "fresh":
        this.terminal.reset();
        if (act.restarted) this.notice.restarted(act.droppedKeys);
        break;
      case "probe":
        void fetch(address("/healthz")).then((answer) => answer.ok && this.run(this.link.reachable(Date.now())));
        break;
      case "status":
        this.notice.status(act.status, act.detail);
        if (act.status === "ended") announce(word("terminal-ended"));
        break;
    }
  }

  private draw(bytes: Uint8Array, upTo: number, old: boolean): void {
    if (old) this.replaying += 1;
    this.terminal.write(bytes, () => {
      if (old) this.replaying -= 1;
      this.run(this.link.drew(upTo));
      this.notice.keysWaiting(this.link.keysWaiting());
    });
  }

  private open(): void {
    const url = new URL(address(`/terminals/${this.number}/socket`), window.location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    const ours = (handle: () => void) => () => {
      if (this.socket === socket) handle();
    };
    socket.addEventListener("open", ours(() => this.run(this.link.opened(Date.now()))));
    socket.addEventListener("close", ours(() => this.run(this.link.closed(Date.now()))));
    socket.addEventListener("message", (event) => {
      if (this.socket === socket) this.run(this.link.frame(new Uint8Array(event.data as ArrayBuffer), Date.now()));
    });
  }
}
