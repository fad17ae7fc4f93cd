# SPDX-License-Identifier: GPL-3.0-or-later
"""A real agent's program, in a home and a project of its own."""

import json
import subprocess

from stage import PATIENCE, Terminal, Trouble

# Waits for a gate, a file of that name in the project's folder; `fail` fails.
GATE = """#!/bin/sh
[ "$1" = fail ] && exit 3
end=$(($(date +%s) + 90))
until [ -e "gates/$1" ]; do
  [ "$(date +%s)" -lt "$end" ] || exit 4
  sleep 0.1
done
echo "$1 is open"
"""



class RealAgent:
    """One home and one project with it; sessions come and go in its terminals.

    A kind of agent says with what settings it begins and how it is started; `model` is what it talks to.
    """

    # The agent's id.
    ID = ""
    # The key that names the event in what its hooks are given.
    EVENT_KEY = "hook_event_name"
    # What the screen shows once it takes a prompt.
    READY = r"(?m)^\W*[❯>]\s"

    def __init__(self, stage, model, program, folder):
        self.stage, self.model, self.program = stage, model, program
        self.home, self.project, self.payloads = folder / "home", folder / "project", folder / "payloads"
        for made in (self.home, self.project / "gates", self.payloads):
            made.mkdir(parents=True)
        self.environment = {
            **stage.environment,
            # As the user has it: its version is asked for.
            "PATH": f"{program.parent}:{stage.environment['PATH']}",
            "HOME": str(self.home),
            "SHELL": "/bin/sh",
            # A proxy of the tester's is not asked for what is on this machine.
            "NO_PROXY": "127.0.0.1",
        }
        for name in ("wait-for", "ask-first"):
            (self.project / name).write_text(GATE, encoding="ascii")
            (self.project / name).chmod(0o755)
        self.terminals, self.processes = [], []

    def connect(self):
        """Puts our hooks in, as the user does. Named, since no build folder's program is taken by itself."""
        self.vigilctl("install", self.ID, "--program", f"{self.stage.prefix}/bin/vigilctl")

    def disconnect(self):
        """Takes them out again."""
        self.vigilctl("uninstall", self.ID)

    def vigilctl(self, *words):
        """Runs it where the agent runs, and returns what it says."""
        command = [f"{self.stage.prefix}/bin/vigilctl", *words]
        answer = subprocess.run(command, env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=PATIENCE, check=False)
        if answer.returncode != 0:
            raise Trouble(f"vigilctl {' '.join(words)}: {answer.stderr.strip()}")
        return answer.stdout

    def open(self, gate):
        """Lets go what waits for it."""
        (self.project / "gates" / gate).touch()
        self.model.release(gate)

    def terminal(self):
        folder = self.home.parent / f"terminal-{len(self.terminals)}"
        folder.mkdir()
        terminal = Terminal(folder, self.environment, self.project)
        self.terminals.append(terminal)
        return terminal

    def start(self, *words, terminal=None):
        """Starts it in a terminal, and waits until it takes a prompt."""
        terminal = terminal or self.terminal()
        terminal.run(self.program, *words)
        terminal.sees(self.READY)
        return terminal

    def print(self, *words):
        """Starts it without a terminal, for one prompt."""
        process = subprocess.Popen([str(self.program), *words], env=self.environment, cwd=self.project,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        return process

    @staticmethod
    def happened(line):
        """A line of a recorded capture as `given` has it."""
        return line.get("payload", {})

    def given(self):
        """What its hooks were given so far, in order: what a neighbour of ours records in `payloads`."""
        found = []
        for path in sorted(self.payloads.glob("*.json")):
            try:
                found.append(json.loads(path.read_text(encoding="utf-8")))
            except ValueError:
                # Just being written.
                pass
        return found

    def close(self):
        """Ends all of its sessions."""
        for terminal in self.terminals:
            terminal.close()
        for process in self.processes:
            process.kill()
            process.wait(10)
        self.model.close()
