# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenCode, and what its forks share with it."""

import json
import os
import signal
import socket
import subprocess
import time

import wire_chat
from agent import RealAgent
from judge import ASKS, FAILED, FINISHED, IDLE, RUNNING, Scenarios
from model import Model
from stage import GONE, PATIENCE, until

# How long its start may take, in seconds.
STARTING = 150

# The plugin tells everything.
NO_HOOK = set()

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "opencode"
CHOOSING = ()

# A neighbour in the same folder: it writes down what plugins are given, as it comes.
RECORD = """
import fs from "node:fs"
const record = (value) => {
  const name = process.hrtime.bigint().toString().padStart(20, "0")
  fs.writeFileSync(`FOLDER/.${name}`, JSON.stringify(value))
  fs.renameSync(`FOLDER/.${name}`, `FOLDER/${name}.json`)
}
const TOLD = /^(session\\.(created|deleted|status|error|drain)|permission|question)/
export const Record = async () => ({
  event: async ({ event }) => {
    const { type, properties } = event
    if (TOLD.test(type)) record({ ...event, ...(properties.status?.type && { status: properties.status.type }) })
  },
  "chat.message": async ({ sessionID }) => record({ type: "chat.message", sessionID }),
  "tool.execute.before": async ({ tool, sessionID }) => record({ type: "tool.execute.before", tool, sessionID }),
  "tool.execute.after": async ({ tool, sessionID }) => record({ type: "tool.execute.after", tool, sessionID }),
})
"""


def _bash(command):
    return [("bash", {"command": command, "description": "Work"})]


def _task(prompt, **more):
    return [("task", {"description": "Look around", "prompt": prompt, "subagent_type": "general", **more})]


def _question():
    options = [{"label": "Red", "description": "Like a rose"}, {"label": "Blue", "description": "Like the sky"}]
    return [("question", {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]})]


# Scene: the tools that the reply calls, for a gate. `wait-for` is allowed by the settings, `ask-first` is not.
SCENES = {
    "plain": lambda gate: [],
    "run": lambda gate: _bash(f"./wait-for {gate}"),
    "fail": lambda gate: _bash("./wait-for fail"),
    "permission": lambda gate: _bash(f"./ask-first {gate}"),
    "question": lambda gate: _question(),
    "subagent": lambda gate: _task(f"play run {gate}"),
    "asker": lambda gate: _task(f"play permission {gate}"),
    "helper": lambda gate: _task(f"play run {gate}", background=True),
}


