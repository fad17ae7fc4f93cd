# SPDX-License-Identifier: GPL-3.0-or-later
"""Hermes Agent."""

import json

import wire_chat
from agent import RealAgent
from judge import ASKS, FAILED, FINISHED, IDLE, RUNNING, Scenarios
from model import Model
from stage import GONE, PATIENCE, until

# Never a real key.
KEY = "dummy-key-0123456789"

# What happens and no hook tells.
NO_HOOK = set()

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "hermes"
CHOOSING = ("platform", "reason", "surface", "choice", "tool_name", "status", "error_type")

# How long it may take to load, in seconds; on a machine with two cores it takes half of that.
LOADING = 90

# A neighbour, which records what every plugin is given.
NEIGHBOUR = '''
import json, os, threading, time
HOOKS = """pre_tool_call post_tool_call pre_llm_call post_llm_call pre_api_request post_api_request api_request_error
on_session_start on_session_end on_session_finalize on_session_reset subagent_start subagent_stop pre_approval_request
post_approval_response""".split()
LARGE = ("conversation_history", "request_messages", "request", "response", "assistant_message", "middleware_trace")
def recorder(name):
    def record(**facts):
        facts = {key: value for key, value in facts.items() if key not in LARGE}
        path = f"{PAYLOADS}/{time.monotonic_ns():020}-{os.getpid()}-{threading.get_ident()}"
        with open(path, "w") as file:
            json.dump({"hook": name, "_thread": threading.current_thread().name, **facts}, file, default=repr)
        os.rename(path, path + ".json")
    return record
def register(ctx):
    for name in HOOKS:
        ctx.register_hook(name, recorder(name))
'''


def _terminal(command, **more):
    return [("terminal", {"command": command, **more})]


# Scene: the tools that the reply calls, for a gate. What removes a folder is asked about.
SCENES = {
    "plain": lambda gate: [],
    "run": lambda gate: _terminal(f"./wait-for {gate}"),
    "fail": lambda gate: _terminal("./wait-for fail"),
    "permission": lambda gate: _terminal(f"rm -rf ./no-such-folder; ./wait-for {gate}"),
    "question": lambda gate: [("clarify", {"question": "Which colour?", "choices": ["Red", "Blue"]})],
    "helper": lambda gate: [("delegate_task", {"goal": f"play run {gate}"})],
    "background": lambda gate: _terminal(f"./wait-for {gate}", background=True, notify_on_complete=True),
}


class Agent(RealAgent):
    """Its home is where a variable says."""

    ID = "hermes"
    EVENT_KEY = "hook"
    READY = r"❯"

    def __init__(self, stage, program, folder, variant):
        super().__init__(stage, Model(wire_chat.Handler, SCENES), program, folder)
        config = folder / "hermes"
        record = config / "plugins/record"
        record.mkdir(parents=True)
        self.environment |= {"HERMES_HOME": str(config)}
        (record / "plugin.yaml").write_text('name: record\nversion: "1"\ndescription: Records\n', encoding="ascii")
        neighbour = NEIGHBOUR.replace("{PAYLOADS}", str(self.payloads))
        (record / "__init__.py").write_text(neighbour, encoding="ascii")
        self.settings = config / "config.yaml"
        self.settings.write_text(
            "# mine\nmodel:\n  default: mock-model\n  provider: custom\n"
            f"  base_url: {self.model.url}/v1\n  api_key: {KEY}\n"
            "plugins:\n  enabled:\n    - record  # it writes down\n", encoding="ascii")
        self.before = self.settings.read_bytes()
        self.plugin = config / "plugins/vigil/__init__.py"

    @staticmethod
    def happened(line):
        return {"hook": line["event"], **line["payload"]}

    def start(self, *words, terminal=None):
        return super().start(*(words or ("chat",)), terminal=terminal)


SCENARIOS = Scenarios()


def plain_turn(hermes, judge, terminal, step="next turn", want=FINISHED, **more):
    """A prompt and its answer, as users go on after what a scenario is about. It names its scene: a prompt that was never
    answered is sent again with it, in one message (seen, 0.19.0)."""
    ends = judge.count("post_llm_call")
    terminal.type("play plain")
    judge.was_given("post_llm_call", ends + 1)
    judge(step, want, RUNNING, IDLE, message="All done.", **more)


