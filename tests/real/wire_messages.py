# SPDX-License-Identifier: GPL-3.0-or-later
"""The streaming Messages API, as far as Claude Code uses it."""

import json
import time

from model import Wire

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def pieces_of(messages):
    """What the conversation is made of, for `Model.scene`."""
    for message in messages:
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            if block.get("type") == "tool_result":
                yield "tool", ""
            # A prompt that came while it worked stands in a message of the system.
            if message.get("role") != "assistant" and block.get("type") == "text":
                yield ("user" if message["role"] == "user" else "system"), block["text"]


class Handler(Wire):
    """Answers as the API does."""

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
        scene, gate, answered = self.model.scene(pieces_of(request.get("messages", [])))
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
        calls = [] if answered else self.model.scenes.get(scene, lambda gate: [])(gate)
        # Older programs call it by another name.
        calls = [("Task" if name == "Agent" and "Agent" not in tools else name, value) for name, value in calls]
        waits = scene if scene in ("hang", "mute") and not answered else None
        try:
            self.stream(request.get("model"), calls, waits, gate)
        except OSError:
            # The agent hung up: an interrupt.
            pass
        self.close_connection = True

    def event(self, name, **value):
        self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n".encode())
        self.wfile.flush()

    def stream(self, model, calls, waits, gate):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"msg_{time.time_ns()}", "type": "message", "role": "assistant", "model": model}
        rest = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        self.event("message_start", message={**message, **rest})
        if waits == "mute":
            self.hold(gate, lambda: self.event("ping"))
        self.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        text = "Working." if calls else "All done."
        self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        if waits == "hang":
            self.hold(gate, lambda: self.event("ping"))
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
