# SPDX-License-Identifier: GPL-3.0-or-later
"""Pi."""

import json
import os
import signal

import wire_chat
from agent import RealAgent
from judge import ASKS, FAILED, FINISHED, IDLE, RUNNING, Scenarios
from model import Model
from stage import GONE, PATIENCE, until

# Never a real key.
KEY = "dummy-key-0123456789"

# What happens and no event tells.
NO_HOOK = set()

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "pi"
CHOOSING = ("reason", "outcome", "kind", "messageType", "source", "toolName")

# A neighbour in the same folder. It records what every extension is given, and asks as extensions of users do: Pi itself
# has neither permissions nor questions.
NEIGHBOUR = """
import { renameSync, writeFileSync } from "node:fs";
const EVENTS = "session_start session_info_changed session_shutdown session_compact session_compact_failed " +
  "before_agent_start agent_start agent_end agent_before_settle agent_settled ui_prompt_start ui_prompt_end " +
  "turn_start turn_end message_end tool_execution_start tool_execution_end tool_call tool_result user_bash input";
const LARGE = ["messages", "systemPrompt", "systemPromptOptions", "context", "preparation", "branchEntries", "signal"];
export default function (pi) {
  for (const name of EVENTS.split(" ")) {
    pi.on(name, (event) => {
      const path = PAYLOADS + "/" + String(process.hrtime.bigint()).padStart(20, "0") + "-" + process.pid;
      writeFileSync(path, JSON.stringify(event, (key, value) => (LARGE.includes(key) ? typeof value : value)));
      renameSync(path, path + ".json");
    });
  }
  pi.on("tool_call", async (event, ctx) => {
    const command = event.input.command ?? "";
    if (command.startsWith("./ask-first") && !(await ctx.ui.confirm("Run it?", command))) {
      return { block: true, reason: "The user said no" };
    }
    if (command.startsWith("./choose")) await ctx.ui.select("Which colour?", ["Red", "Blue"]);
  });
  pi.registerCommand("prompt", {
    description: "Prompts by itself",
    handler: async (words) => pi.sendUserMessage(words),
  });
}
"""


def _bash(command):
    return [("bash", {"command": command})]


# Scene: the tools that the reply calls, for a gate.
SCENES = {
    "plain": lambda gate: [],
    "run": lambda gate: _bash(f"./wait-for {gate}"),
    "two": lambda gate: _bash(f"./wait-for {gate}") + _bash("./wait-for fail"),
    "fail": lambda gate: _bash("./wait-for fail"),
    "permission": lambda gate: _bash(f"./ask-first {gate}"),
    "question": lambda gate: _bash("./choose"),
    "child": lambda gate: _bash(f"pi -p 'play run {gate}' < /dev/null"),
}