def prompt(judge, terminal, words, step="prompt"):
    terminal.type(words)
    judge(step, RUNNING, IDLE)


# ---- turns -----------------------------------------------------------------


@SCENARIOS("plain turn")
def _(hermes, judge):
    terminal = hermes.start()
    judge("no session before the first prompt", GONE)
    prompt(judge, terminal, "play hang go")
    hermes.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(hermes, judge, terminal)
    terminal.type("/exit")
    judge("/exit", GONE, FINISHED)


@SCENARIOS("tool")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play run go")
    judge.was_given("pre_tool_call")
    judge("in the tool", RUNNING, IDLE)
    judge.holds("the tool is named", judge.row and judge.row["tool"] == "terminal", f"{judge.row}")
    hermes.open("go")
    judge("answered", FINISHED)
    terminal.type("play fail")
    judge.was_given("post_llm_call", 2)
    judge("after a tool that failed", FINISHED, RUNNING)


@SCENARIOS("one query")
def _(hermes, judge):
    process = hermes.print("chat", "-q", "play run go")
    judge.was_given("pre_tool_call", patience=LOADING)
    judge("in the tool", RUNNING, IDLE)
    hermes.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)


@SCENARIOS("one shot")
def _(hermes, judge):
    process = hermes.print("-z", "play run go")
    judge.was_given("pre_tool_call", patience=LOADING)
    judge("in the tool", RUNNING, IDLE)
    hermes.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)


# ---- questions -------------------------------------------------------------


@SCENARIOS("approval")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play permission go")
    judge.was_given("pre_approval_request", surface="cli")
    judge("asked", ASKS, RUNNING, IDLE)
    terminal.key("Enter")
    judge.was_given("post_approval_response")
    judge("granted", RUNNING)
    hermes.open("go")
    judge("answered", FINISHED)


@SCENARIOS("approval denied")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play permission go")
    judge.was_given("pre_approval_request", surface="cli")
    judge("asked", ASKS, RUNNING, IDLE)
    terminal.key(*["Down"] * 3, "Enter")
    judge.was_given("post_approval_response", choice="deny")
    judge("denied, and the answer goes on", FINISHED, RUNNING)


@SCENARIOS("question")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play question")
    judge.was_given("pre_tool_call", tool_name="clarify")
    judge("asked", ASKS, RUNNING, IDLE, message="Which colour?")
    terminal.key("Enter")
    judge("answered", FINISHED, RUNNING)


# ---- work beside the turn --------------------------------------------------


@SCENARIOS("subagent")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play helper go")
    judge("the turn is over", "idle finished 1 0 0", IDLE, RUNNING, "running none 1 0 0", patience=LOADING)
    hermes.open("go")
    # Its own end, the main agent's, and that of the turn which its report begins.
    judge.was_given("on_session_end", 3, patience=LOADING)
    judge("it has reported", FINISHED, "running finished 0 0 0")


@SCENARIOS("background process")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play background go")
    judge("the turn is over", "idle finished 0 1 0", IDLE, RUNNING, "running none 0 1 0", patience=LOADING)
    hermes.open("go")
    judge.was_given("post_llm_call", 2)
    judge("it has ended", FINISHED, "running finished 0 0 0")


# ---- interrupts and errors -------------------------------------------------


@SCENARIOS("Ctrl+C in generation")
def _(hermes, judge):
    terminal = hermes.start()
    prompt(judge, terminal, "play hang go")
    judge.was_given("pre_api_request")
    terminal.key("C-c")
    judge("interrupted", IDLE)
    plain_turn(hermes, judge, terminal)


@SCENARIOS("Ctrl+C in a tool")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play run go")
    judge.was_given("pre_tool_call")
    judge("in the tool", RUNNING, IDLE)
    terminal.key("C-c")
    judge("interrupted", IDLE)
    plain_turn(hermes, judge, terminal)


