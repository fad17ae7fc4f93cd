// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a capture through the real extension, as Pi would, and prints what it hands to `vigilctl`: one line of JSON
// `{line, at, event, payload}` for each.
//
// `host.mjs EXTENSION CAPTURE [old]`: `old` leaves out what Pi 0.74.2 does not say. Time is the capture's: timers of the
// extension run when a line later than they are is reached.
import childProcess from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [extension, capture, generation] = process.argv.slice(2);
const NOT_OLD = ["agent_settled", "agent_before_settle", "ui_prompt_start", "ui_prompt_end", "session_info_changed"];

let line = 0;
let now = 0;
let timers = [];
globalThis.setTimeout = (run, delay) => {
  const timer = { at: now + delay, run, unref: () => {} };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers = timers.filter((other) => other !== timer);
};

function print(program, words, payload) {
  if (program !== "@VIGILCTL@" || words[0] !== "hook" || words[1] !== "pi") throw new Error(`${program} ${words}`);
  console.log(JSON.stringify({ line, at: now, event: words[2], payload: JSON.parse(payload) }));
}

let running = 0;
childProcess.spawn = (program, words) => {
  const child = Object.assign(new EventEmitter(), { unref: () => {}, stdin: new EventEmitter() });
  running += 1;
  child.stdin.end = (payload) => {
    print(program, words, payload);
    setImmediate(() => {
      running -= 1;
      child.emit("exit", 0);
    });
  };
  return child;
};
childProcess.spawnSync = (program, words, { input }) => print(program, words, input);
syncBuiltinESMExports();

/** Waits until nothing is being handed over. */
async function drained() {
  do await new Promise((resolve) => setImmediate(resolve));
  while (running > 0);
}

async function until(millis) {
  for (;;) {
    const due = timers.filter((timer) => timer.at <= millis).sort((a, b) => a.at - b.at)[0];
    if (!due) break;
    clearTimeout(due);
    now = due.at;
    due.run();
    await drained();
  }
  now = millis;
}

const source = readFileSync(extension);
const { default: factory } = await import(`data:text/javascript;base64,${source.toString("base64")}`);

let handlers = {};
let name;
function load() {
  handlers = {};
  factory({ on: (event, handler) => (handlers[event] ??= []).push(handler), getSessionName: () => name });
}

for (const text of readFileSync(capture, "utf8").trim().split("\n")) {
  const { t_ms: millis, event, payload } = JSON.parse(text);
  await until(millis);
  line += 1;
  if (event === "#driver") continue;
  // Each process, and each reload, has an instance of its own.
  if (event === "session_start" && ["startup", "reload"].includes(payload.event.reason)) load();
  const given = { ...payload.event };
  if (generation === "old") {
    if (NOT_OLD.includes(event)) continue;
    delete given.outcome;
  }
  const { session_id: id, cwd, model, session_name: called } = payload.ctx;
  name = called;
  const ctx = { cwd, model: model && { id: model.split("/").pop() }, sessionManager: { getSessionId: () => id } };
  for (const handler of handlers[event] ?? []) {
    if (handler(given, ctx) !== undefined) throw new Error(`the handler of ${event} answers`);
  }
  await drained();
}
await until(now + 60_000);
