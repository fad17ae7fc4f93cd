# SPDX-License-Identifier: GPL-3.0-or-later
"""Kilo Code, a fork of OpenCode: what it shares with it, and what it has besides."""

import json
import time

import opencode
from judge import ASKS, FINISHED, IDLE, RUNNING, Scenarios
from opencode import NO_HOOK  # noqa: F401 - what `run.py` asks a module for
from stage import until

# The recorded sessions, and the fields of theirs that choose a meaning.
CAPTURES = "kilo"
CHOOSING = ()

SCENES = {
    **opencode.SCENES,
    "background": lambda gate: [("background_process", {
        "action": "start", "command": f"./wait-for {gate}", "description": "Work"})],
}


class Agent(opencode.Agent):
    """Its configuration is where the user has it."""

    ID = "kilo"
    NAME = "kilo"
    PACKAGE = "@kilocode/plugin"
    SCENES = SCENES

    def __init__(self, stage, program, folder, variant):
        super().__init__(stage, program, folder, variant)
        switches = ("DISABLE_SESSION_INGEST", "DISABLE_PRESENCE", "DISABLE_CODEBASE_INDEXING")
        self.environment |= {f"KILO_{switch}": "1" for switch in switches} | {"KILO_TELEMETRY_LEVEL": "off"}

    def unplug(self):
        """Points it to where nothing listens. Before it starts."""
        path = self.config / "kilo.json"
        settings = json.loads(path.read_text(encoding="utf-8"))
        settings["provider"]["mock"]["options"]["baseURL"] = "http://127.0.0.1:9/v1"
        path.write_text(json.dumps(settings), encoding="utf-8")


SCENARIOS = Scenarios(opencode.SCENARIOS)


@SCENARIOS("background process")
def _(agent, judge):
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("play background go")
    judge("the turn is over", "idle finished 0 1 0", RUNNING, "running none 0 1 0")
    agent.open("go")
    judge("it has ended", FINISHED)


@SCENARIOS("no network")
def _(agent, judge):
    agent.unplug()
    terminal = agent.start()
    judge("started", IDLE)
    terminal.type("hello")
    until("it waits", lambda: judge.count("session.status", status="offline"))
    judge("it waits for the network", ASKS, RUNNING)
    time.sleep(0.5)
    terminal.key("Escape")
    time.sleep(0.5)
    terminal.key("Escape")
    judge("given up", IDLE)
