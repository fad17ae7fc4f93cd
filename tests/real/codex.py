# SPDX-License-Identifier: GPL-3.0-or-later
"""Codex, with its shared server and without."""

import hashlib
import json
import os
import re
import signal
import time
from pathlib import Path

import wire_responses
from agent import RealAgent
from judge import ASKS, FAILED, FINISHED, IDLE, RUNNING, Scenarios
from model import Model
from stage import GONE, PATIENCE

# Never a real key.
KEY = "dummy-key-0123456789"

EVENTS = """SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse Stop SubagentStart SubagentStop Interrupt
PreCompact PostCompact SessionEnd""".split()

# What no hook tells and is shown all the same: nothing, so far.
NO_HOOK = set()

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "codex"
CHOOSING = ("source", "reason", "permission_mode", "trigger", "tool_name")


def _command(command, **more):
    # A command that takes longer goes on in the background.
    return [("exec_command", {"cmd": command, "yield_time_ms": 30000, **more})]


def _question():
    options = [{"label": "Red", "description": "Like a rose"}, {"label": "Blue", "description": "Like the sky"}]
    question = {"id": "colour", "question": "Which colour?", "header": "Colour", "options": options}
    return [("request_user_input", {"questions": [question]})]


SCENES = {
    "plain": lambda gate: [],
    "run": lambda gate: _command(f"./wait-for {gate}"),
    "fail": lambda gate: _command("./wait-for fail"),
    "permission": lambda gate: _command(f"./ask-first {gate}", sandbox_permissions="require_escalated",
                                        justification="It has to be outside"),
    "question": lambda gate: _question(),
    "helper": lambda gate: [("spawn_agent", {"message": f"play run {gate}", "task_name": "look",
                                             "agent_type": "default"})],
    "background": lambda gate: _command(f"./wait-for {gate}", yield_time_ms=500),
}

SETTINGS = """model = "gpt-5-codex"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
chatgpt_base_url = "{url}/"
[model_providers.mock]
name = "Mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_API_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[tui]
animations = false
[projects."{project}"]
trust_level = "trusted"
"""


def trusted(hooks, event, command, timeout):
    """That hook, the first of its event, as trusted in the settings."""
    name = re.sub("(?<!^)([A-Z])", r"_\1", event).lower()
    one = {"async": False, "command": command, "timeout": timeout, "type": "command"}
    whole = json.dumps({"event_name": name, "hooks": [one]}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return f'[hooks.state."{hooks}:{name}:0:0"]\ntrusted_hash = "sha256:{digest}"\n'


class Agent(RealAgent):
    """In the home, with a neighbour in the hooks file that its user has trusted."""

    ID = "codex"
    # The last line comes with the session.
    READY = r"(?ms)^› .*gpt-5-codex \w+ ·"

    def __init__(self, stage, program, folder, variant):
        super().__init__(stage, Model(wire_responses.Handler, SCENES), program, folder)
        self.config = self.home / ".codex"
        self.config.mkdir()
        self.environment |= {"MOCK_API_KEY": KEY}
        self.hooks, self.settings = self.config / "hooks.json", self.config / "config.toml"
        # A neighbour in the same file, which records what every hook is given.
        record = f"cat > '{self.payloads}'/$(date +%s%N)-$$.json"
        hooks = {event: [{"hooks": [{"type": "command", "command": record, "timeout": 3}]}] for event in EVENTS}
        self.hooks.write_text(json.dumps({"hooks": hooks}, indent=2), encoding="utf-8")
        settings = SETTINGS.format(url=self.model.url, project=self.project)
        settings += "".join(trusted(self.hooks, event, record, 3) for event in EVENTS)
        self.settings.write_text(settings, encoding="utf-8")
        (self.config / "auth.json").write_text(json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": KEY}))
        self.before = self.hooks.read_bytes()

    def connect(self):
        self.vigilctl("install", self.ID, "--trust", "--program", f"{self.stage.prefix}/bin/vigilctl")

    def start(self, *words, terminal=None):
        """Without its server, unless `served`."""
        words = [word for word in words if word != "served"] if "served" in words else ["--no-daemon", *words]
        return super().start(*words, terminal=terminal)

    def exec(self, prompt):
        return self.print("exec", "--skip-git-repo-check", prompt)

    def close(self):
        super().close()
        # Its server outlives every terminal.
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "exe").readlink().is_relative_to(self.config):
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass


SCENARIOS = Scenarios()


def plain_turn(codex, judge, terminal, step="next turn", want=FINISHED, via=(), **more):
    """A prompt and its answer, as users go on after what a scenario is about."""
    stops = judge.count("Stop")
    terminal.type("hello")
    judge.was_given("Stop", stops + 1)
    judge(step, want, IDLE, RUNNING, *via, message="All done.", **more)


def dialog(terminal):
    """Waits for a dialog."""
    terminal.sees(r"› 1\. ")


def dialog_gone(terminal):
    terminal.loses(r"› 1\. ")


def plan_mode(terminal):
    """Where the model may ask."""
    terminal.type("/plan")
    terminal.sees(r"Plan mode \(shift\+tab")


# ---- turns -----------------------------------------------------------------


@SCENARIOS("plain turn")
def _(codex, judge):
    terminal = codex.start()
    judge("started", GONE)
    terminal.type("play hang go")
    judge("prompt", RUNNING, IDLE)
    codex.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(codex, judge, terminal)


@SCENARIOS("tool")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING, IDLE)
    judge.holds("the tool is named", judge.row and judge.row["tool"] == "Bash", f"{judge.row}")
    codex.open("go")
    judge("answered", FINISHED)
    terminal.type("play fail")
    judge.was_given("Stop", 2)
    judge("after a tool that failed", FINISHED, RUNNING)


