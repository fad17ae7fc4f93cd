// Vigil's extension for Pi, put here by `vigilctl install pi`. SPDX-License-Identifier: GPL-3.0-or-later
//
// It tells what the session does, and never steers it: no handler answers or throws, and none waits but the last, for a
// moment. It tells one thing after the other, each to a `vigilctl` of its own, and numbers them (`seq`). What Pi only
// says in pieces is put together here: how the last run ended, and, where Pi is too old to say when it has settled, that
// it has.
import { spawn, spawnSync } from "node:child_process";

const PROGRAM = "@VIGILCTL@";

// More than so many events never wait; the oldest give way.
const WAITING = 256;

// A `vigilctl` gives up by itself after 2.3 seconds.
const PATIENCE = 3000;

// How long Pi's end is held up, in milliseconds. What is told of a process that has gone comes too late: its end in the
// middle of something looks like a crash.
const LAST_WORDS = 500;

// A Pi that does not say that it has settled: how long after a run's end another one may begin by itself. It tries again
// 2, 4 and 8 seconds after an error, unless its settings say otherwise.
const PAUSE = 300;
const RETRY = 2000;
const RETRIES = 3;

// Texts are for one line of a window.
const clip = (text) => (typeof text === "string" ? text.slice(0, 600) : undefined);

// Of a tool's arguments, those that a person would name the call by.
const NAMING = ["command", "path", "file_path", "pattern", "url", "query", "description"];

function naming(args) {
  const named = {};
  for (const key of NAMING) if (typeof args?.[key] === "string") named[key] = clip(args[key]);
  return named;
}

function textOf(message) {
  const parts = Array.isArray(message?.content) ? message.content : [];
  return clip(parts.filter((part) => part?.type === "text").map((part) => part.text).join("\n").trim()) || undefined;
}

/** Hands events over in their order, one at a time. */
class Outbox {
  #waiting = [];
  #busy = false;