class Agent(RealAgent):
    """Its configuration is where the user has it."""

    ID = "opencode"
    EVENT_KEY = "type"
    READY = r"ctrl\+p commands"
    SCENES = SCENES
    # What the forks' folders, files and variables begin with.
    NAME = "opencode"
    PACKAGE = "@opencode-ai/plugin"

    def __init__(self, stage, program, folder, _variant):
        super().__init__(stage, Model(wire_chat.Handler, self.SCENES), program, folder)
        self.config = self.home / ".config" / self.NAME
        self.plugin = self.config / "plugins" / "vigil.js"
        self.plugin.parent.mkdir(parents=True)
        model = {"name": "Mock", "tool_call": True, "limit": {"context": 128000, "output": 8000}}
        options = {"baseURL": f"{self.model.url}/v1", "apiKey": "dummy"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": options,
                    "models": {"mock-model": model}}
        settings = {
            "autoupdate": False, "share": "disabled", "model": "mock/mock-model", "small_model": "mock/mock-model",
            "permission": {"bash": {"*": "ask", "./wait-for*": "allow"}}, "provider": {"mock": provider},
        }
        (self.config / f"{self.NAME}.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
        record = RECORD.replace("FOLDER", str(self.payloads))
        (self.plugin.parent / "record.js").write_text(record, encoding="utf-8")
        switches = ("DISABLE_AUTOUPDATE", "DISABLE_MODELS_FETCH", "DISABLE_LSP_DOWNLOAD", "DISABLE_DEFAULT_PLUGINS",
                    "EXPERIMENTAL_BACKGROUND_SUBAGENTS")
        self.environment |= {f"{self.NAME.upper()}_{switch}": "1" for switch in switches}
        # As after a first start with a network: the package that it installs for plugins is there, as far as it looks.
        package = {"dependencies": {self.PACKAGE: "*"}}
        (self.config / "node_modules").mkdir()
        (self.config / "package.json").write_text(json.dumps(package), encoding="utf-8")
        lock = json.dumps({"lockfileVersion": 3, "packages": {"": package}})
        (self.config / "package-lock.json").write_text(lock, encoding="utf-8")
        # And whatever else it would install stays on this machine.
        self.environment["npm_config_registry"] = "http://127.0.0.1:9/"

    def start(self, *words, terminal=None):
        """Starts it in a terminal: ten seconds of a processor, of which a machine that builds makes a minute."""
        terminal = terminal or self.terminal()
        terminal.run(self.program, *words)
        terminal.sees(self.READY, STARTING)
        return terminal

    def run(self, prompt, *words):
        """One prompt without a terminal."""
        return self.print("run", *words, prompt)

    def serve(self):
        """A server of it; returns its process and where it listens."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = self.print("serve", "--port", str(port))

        def listens():
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", port)) == 0

        until("the server", listens)
        return process, f"http://127.0.0.1:{port}"


SCENARIOS = Scenarios()


def plain_turn(judge, terminal, step="next turn", want=FINISHED, via=(RUNNING,), **more):
    """A prompt and its answer, as users go on after what a scenario is about."""
    idles = judge.count("session.status", status="idle")
    terminal.type("hello")
    judge.was_given("session.status", idles + 1, status="idle")
    judge(step, want, *via, message="All done.", **more)


def asked(terminal):
    """Waits for a permission dialog."""
    terminal.sees("Permission required")


def interrupt(terminal):
    """Esc has to be confirmed by another one."""
    terminal.key("Escape")
    terminal.sees("again to interrupt")
    terminal.key("Escape")


def session_of(judge):
    return judge.row["sessions"][0]["id"] if judge.row else None


# ---- turns -----------------------------------------------------------------


@SCENARIOS("plain turn")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    agent.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(judge, terminal)


@SCENARIOS("tool")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("tool.execute.before")
    judge("in the tool", RUNNING)
    until("the tool's name", lambda: judge.look() and judge.row["tool"] == "bash", 5)
    agent.open("go")
    judge("answered", FINISHED, message="All done.")
    idles = judge.count("session.status", status="idle")
    terminal.type("play fail")
    judge.was_given("session.status", idles + 1, status="idle")
    judge("after a tool that failed", FINISHED, RUNNING)


@SCENARIOS("run")
def _(agent, judge):
    process = agent.run("play hang go")
    judge("prompt", RUNNING, IDLE)
    agent.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)
    # Nobody can be asked: the request is refused by itself.
    process = agent.run("play permission go")
    process.communicate(timeout=PATIENCE)
    judge("permission, ended", GONE, IDLE, RUNNING, ASKS, FINISHED)


@SCENARIOS("own shell command")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.key("!")
    time.sleep(0.5)
    terminal.type("echo hi there")
    judge.was_given("session.status", status="idle")
    judge("ended", IDLE)
    # The screen of the session takes the place of the first one, and what is typed meanwhile is lost.
    terminal.sees("▣")
    time.sleep(1)
    plain_turn(judge, terminal)


@SCENARIOS("prompt while it works")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play run one")
    judge.was_given("tool.execute.before")
    judge("in the tool", RUNNING)
    terminal.type("play run two")
    judge("still in the tool", RUNNING)
    agent.open("one")
    judge.was_given("tool.execute.before", 2)
    judge("in the next tool", RUNNING)
    agent.open("two")
    judge("answered", FINISHED)


# ---- questions -------------------------------------------------------------


@SCENARIOS("permission granted")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    asked(terminal)
    judge("asked", ASKS, RUNNING, message="Permission for bash")
    terminal.key("Enter")
    judge("granted", RUNNING)
    agent.open("go")
    judge("answered", FINISHED, message="All done.")


@SCENARIOS("permission refused")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    asked(terminal)
    judge("asked", ASKS, RUNNING)
    refuse(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(judge, terminal)


def refuse(terminal):
    """Chooses Reject, and gives no reason."""
    for key in ("Right", "Right", "Enter"):
        terminal.key(key)
        time.sleep(0.4)
    if "Reject permission" in terminal.screen():
        terminal.key("Enter")


@SCENARIOS("question answered")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play question")
    terminal.sees("Like a rose")
    judge("asked", ASKS, RUNNING, message="Which colour?")
    terminal.key("Enter")
    judge("answered", FINISHED, RUNNING)


@SCENARIOS("question dismissed")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play question")
    terminal.sees("Like a rose")
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    judge("dismissed", IDLE, RUNNING)
    plain_turn(judge, terminal)


# ---- work beside the turn --------------------------------------------------


@SCENARIOS("subagent, in the foreground")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play subagent go")
    judge("at work", "running none 1 0 0", RUNNING)
    agent.open("go")
    judge("ended", FINISHED, RUNNING)


@SCENARIOS("subagent, in the background")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play helper go")
    judge("the turn is over", "idle finished 1 0 0", RUNNING, "running none 1 0 0")
    agent.open("go")
    # The turn's, the subagent's, and that of the turn in which the agent takes up what it reports.
    judge.was_given("session.status", 3, status="idle")
    judge("it has reported", FINISHED, "running finished 0 0 0", "running finished 1 0 0")


@SCENARIOS("subagent's permission")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play asker go")
    asked(terminal)
    judge("asked", "needs-input needs-input 1 0 1", RUNNING, "running none 1 0 0")
    terminal.key("Enter")
    judge("granted", "running none 1 0 0")
    agent.open("go")
    judge("ended", FINISHED, RUNNING)


# ---- interrupts and errors -------------------------------------------------


@SCENARIOS("Esc before the first word")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play mute go")
    judge("prompt", RUNNING)
    interrupt(terminal)
    judge("Esc", IDLE)
    plain_turn(judge, terminal)


@SCENARIOS("Esc in generation")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    terminal.sees("All done")
    judge("prompt", RUNNING)
    interrupt(terminal)
    judge("Esc", IDLE)
    plain_turn(judge, terminal)


@SCENARIOS("Esc in a tool")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("tool.execute.before")
    judge("in the tool", RUNNING)
    interrupt(terminal)
    judge("Esc", IDLE)
    plain_turn(judge, terminal)


@SCENARIOS("server error")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("session.status", 2, status="retry")
    judge("it tries again", RUNNING)
    interrupt(terminal)
    judge("Esc", IDLE)
    plain_turn(judge, terminal)


@SCENARIOS("login error")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play error 401")
    judge.was_given("session.error")
    judge("at once", FAILED, RUNNING, message="mock 401")
    plain_turn(judge, terminal)


# ---- sessions --------------------------------------------------------------


@SCENARIOS("new session")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    plain_turn(judge, terminal, "turn")
    row, before = judge.row["id"], session_of(judge)
    terminal.type("/new")
    time.sleep(1)
    plain_turn(judge, terminal, "turn of the new one", via=(IDLE, RUNNING))
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", session_of(judge) != before, "the same")


@SCENARIOS("resume")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    plain_turn(judge, terminal, "turn")
    session = session_of(judge)
    leave(terminal)
    judge("left", GONE)
    agent.start("--session", session, terminal=terminal)
    judge("resumed", IDLE)
    plain_turn(judge, terminal)
    judge.holds("same session", session_of(judge) == session, f"{session_of(judge)} after {session}")


def leave(terminal):
    """Types the command that ends it; the list of commands takes the first Enter."""
    terminal.type("/exit")


@SCENARIOS("two terminals")
def _(agent, judge):
    first = agent.start()
    second = agent.start()
    first.type("play hang one")
    second.type("play permission two")
    asked(second)
    both(agent, judge, "one works, one asks", {RUNNING, ASKS})
    agent.open("one")
    both(agent, judge, "one is done, one asks", {FINISHED, ASKS})
    leave(first)
    judge("the first has left", ASKS, FINISHED, RUNNING, IDLE)
    second.key("Enter")
    judge("granted", RUNNING)
    agent.open("two")
    judge("answered", FINISHED)


def both(agent, judge, step, want):
    """Two rows are there, with these states."""
    states = set()

    def holds():
        states.clear()
        states.update(judge_states(agent))
        return states == want

    try:
        until(step, holds)
    finally:
        judge.holds(step, states == want, f"{sorted(states)}")


def judge_states(agent):
    keys = ("status", "attention", "subagents", "background", "questions")
    return [" ".join(str(row[key]) for key in keys) for row in agent.stage.rows(agent.project)]


@SCENARIOS("server")
def _(agent, judge):
    server, url = agent.serve()
    judge("a server has no row", GONE)
    first = agent.run("play hang one", "--attach", url)
    judge("first at work", RUNNING, IDLE)
    second = agent.run("play hang two", "--attach", url)
    until("both at work", lambda: judge_states(agent) == [RUNNING, RUNNING])
    agent.open("one")
    first.communicate(timeout=PATIENCE)
    both(agent, judge, "first is done, second works", {FINISHED, RUNNING})
    server.kill()
    # What both rows were is between; the one that was idle goes.
    judge("killed", FAILED, IDLE, RUNNING, FINISHED, GONE, message="Ended unexpectedly")
    second.kill()


@SCENARIOS("a plugin that comes and goes")
def _(agent, judge):
    judge.holds("complete", "complete" in agent.vigilctl("doctor", agent.ID, "--json"), "not complete")
    agent.disconnect()
    judge.holds("taken out", not agent.plugin.exists() and not (agent.config / ".npmrc").exists(), "it is there")
    terminal = agent.start()
    terminal.type("hello")
    judge.was_given("session.status", status="idle")
    judge("without it", GONE)
    agent.connect()
    leave(terminal)
    time.sleep(2)
    agent.start(terminal=terminal)
    judge("started anew", IDLE)
    agent.disconnect()
    plain_turn(judge, terminal, "taken out while it runs")


@SCENARIOS("no vigilctl")
def _(agent, judge):
    text = agent.plugin.read_text(encoding="utf-8")
    agent.plugin.write_text(text.replace("/bin/vigilctl", "/bin/gone"), encoding="utf-8")
    terminal = agent.start()
    terminal.type("play run go")
    judge.was_given("tool.execute.before")
    agent.open("go")
    judge.was_given("session.status", status="idle")
    judge("nothing is told", GONE)
    screen = terminal.screen()
    judge.holds("nothing is seen", not any(word in screen for word in ("vigilctl", "ENOENT", "rror")), screen)


# ---- ends ------------------------------------------------------------------


@SCENARIOS("exit")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    plain_turn(judge, terminal, "turn")
    leave(terminal)
    judge("ended", GONE)


@SCENARIOS("SIGTERM")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    os.kill(terminal.pid(), signal.SIGTERM)
    # It may say first that the turn is over, and that is no finish.
    judge("ended", GONE, IDLE)


@SCENARIOS("closed terminal")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.close()
    judge("from idle", GONE)
    terminal = agent.start()
    judge("started again", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.close()
    judge("from running", GONE)


@SCENARIOS("kill -9 from idle")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    plain_turn(judge, terminal, "turn")
    terminal.kill()
    judge("killed", GONE)


@SCENARIOS("kill -9 from running")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("tool.execute.before")
    judge("in the tool", RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
    agent.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)


@SCENARIOS("kill -9 from needs input")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    asked(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
