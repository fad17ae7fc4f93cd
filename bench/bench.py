#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Vigil costs, beside what that is to be compared with: medians of alternating runs, and their ratios.

`./dev bench` calls it with the folder of the programs. It works on buses and a display of its own, ends what it started,
and judges nothing: the figures are for people, docs/cost.md has the goals."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

APP, PATH, INTERFACE = "dev.vigil.Vigil", "/dev/vigil/Vigil", "dev.vigil.Vigil1"
RUNS = 21
MIB = 1 << 20
STEPS = ["prompt-submit", "pre-tool-use", "post-tool-use", "stop"]
TOGETHER = 10  # agents of one workspace


def wait_until(holds, seconds, what):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > deadline:
            sys.exit(f"bench: {what} did not come about in {seconds} s")
        time.sleep(0.01)
    return found


class Place:
    """A bus in a folder of its own, on the display that all share; `start` adds the application."""

    def __init__(self, folder, display, programs, stack):
        self.folder, self.programs, self.stack, self.app = pathlib.Path(folder), programs, stack, None
        runtime = self.folder / "runtime"
        runtime.mkdir(parents=True)
        runtime.chmod(0o700)
        config = self.folder / "bus.conf"
        config.write_text(
            f"<busconfig><type>session</type><listen>unix:dir={self.folder}</listen><auth>EXTERNAL</auth>"
            '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>'
            '<allow own="*"/></policy><limit name="max_replies_per_connection">50000</limit></busconfig>'
        )
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "GSETTINGS_SCHEMA_DIR")},
            **{f"XDG_{name}_HOME": str(self.folder / name) for name in ("CONFIG", "STATE", "CACHE", "DATA")},
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(runtime),
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "GSK_RENDERER": "cairo",
            "GTK_A11Y": "none",
            "ADW_DISABLE_PORTAL": "1",
            "GSETTINGS_BACKEND": "memory",
            "LC_ALL": "C.UTF-8",
        }
        bus = self.spawn("dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--print-address")
        self.address = bus.stdout.readline().decode().strip()
        self.env["DBUS_SESSION_BUS_ADDRESS"] = self.address

    def spawn(self, *words):
        child = subprocess.Popen(
            words, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.stack.callback(end, child)
        return child

    def start(self, rows=0):
        self.app = self.spawn(str(self.programs / "vigil"), "--gapplication-service")
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(self.address, flags, None, None)
        owned = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner")
        ask = lambda: self.connection.call_sync(*owned, GLib.Variant("(s)", (APP,)), None, 0, 5000, None).unpack()[0]
        wait_until(ask, 20, "the application")
        self.rows = rows
        for workspace in range(-(-rows // TOGETHER)):
            (self.folder / f"project-{workspace}").mkdir()
        self.send([(row, "session-start") for row in range(rows)])
        self.send([(row, "stop") for row in range(rows)])
        return self

    def event(self, row, name):
        payload = {"session_id": f"session-{row}", "cwd": str(self.folder / f"project-{row // TOGETHER}")}
        if "tool" in name:
            payload |= {"tool_name": "Bash", "tool_input": {"command": "make check"}, "tool_use_id": f"call-{row}"}
        return GLib.Variant("(sssa{sv})", (f"agent-{row % TOGETHER}", name, json.dumps(payload), {}))

    def send(self, events, rate=None):
        """Sends these events in their order, and waits for all the answers. So many at a time, or so many a second."""
        todo, context = [self.event(*event) for event in events], GLib.MainContext.default()
        state, began = {"sent": 0, "answered": 0}, time.monotonic()

        def answered(connection, result):
            state["answered"] += 1
            try:
                connection.call_finish(result)
            except GLib.Error as error:
                state["failed"] = error.message

        while state["answered"] < len(todo):
            if rate:
                until = min(int((time.monotonic() - began) * rate), len(todo))
            else:
                until = min(state["answered"] + 32, len(todo))
            for event in todo[state["sent"] : until]:
                self.connection.call(APP, PATH, INTERFACE, "Hook", event, None, 0, 60000, None, answered)
            state["sent"] = max(until, state["sent"])
            if rate:
                while context.iteration(False):
                    pass
                time.sleep(0.001)
            else:
                context.iteration(True)
            if "failed" in state:
                sys.exit(f"bench: an event was refused: {state['failed']}")

    def show(self):
        subprocess.run(["gapplication", "action", APP, "show"], env=self.env, check=True, timeout=20)


def end(child):
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGCONT)
    child.kill()
    child.wait()


def field(path, name):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def cpu(pid):
    """The time that all threads have run, in seconds; the scheduler counts it in nanoseconds."""
    total = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def switches(pid):
    """How often each thread has gone to sleep so far, by its id."""
    return {t.name: field(t / "status", "voluntary_ctxt_switches") for t in pathlib.Path(f"/proc/{pid}/task").iterdir()}


def woken(before, after):
    return sum(count - before.get(thread, 0) for thread, count in after.items())


class Table:
    def __init__(self):
        print("| what | median | beside | ratio |\n|---|---|---|---|", flush=True)

    def row(self, what, value, unit, beside="", reference=None, digits=2):
        shown = f"{beside} {reference:.{digits}f} {unit}" if reference is not None else beside
        ratio = f"{value / reference:.2f}" if reference else ""
        print(f"| {what} | {value:.{digits}f} {unit} | {shown} | {ratio} |", flush=True)


def start(words, env, stdin):
    """Starts a program with that on its standard input, a pipe as agents have it."""
    reading, writing = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    began = time.perf_counter()
    pid = os.posix_spawnp(words[0], words, env, file_actions=actions)
    os.close(reading)
    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb", 0) as pipe:
        left = memoryview(stdin)
        while left:
            left = left[pipe.write(left) :]
    return pid, began, null


def timed(words, env, stdin=b""):
    pid, began, null = start(words, env, stdin)
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter() - began
    os.close(null)
    if status:
        sys.exit(f"bench: {words[0]} ended with {status}")
    return took, usage.ru_utime + usage.ru_stime


def peak(words, env, stdin):
    """What the kernel counts for `wait4` begins with the parent's memory; this is the program's own, read while it waits
    for an application that does not answer."""
    pid, _, null = start(words, env, stdin)
    most = 0
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        with contextlib.suppress(OSError):
            most = max(most, field(f"/proc/{pid}/status", "VmHWM"))
        time.sleep(0.005)
    os.close(null)
    return most


def hooks(table, there, away):
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(there.folder), "tool_use_id": "t"}
    small = json.dumps(payload | {"tool_name": "Bash", "tool_input": {"command": "make check"}}).encode()
    tool = {"tool_name": "Write", "tool_input": {"file_path": "/f", "content": ""}}
    room = 8 * MIB - len(json.dumps(payload | tool))
    tool["tool_input"]["content"] = "0123456789abcde\n" * (room // 17)  # the newline takes two in JSON
    large = json.dumps(payload | tool).encode()
    hook = [str(there.programs / "vigilctl"), "hook", "claude"]
    log = [f"--dest={APP}", PATH, f"{INTERFACE}.AppendLog", "string:bench", "string:info", "string:a line"]
    action = ["gapplication", "action", APP, "hook", f"('claude','PreToolUse',{json.dumps(small.decode())})"]
    runs = {
        "true": lambda: timed(["/bin/true"], there.env),
        "dbus-send": lambda: timed(["dbus-send", "--session", "--print-reply", *log], there.env),
        "gapplication": lambda: timed(action, there.env),
        "running": lambda: timed(hook, there.env, small),
        "large": lambda: timed(hook, there.env, large),
        "cat": lambda: timed(["cat"], there.env, large),
        "away": lambda: timed(hook, away.env, small),
        "hung": lambda: timed(hook, there.env, small),
        "small peak": lambda: peak(hook, there.env, small),
        "large peak": lambda: peak(hook, there.env, large),
    }
    found = {name: [] for name in runs}
    hung = ["hung", "small peak", "large peak"]
    awake = [name for name in runs if name not in hung]
    order = random.Random(0)  # so that nobody always runs in the wake of the same other
    for number in range(RUNS + 1):
        order.shuffle(awake)
        for name in awake + hung:
            if name == "hung":
                there.app.send_signal(signal.SIGSTOP)
            value = runs[name]()
            if number:  # the first round warms up
                found[name].append(value)
        there.app.send_signal(signal.SIGCONT)
        there.send([(0, "stop")])
    peaks = {name: statistics.median(found.pop(name)) / 1024 for name in ("small peak", "large peak")}
    medians, cpus = (
        {name: statistics.median(value[of] for value in values) * 1000 for name, values in found.items()} for of in (0, 1)
    )
    for name, what in [("running", "hook"), ("away", "hook, application away"), ("hung", "hook, application hung")]:
        for beside, shown in [("dbus-send", "`dbus-send`"), ("gapplication", "`gapplication action`"), ("true", "`/bin/true`")]:
            table.row(what, medians[name], "ms", shown, medians[beside])
    table.row("hook, application hung, worst", max(found["hung"])[0] * 1000, "ms")
    table.row("hook, CPU", cpus["running"], "ms", "`dbus-send`", cpus["dbus-send"])
    table.row("hook, CPU", cpus["running"], "ms", "`gapplication action`", cpus["gapplication"])
    table.row("hook, payload of 8 MiB", medians["large"], "ms", "small payload", medians["running"])
    table.row("hook, payload of 8 MiB", medians["large"], "ms", "`cat` of the same", medians["cat"])
    table.row("hook, payload of 8 MiB, CPU", cpus["large"], "ms", "small payload", cpus["running"])
    table.row("hook, peak memory, payload of 8 MiB", peaks["large peak"], "MiB", "small payload", peaks["small peak"])


def frames(table, place):
    found = {}
    for number in range(RUNS + 1):
        for words in (["empty"], ["rows", "100"]):
            began = time.monotonic_ns()
            child = place.spawn(str(place.programs / "examples/bench"), *words)
            shown = int(child.stdout.readline())
            time.sleep(0.5)
            rollup = f"/proc/{child.pid}/smaps_rollup"
            values = [(shown - began) / 1e6, field(rollup, "Rss") / 1024, field(rollup, "Pss") / 1024]
            values.append((field(rollup, "Private_Dirty") + field(rollup, "Private_Clean")) / 1024)
            if number:
                found.setdefault(words[0], []).append(values)
            end(child)
    empty, rows = ([statistics.median(column) for column in zip(*found[name])] for name in ("empty", "rows"))
    for index, (what, unit) in enumerate([("first frame", "ms"), ("RSS", "MiB"), ("PSS", "MiB"), ("private memory", "MiB")]):
        table.row(f"{what}, window of 100 rows", rows[index], unit, "empty window", empty[index], 1)


def product_memory(table, mapped, unmapped, empty):
    pids = {"application, window of 100 rows": mapped.app.pid, "application, 100 rows, no window": unmapped.app.pid}
    for what, pid in pids.items():
        for name in ("Rss", "Pss"):
            sizes = [field(f"/proc/{of}/smaps_rollup", name) / 1024 for of in (pid, empty.pid)]
            table.row(f"{name.upper()}, {what}", sizes[0], "MiB", "empty window", sizes[1], 1)


def wakeups(table, pids, minutes):
    """What happens within a tenth of a second, and the tenths that follow without rest, is one wake-up: the repaint of one
    frame has the threads of the toolkit and the display wait for each other some ten times."""
    seen = {name: switches(pid) for name, pid in pids.items()}
    awake, wakes, counts = dict.fromkeys(pids, False), dict.fromkeys(pids, 0), dict.fromkeys(pids, 0)
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        time.sleep(0.1)
        for name, pid in pids.items():
            now = switches(pid)
            count, seen[name] = woken(seen[name], now), now
            wakes[name] += bool(count) and not awake[name]
            awake[name] = bool(count)
            counts[name] += count
    for what, found in [("wake-ups", wakes), ("context switches", counts)]:
        for name in pids:
            if name != "empty window":
                table.row(f"{what} a minute, {name}, over {minutes} min", found[name] / minutes, "", "empty window",
                          found["empty window"] / minutes, 1)


def painting(table, place):
    words = [place.programs / "examples/bench", "paint", "100"]
    lines = subprocess.run(words, env=place.env, check=True, stdout=subprocess.PIPE, timeout=60).stdout.split(b"\n")
    times, frames = zip(*(map(int, line.split()) for line in lines if line))
    table.row("from an event to the painted row, 100 rows", statistics.median(times) / 1e6, "ms", f"worst {max(times) / 1e6:.1f} ms")
    table.row("from an event to the painted row, 100 rows", statistics.median(frames), "frames", f"most {max(frames)}")


def turns(place, count, start):
    events = []
    for number in range(start, start + count):
        row = number * 7919 % place.rows
        events += [(row, step) for step in STEPS]
    return events


def per_event(table, places, programs):
    wire, pure = ({rows: [] for rows in places} for _ in range(2))
    for number in range(RUNS + 1):
        for rows, place in places.items():
            events = turns(place, 100, number * 100)
            before = cpu(place.app.pid)
            place.send(events)
            took = (cpu(place.app.pid) - before) / len(events) * 1e6
            words = [programs / "examples/bench", "apply", str(rows)]
            alone = int(subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=60).stdout) / 1000
            if number:
                wire[rows].append(took)
                pure[rows].append(alone)
    for what, found in [("CPU of the application for one event", wire), ("the state machine alone, one event", pure)]:
        least = statistics.median(found[min(found)])
        for rows, values in found.items():
            table.row(f"{what}, {rows} rows", statistics.median(values), "µs", f"{min(found)} rows", least)


def storm(table, place, seconds, what):
    """Subagents begin and end, and each that does is told as a state event once, in the order in which it was sent.
    Changes of a row's own state are not: they are told once they have lasted."""
    told = []

    def tell(_connection, _sender, _path, _interface, _member, body):
        name, row = body.unpack()
        if name.startswith("subagent."):
            told.append((json.loads(row)["agent"], name))

    subscription = place.connection.signal_subscribe(APP, INTERFACE, "StateEvent", PATH, None, 0, tell)
    steps = ["prompt-submit", "subagent-start", "pre-tool-use", "post-tool-use", "subagent-stop"]
    events = [(number // len(steps) % place.rows, steps[number % len(steps)]) for number in range(1000 * seconds)]
    wanted = [(f"agent-{row % TOGETHER}", step.replace("-", ".")) for row, step in events if "subagent" in step]
    before, began = cpu(place.app.pid), time.monotonic()
    place.send(events, rate=1000)
    took = time.monotonic() - began
    share = (cpu(place.app.pid) - before) / took
    deadline = time.monotonic() + 5
    while len(told) < len(wanted) and time.monotonic() < deadline:
        GLib.MainContext.default().iteration(False)
    place.connection.signal_unsubscribe(subscription)
    order = "in order, none lost" if told == wanted else f"NOT as sent: {len(told)} of {len(wanted)} told"
    table.row(f"storm of {len(events) / took:.0f} events/s for {took:.0f} s, {what}", share * 100, "% of a core", order)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("programs", type=pathlib.Path)
    arguments.add_argument("--quick", action="store_true", help="shorter waits; the runs are as many")
    parts = ["hook", "window", "storm", "events"]
    arguments.add_argument("--only", choices=parts, help="one part alone")
    arguments = arguments.parse_args()
    programs, quick = arguments.programs.resolve(), arguments.quick
    wanted = [arguments.only] if arguments.only else parts
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with contextlib.ExitStack() as stack:
        home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vigil-bench-")))
        words = ["Xvfb", "-displayfd", "1", "-screen", "0", "800x900x24", "-nolisten", "tcp", "-noreset"]
        screen = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        stack.callback(end, screen)
        display = f":{screen.stdout.readline().decode().strip()}"
        place = lambda name: Place(home / name, display, programs, stack)
        table = Table()
        mapped, unmapped, away = place("mapped").start(100), place("unmapped").start(100), place("away")
        mapped.show()
        rested = time.monotonic() + 75  # times below a minute are shown in seconds
        if "hook" in wanted:
            hooks(table, unmapped, away)
        if "window" in wanted:
            frames(table, away)
            painting(table, away)
            empty = away.spawn(str(programs / "examples/bench"), "empty")
            empty.stdout.readline()
            time.sleep(max(rested - time.monotonic(), 5))
            product_memory(table, mapped, unmapped, empty)
            pids = {"empty window": empty.pid, "window unmapped": unmapped.app.pid, "window mapped": mapped.app.pid}
            wakeups(table, pids, 2 if quick else 4)
        if "storm" in wanted:
            storm(table, unmapped, 8 if quick else 60, "window unmapped")
            storm(table, mapped, 8 if quick else 60, "window mapped")
        if "events" in wanted:
            per_event(table, {rows: place(f"rows-{rows}").start(rows) for rows in (10, 1000, 10000)}, programs)


if __name__ == "__main__":
    main()