@SCENARIOS("error that passes")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play error 500 go")
    judge.was_given("api_request_error")
    judge("it tries again", RUNNING, IDLE)
    hermes.open("go")
    judge("answered", FINISHED, message="All done.")


@SCENARIOS("error that stays")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play error 500")
    judge.was_given("api_request_error", 3)
    judge("it has given up", FAILED, RUNNING, IDLE)
    plain_turn(hermes, judge, terminal)


@SCENARIOS("login error")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play error 401")
    judge.was_given("api_request_error")
    judge("failed", FAILED, RUNNING, IDLE)
    plain_turn(hermes, judge, terminal)


# ---- sessions --------------------------------------------------------------


@SCENARIOS("/new")
def _(hermes, judge):
    terminal = hermes.start()
    plain_turn(hermes, judge, terminal, "turn")
    row, session = judge.row["id"], judge.row["sessions"][0]["id"]
    terminal.type("/new")
    terminal.sees(r"(?i)y/n|confirm|approve once|new session")
    if not judge.count("on_session_reset"):
        terminal.key("Enter")
    judge.was_given("on_session_reset")
    judge("new", IDLE)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", judge.row and judge.row["sessions"][0]["id"] != session, "the same")
    plain_turn(hermes, judge, terminal)


@SCENARIOS("two sessions")
def _(hermes, judge):
    first, second = hermes.start(), hermes.start()

    def are(step, *states):
        def rows():
            return sorted(row["status"] for row in hermes.stage.rows(hermes.project))
        until(step, lambda: rows() == sorted(states), evidence=lambda: str(rows()))
        judge.holds(step, True, "")

    first.type("play hang one")
    are("the first works", "running")
    second.type("play error 401")
    are("the second fails", "failed", "running")
    hermes.open("one")
    are("the first is done", "failed", "idle")
    first.type("/exit")
    are("the first has left", "failed")


@SCENARIOS("terminal interface")
def _(hermes, judge):
    terminal = hermes.terminal()
    terminal.run(hermes.program, "--tui")
    judge("it has a session before the first prompt", IDLE, patience=LOADING)
    terminal.type("play permission go")
    judge.was_given("pre_approval_request", surface="gateway")
    judge("asked", ASKS, RUNNING)
    terminal.key("Enter")
    judge.was_given("post_approval_response")
    judge("granted", RUNNING)
    hermes.open("go")
    judge("answered", FINISHED)
    terminal.close()
    judge("closed terminal", GONE, IDLE, FINISHED)


@SCENARIOS("a plugin that comes and goes")
def _(hermes, judge):
    judge.holds("complete", "complete" in hermes.vigilctl("doctor", "hermes", "--json"), "not complete")
    terminal = hermes.start()
    plain_turn(hermes, judge, terminal, "with it")
    terminal.type("/exit")
    judge("/exit", GONE, FINISHED)
    hermes.disconnect()
    judge.holds("taken out to the byte", hermes.settings.read_bytes() == hermes.before, "other bytes")
    judge.holds("its folder is gone", not hermes.plugin.parent.exists(), "still there")


@SCENARIOS("no vigilctl")
def _(hermes, judge):
    text = hermes.plugin.read_text(encoding="utf-8")
    hermes.plugin.write_text(text.replace("/bin/vigilctl", "/bin/gone/vigilctl"), encoding="utf-8")
    terminal = hermes.start()
    plain_turn(hermes, judge, terminal, "nothing is told, nothing is felt", want=GONE)


# ---- ends ------------------------------------------------------------------


@SCENARIOS("closed terminal")
def _(hermes, judge):
    terminal = hermes.start()
    prompt(judge, terminal, "play hang go")
    terminal.close()
    judge("from running", GONE, IDLE, RUNNING)


@SCENARIOS("kill -9")
def _(hermes, judge):
    terminal = hermes.start()
    terminal.type("play run go")
    judge.was_given("pre_tool_call")
    judge("in the tool", RUNNING, IDLE)
    terminal.kill()
    judge("from running", FAILED, message="Ended unexpectedly")
    hermes.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)
