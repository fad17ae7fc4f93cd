# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a capture through the real plugin, as Hermes would, and prints what it hands to `vigilctl`: one line of JSON
`{line, at, event, payload}` for each.

`host.py PLUGIN CAPTURE`. Each hook is called on a thread of the name that it was called on. A process that was left in
the background is a real one here, and ends when Hermes says that it has.
"""

import importlib.util
import json
import subprocess
import sys
import threading

PLUGIN, CAPTURE = sys.argv[1:]
ENDED = "[IMPORTANT: Background process"

handed = threading.Condition()
now = {"line": 0, "at": 0}
told = []


class Popen:
    """Stands for a `vigilctl`."""

    def __init__(self, words, **_):
        assert words[:3] == ["@VIGILCTL@", "hook", "hermes"], words
        self.name = words[3]

    def communicate(self, payload, timeout):
        assert timeout > 0
        with handed:
            print(json.dumps({**now, "event": self.name, "payload": json.loads(payload)}))
            told.append(self.name)
            handed.notify_all()


class Context:
    """What a plugin is given."""

    def __init__(self):
        self.hooks = {}

    def register_hook(self, name, callback):
        self.hooks[name] = callback


def load():
    """A process with the plugin in it. Returns its hooks, and what lets the plugin say all that waits."""
    spec = importlib.util.spec_from_file_location("vigil_plugin", PLUGIN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    fake = type("subprocess", (), {**vars(subprocess), "Popen": Popen})
    module.subprocess = fake
    outboxes = []
    module.Outbox = type("Outbox", (module.Outbox,), {
        "__init__": lambda self: (super(module.Outbox, self).__init__(), outboxes.append(self))[0],
    })
    context = Context()
    module.register(context)
    return context.hooks, lambda: [outbox.flush() for outbox in outboxes]


def call(name, hooks, flush, facts, thread):
    def run():
        answer = hooks[name](**facts)
        assert answer is None, f"{name} answers"
    caller = threading.Thread(target=run, name=thread)
    caller.start()
    caller.join()
    flush()


def main():
    hooks, flush = load()
    left = None
    with open(CAPTURE, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = json.loads(line)
            with handed:
                now.update(line=number, at=line["t_ms"])
            name, facts = line["event"], line["payload"]
            if name == "plugin.load":
                hooks, flush = load()
            thread = facts.pop("_thread", "MainThread")
            if name == "post_tool_call" and facts["args"].get("background") is True:
                left = subprocess.Popen(["sleep", "60"])
                facts["result"] = json.dumps({**json.loads(facts["result"]), "pid": left.pid})
            if name == "pre_llm_call" and facts["user_message"].startswith(ENDED):
                left.kill()
                left.wait()
                with handed:
                    assert handed.wait_for(lambda: "background-stop" in told, 10), "its end is not told"
            if name in hooks:
                call(name, hooks, flush, facts, thread)


main()
