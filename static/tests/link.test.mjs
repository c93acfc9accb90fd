import assert from "node:assert/strict";
import { test } from "node:test";
import { DEAD_AFTER, Link, PING_EVERY } from "../src/terminal/link";

const text = new TextEncoder();
const untext = new TextDecoder();

function welcome(fields) {
  const body = JSON.stringify({ shell: "s", from: 0, end: 0, typed: 0, started: 0, ...fields });
  return Uint8Array.of(17, ...text.encode(body));
}

function numbered(kind, number, bytes = "") {
  const frame = new Uint8Array(9 + bytes.length);
  frame[0] = kind;
  new DataView(frame.buffer).setBigUint64(1, BigInt(number));
  frame.set(text.encode(bytes), 9);
  return frame;
}

const output = (at, bytes) => numbered(18, at, bytes);
const typed = (id) => numbered(19, id);
const sentKeys = (acts) =>
  acts.filter((act) => act.do === "send" && act.frame[0] === 2).map((act) => untext.decode(act.frame.subarray(9)));
const hello = (acts) => JSON.parse(untext.decode(acts.find((act) => act.frame?.[0] === 1).frame.subarray(1)));
const drawn = (acts) => acts.filter((act) => act.do === "draw").map((act) => untext.decode(act.bytes));

function open(fields) {
  const link = new Link("token", "page");
  link.start(0, 80, 24);
  link.opened(0);
  link.frame(welcome(fields), 0);
  return link;
}

test("keys typed during a loss are sent once, and what was typed is not sent again", () => {
  const link = open({});
  assert.deepEqual(sentKeys(link.input(text.encode("a"))), ["a"]);
  assert.deepEqual(sentKeys(link.input(text.encode("b"))), ["b"]);
  link.frame(typed(1), 1);
  link.closed(2);
  assert.deepEqual(sentKeys(link.input(text.encode("c"))), []);
  assert.equal(link.keysWaiting(), 2);
  link.hurry(3);
  link.opened(3);
  // The acknowledgement of b was lost; the server knows that it typed it.
  const again = link.frame(welcome({ typed: 2 }), 3);
  assert.deepEqual(sentKeys(again), ["c"]);
  assert.deepEqual(sentKeys(link.frame(typed(3), 4)), []);
  assert.equal(link.keysWaiting(), 0);
});

test("a frozen connection is noticed, closed and replaced", () => {
  const link = open({});
  assert.deepEqual(link.tick(PING_EVERY - 1), []);
  assert.equal(link.tick(PING_EVERY)[0].frame[0], 5);
  assert.deepEqual(link.tick(DEAD_AFTER).map((act) => act.do), ["close", "status"]);
  assert.equal(link.status, "lost");
  assert.deepEqual(link.tick(DEAD_AFTER + 100), []);
  assert.deepEqual(link.tick(DEAD_AFTER + 300).map((act) => act.do), ["status", "open"]);
});

test("output is drawn once and in order across a reconnection", () => {
  const link = open({});
  assert.deepEqual(drawn(link.frame(output(0, "abc"), 1)), ["abc"]);
  link.closed(2);
  link.hurry(2);
  assert.equal(hello(link.opened(3)).received, 3);
  assert.deepEqual(link.frame(welcome({ from: 3, end: 5 }), 3).map((act) => act.do), ["status"]);
  assert.deepEqual(drawn(link.frame(output(2, "cde"), 3)), ["de"]);
  assert.deepEqual(drawn(link.frame(output(2, "cde"), 3)), []);
});

test("answers to queries in old output can be told from new ones", () => {
  const link = open({ end: 2 });
  const acts = link.frame(output(0, "abcd"), 1).filter((act) => act.do === "draw");
  assert.deepEqual(acts.map((act) => [untext.decode(act.bytes), act.upTo, act.old]), [["ab", 2, true], ["cd", 4, false]]);
});

test("keys for a shell that is gone do not reach the next one", () => {
  const link = open({});
  link.closed(1);
  link.input(text.encode("rm -rf x\r"));
  link.hurry(2);
  link.opened(2);
  const acts = link.frame(welcome({ shell: "other" }), 2);
  assert.deepEqual(sentKeys(acts), []);
  assert.deepEqual(acts.find((act) => act.do === "fresh"), { do: "fresh", restarted: true, droppedKeys: true });
});

test("a large paste keeps a bounded number of frames on their way", () => {
  const link = open({});
  const sent = sentKeys(link.input(new Uint8Array(1024 * 1024).fill(120)));
  assert.equal(sent.length, 64);
  let count = sent.length;
  for (let id = 1; id <= 256; id += 1) count += sentKeys(link.frame(typed(id), 1)).length;
  assert.equal(count, 256);
  assert.equal(link.keysWaiting(), 0);
});

test("drawn output is reported in steps and at the end", () => {
  const link = open({});
  link.frame(output(0, "x".repeat(40_000)), 1);
  link.frame(output(40_000, "x".repeat(10)), 1);
  assert.deepEqual(link.drew(1000), []);
  assert.equal(link.drew(40_000)[0].frame[0], 3);
  assert.equal(link.drew(40_010)[0].frame[0], 3);
  assert.deepEqual(link.drew(40_010), []);
});

test("a proxy without WebSockets is named and not hammered", () => {
  const link = new Link("token", "page");
  link.start(0, 80, 24);
  assert.deepEqual(link.closed(10).filter((act) => act.do === "probe"), []);
  link.tick(2000);
  assert.ok(link.closed(2010).some((act) => act.do === "probe"));
  link.reachable(2020);
  assert.equal(link.status, "no-upgrade");
  assert.deepEqual(link.tick(12_019), []);
  assert.ok(link.tick(12_020).some((act) => act.do === "open"));
});

test("a shell that ended is not connected to again", () => {
  const link = open({});
  const acts = link.frame(Uint8Array.of(24, ...text.encode('{"code":0,"reason":null}')), 1);
  assert.deepEqual(acts, [{ do: "status", status: "ended", detail: { code: 0, reason: null } }]);
  assert.deepEqual(link.closed(2), []);
  assert.deepEqual(link.tick(100_000), []);
});