@SCENARIOS("exec")
def _(codex, judge):
    process = codex.exec("play hang go")
    judge("prompt", RUNNING, IDLE)
    codex.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)
    process = codex.exec("play helper go")
    process.communicate(timeout=PATIENCE)
    judge("subagent, ended", GONE, IDLE, RUNNING, "running none 1 0 0", FINISHED, "idle finished 1 0 0")


# ---- questions -------------------------------------------------------------


@SCENARIOS("permission granted")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, IDLE, RUNNING, message="Permission for Bash")
    terminal.key("y")
    dialog_gone(terminal)
    codex.open("go")
    judge("answered", FINISHED, RUNNING, message="All done.")


@SCENARIOS("permission refused")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, IDLE, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("refused", IDLE)
    plain_turn(codex, judge, terminal)


@SCENARIOS("question answered")
def _(codex, judge):
    terminal = codex.start()
    plan_mode(terminal)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, IDLE, RUNNING, message="Which colour?")
    terminal.key("Enter")
    dialog_gone(terminal)
    judge("answered", FINISHED, RUNNING)


@SCENARIOS("question of one that asks for nothing else")
def _(codex, judge):
    terminal = codex.start("--ask-for-approval", "never")
    plan_mode(terminal)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, IDLE, RUNNING, message="Which colour?")


@SCENARIOS("question dismissed")
def _(codex, judge):
    terminal = codex.start()
    plan_mode(terminal)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, IDLE, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("dismissed", IDLE)


# ---- work beside the turn --------------------------------------------------


@SCENARIOS("subagent")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play helper go")
    judge.was_given("Stop")
    judge("the turn is over", "idle finished 1 0 0", IDLE, RUNNING, "running none 1 0 0", FINISHED)
    codex.open("go")
    judge.was_given("SubagentStop")
    judge("it has ended", FINISHED)
    plain_turn(codex, judge, terminal)


@SCENARIOS("background terminal")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play background go")
    judge.was_given("Stop")
    # That it runs on is told by no hook.
    judge("the turn is over", FINISHED, IDLE, RUNNING)
    codex.open("go")
    plain_turn(codex, judge, terminal)


# ---- interrupts and errors -------------------------------------------------


@SCENARIOS("Esc in generation")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play hang go")
    judge("prompt", RUNNING, IDLE)
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(codex, judge, terminal)


@SCENARIOS("Esc in a tool")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING, IDLE)
    terminal.key("Escape")
    judge("Esc", IDLE)
    plain_turn(codex, judge, terminal)


# ---- sessions --------------------------------------------------------------


def session_of(judge):
    return judge.row["sessions"][0]["id"] if judge.row else None


