# SPDX-License-Identifier: GPL-3.0-or-later
"""A model that says what it is told to: the streaming Messages API on 127.0.0.1, as far as Claude Code uses it.

The newest `play SCENE [GATE]` in the user's words decides what a reply holds; once a tool has answered, the reply is
plain text. What waits, waits for a gate: a file in the project's folder, which the driver makes (see `wait-for`). It
never leaves the loopback, and nothing in it lasts longer than PATIENCE.
"""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The longest that a reply is held back, in seconds.
PATIENCE = 90

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}

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

PROMPT = re.compile(rf"\bplay (error \d+|hang|{'|'.join(SCENES)})\b(?: ([a-z0-9-]+))?")


class Model:
    """The server, on a port of its own. `requests` are those that had tools, in order."""

    def __init__(self):
        self.requests = []
        self.released = set()
        self.changed = threading.Condition()
        handler = type("Handler", (_Handler,), {"model": self})
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


def scene_of(messages):
    """The scene that the conversation is at, its gate, and whether a tool has answered since."""
    scene, gate, answered = "plain", "", False
    for message in messages:
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            if block.get("type") == "tool_result":
                answered = True
            # A prompt that came while it worked stands in a message of the system.
            if message.get("role") != "assistant" and block.get("type") == "text":
                found = None
                for found in PROMPT.finditer(block["text"]):
                    scene, gate, answered = found[1], found[2] or "", False
                own = re.sub(r"<system-reminder>.*?</system-reminder>", "", block["text"], flags=re.DOTALL)
                if not found and message["role"] == "user" and own.strip():
                    scene = "plain"
    return scene, gate, answered


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    model = None

    def log_message(self, *_):
        pass

    def answer(self, code, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(code)
        for name, text in [("content-type", "application/json"), ("content-length", str(len(body))), *headers]:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.answer(200, {})

    def do_GET(self):
        self.answer(200, {"data": [], "has_more": False})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        request = json.loads(self.rfile.read(length) or b"{}")
        if "count_tokens" in self.path:
            return self.answer(200, {"input_tokens": 10})
        if not self.path.startswith("/v1/messages"):
            return self.answer(200, {})
        scene, gate, answered = scene_of(request.get("messages", []))
        tools = {tool.get("name") for tool in request.get("tools", [])}
        if not tools and not scene.startswith("error"):
            # The agent's own small requests: a title, a summary.
            scene = "plain"
        if tools:
            self.model.requests.append((scene, gate, answered))
        if scene.startswith("error") and not answered:
            code = int(scene.split()[1])
            error = {"type": ERRORS.get(code, "api_error"), "message": f"mock {code}"}
            return self.answer(code, {"type": "error", "error": error}, [("x-should-retry", "false")])
        calls = [] if answered else SCENES.get(scene, SCENES["plain"])(gate)
        # Older programs call it by another name.
        calls = [("Task" if name == "Agent" and "Agent" not in tools else name, value) for name, value in calls]
        try:
            self.stream(request.get("model"), calls, gate if scene == "hang" and not answered else None)
        except OSError:
            # The agent hung up: an interrupt.
            pass
        self.close_connection = True

    def event(self, name, **value):
        self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n".encode())
        self.wfile.flush()

    def stream(self, model, calls, gate):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"msg_{time.time_ns()}", "type": "message", "role": "assistant", "model": model}
        rest = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        self.event("message_start", message={**message, **rest})
        self.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        text = "Working." if calls else "All done."
        self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        if gate is not None:
            self.hold(gate)
        self.event("content_block_stop", index=0)
        for index, (name, value) in enumerate(calls, 1):
            call = {"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": name, "input": {}}
            self.event("content_block_start", index=index, content_block=call)
            part = {"type": "input_json_delta", "partial_json": json.dumps(value)}
            self.event("content_block_delta", index=index, delta=part)
            self.event("content_block_stop", index=index)
        reason = "tool_use" if calls else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        self.event("message_delta", delta=delta, usage={"output_tokens": 12})
        self.event("message_stop")

    def hold(self, gate):
        """Keeps the reply open until the driver lets it go, the agent hangs up, or patience ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with self.model.changed:
                if self.model.changed.wait_for(lambda: gate in self.model.released, timeout=0.5):
                    return
            self.event("ping")
