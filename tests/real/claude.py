#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives the real Claude Code through what its users do, and judges what the running application shows.

`claude.py --prefix PREFIX [--only WORDS] PROGRAM...`: PREFIX holds the installed Vigil, each PROGRAM is one generation of
Claude Code. What is right is known from what was typed and what the model was told to answer, never from what the agent
says of itself. Every state between two steps is judged as well. KEEP=1 keeps the folder with all that was recorded.
"""

import argparse
import concurrent.futures
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

from agent import Claude, connect, disconnect
from mock_model import Model
from stage import GONE, PATIENCE, Stage, Trouble, shown, until

IDLE = "idle none 0 0 0"
RUNNING = "running none 0 0 0"
FINISHED = "idle finished 0 0 0"
ASKS = "needs-input needs-input 0 0 1"
FAILED = "failed failed 0 0 0"

# What no hook tells, by scenario and step: the agent's status file does, or its transcript.
NO_HOOK = {
    ("permission granted", "granted"),
    ("permission refused", "refused"),
    ("permission, Esc", "Esc"),
    ("question dismissed", "dismissed"),
    ("plan refused", "refused"),
    ("Esc in generation", "Esc"),
    ("Esc in a tool", "Esc"),
    ("subagent's permission", "granted"),
    ("two sessions", "granted"),
    ("no status file", "Esc in generation"),
    ("no status file", "Esc in a dialog"),
    ("no status file", "refused"),
}

# How long that may take to be shown, in seconds, on a machine that runs several agents meanwhile.
REVEALED_WITHIN = 1.5

# Everything together, in seconds.
ALTOGETHER = 1000

# It reads its settings anew a moment after they have changed.
RELOADS = 3

# A state that is right must still be there after that long.
STEADY = 0.4


class Judge:
    """Judges one scenario: called with each step, and what has to be shown then."""

    def __init__(self, stage, agent, scenario, generation):
        self.stage, self.agent, self.scenario, self.generation = stage, agent, scenario, generation
        self.lines = []
        # How long it took to show what no hook tells, in seconds.
        self.revealed = []
        self.row = None
        self.last = GONE
        self.passed = 0

    def look(self):
        rows = self.stage.rows(self.agent.project)
        if len(rows) > 1:
            return f"{len(rows)} rows"
        self.row = rows[0] if rows else None
        return shown(self.row) if self.row else GONE

    def __call__(self, step, want, *via, message=None, sessions=1, patience=PATIENCE):
        """What is shown comes to be `want`, by no other states than `via`, and stays."""
        no_hook = (self.scenario, step) in NO_HOOK
        start = time.monotonic()
        while (now := self.look()) != want and time.monotonic() < start + (REVEALED_WITHIN if no_hook else patience):
            time.sleep(0.05 if no_hook else 0.1)
        if no_hook:
            self.revealed.append(time.monotonic() - start)
        if now == want:
            time.sleep(STEADY)
            now = self.look()
        verdict = "ok" if now == want else "WRONG"
        history = self.stage.seen.get(str(self.agent.project), [])
        between, self.passed = history[self.passed:], len(history)
        strays = [state for state in dict.fromkeys(between) if state not in {self.last, want, now, *via}]
        self.last = now
        more = []
        if strays:
            more.append("passed through " + ", ".join(strays))
        if self.row and verdict == "ok":
            if message is not None and self.row["message"] != message:
                more.append(f"message {self.row['message']!r} instead of {message!r}")
            if len(self.row["sessions"]) != sessions:
                more.append(f"{len(self.row['sessions'])} sessions instead of {sessions}")
        self.add(step, want, "; ".join([now, *more]), "WRONG" if more else verdict)

    def holds(self, step, truth, said):
        """Something beside the state."""
        self.add(step, "so", "so" if truth else said, "ok" if truth else "WRONG")

    def add(self, step, want, now, verdict):
        self.lines.append((f"{self.scenario}: {step}", self.generation, want, now, verdict))

    def was_given(self, event, count=1, patience=PATIENCE, **fields):
        """Waits until the agent's hooks were given that, so that what follows is not judged too early."""
        until(f"{event} {fields or ''}", lambda: self.count(event, **fields) >= count, patience)

    def count(self, event, **fields):
        """How often its hooks were given that."""
        fields["hook_event_name"] = event
        return sum(all(one.get(key) == fields[key] for key in fields) for one in self.agent.given())


