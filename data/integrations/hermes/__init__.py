# Vigil's plugin for Hermes Agent, put here by `vigilctl install hermes`. SPDX-License-Identifier: GPL-3.0-or-later
"""Tells what the session does, and never steers it: no hook answers, raises or waits.

One thread of its own tells one thing after the other, each to a `vigilctl`, and numbers them (`seq`). What only the
inside knows is told with them: which session is a child's, which thread reviews behind the user's back, whether an error
was the last attempt, what the answer was, and when a process in the background has ended.
"""

import atexit
import json
import os
import queue
import select
import subprocess
import threading
from collections import OrderedDict

PROGRAM = "@VIGILCTL@"

# More than so many events never wait; the oldest give way.
WAITING = 256

# A `vigilctl` gives up by itself after 2.3 seconds.
PATIENCE = 3

# How long the end of the session is held up for what still waits, in seconds.
LAST_WORDS = 0.5

# How much is remembered, and how many processes are watched.
REMEMBERED = 256
WATCHED = 16

# Where somebody sits before it. A gateway's chats have no terminal, and share one process.
PLATFORMS = ("cli", "tui")

# Of a tool's arguments, those that a person would name the call by.
NAMING = ("command", "path", "pattern", "url", "query", "question", "goal", "description")


def clip(text):
    """Texts are for one line of a window."""
    return text[:600] if isinstance(text, str) else None


def folder():
    try:
        return os.getcwd()
    except OSError:
        return None


class Outbox:
    """Hands events over in their order, one at a time, from a thread that nothing waits for."""

    def __init__(self):
        self._queue = queue.Queue()
        self._thread = None

    def put(self, name, payload):
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="vigil", daemon=True)
            self._thread.start()
        if self._queue.qsize() >= WAITING:
            try:
                self._queue.get_nowait()
                self._queue.task_done()
            except queue.Empty:
                pass
        self._queue.put((name, payload))

    def flush(self):
        """Lets what waits be told, for a moment."""
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(lambda: not self._queue.unfinished_tasks, LAST_WORDS)

    def _run(self):
        while True:
            name, payload = self._queue.get()
            try:
                hand(name, json.dumps(payload, default=str).encode())
            except Exception:
                # A `vigilctl` that is not there is nobody's business here.
                pass
            finally:
                self._queue.task_done()


