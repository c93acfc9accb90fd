// The life of a terminal's connection as a state machine: what happened goes in, what is to be done comes out.
//
// It holds no socket, no timer and no screen, so that tests can play sleep, loss and restart. It promises that every
// byte of output is drawn once and every key is typed once, or that the reader is told.

import { decode, type Ended, encode, type Hello, type Welcome } from "./frames";

export type Status = "connecting" | "open" | "lost" | "no-upgrade" | "ended" | "refused";

export type Act =
  | { do: "open" }
  | { do: "close" }
  | { do: "send"; frame: Uint8Array<ArrayBuffer> }
  | { do: "draw"; bytes: Uint8Array; upTo: number; old: boolean }
  | { do: "restore"; bytes: Uint8Array }
  | { do: "gap"; bytes: number }
  | { do: "fresh"; restarted: boolean; droppedKeys: boolean }
  | { do: "probe" }
  | { do: "status"; status: Status; detail?: Ended | string };

/** Silence after which a connection is dead, and how often it is made to speak. */
export const DEAD_AFTER = 15_000;
export const PING_EVERY = 5_000;
/** Waits between attempts, and the wait while a proxy lets no socket through. */
const WAITS = [300, 1000, 2000, 4000];
const NO_UPGRADE_WAIT = 10_000;
/** Keys in one frame, and frames that may be on their way. */
const INPUT_SIZE = 4096;
const INPUT_FRAMES = 64;
/** Drawn output is reported in steps, or when all is drawn. */
const DRAWN_STEP = 32 * 1024;

export class Link {
  status: Status = "connecting";
  private shell: string | undefined;
  private received = 0;
  private replayEnd = 0;
  private drawn = 0;
  private reported = 0;
  private nextInput = 1;
  private waiting: { id: number; bytes: Uint8Array }[] = [];
  private sentInput = 0;
  private heard = 0;
  private pinged = 0;
  private retryAt = 0;
  private attempt = 0;
  private greeted = false;
  private everGreeted = false;
  private cols = 80;
  private rows = 24;

  constructor(
    private readonly token: string,
    private readonly page: string,
  ) {}

  /** The first attempt. */
  start(now: number, cols: number, rows: number): Act[] {
    this.cols = cols;
    this.rows = rows;
    return this.tryAgain(now);
  }

  /** The socket is open. */
  opened(now: number): Act[] {
    this.heard = now;
    this.pinged = now;
    const hello: Hello = { token: this.token, page: this.page, cols: this.cols, rows: this.rows };
    if (this.shell !== undefined) Object.assign(hello, { shell: this.shell, received: this.received });
    return [{ do: "send", frame: encode.hello(hello) }];
  }

  /** The socket closed, or did not open. */
  closed(now: number): Act[] {
    if (this.isOver()) return [];
    const strange = !this.greeted && !this.everGreeted && this.attempt >= 2;
    return [...this.lose(now), ...(strange ? [{ do: "probe" } as const] : [])];
  }

  /** The answer to a probe: the server can be reached, although no socket opens. */
  reachable(now: number): Act[] {
    if (this.status !== "lost" || this.everGreeted) return [];
    this.retryAt = now + NO_UPGRADE_WAIT;
    return this.become("no-upgrade");
  }

  /** A frame came. */
  frame(bytes: Uint8Array, now: number): Act[] {
    this.heard = now;
    const frame = decode(bytes);
    switch (frame.kind) {
      case "welcome":
        return this.welcome(frame.welcome);
      case "output":
        return this.output(frame.at, frame.bytes);
      case "typed":
        this.waiting = this.waiting.filter(({ id }) => id > frame.id);
        return this.sendInput();
      case "gap":
        this.received = Math.max(this.received, frame.to);
        return [{ do: "gap", bytes: frame.to - frame.from }];
      case "restore":
        return [{ do: "restore", bytes: frame.bytes }];
      case "ended":
        return this.become("ended", frame.ended);
      case "refused":
        return [...this.become("refused", frame.reason), { do: "close" }];
      default:
        return [];
    }
  }

  /** Keys. They are kept until the server has typed them. */
  input(bytes: Uint8Array): Act[] {
    if (this.isOver()) return [];
    for (let at = 0; at < bytes.length; at += INPUT_SIZE) {
      this.waiting.push({ id: this.nextInput, bytes: bytes.slice(at, at + INPUT_SIZE) });
      this.nextInput += 1;
    }
    return this.sendInput();
  }

