#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What our plugin costs an agent's start where there is no network.

`offline.py --prefix PREFIX AGENT PROGRAM`: one prompt without a terminal, from start to end, in a network namespace that
has only the loopback (made with `unshare` and `ip`): without a plugin, with what `vigilctl install` puts in, and with the
plugin alone. The first two alternate. Nothing passes or fails by time.
"""

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

# How often each of the first two is measured; the third takes over a minute, and is measured once.
TIMES = 3

# Whatever happens, in seconds.
PATIENCE = 200


def measure(agent):
    """One prompt, in seconds."""
    start = time.monotonic()
    process = agent.run("hello")
    said, _ = process.communicate(timeout=PATIENCE)
    if process.returncode != 0 or "All done." not in said:
        raise SystemExit(f"offline.py: the agent ended with {process.returncode}:\n{said}")
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=Path)
    parser.add_argument("agent", help="its id, and the module here that plays it")
    parser.add_argument("program", type=Path)
    options = parser.parse_args()
    if not os.environ.get("VIGIL_OFFLINE"):
        os.environ["VIGIL_OFFLINE"] = "1"
        inside = 'ip link set lo up && exec "$@"'
        os.execvp("unshare", ["unshare", "-rn", "sh", "-c", inside, "sh", sys.executable, "-B", *sys.argv])
    module = importlib.import_module(options.agent)
    with tempfile.TemporaryDirectory(prefix="vigil-offline-", ignore_cleanup_errors=True) as folder:
        folder = Path(folder)
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        stage = SimpleNamespace(environment=environment, prefix=options.prefix.resolve())
        agent = module.Agent(stage, options.program.absolute(), folder / "agent", 0)
        try:
            report(options, agent)
        finally:
            agent.close()


def report(options, agent):
    # Its packages come from where they come from, and none is there.
    del agent.environment["npm_config_registry"]
    (agent.config / "node_modules").rmdir()
    for name in ("package.json", "package-lock.json"):
        (agent.config / name).unlink()
    (agent.plugin.parent / "record.js").unlink()
    measure(agent)
    without, ours = [], []
    for _ in range(TIMES):
        without.append(measure(agent))
        agent.connect()
        ours.append(measure(agent))
        agent.disconnect()
    agent.connect()
    (agent.config / ".npmrc").unlink()
    alone = measure(agent)
    base = statistics.median(without)
    print(f"{options.agent}, one prompt without a network, seconds ({TIMES} of each, median; the last once):")
    for what, seconds in (("no plugin", base), ("as installed", statistics.median(ours)), ("plugin alone", alone)):
        print(f"  {what:16}  {seconds:5.1f}  {seconds / base:5.2f} times")
    print(f"  of: {' '.join(f'{one:.1f}' for one in without)} / {' '.join(f'{one:.1f}' for one in ours)}")


if __name__ == "__main__":
    main()
