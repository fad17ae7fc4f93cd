#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads Vigil's window as a screen reader does, and says what it reads.

A request is a line on standard input, its answer a line of JSON on standard output:

  rows [TEXT]  the list's rows in order, each with its name; those whose name contains TEXT (all of them without one)
               with their role and the texts of their labels too; null while there is no list
  nodes        everything in the windows, each with its role, its name, and whether it has the keyboard focus

The first line of output is an empty object, once there is an accessibility bus. An answer that is an object says what
went wrong. It runs under the distribution's own Python, which has the bindings, and ends with its input.
"""

import json
import sys
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

APPLICATION = "vigil"
LIST = "Agents"

# A tree that changes while it is read is read again.
ATTEMPTS = 20


class Changed(Exception):
    """A node went while it was looked at."""


def children(node):
    for index in range(node.get_child_count()):
        child = node.get_child_at_index(index)
        if child is None:
            raise Changed
        yield child


def walk(node):
    yield node
    for child in children(node):
        yield from walk(child)


def windows():
    """The application's windows, with nothing remembered of an earlier reading."""
    desktop = Atspi.get_desktop(0)
    desktop.clear_cache()
    for application in children(desktop):
        if application.get_name() == APPLICATION:
            yield from children(application)


class List:
    """The list, looked for once a window: each step on the way to it is a question to the application."""

    window = None
    node = None

    def find(self):
        opened = list(windows())
        if self.window not in opened:
            self.window, self.node = None, None
            for window in opened:
                for node in walk(window):
                    if node.get_role() == Atspi.Role.LIST and node.get_name() == LIST:
                        self.window, self.node = window, node
                        return node
        return self.node


THE_LIST = List()


def row(item, text):
    """The one child of a list item, which is what has a name."""
    node = item.get_child_at_index(0)
    if node is None:
        raise Changed
    name = node.get_name()
    if text not in name:
        return {"role": "", "name": name, "labels": []}
    labels = [label.get_name() for label in walk(node) if label.get_role() == Atspi.Role.LABEL]
    return {"role": node.get_role_name(), "name": name, "labels": labels}


def rows(text):
    found = THE_LIST.find()
    if found is None:
        return None
    found.clear_cache()
    return [row(item, text) for item in children(found)]


def nodes(_text):
    def face(node):
        focused = node.get_state_set().contains(Atspi.StateType.FOCUSED)
        return {"role": node.get_role_name(), "name": node.get_name(), "focused": focused}

    return [face(node) for window in windows() for node in walk(window)]


def answer(request):
    word, _, text = request.partition(" ")
    read = {"rows": rows, "nodes": nodes}[word]
    failure = "it changed all the time"
    for _ in range(ATTEMPTS):
        # What the bus has told meanwhile is not waited for, but taken in: it would pile up.
        while GLib.MainContext.default().iteration(False):
            pass
        try:
            return read(text)
        except Changed:
            continue
        except GLib.Error as error:
            failure = error.message
    return {"error": failure}


def main():
    # Several of the functions are marked as old, without anything new in their place.
    warnings.simplefilter("ignore")
    Atspi.set_timeout(10_000, 10_000)
    print(json.dumps({} if Atspi.get_desktop(0) else {"error": "no accessibility bus"}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line.rstrip("\n"))), flush=True)


if __name__ == "__main__":
    main()