SCENARIOS = {}


def scenario(name):
    def register(play):
        SCENARIOS[name] = play
        return play
    return register


def plain_turn(claude, judge, terminal, step="next turn", want=FINISHED, **more):
    """A prompt and its answer, as users go on after what a scenario is about."""
    stops = judge.count("Stop")
    terminal.type("hello")
    judge.was_given("Stop", stops + 1)
    judge(step, want, RUNNING, message="All done.", **more)


def dialog(terminal):
    """Waits for a dialog."""
    terminal.sees(r"Esc to cancel|❯ 1\. Yes")


def dialog_gone(terminal):
    terminal.loses(r"Esc to cancel|❯ 1\. Yes")


def begun(terminal):
    """Waits for the beginning of the answer. Before it, Esc may take the prompt back, and leaves no trace of it."""
    terminal.sees(r"(?m)^\s*●")


def refuse(terminal):
    """Chooses No."""
    terminal.key(terminal.sees(r"(\d)\. No")[1])


# ---- turns -----------------------------------------------------------------


@scenario("plain turn")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    claude.open("go")
    judge("answered", FINISHED, message="All done.")
    plain_turn(claude, judge, terminal)


@scenario("tool")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    judge.holds("the tool is named", judge.row and judge.row["tool"] == "Bash", f"{judge.row}")
    claude.open("go")
    judge("answered", FINISHED)
    terminal.type("play fail")
    judge.was_given("Stop", 2)
    judge("after a tool that failed", FINISHED, RUNNING)


@scenario("print")
def _(claude, judge):
    process = claude.print("play hang go")
    judge("prompt", RUNNING, IDLE)
    claude.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, FINISHED)
    # Nobody can be asked: the request is refused by itself.
    process = claude.print("play permission go")
    process.communicate(timeout=PATIENCE)
    judge("permission, ended", GONE, IDLE, RUNNING, FINISHED)
    judge.was_given("SessionEnd", 2)


@scenario("own shell command")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.key("!")
    time.sleep(0.5)
    terminal.type("echo hi there")
    judge.was_given("Stop", patience=15)
    judge("ended", IDLE)


@scenario("prompt while it works")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run one")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.type("play run two")
    judge("still in the tool", RUNNING)
    claude.open("one")
    judge.was_given("PreToolUse", 2)
    judge("in the next tool", RUNNING, FINISHED)
    claude.open("two")
    judge("answered", FINISHED)


@scenario("idle reminder")
def _(claude, judge):
    claude.remind_after(4)
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    judge.was_given("Notification", notification_type="idle_prompt", patience=75)
    judge("reminded", FINISHED)


# ---- questions -------------------------------------------------------------


@scenario("permission granted")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Permission for Bash")
    judge.was_given("Notification", notification_type="permission_prompt")
    judge("reminded", ASKS)
    terminal.key("Enter")
    dialog_gone(terminal)
    judge("granted", RUNNING)
    claude.open("go")
    judge("answered", FINISHED, RUNNING, message="All done.")


@scenario("permission refused")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@scenario("permission, Esc")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@scenario("question answered")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Which colour?")
    terminal.key("Enter")
    judge("answered", FINISHED, RUNNING)


@scenario("question dismissed")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play question")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("dismissed", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@scenario("plan approved")
def _(claude, judge):
    terminal = claude.start("--permission-mode", "plan")
    judge("started", IDLE)
    terminal.type("play plan")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Approve the plan?")
    terminal.key("Enter")
    judge("approved", FINISHED, RUNNING)


