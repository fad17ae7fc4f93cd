# SPDX-License-Identifier: GPL-3.0-or-later
"""Claude Code."""

import json
import os
import signal
import time

import wire_messages
from agent import RealAgent
from judge import ASKS, FAILED, FINISHED, IDLE, RUNNING, Scenarios
from model import Model
from stage import GONE, PATIENCE, Trouble, until

# Never a real key.
KEY = "dummy-key-0123456789"

# Names that every supported version knows: what is recorded beside us. With others its window would stop and ask.
EVENTS = """SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest
Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact SessionEnd Elicitation
ElicitationResult""".split()

# What no hook tells, by scenario and step: the agent's status file does, or its transcript.
NO_HOOK = {
    ("permission granted", "granted"),
    ("permission refused", "refused"),
    ("permission, Esc", "Esc"),
    ("question dismissed", "dismissed"),
    ("plan refused", "refused"),
    ("Esc in generation", "Esc"),
    ("Esc before the first word", "Esc"),
    ("Esc in a tool", "Esc"),
    ("subagent's permission", "granted"),
    ("two sessions", "granted"),
    ("no status file", "Esc in generation"),
    ("no status file", "Esc in a dialog"),
    ("no status file", "refused"),
}

# It reads its settings anew a moment after they have changed.
RELOADS = 3

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "claude-code"
CHOOSING = ("source", "reason", "notification_type", "error", "trigger", "tool_name")

PLAN = "1. Read the readme\n2. Change nothing"


def _bash(command, **more):
    return [("Bash", {"command": command, "description": "Work", **more})]


def _agent(prompt, background):
    call = {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose"}
    return [("Agent", {**call, "run_in_background": background})]


def _question():
    options = [{"label": "Red", "description": "Like a rose"}, {"label": "Blue", "description": "Like the sky"}]
    question = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}
    return [("AskUserQuestion", {"questions": [question]})]


# Scene: the tools that the reply calls, for a gate. `wait-for` is allowed by the project's settings, `ask-first` is not.
SCENES = {
    "plain": lambda gate: [],
    "run": lambda gate: _bash(f"./wait-for {gate}"),
    "fail": lambda gate: _bash("./wait-for fail"),
    "permission": lambda gate: _bash(f"./ask-first {gate}"),
    "question": lambda gate: _question(),
    "plan": lambda gate: [("ExitPlanMode", {"plan": PLAN})],
    "subagent": lambda gate: _agent(f"play run {gate}", False),
    "helper": lambda gate: _agent(f"play run {gate}", True),
    "asker": lambda gate: _agent(f"play permission {gate}", True),
    "background": lambda gate: _bash(f"./wait-for {gate}", run_in_background=True),
}


class Agent(RealAgent):
    """Its configuration is where the user has it: in the home, or, of the second generation, where a variable says."""

    ID = "claude"

    def __init__(self, stage, program, folder, variant):
        super().__init__(stage, Model(wire_messages.Handler, SCENES), program, folder)
        elsewhere = variant > 0
        config = folder / "config" if elsewhere else self.home / ".claude"
        config.mkdir()
        self.settings = config / "settings.json"
        self.environment |= {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_BUG_COMMAND": "1",
            **({"CLAUDE_CONFIG_DIR": str(config)} if elsewhere else {}),
        }
        # A neighbour in the same file, which records what every hook is given.
        record = f"cat > '{self.payloads}'/$(date +%s%N)-$$.json"
        hooks = {event: [{"hooks": [{"type": "command", "command": record, "timeout": 5}]}] for event in EVENTS}
        rules = {"allow": ["Bash(./wait-for:*)"]}
        self.settings.write_text(json.dumps({"permissions": rules, "hooks": hooks}, indent=2), encoding="utf-8")
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "projectOnboardingSeenCount": 5}
        known = {
            "hasCompletedOnboarding": True, "theme": "dark", "lastOnboardingVersion": "99.0.0", "numStartups": 5,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): trusted},
        }
        self.state = (config if elsewhere else self.home) / ".claude.json"
        self.state.write_text(json.dumps(known, indent=2), encoding="utf-8")
        self.before = self.settings.read_bytes()

    def remind_after(self, seconds):
        """When it says that it waits; a minute otherwise. Before it starts."""
        known = json.loads(self.state.read_text(encoding="utf-8"))
        known["messageIdleNotifThresholdMs"] = seconds * 1000
        self.state.write_text(json.dumps(known, indent=2), encoding="utf-8")

    def hide_status(self):
        """As with a version that keeps no status files: they lie behind a link, which is not followed."""
        hidden = self.home.parent / "hidden"
        hidden.mkdir()
        (self.settings.parent / "sessions").symlink_to(hidden)

    def start(self, *words, terminal=None):
        mode = () if "--permission-mode" in words else ("--permission-mode", "default")
        return super().start(*mode, *words, terminal=terminal)

    def print(self, prompt):
        return super().print("-p", prompt, "--permission-mode", "default")


