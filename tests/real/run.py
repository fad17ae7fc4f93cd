#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a real agent through what its users do, and judges what the running application shows.

`run.py --prefix PREFIX [--only WORDS] AGENT PROGRAM...`: PREFIX holds the installed Vigil, AGENT is a module here, each
PROGRAM is one generation of it. KEEP=1 keeps the folder with all that was recorded.
"""

import argparse
import concurrent.futures
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from judge import Judge
from stage import PATIENCE, Stage, Trouble

# Everything together, in seconds.
ALTOGETHER = 1000


def play(module, name, stage, program, folder, version, variant):
    """One scenario, with a home, a project and a model of its own. Returns its judge, and evidence if a line is wrong."""
    folder.mkdir(parents=True)
    agent = module.Agent(stage, program, folder, variant)
    judge = Judge(stage, agent, name, version, module.NO_HOOK)
    start = time.monotonic()
    evidence = []
    try:
        agent.connect()
        module.SCENARIOS[name](agent, judge)
    except (Trouble, OSError, subprocess.SubprocessError) as trouble:
        judge.add("driver", "so", str(trouble).splitlines()[0], "WRONG")
        evidence.append(f"{trouble}")
    except Exception:
        judge.add("driver", "so", "broken", "WRONG")
        evidence.append(traceback.format_exc())
    try:
        if any(line[4] == "WRONG" for line in judge.lines):
            evidence += [terminal.screen() for terminal in agent.terminals]
            evidence += [json.dumps(payload)[:1500] for payload in agent.given()]
            evidence.append("shown: " + " · ".join(stage.seen.get(str(agent.project), [])))
        given = agent.given()
    finally:
        agent.close()
    return judge, evidence, given, time.monotonic() - start


def known_shapes(module):
    """Events and their fields, as the recorded captures have them."""
    shapes = set()
    for path in (Path(__file__).parents[1] / "agents" / module.CAPTURES).glob("**/*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            shapes |= shapes_of(module, module.Agent.happened(json.loads(line)))
    return shapes


def shapes_of(module, payload):
    """Which fields a payload has, those of listed things too, and the values of some that choose a meaning."""
    event = payload.get(module.Agent.EVENT_KEY)
    shapes = {(event, key) for key in payload}
    for key in module.CHOOSING:
        if isinstance(payload.get(key), str):
            shapes.add((event, f"{key}={payload[key]}"))
    for key, value in payload.items():
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict):
                shapes |= {(event, f"{key}.{part}") for part in item}
                shapes.add((event, f"{key}.type={item.get('type')}"))
    return shapes


def version_of(program, environment):
    answer = subprocess.run([program, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=PATIENCE, check=False)
    found = re.search(r"\d+\.\d+\.\d+", answer.stdout or answer.stderr)
    if not found:
        raise Trouble(f"{program} --version says {answer.stdout!r} {answer.stderr!r}")
    return found[0]


def table(lines):
    """Aligned columns."""
    head = ("scenario", "generation", "expected", "shown", "")
    widths = [max(len(row[column]) for row in [head, *lines]) for column in range(3)]
    widths.append(max(len(row[3]) for row in [head, *lines] if len(row[3]) < 60))
    for row in [head, *lines]:
        print("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0], strict=True)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, type=Path)
    parser.add_argument("--only", help="scenarios with that in their names")
    parser.add_argument("--at-once", type=int, default=4, help="how many scenarios run side by side")
    parser.add_argument("agent", help="its id, and the module here that plays it")
    parser.add_argument("programs", nargs="+", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    module = importlib.import_module(options.agent)
    folder = Path(tempfile.mkdtemp(prefix="vigil-agents-"))
    pool = concurrent.futures.ThreadPoolExecutor(options.at_once)
    stage = None
    status = 1
    try:
        stage = Stage(folder, options.prefix.resolve())
        status = play_all(options, module, stage, pool)
    except (Trouble, TimeoutError) as trouble:
        print(f"Given up: {trouble or 'it took too long'}\n0 passed, 1 failed")
    finally:
        # Whatever ended it, nothing of it lives on: threads that wait would keep the process.
        pool.shutdown(wait=False, cancel_futures=True)
        for socket in folder.glob("*/terminal-*/tmux"):
            subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, timeout=PATIENCE, check=False)
        if stage:
            stage.close()
        if os.environ.get("KEEP"):
            print(f"kept: {folder}", file=sys.stderr)
        else:
            # An agent that has just been ended may still write its last words.
            end = time.monotonic() + 5
            while folder.exists() and time.monotonic() < end:
                shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    os._exit(status)


def play_all(options, module, stage, pool):
    """Every scenario with every generation; the exit status."""
    start = time.monotonic()
    versions = {program: version_of(program, stage.environment) for program in options.programs}
    names = [name for name in module.SCENARIOS if not options.only or options.only in name]
    runs, results, revealed = {}, {}, []
    for number, (name, program) in enumerate((name, program) for name in names for program in versions):
        version = versions[program]
        variant = options.programs.index(program)
        runs[name, version] = pool.submit(play, module, name, stage, program.absolute(), stage.folder / f"{number:02}",
                                          version, variant)
    for (name, version), run in runs.items():
        judge, evidence, given, seconds = run.result(timeout=start + ALTOGETHER - time.monotonic())
        lines = judge.lines
        results[name, version] = lines, given
        revealed += judge.revealed
        verdict = "WRONG" if any(line[4] == "WRONG" for line in lines) else "ok"
        print(f"{verdict:5}  {version}  {name}  ({seconds:.0f} s)", file=sys.stderr)
        for line in evidence:
            print("\n".join(f"    {part}" for part in line.splitlines() if part.strip()), file=sys.stderr)
    report(module, results, stage)
    lines = [line for lines, _given in results.values() for line in lines]
    alive = stage.app.poll() is None
    if not alive:
        print(f"The application has ended with {stage.app.returncode}:\n{stage.said()}")
    failed = sum(line[4] == "WRONG" for line in lines) + (not alive)
    events = sum(len(given) for _lines, given in results.values())
    print(f"\n{options.agent} {', '.join(dict.fromkeys(versions.values()))}: {len(results)} scenarios, {events} events seen,"
          f" {failed} wrong, {time.monotonic() - start:.0f} s")
    if revealed:
        print(f"{len(revealed)} steps that no hook tells, shown within {max(revealed):.1f} s")
    print(f"{len(lines) + (not alive) - failed} passed, {failed} failed")
    return 1 if failed or not lines else 0


def report(module, results, stage):
    """The table, and what the captures do not know yet."""
    table([line for lines, _given in results.values() for line in lines])
    known = known_shapes(module)
    new = {}
    for (_name, version), (_lines, given) in results.items():
        for payload in given:
            for event, shape in shapes_of(module, payload) - known:
                new.setdefault((event or "?", shape), set()).add(version)
    if new:
        print("\nNot in the captures:")
        for (event, shape), versions in sorted(new.items()):
            print(f"  {event}  {shape}  ({', '.join(sorted(versions))})")
    said = [line for line in stage.said().splitlines() if "CRITICAL" in line or "WARNING" in line]
    if said:
        print("\nThe application's log:")
        print("\n".join(f"  {line}" for line in dict.fromkeys(said)))


if __name__ == "__main__":
    sys.exit(main())
