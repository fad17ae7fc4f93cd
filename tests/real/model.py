# SPDX-License-Identifier: GPL-3.0-or-later
"""A model that says what it is told to, on 127.0.0.1. How it says it is a wire's: see `wire_*.py`.

The newest `play SCENE [GATE]` in the user's words decides what a reply holds; once a tool has answered, the reply is
plain text. `error CODE` refuses (with a gate, until it is open), `hang GATE` stops in the middle of its words, `mute GATE` before the first. What waits,
waits for a gate: a file in the project's folder, which the driver makes (see `wait-for`). It never leaves the loopback,
and nothing in it lasts longer than PATIENCE.
"""

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The longest that a reply is held back, in seconds.
PATIENCE = 90


class Model:
    """The server, on a port of its own. `scenes` are the agent's: scene to the tools that the reply calls, for a gate,
    as pairs of name and arguments. `requests` are those that had tools, in order."""

    def __init__(self, handler, scenes):
        self.scenes = scenes
        self.prompt = re.compile(rf"\bplay (error \d+|hang|mute|{'|'.join(scenes)})\b(?: ([a-z0-9-]+))?")
        self.requests = []
        self.released = set()
        self.changed = threading.Condition()
        handler = type("Handler", (handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def release(self, gate):
        """Lets a `hang GATE` end."""
        with self.changed:
            self.released.add(gate)
            self.changed.notify_all()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def scene(self, pieces):
        """The scene that the conversation is at, its gate, and whether a tool has answered since.

        A piece is `("tool", "")` for an answer of a tool, `("user", words)` for a prompt, `("system", words)` for what
        may hold a prompt that came while the agent worked.
        """
        scene, gate, answered = "plain", "", False
        for role, words in pieces:
            if role == "tool":
                answered = True
                continue
            found = None
            for found in self.prompt.finditer(words):
                scene, gate, answered = found[1], found[2] or "", False
            own = re.sub(r"<system-reminder>.*?</system-reminder>", "", words, flags=re.DOTALL)
            if not found and role == "user" and own.strip():
                scene = "plain"
        return scene, gate, answered


class Wire(BaseHTTPRequestHandler):
    """What the wires share."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    model = None

    def log_message(self, *_):
        pass

    def hold(self, gate, ping):
        """Keeps the reply open until the driver lets it go, the agent hangs up, or patience ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with self.model.changed:
                if self.model.changed.wait_for(lambda: gate in self.model.released, timeout=0.5):
                    return
            ping()
