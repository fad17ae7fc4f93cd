# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what the running application shows of an agent.

What is right is known from what was typed and what the model was told to answer, never from what the agent says of
itself. Every state between two steps is judged as well.
"""

import time

from stage import GONE, PATIENCE, shown, until

IDLE = "idle none 0 0 0"
RUNNING = "running none 0 0 0"
FINISHED = "idle finished 0 0 0"
ASKS = "needs-input needs-input 0 0 1"
FAILED = "failed failed 0 0 0"

# How long what no hook tells may take to be shown, in seconds, on a machine that runs several agents meanwhile.
REVEALED_WITHIN = 1.5

# A state that is right must still be there after that long.
STEADY = 0.4


class Scenarios(dict):
    """What is played, by name: each takes the agent and its judge."""

    def __call__(self, name):
        def register(play):
            self[name] = play
            return play
        return register


class Judge:
    """Judges one scenario: called with each step, and what has to be shown then."""

    def __init__(self, stage, agent, scenario, generation, no_hook):
        self.stage, self.agent, self.scenario, self.generation = stage, agent, scenario, generation
        self.no_hook = no_hook
        self.lines = []
        # How long it took to show what no hook tells, in seconds.
        self.revealed = []
        self.row = None
        self.last = GONE
        self.passed = 0

    def look(self):
        rows = self.stage.rows(self.agent.project)
        if len(rows) > 1:
            return f"{len(rows)} rows"
        self.row = rows[0] if rows else None
        return shown(self.row) if self.row else GONE

    def __call__(self, step, want, *via, message=None, sessions=1, patience=PATIENCE):
        """What is shown comes to be `want`, by no other states than `via`, and stays."""
        no_hook = (self.scenario, step) in self.no_hook
        start = time.monotonic()
        while (now := self.look()) != want and time.monotonic() < start + (REVEALED_WITHIN if no_hook else patience):
            time.sleep(0.05 if no_hook else 0.1)
        if no_hook:
            self.revealed.append(time.monotonic() - start)
        if now == want:
            time.sleep(STEADY)
            now = self.look()
        verdict = "ok" if now == want else "WRONG"
        history = self.stage.seen.get(str(self.agent.project), [])
        between, self.passed = history[self.passed:], len(history)
        strays = [state for state in dict.fromkeys(between) if state not in {self.last, want, now, *via}]
        self.last = now
        more = []
        if strays:
            more.append("passed through " + ", ".join(strays))
        if self.row and verdict == "ok":
            if message is not None and self.row["message"] != message:
                more.append(f"message {self.row['message']!r} instead of {message!r}")
            if len(self.row["sessions"]) != sessions:
                more.append(f"{len(self.row['sessions'])} sessions instead of {sessions}")
        self.add(step, want, "; ".join([now, *more]), "WRONG" if more else verdict)

    def holds(self, step, truth, said):
        """Something beside the state."""
        self.add(step, "so", "so" if truth else said, "ok" if truth else "WRONG")

    def add(self, step, want, now, verdict):
        self.lines.append((f"{self.scenario}: {step}", self.generation, want, now, verdict))

    def was_given(self, event, count=1, patience=PATIENCE, **fields):
        """Waits until the agent's hooks were given that, so that what follows is not judged too early."""
        until(f"{event} {fields or ''}", lambda: self.count(event, **fields) >= count, patience)

    def count(self, event, **fields):
        """How often its hooks were given that."""
        fields[self.agent.EVENT_KEY] = event
        return sum(all(one.get(key) == fields[key] for key in fields) for one in self.agent.given())
