// The frames between this page and its terminal; src/lab/atelier/src/web/terminal/protocol.rs is the other end.

export interface Hello {
  token: string;
  page: string;
  shell?: string;
  received?: number;
  cols: number;
  rows: number;
}

export interface Welcome {
  shell: string;
  from: number;
  end: number;
  typed: number;
  started: number;
}

export interface Ended {
  code: number | null;
  reason: string | null;
}

export type ToPage =
  | { kind: "welcome"; welcome: Welcome }
  | { kind: "output"; at: number; bytes: Uint8Array }
  | { kind: "typed"; id: number }
  | { kind: "pong" }
  | { kind: "gap"; from: number; to: number }
  | { kind: "restore"; bytes: Uint8Array }
  | { kind: "ended"; ended: Ended }
  | { kind: "refused"; reason: string }
  | { kind: "unknown" };

const text = new TextEncoder();
const untext = new TextDecoder();

function join(kind: number, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(parts.reduce((length, part) => length + part.length, 1));
  frame[0] = kind;
  let at = 1;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

function number(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

function size(cols: number, rows: number): Uint8Array {
  const bytes = new Uint8Array(4);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, cols);
  view.setUint16(2, rows);
  return bytes;
}

export const encode = {
  hello: (hello: Hello) => join(1, text.encode(JSON.stringify(hello))),
  input: (id: number, bytes: Uint8Array) => join(2, number(id), bytes),
  drawn: (at: number) => join(3, number(at)),
  resize: (cols: number, rows: number) => join(4, size(cols, rows)),
  ping: (count: number) => join(5, number(count)),
};

export function decode(frame: Uint8Array): ToPage {
  const body = frame.subarray(1);
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const count = (at: number): number => Number(view.getBigUint64(at));
  const json = <T>(): T => JSON.parse(untext.decode(body)) as T;
  switch (frame[0]) {
    case 17:
      return { kind: "welcome", welcome: json<Welcome>() };
    case 18:
      return { kind: "output", at: count(1), bytes: frame.subarray(9) };
    case 19:
      return { kind: "typed", id: count(1) };
    case 21:
      return { kind: "pong" };
    case 22:
      return { kind: "gap", from: count(1), to: count(9) };
    case 23:
      return { kind: "restore", bytes: body };
    case 24:
      return { kind: "ended", ended: json<Ended>() };
    case 25:
      return { kind: "refused", reason: json<{ reason: string }>().reason };
    default:
      return { kind: "unknown" };
  }
}
