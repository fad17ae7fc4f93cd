# SPDX-License-Identifier: GPL-3.0-or-later
"""Claude Code, the real program, in a home and a project of its own."""

import json
import subprocess
from pathlib import Path

from stage import PATIENCE, Terminal, Trouble

# Never a real key.
KEY = "dummy-key-0123456789"

# Names that every supported version knows: what is recorded beside us. With others its window would stop and ask.
EVENTS = """SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionRequest
Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact SessionEnd Elicitation
ElicitationResult""".split()

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


def connect(agent):
    """Puts our hooks in, as the user does. Named, since no build folder's program is taken by itself."""
    agent.vigilctl("install", "claude", "--program", f"{agent.stage.prefix}/bin/vigilctl")


def disconnect(agent):
    """Takes them out again."""
    agent.vigilctl("uninstall", "claude")


class Claude:
    """One home and one project with it; sessions come and go in its terminals."""

    def __init__(self, stage, model, program, folder, elsewhere):
        self.stage, self.model, self.program = stage, model, program
        self.home, self.project, self.payloads = folder / "home", folder / "project", folder / "payloads"
        for made in (self.home, self.project / "gates", self.payloads):
            made.mkdir(parents=True)
        # The configuration is where the user has it: in the home, or where a variable says.
        config = folder / "config" if elsewhere else self.home / ".claude"
        config.mkdir()
        self.settings = config / "settings.json"
        self.environment = {
            **stage.environment,
            # As the user has it: its version is asked for.
            "PATH": f"{program.parent}:{stage.environment['PATH']}",
            "HOME": str(self.home),
            "SHELL": "/bin/sh",
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_BUG_COMMAND": "1",
            # A proxy of the tester's is not asked for what is on this machine.
            "NO_PROXY": "127.0.0.1",
            **({"CLAUDE_CONFIG_DIR": str(config)} if elsewhere else {}),
        }
        for name in ("wait-for", "ask-first"):
            (self.project / name).write_text(GATE, encoding="ascii")
            (self.project / name).chmod(0o755)
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
        self.terminals, self.processes = [], []
        self.before = self.settings.read_bytes()
        connect(self)

    def vigilctl(self, *words):
        """Runs it where the agent runs, and returns what it says."""
        command = [f"{self.stage.prefix}/bin/vigilctl", *words]
        answer = subprocess.run(command, env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=PATIENCE, check=False)
        if answer.returncode != 0:
            raise Trouble(f"vigilctl {' '.join(words)}: {answer.stderr.strip()}")
        return answer.stdout

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
        mode = () if "--permission-mode" in words else ("--permission-mode", "default")
        terminal.run(self.program, *mode, *words)
        terminal.sees(r"(?m)^\W*[❯>]\s")
        return terminal

    def print(self, prompt):
        """Starts it without a terminal, for one prompt."""
        command = [str(self.program), "-p", prompt, "--permission-mode", "default"]
        process = subprocess.Popen(command, env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        return process

    def given(self):
        """What its hooks were given so far, in order."""
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