def hand(name, payload):
    nothing = subprocess.DEVNULL
    words = [PROGRAM, "hook", "hermes", name]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True)
    try:
        child.communicate(payload, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


class Memory(OrderedDict):
    """A mapping that forgets the oldest."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        while len(self) > REMEMBERED:
            self.popitem(last=False)


class Observer:
    """What is known of the sessions, and what is told of each hook."""

    def __init__(self):
        self._lock = threading.RLock()
        self._outbox = Outbox()
        self._seq = 0
        # Child session to the one that it works for; what is none of ours; the last answer of each session.
        self._parents, self._aside, self._answers = Memory(), Memory(), Memory()
        # Sessions whose turn an error has ended, unless it goes on.
        self._failed = Memory()
        self._watched = 0

    def observe(self, name, facts):
        with self._lock:
            session = self._session(facts)
            if not session or self._is_aside(session, facts):
                return
            told = getattr(self, name)(session, facts)
            if told is not None:
                self._tell(name, session, facts, told)
        if name == "on_session_finalize":
            self._outbox.flush()

    def flush(self):
        self._outbox.flush()

    def _tell(self, name, session, facts, more):
        root = session
        # A child's child works for the same root.
        for _ in range(len(self._parents)):
            root = self._parents.get(root, root)
        self._seq += 1
        known = {"session_id": root, "seq": self._seq, "cwd": folder()}
        if root != session:
            known["agent_id"] = session
        if facts.get("model"):
            known["model"] = facts["model"]
        said = {**known, **more}
        self._outbox.put(name, {key: value for key, value in said.items() if value is not None})

    @staticmethod
    def _session(facts):
        """An approval names its session in its turn, `<session>:<task>:<number>`; its key may be a chat's."""
        turn = facts.get("turn_id")
        of_turn = turn.split(":")[0] if isinstance(turn, str) else None
        return facts.get("session_id") or of_turn or facts.get("session_key") or facts.get("parent_session_id")

    def _is_aside(self, session, facts):
        """The review behind a turn has the session's id, and a thread of its own; its tools may have yet others."""
        task = facts.get("task_id")
        if threading.current_thread().name == "bg-review":
            if task and task != session:
                self._aside[task] = True
            return True
        platform = facts.get("platform")
        if platform and platform != "subagent" and platform not in PLATFORMS:
            self._aside[session] = True
        return session in self._aside or task in self._aside

    def _is_child(self, session, facts):
        return session in self._parents or facts.get("platform") == "subagent"

    # ---- one method a hook: what is told of it, None for nothing ------------

    def on_session_start(self, session, facts):
        return None if self._is_child(session, facts) else {}

    on_session_reset = on_session_start

    def on_session_finalize(self, session, facts):
        return None if self._is_child(session, facts) else {"reason": facts.get("reason")}

    def on_session_end(self, session, facts):
        # Without a turn it is said again at the exit, whatever the session did.
        if self._is_child(session, facts) or not facts.get("turn_id"):
            return None
        ended = {key: facts.get(key) is True for key in ("interrupted", "failed")}
        return {**ended, "message": self._answers.pop(session, None)}

    def pre_llm_call(self, session, facts):
        if self._is_child(session, facts):
            return None
        self._failed.pop(session, None)
        self._answers.pop(session, None)
        message = facts.get("user_message")
        return {"user_message": message[:64] if isinstance(message, str) else None}

    def post_llm_call(self, session, facts):
        self._answers[session] = clip(facts.get("assistant_response"))

    def pre_api_request(self, session, facts):
        """Of use only where an error seemed to be the end."""
        return {} if self._failed.pop(session, None) else None

    def api_request_error(self, session, facts):
        if self._is_child(session, facts):
            return None
        count, most, recoverable = facts.get("retry_count"), facts.get("max_retries"), facts.get("retryable")
        if recoverable is True and isinstance(count, int) and isinstance(most, int):
            recoverable = count < most - 1
        if recoverable is not True:
            self._failed[session] = True
        error = facts.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return {"recoverable": recoverable, "message": clip(message), "error_category": facts.get("reason")}

    def pre_tool_call(self, session, facts):
        if self._is_child(session, facts):
            return None
        args = facts.get("args")
        args = args if isinstance(args, dict) else {}
        named = {key: clip(args[key]) for key in NAMING if isinstance(args.get(key), str)}
        return {**self._call(facts), "tool_input": named}

    def post_tool_call(self, session, facts):
        if self._is_child(session, facts):
            return None
        return {**self._call(facts), "task_id": self._begun(session, facts)}

    def pre_approval_request(self, session, facts):
        # A model decides; if it hands over to the user, that is another request.
        if facts.get("surface") == "smart":
            return None
        asked = {"message": clip(facts.get("description")), "tool_input": {"command": clip(facts.get("command"))}}
        return {**self._call(facts), **asked}

    def post_approval_response(self, session, facts):
        return None if facts.get("surface") == "smart" else self._call(facts)

    def subagent_start(self, session, facts):
        child = facts.get("child_session_id")
        if child:
            self._parents[child] = facts.get("parent_session_id") or session
            self._tell("subagent_start", child, {}, {})

    def subagent_stop(self, session, facts):
        child = facts.get("child_session_id")
        if child in self._parents:
            self._tell("subagent_stop", child, {}, {})

    @staticmethod
    def _call(facts):
        return {"tool_use_id": facts.get("tool_call_id"), "tool_name": facts.get("tool_name")}

    # ---- processes in the background ----------------------------------------

    def _begun(self, session, facts):
        """The process that a call left running, if its end can be waited for: no hook tells of it."""
        args = facts.get("args")
        if facts.get("tool_name") != "terminal" or not isinstance(args, dict) or args.get("background") is not True:
            return None
        try:
            result = json.loads(facts.get("result") or "")
            task, pid = result["session_id"], result["pid"]
            if self._watched >= WATCHED or not isinstance(task, str):
                return None
            process = os.pidfd_open(pid)
        except (ValueError, KeyError, TypeError, AttributeError, OSError):
            # It has ended, or there is no such thing here.
            return None
        self._watched += 1
        threading.Thread(target=self._wait, args=(session, task, process), name="vigil-wait", daemon=True).start()
        return task

    def _wait(self, session, task, process):
        try:
            poll = select.poll()
            poll.register(process, select.POLLIN)
            poll.poll()
            os.close(process)
            with self._lock:
                self._watched -= 1
                self._tell("background-stop", session, {}, {"task_id": task})
        except Exception:
            pass


HOOKS = [name for name in vars(Observer) if not name.startswith("_") and name not in ("observe", "flush")]


def register(ctx):
    """Called by Hermes in each of its processes, of which only one has sessions: nothing is told yet."""
    observer = Observer()

    def hook(name):
        def tell(**facts):
            try:
                observer.observe(name, facts)
            except Exception:
                # Whatever a Hermes of another day sends, it goes on.
                pass
        return tell

    for name in HOOKS:
        ctx.register_hook(name, hook(name))
    # A one-shot run ends without a word.
    atexit.register(observer.flush)