@SCENARIOS("/new")
def _(codex, judge):
    terminal = codex.start()
    plain_turn(codex, judge, terminal, "turn")
    row, before = judge.row["id"], session_of(judge)
    terminal.type("/new")
    time.sleep(1)
    judge("nothing is told yet", FINISHED)
    plain_turn(codex, judge, terminal, "its first turn")
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", session_of(judge) != before, "the same")


@SCENARIOS("two sessions")
def _(codex, judge):
    first, second = codex.start(), codex.start()
    first.type("play hang one")
    judge("first at work", RUNNING, IDLE)
    second.type("play hang two")
    judge.was_given("UserPromptSubmit", 2)
    time.sleep(1)
    rows = codex.stage.rows(codex.project)
    judge.holds("each has its row", len(rows) == 2 and len({row["surface"] for row in rows}) == 2, f"{rows}")
    second.close()
    # Nothing tells that its user closed it.
    time.sleep(4)
    shown = sorted(row["status"] for row in codex.stage.rows(codex.project))
    judge.holds("the second has failed", shown == ["failed", "running"], f"{shown}")


@SCENARIOS("two sessions, one server")
def _(codex, judge):
    first = codex.start("served")
    first.type("play hang one")
    judge("first at work", RUNNING, IDLE)
    judge.holds("in its own pane", judge.row["pid"] == first.pid(), f"{judge.row}")
    # What begins at one moment with another is not told from it.
    time.sleep(6)
    second = codex.start("served")
    second.type("play hang two")
    judge.was_given("UserPromptSubmit", 2)
    time.sleep(1)
    rows = codex.stage.rows(codex.project)
    pids = {row["pid"] for row in rows}
    judge.holds("each is in its own", pids == {first.pid(), second.pid()}, f"{rows}")
    second.kill()
    time.sleep(1)
    shown = sorted(row["status"] for row in codex.stage.rows(codex.project))
    judge.holds("the second has failed", shown == ["failed", "running"], f"{shown}")


@SCENARIOS("server, /quit")
def _(codex, judge):
    terminal = codex.start("served")
    plain_turn(codex, judge, terminal, "turn")
    judge.holds("its own process", judge.row and judge.row["pid"] == terminal.pid(), f"{judge.row}")
    terminal.type("/quit")
    judge("ended", GONE, patience=10)


@SCENARIOS("hooks that come and go")
def _(codex, judge):
    judge.holds("complete", "complete" in codex.vigilctl("doctor", "codex", "--json"), "not complete")
    codex.disconnect()
    judge.holds("taken out to the byte", codex.hooks.read_bytes() == codex.before, "other bytes")
    terminal = codex.start()
    stops = judge.count("Stop")
    terminal.type("hello")
    judge.was_given("Stop", stops + 1)
    judge("without hooks", GONE)
    said = codex.vigilctl("install", codex.ID, "--program", f"{codex.stage.prefix}/bin/vigilctl")
    judge.holds("the session is named", f"{terminal.pid()} on pts/" in said, said)
    judge.holds("trusted as before", "complete" in codex.vigilctl("doctor", "codex", "--json"), "not complete")


# ---- ends ------------------------------------------------------------------


@SCENARIOS("/quit")
def _(codex, judge):
    terminal = codex.start()
    plain_turn(codex, judge, terminal, "turn")
    terminal.type("/quit")
    judge("ended", GONE)


@SCENARIOS("SIGTERM")
def _(codex, judge):
    terminal = codex.start()
    plain_turn(codex, judge, terminal, "turn")
    os.kill(terminal.pid(), signal.SIGTERM)
    judge("ended", GONE)


@SCENARIOS("closed terminal")
def _(codex, judge):
    terminal = codex.start()
    plain_turn(codex, judge, terminal, "turn")
    terminal.close()
    judge("from idle", GONE)


@SCENARIOS("kill -9 from running")
def _(codex, judge):
    terminal = codex.start()
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING, IDLE)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
    codex.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)


@SCENARIOS("kill -9 from idle")
def _(codex, judge):
    terminal = codex.start()
    plain_turn(codex, judge, terminal, "turn")
    terminal.kill()
    judge("killed", GONE)