@scenario("plan refused")
def _(claude, judge):
    terminal = claude.start("--permission-mode", "plan")
    judge("started", IDLE)
    terminal.type("play plan")
    dialog(terminal)
    judge("asked", ASKS, RUNNING, message="Approve the plan?")
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


# ---- work beside the turn --------------------------------------------------


@scenario("subagent, in the foreground")
def _(claude, judge):
    process = claude.print("play subagent go")
    judge("at work", "running none 1 0 0", IDLE, RUNNING)
    claude.open("go")
    process.communicate(timeout=PATIENCE)
    judge("ended", GONE, RUNNING, FINISHED)


@scenario("subagent, in the background")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play helper go")
    judge("the turn is over", "idle finished 1 0 0", RUNNING, "running none 1 0 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "running finished 0 0 0", "running finished 1 0 0")


@scenario("subagent's permission")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play asker go")
    dialog(terminal)
    judge.was_given("Stop")
    judge("asked", "needs-input needs-input 1 0 1", RUNNING, "running none 1 0 0", "idle finished 1 0 0")
    terminal.key("Enter")
    dialog_gone(terminal)
    judge("granted", "idle finished 1 0 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "idle finished 1 0 0", "running finished 0 0 0", "running finished 1 0 0")


@scenario("background shell")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play background go")
    judge("the turn is over", "idle finished 0 1 0", RUNNING, "running none 0 1 0")
    claude.open("go")
    judge.was_given("Stop", 2)
    judge("it has reported", FINISHED, "running finished 0 1 0")


# ---- interrupts and errors -------------------------------------------------


@scenario("Esc in generation")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    begun(terminal)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE)
    plain_turn(claude, judge, terminal)


@scenario("Esc in a tool")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc", IDLE)
    plain_turn(claude, judge, terminal)


@scenario("no status file")
def _(claude, judge):
    claude.hide_status()
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    begun(terminal)
    terminal.key("Escape")
    terminal.sees("Interrupted")
    judge("Esc in generation", IDLE)
    terminal.type("play permission one")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.key("Escape")
    dialog_gone(terminal)
    judge("Esc in a dialog", IDLE, RUNNING)
    terminal.type("play permission two")
    dialog(terminal)
    judge("asked again", ASKS, RUNNING)
    refuse(terminal)
    dialog_gone(terminal)
    judge("refused", IDLE, RUNNING)
    plain_turn(claude, judge, terminal)


@scenario("server error")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("StopFailure")
    judge("within its grace", RUNNING, patience=2)
    judge("after it", FAILED)
    plain_turn(claude, judge, terminal)


@scenario("server error, prompt at once")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 500")
    judge.was_given("StopFailure")
    terminal.type("play hang go")
    judge.was_given("UserPromptSubmit", 2)
    time.sleep(7)
    judge("no failure", RUNNING)
    claude.open("go")
    judge("answered", FINISHED)


@scenario("login error")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play error 401")
    judge.was_given("StopFailure")
    judge("at once", FAILED, RUNNING, patience=2)
    plain_turn(claude, judge, terminal)


# ---- sessions --------------------------------------------------------------


def session_of(judge):
    return judge.row["sessions"][0]["id"] if judge.row else None


@scenario("/clear")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    row, before = judge.row["id"], session_of(judge)
    terminal.type("/clear")
    judge.was_given("SessionStart", source="clear")
    judge("cleared", IDLE)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    judge.holds("new session", session_of(judge) != before, "the same")
    plain_turn(claude, judge, terminal)


@scenario("/compact")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    # The older refuses to compact fewer messages.
    for turn in ("a turn", "another", "and another"):
        plain_turn(claude, judge, terminal, turn)
    row = judge.row["id"]
    terminal.type("/compact")
    judge.was_given("PostCompact")
    judge("compacted", FINISHED)
    judge.holds("same row", judge.row and judge.row["id"] == row, "another")
    plain_turn(claude, judge, terminal)


@scenario("resume")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    session = session_of(judge)
    terminal.type("/exit")
    judge("/exit", GONE)
    claude.start("--resume", session, terminal=terminal)
    judge("resumed", IDLE)
    judge.holds("same session", session_of(judge) == session, f"{session_of(judge)} after {session}")
    plain_turn(claude, judge, terminal)


@scenario("two sessions")
def _(claude, judge):
    first = claude.start()
    judge("first started", IDLE)
    second = claude.start()
    judge("second started", IDLE, sessions=2)
    first.type("play hang one")
    judge("first at work", RUNNING, sessions=2)
    second.type("play permission two")
    dialog(second)
    judge("second asks", ASKS, RUNNING, sessions=2)
    claude.open("one")
    judge.was_given("Stop")
    judge("first is done, second asks", ASKS, sessions=2)
    second.key("Enter")
    dialog_gone(second)
    # The second is at work; what the first has finished is not yet seen.
    judge("granted", "running finished 0 0 0", sessions=2)
    claude.open("two")
    judge("second is done", FINISHED, "running finished 0 0 0", sessions=2)
    second.type("/exit")
    judge.was_given("SessionEnd")
    judge("second has left", FINISHED)
    first.type("/exit")
    judge("first has left", GONE)


@scenario("hooks that come and go")
def _(claude, judge):
    judge.holds("complete", "complete" in claude.vigilctl("doctor", "claude", "--json"), "not complete")
    disconnect(claude)
    judge.holds("taken out to the byte", claude.settings.read_bytes() == claude.before, "other bytes")
    terminal = claude.start()
    plain_turn(claude, judge, terminal, "without hooks", want=GONE)
    connect(claude)
    time.sleep(RELOADS)
    plain_turn(claude, judge, terminal, "put in while it runs")
    disconnect(claude)
    time.sleep(RELOADS)
    terminal.type("play hang go")
    judge.was_given("UserPromptSubmit", 3)
    judge("taken out while it runs", FINISHED)


# ---- ends ------------------------------------------------------------------


@scenario("Ctrl+C twice")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.key("C-c")
    time.sleep(0.3)
    terminal.key("C-c")
    judge("ended", GONE)


@scenario("SIGTERM")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    os.kill(terminal.pid(), signal.SIGTERM)
    judge("ended", GONE)


@scenario("closed terminal")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.close()
    judge("from idle", GONE)
    terminal = claude.start()
    judge("started again", IDLE)
    terminal.type("play hang go")
    judge("prompt", RUNNING)
    terminal.close()
    judge("from running", GONE)


@scenario("kill -9 from idle")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    plain_turn(claude, judge, terminal, "turn")
    terminal.kill()
    judge("killed", GONE)


@scenario("kill -9 from running")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play run go")
    judge.was_given("PreToolUse")
    judge("in the tool", RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")
    claude.stage.vigilctl("ack", judge.row["id"])
    judge("seen", GONE)


@scenario("kill -9 from needs input")
def _(claude, judge):
    terminal = claude.start()
    judge("started", IDLE)
    terminal.type("play permission go")
    dialog(terminal)
    judge("asked", ASKS, RUNNING)
    terminal.kill()
    judge("killed", FAILED, message="Ended unexpectedly")


# ---- the run ---------------------------------------------------------------


def play(name, stage, program, folder, version, elsewhere):
    """One scenario, with a home, a project and a model of its own. Returns its judge, and evidence if a line is wrong."""
    model = Model()
    folder.mkdir(parents=True)
    claude = Claude(stage, model, program, folder, elsewhere)
    judge = Judge(stage, claude, name, version)
    start = time.monotonic()
    evidence = []
    try:
        SCENARIOS[name](claude, judge)
    except (Trouble, OSError, subprocess.SubprocessError) as trouble:
        judge.add("driver", "so", str(trouble).splitlines()[0], "WRONG")
        evidence.append(f"{trouble}")
    except Exception:
        judge.add("driver", "so", "broken", "WRONG")
        evidence.append(traceback.format_exc())
    try:
        if any(line[4] == "WRONG" for line in judge.lines):
            evidence += [terminal.screen() for terminal in claude.terminals]
            evidence += [json.dumps(payload)[:1500] for payload in claude.given()]
            evidence.append("shown: " + " · ".join(stage.seen.get(str(claude.project), [])))
        given = claude.given()
    finally:
        claude.close()
        model.close()
    return judge, evidence, given, time.monotonic() - start


def known_shapes():
    """Events and their fields, as the recorded captures have them."""
    shapes = set()
    for path in (Path(__file__).parents[1] / "agents/claude-code").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            shapes |= shapes_of(json.loads(line).get("payload", {}))
    return shapes


def shapes_of(payload):
    event = payload.get("hook_event_name")
    shapes = {(event, key) for key in payload}
    for key in ("source", "reason", "notification_type", "error", "trigger", "tool_name"):
        if isinstance(payload.get(key), str):
            shapes.add((event, f"{key}={payload[key]}"))
    for task in payload.get("background_tasks") or []:
        shapes |= {(event, f"background_tasks.{key}") for key in task}
        shapes.add((event, f"background_tasks.type={task.get('type')}"))
    return shapes


def version_of(program, environment):
    answer = subprocess.run([program, "--version"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=PATIENCE, check=False)
    found = re.match(r"[\d.]+", answer.stdout)
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
    parser.add_argument("programs", nargs="+", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="vigil-agents-"))
    pool = concurrent.futures.ThreadPoolExecutor(options.at_once)
    stage = None
    status = 1
    try:
        stage = Stage(folder, options.prefix.resolve())
        status = play_all(options, stage, pool)
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


def play_all(options, stage, pool):
    """Every scenario with every generation; the exit status."""
    start = time.monotonic()
    versions = {program: version_of(program, stage.environment) for program in options.programs}
    names = [name for name in SCENARIOS if not options.only or options.only in name]
    runs, results, revealed = {}, {}, []
    for number, (name, program) in enumerate((name, program) for name in names for program in versions):
        version = versions[program]
        # The older has its configuration in the home, the newer where a variable says.
        elsewhere = program != options.programs[0]
        runs[name, version] = pool.submit(play, name, stage, program.resolve(), stage.folder / f"{number:02}", version,
                                          elsewhere)
    for (name, version), run in runs.items():
        judge, evidence, given, seconds = run.result(timeout=start + ALTOGETHER - time.monotonic())
        lines = judge.lines
        results[name, version] = lines, given
        revealed += judge.revealed
        verdict = "WRONG" if any(line[4] == "WRONG" for line in lines) else "ok"
        print(f"{verdict:5}  {version}  {name}  ({seconds:.0f} s)", file=sys.stderr)
        for line in evidence:
            print("\n".join(f"    {part}" for part in line.splitlines() if part.strip()), file=sys.stderr)
    report(results, stage)
    lines = [line for lines, _given in results.values() for line in lines]
    alive = stage.app.poll() is None
    if not alive:
        print(f"The application has ended with {stage.app.returncode}:\n{stage.said()}")
    failed = sum(line[4] == "WRONG" for line in lines) + (not alive)
    print(f"\n{len(results)} scenarios in {time.monotonic() - start:.0f} s")
    if revealed:
        print(f"{len(revealed)} steps that no hook tells, shown within {max(revealed):.1f} s")
    print(f"{len(lines) + (not alive) - failed} passed, {failed} failed")
    return 1 if failed or not lines else 0


def report(results, stage):
    """The table, and what the captures do not know yet."""
    table([line for lines, _given in results.values() for line in lines])
    known = known_shapes()
    new = {}
    for (_name, version), (_lines, given) in results.items():
        for payload in given:
            for event, shape in shapes_of(payload) - known:
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