class Agent(RealAgent):
    """Its folder is where the user has it: in the home, or, of the second generation, where a variable says."""

    ID = "pi"
    EVENT_KEY = "type"
    READY = r"\(auto\)"

    def __init__(self, stage, program, folder, variant):
        super().__init__(stage, Model(wire_chat.Handler, SCENES), program, folder)
        config = folder / "config" if variant > 0 else self.home / ".pi/agent"
        (config / "extensions").mkdir(parents=True)
        # The first generation does not say when a dialog opens, nor when it has settled.
        self.is_old = variant == 0
        self.environment |= {
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
            **({"PI_CODING_AGENT_DIR": str(config)} if variant > 0 else {}),
        }
        model = {"id": "mock-1", "name": "Mock", "contextWindow": 128000, "maxTokens": 4096}
        provider = {"baseUrl": f"{self.model.url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [model]}
        settings = {"defaultProvider": "mock", "defaultModel": "mock-1", "enableInstallTelemetry": False,
                    "quietStartup": True, "collapseChangelog": True}
        (config / "models.json").write_text(json.dumps({"providers": {"mock": provider}}), encoding="utf-8")
        (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        neighbour = NEIGHBOUR.replace("PAYLOADS", json.dumps(str(self.payloads)))
        (config / "extensions/neighbour.js").write_text(neighbour, encoding="utf-8")
        self.extension = config / "extensions/vigil.js"
        choose = self.project / "choose"
        choose.write_text("#!/bin/sh\n", encoding="ascii")
        choose.chmod(0o755)

    @staticmethod
    def happened(line):
        return line["payload"].get("event", {})

    def print(self, prompt):
        return super().print("-p", prompt)


SCENARIOS = Scenarios()


def settled(pi, judge, count=1):
    """Waits for the end of a run."""
    judge.was_given("agent_end", count)


def plain_turn(pi, judge, terminal, step="next turn", want=FINISHED, **more):
    """A prompt and its answer, as users go on after what a scenario is about."""
    ends = judge.count("agent_end")
    terminal.type("hello")
    judge.was_given("agent_end", ends + 1)
    judge(step, want, RUNNING, message="All done.", **more)


# ---- turns -----------------------------------------------------------------


@SCENARIOS("plain turn")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    pi.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(pi, judge, terminal)


@SCENARIOS("tools")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("tool_execution_start")
    judge("in the tool", RUNNING)
    judge.holds("the tool is named", judge.row and judge.row["tool"] == "bash", f"{judge.row}")
    pi.open("go")
    judge("answered", FINISHED)
    terminal.type("play two three")
    judge.was_given("tool_execution_start", 3)
    judge("in two tools", RUNNING)
    pi.open("three")
    settled(pi, judge, 2)
    judge("after one that failed", FINISHED, RUNNING)


@SCENARIOS("print")
def _(pi, judge):
    process = pi.print("play hang go")
    judge("prompt", RUNNING, IDLE)
    pi.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)


@SCENARIOS("own shell command, compaction")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    terminal.type("!echo hi there")
    judge.was_given("user_bash")
    judge("own command", FINISHED)
    terminal.type("/compact")
    terminal.sees(r"(?i)compact(ed|ion)")
    judge("compacted", FINISHED)


@SCENARIOS("prompt while it works")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play run one")
    judge.was_given("tool_execution_start")
    judge("in the tool", RUNNING)
    terminal.type("play run two")
    judge("still in the tool", RUNNING)
    pi.open("one")
    judge.was_given("tool_execution_start", 2)
    judge("in the next tool", RUNNING)
    pi.open("two")
    judge("answered", FINISHED)


@SCENARIOS("prompt of an extension")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    terminal.type("/prompt play hang go")
    judge("it works by itself, what was finished is not yet seen", "running finished 0 0 0")
    pi.open("go")
    judge("answered", FINISHED)


# ---- questions -------------------------------------------------------------


def asked(pi, judge, step="asked", message="Run it?"):
    """A dialog is open, which the first generation does not say."""
    judge(step, RUNNING if pi.is_old else ASKS, RUNNING, message=None if pi.is_old else message)


@SCENARIOS("permission granted")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    terminal.sees("Run it")
    asked(pi, judge)
    terminal.key("Enter")
    terminal.loses("Run it")
    judge("granted", RUNNING)
    pi.open("go")
    judge("answered", FINISHED, message="All done.")


@SCENARIOS("permission refused")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    terminal.sees("Run it")
    asked(pi, judge)
    terminal.key("Escape")
    judge("refused, and the answer goes on", FINISHED, RUNNING)


@SCENARIOS("question")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play question")
    terminal.sees("Which colour")
    asked(pi, judge, message="Which colour?")
    terminal.key("Enter")
    judge("answered", FINISHED, RUNNING)


# ---- children --------------------------------------------------------------


@SCENARIOS("a child")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play child go")
    judge.was_given("tool_execution_start", 2)

    def rows():
        return sorted((row["nested"], row["status"]) for row in pi.stage.rows(pi.project))

    until("a nested row", lambda: rows() == [(False, "running"), (True, "running")], evidence=lambda: str(rows()))
    pi.open("go")
    settled(pi, judge, 2)
    judge("both are done", FINISHED, RUNNING, GONE)


# ---- interrupts and errors -------------------------------------------------


@SCENARIOS("Esc in generation")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.sees("Working")
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(pi, judge, terminal)


@SCENARIOS("Esc before the first word")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play mute go")
    judge("prompt", RUNNING)
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(pi, judge, terminal)


@SCENARIOS("Esc in a tool")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("tool_execution_start")
    judge("in the tool", RUNNING)
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(pi, judge, terminal)


@SCENARIOS("error that passes")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play error 500 go")
    judge.was_given("agent_end", 2)
    judge("it tries again", RUNNING)
    pi.open("go")
    judge("answered", FINISHED, message="All done.")


@SCENARIOS("error that stays")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("agent_end", 3)
    judge("it tries again", RUNNING)
    judge("it has given up", FAILED)
    plain_turn(pi, judge, terminal)


@SCENARIOS("login error")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("play error 401")
    settled(pi, judge)
    judge("failed", FAILED, RUNNING, patience=5)
    # An abort says nothing of an outcome: the old one must not stick.
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.sees("Working")
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(pi, judge, terminal)


# ---- sessions --------------------------------------------------------------


def session_of(judge):
    return judge.row["sessions"][0]["id"] if judge.row else None


@SCENARIOS("/new")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    row, before = judge.row["id"], session_of(judge)
    terminal.type("/new")
    judge.was_given("session_start", reason="new")
    judge("new", IDLE)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", session_of(judge) != before, "the same")
    plain_turn(pi, judge, terminal)


@SCENARIOS("/reload")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    terminal.type("/reload")
    judge.was_given("session_start", reason="reload")
    judge("reloaded", FINISHED)
    plain_turn(pi, judge, terminal)


@SCENARIOS("/name")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.type("/name My work")
    terminal.sees("(?i)name")
    plain_turn(pi, judge, terminal)



@SCENARIOS("resume")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    session = session_of(judge)
    terminal.type("/quit")
    judge("/quit", GONE)
    pi.start("--continue", terminal=terminal)
    judge("resumed", IDLE)
    judge.holds("same session", session_of(judge) == session, f"{session_of(judge)} after {session}")
    plain_turn(pi, judge, terminal)


@SCENARIOS("two sessions")
def _(pi, judge):
    first, second = pi.start(), pi.start()

    def are(step, *states):
        def rows():
            return sorted(row["status"] for row in pi.stage.rows(pi.project))
        until(step, lambda: rows() == sorted(states), evidence=lambda: str(rows()))
        judge.holds(step, True, "")

    are("each has a row", "idle", "idle")
    first.type("play hang one")
    are("the first works", "idle", "running")
    second.type("play error 401")
    are("the second fails", "failed", "running")
    pi.open("one")
    are("the first is done", "failed", "idle")
    second.type("/quit")
    are("the second has left", "idle")


@SCENARIOS("an extension that comes and goes")
def _(pi, judge):
    judge.holds("complete", "complete" in pi.vigilctl("doctor", "pi", "--json"), "not complete")
    pi.disconnect()
    judge.holds("taken out", not pi.extension.exists(), "still there")
    terminal = pi.start()
    plain_turn(pi, judge, terminal, "without it", want=GONE)
    pi.connect()
    terminal.type("/reload")
    judge.was_given("session_start", reason="reload")
    judge("put in while it runs", IDLE)
    plain_turn(pi, judge, terminal)


@SCENARIOS("no vigilctl")
def _(pi, judge):
    text = pi.extension.read_text(encoding="utf-8")
    pi.extension.write_text(text.replace("/bin/vigilctl", "/bin/gone/vigilctl"), encoding="utf-8")
    terminal = pi.start()
    plain_turn(pi, judge, terminal, "nothing is told, nothing is felt", want=GONE)
    screen = terminal.screen()
    judge.holds("nothing is said", "rror" not in screen and "vigil" not in screen.replace("vigil-agents", ""), screen)


# ---- ends ------------------------------------------------------------------


@SCENARIOS("SIGTERM")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    os.kill(terminal.pid(), signal.SIGTERM)
    judge("ended", GONE)


@SCENARIOS("closed terminal")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    terminal.close()
    judge("from idle", GONE)
    terminal = pi.start()
    judge("started again", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.close()
    # The first generation dies of it without a word.
    if pi.is_old:
        judge("from running", FAILED, message="Ended unexpectedly")
    else:
        judge("from running", GONE, IDLE)


@SCENARIOS("kill -9")
def _(pi, judge):
    terminal = pi.start()
    judge("started", IDLE)
    plain_turn(pi, judge, terminal, "turn")
    terminal.kill()
    judge("from idle", GONE)
    # The old terminal is left as Pi had set it.
    terminal = pi.start()
    judge("started again", IDLE)
    terminal.type("play run go")
    judge.was_given("tool_execution_start")
    judge("in the tool", RUNNING)
    terminal.kill()
    judge("from running", FAILED, message="Ended unexpectedly")
    pi.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)