  resize(cols: number, rows: number): Act[] {
    if (cols === this.cols && rows === this.rows) return [];
    this.cols = cols;
    this.rows = rows;
    return this.greeted ? [{ do: "send", frame: encode.resize(cols, rows) }] : [];
  }

  /** Output up to this position is on the screen. */
  drew(upTo: number): Act[] {
    this.drawn = Math.max(this.drawn, upTo);
    const due = this.drawn - this.reported >= DRAWN_STEP || this.drawn >= this.received;
    if (!due || !this.greeted || this.drawn === this.reported) return [];
    this.reported = this.drawn;
    return [{ do: "send", frame: encode.drawn(this.drawn) }];
  }

  /** Time passes. Call it about once a second, and when the machine wakes. */
  tick(now: number): Act[] {
    if (this.isOver()) return [];
    if (this.status === "lost" || this.status === "no-upgrade") {
      return now >= this.retryAt ? this.tryAgain(now) : [];
    }
    if (now - this.heard >= DEAD_AFTER) return [{ do: "close" }, ...this.lose(now)];
    if (!this.greeted || now - this.pinged < PING_EVERY) return [];
    this.pinged = now;
    return [{ do: "send", frame: encode.ping(now) }];
  }

  /** The network came back, or the reader asks: do not wait any longer. */
  hurry(now: number): Act[] {
    return this.status === "lost" ? this.tryAgain(now) : this.tick(now);
  }

  /** Keys that are not typed yet. */
  keysWaiting(): number {
    return this.waiting.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  private welcome(welcome: Welcome): Act[] {
    const restarted = this.shell !== undefined && this.shell !== welcome.shell;
    const continues = this.shell === welcome.shell && welcome.from === this.received;
    const droppedKeys = restarted && this.waiting.length > 0;
    // Keys meant for a shell that is gone must not surprise a new one.
    this.waiting = restarted ? [] : this.waiting.filter(({ id }) => id > welcome.typed);
    this.shell = welcome.shell;
    this.greeted = true;
    this.everGreeted = true;
    this.attempt = 0;
    this.sentInput = 0;
    if (!continues) {
      this.received = welcome.from;
      this.drawn = welcome.from;
    }
    this.reported = welcome.from;
    this.replayEnd = welcome.end;
    const fresh: Act[] = continues ? [] : [{ do: "fresh", restarted, droppedKeys }];
    return [...this.become("open"), ...fresh, ...this.sendInput()];
  }

  private output(at: number, bytes: Uint8Array): Act[] {
    const news = bytes.subarray(Math.max(0, this.received - at));
    if (news.length === 0) return [];
    const from = this.received;
    this.received = at + bytes.length;
    const old = Math.min(news.length, Math.max(0, this.replayEnd - from));
    const draw = (part: Uint8Array, upTo: number, isOld: boolean): Act[] =>
      part.length === 0 ? [] : [{ do: "draw", bytes: part, upTo, old: isOld }];
    return [...draw(news.subarray(0, old), from + old, true), ...draw(news.subarray(old), this.received, false)];
  }

  private sendInput(): Act[] {
    if (!this.greeted) return [];
    const due = this.waiting.slice(0, INPUT_FRAMES).filter(({ id }) => id > this.sentInput);
    this.sentInput = due.at(-1)?.id ?? this.sentInput;
    return due.map(({ id, bytes }) => ({ do: "send", frame: encode.input(id, bytes) }));
  }

  private tryAgain(now: number): Act[] {
    this.attempt += 1;
    this.heard = now;
    return [...this.become("connecting"), { do: "open" }];
  }

  private lose(now: number): Act[] {
    this.greeted = false;
    this.retryAt = now + (WAITS[Math.min(this.attempt, WAITS.length - 1)] ?? 0);
    return this.become("lost");
  }

  private become(status: Status, detail?: Ended | string): Act[] {
    if (status === this.status) return [];
    this.status = status;
    return [detail === undefined ? { do: "status", status } : { do: "status", status, detail }];
  }

  private isOver(): boolean {
    return this.status === "ended" || this.status === "refused";
  }
}
