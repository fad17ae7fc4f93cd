# SPDX-License-Identifier: GPL-3.0-or-later
"""The streaming Responses API, as far as Codex uses it."""

import json
import time

from model import Wire


def pieces_of(items):
    """What the conversation is made of, for `Model.scene`."""
    for item in items:
        kind = item.get("type", "message")
        if kind.endswith("call_output"):
            yield "tool", ""
        elif kind in ("message", "agent_message") and item.get("role", "user") == "user":
            content = item.get("content")
            for part in [{"text": content}] if isinstance(content, str) else content or []:
                # What the agent itself puts before the first prompt is in tags.
                if part.get("text") and not part["text"].lstrip().startswith("<"):
                    yield "user", part["text"]


def tools_of(request):
    """Tools by name, with the namespace that each is in."""
    found = {}
    for tool in request.get("tools") or []:
        found[tool.get("name") or tool.get("type")] = None
        for inner in tool.get("tools") or []:
            found[inner.get("name")] = tool.get("name")
    return found


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
        self.answer(200, {"data": [], "models": []})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        request = json.loads(self.rfile.read(length) or b"{}")
        if not self.path.endswith("/responses"):
            return self.answer(404, {"error": {"message": "no such path"}})
        scene, gate, answered = self.model.scene(pieces_of(request.get("input") or []))
        tools = tools_of(request)
        if tools:
            self.model.requests.append((scene, gate, answered))
        else:
            # The agent's own small requests: a title.
            scene = "plain"
        if scene.startswith("error") and not answered:
            code = int(scene.split()[1])
            return self.answer(code, {"error": {"message": f"mock {code}", "type": "mock_error", "code": None}})
        calls = [] if answered else self.model.scenes.get(scene, lambda gate: [])(gate)
        waits = scene if scene in ("hang", "mute") and not answered else None
        try:
            self.stream(calls, tools, waits, gate)
        except OSError:
            # The agent hung up: an interrupt.
            pass
        self.close_connection = True

    def event(self, name, **value):
        self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n".encode())
        self.wfile.flush()

    def stream(self, calls, tools, waits, gate):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        response = {"id": f"resp_{time.time_ns()}"}

        def ping():
            self.event("response.in_progress", response=response)

        self.event("response.created", response=response)
        if waits == "mute":
            self.hold(gate, ping)
        message = {"type": "message", "role": "assistant", "id": f"msg_{time.time_ns()}"}
        if not calls:
            self.event("response.output_item.added", item={**message, "content": []})
            delta = {"item_id": message["id"], "output_index": 0, "content_index": 0}
            self.event("response.output_text.delta", **delta, delta="All done.")
            if waits == "hang":
                self.hold(gate, ping)
            text = [{"type": "output_text", "text": "All done."}]
            self.event("response.output_item.done", item={**message, "content": text})
        for name, arguments in calls:
            call = {"type": "function_call", "id": f"fc_{time.time_ns()}", "call_id": f"call_{time.time_ns()}",
                    "name": name, "arguments": json.dumps(arguments)}
            if tools.get(name):
                call["namespace"] = tools[name]
            self.event("response.output_item.done", item=call)
        usage = {"input_tokens": 10, "input_tokens_details": None, "output_tokens": 5, "output_tokens_details": None,
                 "total_tokens": 15}
        self.event("response.completed", response={**response, "usage": usage})
