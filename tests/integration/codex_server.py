# SPDX-License-Identifier: GPL-3.0-or-later
"""Codex's server, as far as trust goes: lists the hooks of its home, and writes down which are trusted.

`$HOME/refuses` makes it refuse to write. What it is asked stands in `$HOME/asked`.
"""

import hashlib
import json
import os
import re
import sys

HOME = os.environ["HOME"]
FOLDER = os.environ.get("CODEX_HOME", f"{HOME}/.codex")
SETTINGS = f"{FOLDER}/config.toml"


def settings():
    try:
        with open(SETTINGS, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def hooks():
    with open(f"{FOLDER}/hooks.json", encoding="utf-8") as file:
        events = json.load(file)["hooks"]
    for event, groups in events.items():
        name = re.sub("(?<!^)([A-Z])", r"_\1", event).lower()
        for at, group in enumerate(groups):
            for place, hook in enumerate(group["hooks"]):
                one = {"async": False, "command": hook["command"], "timeout": hook["timeout"], "type": "command"}
                whole = json.dumps({"event_name": name, "hooks": [one]}, sort_keys=True, separators=(",", ":"))
                key = f"{FOLDER}/hooks.json:{name}:{at}:{place}"
                current = f"sha256:{hashlib.sha256(whole.encode()).hexdigest()}"
                trusted = f'[hooks.state."{key}"]\ntrusted_hash = "{current}"' in settings()
                yield {"key": key, "command": hook["command"], "currentHash": current,
                       "trustStatus": "trusted" if trusted else "untrusted"}


def answer(method, parameters):
    if method == "hooks/list":
        return {"data": [{"cwd": parameters["cwds"][0], "hooks": list(hooks())}]}
    if method == "config/batchWrite":
        [edit] = parameters["edits"]
        with open(SETTINGS, "a", encoding="utf-8") as file:
            for key, value in edit["value"].items():
                file.write(f'\n[hooks.state."{key}"]\ntrusted_hash = "{value["trusted_hash"]}"\n')
    return {}


for line in sys.stdin:
    message = json.loads(line)
    with open(f"{HOME}/asked", "a", encoding="utf-8") as asked:
        asked.write(message["method"] + "\n")
    print(json.dumps({"method": "some/notification", "params": {}}), flush=True)
    if "id" in message:
        if message["method"] == "config/batchWrite" and os.path.exists(f"{HOME}/refuses"):
            reply = {"error": {"code": -1, "message": "not today"}}
        else:
            reply = {"result": answer(message["method"], message["params"])}
        print(json.dumps({"id": message["id"], **reply}), flush=True)
