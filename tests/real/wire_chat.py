# SPDX-License-Identifier: GPL-3.0-or-later
"""The Chat Completions API, streaming or not, as far as agents of many makers use it."""

import json
import time

from model import Wire


def pieces_of(messages):
    """What the conversation is made of, for `Model.scene`."""
    for message in messages:
        content = message.get("content")
        if message.get("role") == "tool":
            yield "tool", ""
        elif message.get("role") == "user":
            parts = [{"text": content}] if isinstance(content, str) else content or []
            yield "user", "\n".join(part.get("text") or "" for part in parts)


class Handler(Wire):
    """Answers as the API does."""

    def answer(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        model = {"id": "mock-model", "object": "model", "context_length": 128000}
        self.answer(200, {"object": "list", "data": [model]})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        request = json.loads(self.rfile.read(length) or b"{}")
        scene, gate, answered = self.model.scene(pieces_of(request.get("messages", [])))
        tools = request.get("tools")
        if not tools and not scene.startswith("error"):
            # The agent's own small requests: a title, a summary.
            scene = "plain"
        if tools:
            self.model.requests.append((scene, gate, answered))
        if scene.startswith("error") and not answered and gate not in self.model.released:
            code = int(scene.split()[1])
            return self.answer(code, {"error": {"message": f"mock {code}", "type": "mock_error", "code": code}})
        calls = [] if answered else self.model.scenes.get(scene, lambda gate: [])(gate)
        calls = [
            {"index": index, "id": f"call_{time.time_ns()}{index}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(value)}}
            for index, (name, value) in enumerate(calls)
        ]
        base = {"id": "chatcmpl-mock", "created": int(time.time()), "model": request.get("model", "mock-model")}
        text = "Working." if calls else "All done."
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if not request.get("stream"):
            message = {"role": "assistant", "content": text}
            if calls:
                message["tool_calls"] = [{key: call[key] for key in ("id", "type", "function")} for call in calls]
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.answer(200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        waits = scene if scene in ("hang", "mute") and not answered else None
        try:
            self.stream(base, text, calls, reason, usage, waits, gate)
        except OSError:
            # The agent hung up: an interrupt.
            pass
        self.close_connection = True

    def ping(self):
        self.wfile.write(b": ping\n\n")
        self.wfile.flush()

    def stream(self, base, text, calls, reason, usage, waits, gate):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

        def chunk(delta, finish=None, **more):
            choices = [{"index": 0, "delta": delta, "finish_reason": finish}] if delta is not None else []
            value = {**base, "object": "chat.completion.chunk", "choices": choices, **more}
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
            self.wfile.flush()

        if waits == "mute":
            self.hold(gate, self.ping)
        chunk({"role": "assistant", "content": ""})
        chunk({"content": text})
        if waits == "hang":
            self.hold(gate, self.ping)
        if calls:
            chunk({"tool_calls": calls})
        chunk({}, reason)
        chunk(None, usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