SCENARIOS = Scenarios()


def plain_turn(claude, judge, terminal, step="next turn", want=FINISHED, **more):
    """A prompt and its answer, as users go on after what a scenario is about."""
    stops = judge.count("Stop")
    terminal.type("hello")
    judge.was_given("Stop", stops + 1)
    judge(step, want, RUNNING, message="All done.", **more)


def dialog(terminal):
    """Waits for a dialog."""
    terminal.sees(r"Esc to cancel|❯ 1\. Yes")


def dialog_gone(terminal):
    terminal.loses(r"Esc to cancel|❯ 1\. Yes")


def begun(terminal):
    """Waits for the beginning of the answer. Before it, Esc may take the prompt back, and leaves no trace of it."""
    terminal.sees(r"(?m)^\s*●")


def refuse(terminal):
    """Chooses No."""
    terminal.key(terminal.sees(r"(\d)\. No")[1])


# ---- turns -----------------------------------------------------------------


@SCENARIOS("plain turn")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    claude.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(claude, judge, terminal)


@SCENARIOS("tool")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    judge.holds("the tool is named", judge.row and judge.row["tool"] == "Bash", f"{judge.row}")
    claude.open("go")
    judge("answered", FINISHED)
    terminal.type("play fail")
    judge.was_given("Stop", 2)
    judge("after a tool that failed", FINISHED, RUNNING)


@SCENARIOS("print")
def _(claude, judge):
    process = claude.print("play hang go")
    judge("prompt", RUNNING, IDLE)
    claude.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)
    # Nobody can be asked: the request is refused by itself.
    process = claude.print("play permission go")
    process.communicate(timeout=PATIENCE)
    judge("permission, ended", GONE, IDLE, RUNNING, FINISHED)
    judge.was_given("SessionEnd", 2)


@SCENARIOS("own shell command")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.key("!")
    time.sleep(0.5)
    terminal.type("echo hi there")
    judge.was_given("Stop", patience=15)
    judge("ended", IDLE)


@SCENARIOS("prompt while it works")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run one")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.type("play run two")
    judge("still in the tool", RUNNING)
    claude.open("one")
    judge.was_given("PreToolUse", 2)
    judge("in the next tool", RUNNING, FINISHED)
    claude.open("two")
    judge("answered", FINISHED)


@SCENARIOS("idle reminder")
def _(claude, judge):
    claude.remind_after(4)
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    judge.was_given("Notification", notification_type="idle_prompt", patience=75)
    judge("reminded", FINISHED)


# ---- questions -------------------------------------------------------------


@SCENARIOS("permission granted")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Permission for Bash")
    judge.was_given("Notification", notification_type="permission_prompt")
    judge("reminded", ASKS)
    terminal.key("Enter")
    dialog_gone(terminal)
    judge("granted", RUNNING)
    claude.open("go")
    judge("answered", FINISHED, RUNNING, message="All done.")


@SCENARIOS("permission refused")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@SCENARIOS("permission, Esc")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@SCENARIOS("question answered")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Which colour?")
    terminal.key("Enter")
    judge("answered", FINISHED, RUNNING)


@SCENARIOS("question dismissed")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("dismissed", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@SCENARIOS("plan approved")
def _(claude, judge):
    terminal = claude.start("--permission-mode", "plan")
    judge("started", IDLE)
    terminal.type("play plan")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Approve the plan?")
    terminal.key("Enter")
    judge("approved", FINISHED, RUNNING)


@SCENARIOS("plan refused")
def _(claude, judge):
    terminal = claude.start("--permission-mode", "plan")
    judge("started", IDLE)
    terminal.type("play plan")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Approve the plan?")
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


# ---- work beside the turn --------------------------------------------------


@SCENARIOS("subagent, in the foreground")
def _(claude, judge):
    process = claude.print("play subagent go")
    judge("at work", "running none 1 0 0", IDLE, RUNNING)
    claude.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, RUNNING, FINISHED)


