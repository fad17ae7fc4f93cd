# SPDX-License-Identifier: GPL-3.0-or-later
"""The running application on a bus and a display of its own, and terminals beside it; nothing of the user's is touched.

Everything that is waited for has a deadline, and everything that is started ends with the stage.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

# Nothing that is waited for takes longer, in seconds. Machines that build meanwhile are slow.
PATIENCE = 45

BUS = """<busconfig><type>session</type><listen>unix:dir={folder}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


class Trouble(Exception):
    """What was to be done could not be done; nothing is said of what is shown."""


def until(what, holds, patience=PATIENCE, pause=0.05, evidence=lambda: ""):
    """Waits until it holds, and returns what it says then."""
    end = time.monotonic() + patience
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise Trouble(f"{what} did not come about in {patience} s\n{evidence()}")
        time.sleep(pause)


# What is shown where there is no row.
GONE = "gone"


def shown(row):
    """A row in one line: status, attention, subagents, background tasks, questions."""
    return " ".join(str(row[key]) for key in ("status", "attention", "subagents", "background", "questions"))


class Stage:
    """Bus, display and application."""

    def __init__(self, folder, prefix):
        self.folder, self.prefix = folder, prefix
        self.processes = []
        self.environment = {}
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        (folder / "bus.conf").write_text(BUS.format(folder=folder))
        try:
            address = self._start(["dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork", "--nopidfile",
                                   "--print-address"])
            display = self._start(["Xvfb", "-displayfd", "1", "-screen", "0", "800x900x24", "-nolisten", "tcp",
                                   "-noreset"])
            self.environment = {
                "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "HOME": f"{folder}/home",
                "XDG_RUNTIME_DIR": str(runtime),
                "XDG_DATA_DIRS": f"{prefix}/share:/usr/local/share:/usr/share",
                "DBUS_SESSION_BUS_ADDRESS": address,
                "DISPLAY": f":{display}",
                "GDK_BACKEND": "x11",
                "GSK_RENDERER": "cairo",
                "GTK_A11Y": "none",
                "G_DEBUG": "fatal-criticals",
                "ADW_DISABLE_PORTAL": "1",
                "GSETTINGS_BACKEND": "memory",
                "LC_ALL": "C.UTF-8",
                "TERM": "xterm-256color",
            }
            (folder / "home").mkdir()
            self.log = folder / "vigil.log"
            with open(self.log, "w", encoding="utf-8") as log:
                self.app = subprocess.Popen([f"{prefix}/bin/vigil", "--gapplication-service"], env=self.environment,
                                            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            self.processes.append(self.app)
            until("the application", lambda: self.snapshot() is not None, evidence=self.said)
            # With a window, so that rows are made and painted.
            subprocess.run(["gapplication", "action", "dev.vigil.Vigil", "show"], env=self.environment, timeout=PATIENCE,
                           check=False)
            self.seen = {}
            watch = subprocess.Popen([f"{prefix}/bin/vigilctl", "watch", "--json"], env=self.environment, cwd=folder,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True)
            self.processes.append(watch)
            threading.Thread(target=self._watch, args=(watch.stdout,), daemon=True).start()
        except BaseException:
            self.close()
            raise

    def _watch(self, lines):
        """Keeps every state that a workspace's row passes through, whether or not anybody asks at that moment."""
        rows = {}
        next(lines)
        for line in lines:
            change = json.loads(line)
            if change.get("kind") == "row" and not change.get("removed"):
                rows[change["id"]] = change["workspace"]
                self.seen.setdefault(change["workspace"], []).append(shown(change))
            elif change["id"] in rows:
                self.seen[rows.pop(change["id"])].append(GONE)

    def _start(self, command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True, env=self.environment or None)
        self.processes.append(process)
        return process.stdout.readline().strip()

    def said(self):
        """The application's log."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def vigilctl(self, *words):
        return subprocess.run([f"{self.prefix}/bin/vigilctl", *words], env=self.environment, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def snapshot(self):
        """What `vigilctl status --json` says; None while nobody answers."""
        answer = self.vigilctl("status", "--json", "--details")
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def rows(self, workspace):
        """The rows of the workspace at that path."""
        if self.app.poll() is not None:
            raise Trouble(f"the application has ended with {self.app.returncode}:\n{self.said()}")
        snapshot = self.snapshot() or {"workspaces": []}
        return [row for found in snapshot["workspaces"] if found["path"] == str(workspace) for row in found["rows"]]

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


class Terminal:
    """A shell in a pane of a tmux server of its own, in which one program runs at a time."""

    def __init__(self, folder, environment, cwd):
        self.socket = folder / "tmux"
        self.environment, self.cwd = environment, cwd
        self.tmux("new-session", "-d", "-x", "140", "-y", "50", "-c", str(cwd), "exec sh")
        self.pane = int(self.tmux("list-panes", "-F", "#{pane_pid}"))

    def tmux(self, *words, check=True):
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        answer = subprocess.run(command, env=self.environment, cwd=self.cwd, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=PATIENCE, check=False)
        if check and answer.returncode != 0:
            raise Trouble(f"tmux {words[0]}: {answer.stderr.strip()}")
        return answer.stdout.strip("\n")

    def screen(self):
        return self.tmux("capture-pane", "-p", check=False)

    def sees(self, pattern, patience=PATIENCE):
        """Waits until the screen shows that."""
        return until(f"a screen with {pattern!r}", lambda: re.search(pattern, self.screen()), patience,
                     evidence=self.screen)

    def loses(self, pattern):
        """Waits until the screen no longer shows that."""
        until(f"a screen without {pattern!r}", lambda: not re.search(pattern, self.screen()), evidence=self.screen)

    def run(self, program, *words):
        self.tmux("send-keys", "-l", "clear; " + shlex.join([str(program), *words]))
        self.key("Enter")

    def key(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        """Types a line, and enters it once the screen has it."""
        self.tmux("send-keys", "-l", text)
        self.sees(re.escape(text[-60:]))
        time.sleep(0.3)
        self.key("Enter")

    def pid(self):
        """The process that runs in it."""
        children = Path(f"/proc/{self.pane}/task/{self.pane}/children").read_text(encoding="ascii").split()
        return int(children[0]) if children else None

    def kill(self):
        os.kill(self.pid(), signal.SIGKILL)

    def close(self):
        """Takes the terminal away."""
        self.tmux("kill-server", check=False)