  put(name, payload) {
    this.#waiting.push([name, JSON.stringify(payload)]);
    if (this.#waiting.length > WAITING) this.#waiting.shift();
    if (!this.#busy) this.#next();
  }

  /** Tells what waits, all of it at once, before another one of us is loaded. */
  flush() {
    for (const [name, payload] of this.#waiting.splice(0)) hand(name, payload, () => {});
  }

  /** Tells what waits before Pi ends. */
  finish() {
    const end = performance.now() + LAST_WORDS;
    for (const [name, input] of this.#waiting.splice(0)) {
      const timeout = Math.ceil(end - performance.now());
      if (timeout <= 0) return;
      spawnSync(PROGRAM, ["hook", "pi", name], { input, timeout, stdio: ["pipe", "ignore", "ignore"] });
    }
  }

  /** The next one waits until then, so that it is among what is told at the end. */
  hold() {
    this.#busy = true;
  }

  #next() {
    const first = this.#waiting.shift();
    this.#busy = first !== undefined;
    if (first) hand(first[0], first[1], () => this.#next());
  }
}

function hand(name, payload, then) {
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    then();
  };
  const timer = setTimeout(end, PATIENCE);
  timer.unref?.();
  try {
    const child = spawn(PROGRAM, ["hook", "pi", name], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    child.on("error", end);
    child.on("exit", end);
    child.stdin.on("error", () => {});
    child.stdin.end(payload);
    child.unref();
  } catch {
    // What could not be started is over when its time is.
  }
}

export default function (pi) {
  const outbox = new Outbox();
  let seq = 0;
  let automatic = false;
  let outcome;
  let message;
  let prompts = 0;
  // Whether this Pi says when it has settled, and what waits to be told where it does not.
  let settles = false;
  let failures = 0;
  let pending;

  // Microseconds of this process, so that one that is loaded in our place goes on where we were.
  const number = () => (seq = Math.max(seq + 1, Math.round(performance.now() * 1000)));

  function facts(ctx) {
    const known = {};
    const learn = (key, read) => {
      try {
        const value = read();
        if (typeof value === "string" && value) known[key] = value;
      } catch {
        // A context that has been replaced says nothing.
      }
    };
    learn("session_id", () => ctx.sessionManager.getSessionId());
    learn("cwd", () => ctx.cwd);
    learn("model", () => ctx.model?.id);
    learn("title", () => clip(pi.getSessionName?.()));
    return known;
  }

  const tell = (name, known, more) => outbox.put(name, { ...known, seq: number(), ...more });

  function settle() {
    const told = pending;
    forget();
    if (told) tell("agent_settled", told.known, told.more);
  }

  function forget() {
    clearTimeout(pending?.timer);
    pending = undefined;
  }

  function on(name, read) {
    try {
      pi.on(name, (event, ctx) => {
        try {
          read(event ?? {}, ctx);
        } catch {
          // Whatever a Pi of another day sends, it goes on.
        }
      });
    } catch {
      // An event that this Pi does not have.
    }
  }

  on("session_start", (event, ctx) => tell("session_start", facts(ctx), { reason: event.reason }));

  on("session_shutdown", (event, ctx) => {
    // Its end is told, and not put behind what is being told.
    const ends = !["reload", "new", "resume", "fork"].includes(event.reason);
    if (ends) outbox.hold();
    settle();
    tell("session_shutdown", facts(ctx), { reason: event.reason });
    if (ends) outbox.finish();
    else outbox.flush();
  });

  on("session_info_changed", (event, ctx) => {
    tell("session_info_changed", facts(ctx), { title: clip(event.name) ?? null });
  });

  on("input", (event) => {
    automatic = event.source === "extension";
  });

  on("before_agent_start", (event, ctx) => {
    settle();
    [outcome, message, failures] = [undefined, undefined, 0];
    const machinery = automatic || (event.messageType !== undefined && event.messageType !== "user");
    automatic = false;
    tell("before_agent_start", facts(ctx), { automatic: machinery });
  });

  on("agent_start", (_event, ctx) => {
    forget();
    tell("agent_start", facts(ctx));
  });

  on("tool_execution_start", (event, ctx) => {
    // What a call calls is a part of it.
    if (event.parentToolCallId) return;
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: naming(event.args) };
    tell("tool_execution_start", facts(ctx), call);
  });

  on("tool_execution_end", (event, ctx) => {
    if (event.parentToolCallId) return;
    tell("tool_execution_end", facts(ctx), { tool_name: event.toolName, tool_use_id: event.toolCallId });
  });

  // Dialogs have no id; several at once are one to Pi.
  on("ui_prompt_start", (event, ctx) => {
    prompts += 1;
    tell("ui_prompt_start", facts(ctx), { tool_use_id: `ui_prompt ${prompts}`, message: clip(event.title) });
  });

  on("ui_prompt_end", (_event, ctx) => {
    tell("ui_prompt_end", facts(ctx), { tool_use_id: `ui_prompt ${prompts}` });
  });

  on("turn_end", (event, ctx) => {
    settles ||= event.outcome !== undefined;
    const stop = event.outcome ?? event.message?.stopReason;
    message = (stop === "error" ? clip(event.message?.errorMessage) : textOf(event.message)) ?? message;
    if (stop === "error") tell("turn_end", facts(ctx), { outcome: "error", message });
    if (settles) return;
    outcome = stop;
    failures = stop === "error" ? failures + 1 : 0;
  });

  on("agent_end", (_event, ctx) => {
    if (settles) return;
    const again = outcome === "error" && failures <= RETRIES;
    const delay = PAUSE + (again ? RETRY * 2 ** (failures - 1) : 0);
    const more = { aborted: outcome === "aborted", outcome, message };
    forget();
    pending = { known: facts(ctx), more, timer: setTimeout(settle, delay) };
    pending.timer.unref?.();
  });

  on("agent_before_settle", (event) => {
    settles = true;
    outcome = event.outcome;
  });

  on("agent_settled", (event, ctx) => {
    settles = true;
    forget();
    tell("agent_settled", facts(ctx), { aborted: event.aborted === true, outcome, message });
    outcome = undefined;
  });
}