@SCENARIOS("subagent, in the background")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play helper go")
    judge("the turn is over", "idle finished 1 0 0", RUNNING, "running none 1 0 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "running finished 0 0 0", "running finished 1 0 0")


@SCENARIOS("subagent's permission")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play asker go")
    dialog(terminal)
    judge.was_given("Stop")
    judge("asked", "needs-input needs-input 1 0 1", RUNNING, "running none 1 0 0", "idle finished 1 0 0")
    terminal.key("Enter")
    dialog_gone(terminal)
    judge("granted", "idle finished 1 0 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "idle finished 1 0 0", "running finished 0 0 0", "running finished 1 0 0")


@SCENARIOS("background shell")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play background go")
    judge("the turn is over", "idle finished 0 1 0", RUNNING, "running none 0 1 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "running finished 0 1 0")


# ---- interrupts and errors -------------------------------------------------


@SCENARIOS("Esc before the first word")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play mute go")
    judge("prompt", RUNNING)
    terminal.key("Escape")
    judge("Esc", IDLE)
    # The prompt has been taken back into the line.
    terminal.key("C-u")
    plain_turn(claude, judge, terminal)


@SCENARIOS("Esc in generation")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    begun(terminal)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE)
    plain_turn(claude, judge, terminal)


@SCENARIOS("Esc in a tool")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE)
    plain_turn(claude, judge, terminal)


@SCENARIOS("no status file")
def _(claude, judge):
    claude.hide_status()
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    begun(terminal)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc in generation", IDLE)
    terminal.type("play permission one")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("Esc in a dialog", IDLE, RUNNING)
    terminal.type("play permission two")
    dialog(terminal)
    judge("asked again", ASKS, RUNNING)
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@SCENARIOS("server error")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("StopFailure")
    judge("within its grace", RUNNING, patience=2)
    judge("after it", FAILED)
    plain_turn(claude, judge, terminal)


@SCENARIOS("server error, prompt at once")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("StopFailure")
    terminal.type("play hang go")
    judge.was_given("UserPromptSubmit", 2)
    time.sleep(7)
    judge("no failure", RUNNING)
    claude.open("go")
    judge("answered", FINISHED)


@SCENARIOS("login error")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 401")
    judge.was_given("StopFailure")
    judge("at once", FAILED, RUNNING, patience=2)
    plain_turn(claude, judge, terminal)


# ---- sessions --------------------------------------------------------------


def session_of(judge):
    return judge.row["sessions"][0]["id"] if judge.row else None


@SCENARIOS("/clear")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    row, before = judge.row["id"], session_of(judge)
    terminal.type("/clear")
    judge.was_given("SessionStart", source="clear")
    judge("cleared", IDLE)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", session_of(judge) != before, "the same")
    plain_turn(claude, judge, terminal)


@SCENARIOS("/compact")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    # The older refuses to compact fewer messages.
    for turn in ("a turn", "another", "and another"):
        plain_turn(claude, judge, terminal, turn)
    row = judge.row["id"]
    terminal.type("/compact")
    judge.was_given("PostCompact")
    judge("compacted", FINISHED)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    plain_turn(claude, judge, terminal)


@SCENARIOS("resume")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    session = session_of(judge)
    terminal.type("/exit")
    judge("/exit", GONE)
    claude.start("--resume", session, terminal=terminal)
    judge("resumed", IDLE)
    judge.holds("same session", session_of(judge) == session, f"{session_of(judge)} after {session}")
    plain_turn(claude, judge, terminal)


@SCENARIOS("two sessions")
def _(claude, judge):
    first = claude.start()
    judge("first started", IDLE)
    second = claude.start()
    judge("second started", IDLE, sessions=2)
    first.type("play hang one")
    judge("first at work", RUNNING, sessions=2)
    second.type("play permission two")
    dialog(second)
    judge("second asks", ASKS, RUNNING, sessions=2)
    claude.open("one")
    judge.was_given("Stop")
    judge("first is done, second asks", ASKS, sessions=2)
    second.key("Enter")
    dialog_gone(second)
    # The second is at work; what the first has finished is not yet seen.
    judge("granted", "running finished 0 0 0", sessions=2)
    claude.open("two")
    judge("second is done", FINISHED, "running finished 0 0 0", sessions=2)
    second.type("/exit")
    judge.was_given("SessionEnd")
    judge("second has left", FINISHED)
    first.type("/exit")
    judge("first has left", GONE)


@SCENARIOS("hooks that come and go")
def _(claude, judge):
    judge.holds("complete", "complete" in claude.vigilctl("doctor", "claude", "--json"), "not complete")
    claude.disconnect()
    judge.holds("taken out to the byte", claude.settings.read_bytes() == claude.before, "other bytes")
    terminal = claude.start()
    plain_turn(claude, judge, terminal, "without hooks", want=GONE)
    claude.connect()
    time.sleep(RELOADS)
    plain_turn(claude, judge, terminal, "put in while it runs")
    claude.disconnect()
    time.sleep(RELOADS)
    terminal.type("play hang go")
    judge.was_given("UserPromptSubmit", 3)
    judge("taken out while it runs", FINISHED)


# ---- ends ------------------------------------------------------------------


@SCENARIOS("Ctrl+C twice")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.key("C-c")
    time.sleep(0.3)
    terminal.key("C-c")
    judge("ended", GONE)


@SCENARIOS("SIGTERM")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    os.kill(terminal.pid(), signal.SIGTERM)
    judge("ended", GONE)


@SCENARIOS("closed terminal")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.close()
    judge("from idle", GONE)
    terminal = claude.start()
    judge("started again", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.close()
    judge("from running", GONE)


@SCENARIOS("kill -9 from idle")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    terminal.kill()
    judge("killed", GONE)


@SCENARIOS("kill -9 from running")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
    claude.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)


@SCENARIOS("kill -9 from needs input")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
