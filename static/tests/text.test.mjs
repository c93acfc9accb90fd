import assert from "node:assert/strict";
import { test } from "node:test";
import { isReply, pasted, plain } from "../src/text";
import { duration } from "../src/times";

test("commands get plain spaces", () => {
  assert.equal(plain("kubectl\u00a0get\u202fpods"), "kubectl get pods");
});

test("a paste cannot end itself and act", () => {
  const evil = "echo hi\u001b[201~\rtouch /tmp/pwned\r\n";
  assert.equal(pasted(evil, true), "\u001b[200~echo hi[201~\rtouch /tmp/pwned\r\u001b[201~");
  assert.equal(pasted("a\u009b201~b\u0007", true), "\u001b[200~a201~b\u001b[201~");
});

test("tabs, accents and non-breaking spaces survive a paste; lines end with Enter", () => {
  assert.equal(pasted("a\té\u00a0:\r\nb\nc", false), "a\té\u00a0:\rb\rc");
});

test("the terminal's own answers are told from keys", () => {
  const replies = ["\u001b[?1;2c", "\u001b[>0;276;0c", "\u001b[12;40R", "\u001b[0n", "\u001b]11;rgb:ff/ff/ff\u0007", "\u001b[?2004;1$y", "\u001bP1$r0m\u001b\\"];
  for (const reply of replies) assert.ok(isReply(reply), JSON.stringify(reply));
  for (const keys of ["a", "\u001b[A", "\u001b", "\u001b[3~", "\r", "\u001bOP", "\u001b[1;5C", "\u001b[200~x\u001b[201~"]) {
    assert.ok(!isReply(keys), JSON.stringify(keys));
  }
});

test("durations are read as people say them", () => {
  assert.deepEqual([0, 59.9, 61, 3660].map(duration), ["0\u00a0s", "59\u00a0s", "1\u00a0min 01\u00a0s", "1\u00a0h 01\u00a0min"]);
});
