"""Signals to the program itself, at various times."""

import json
import os
import random
import signal
import time

from case import Case, Expect, check

CLI = {
    "x:cli": "#!/bin/sh\n[ \"$1\" = go ] || exit 2\nsleep 0.2\necho '{\"a\":1}'\n",
}
LOCKED = CLI | {"agentnative.toml": "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'go'\nargs = ['go']\n"}
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CODES = (0, *(128 + number for number in NUMBERS), *(-number for number in NUMBERS))


def send_signal(nth):
    """Returns a function that sends a pseudo-random signal after a pseudo-random pause, in every third case twice."""
    rng = random.Random(nth)
    number, pause, twice = rng.choice(NUMBERS), rng.choice((0.005, 0.05, 0.4, 1.5)) * rng.random(), nth % 3 == 0

    def act(context, child):
        for wait in (pause, 0.02)[: 1 + twice]:
            time.sleep(wait)
            try:
                os.kill(child.pid, number)
            except ProcessLookupError:
                return

    return act


def stop_and_continue(context, child):
    time.sleep(0.1)
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        try:
            os.kill(child.pid, number)
        except ProcessLookupError:
            return
        time.sleep(0.1)


def kill_after(nth):
    def act(context, child):
        time.sleep(0.1 + 0.15 * nth)
        child.kill()

    return act


def complete_lock(context):
    """Requires that each file of the lock is complete, either the old or the new version."""
    for path in (context.work / "agentnative.lock").rglob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            return f"{path.name} of the lock is incomplete: {error}"
    return None


CASES = [
    *(
        check(
            f"signal-to-us/{n}", "{work}/cli", Expect(CODES), files=CLI, fast=False, timeout=10, act=send_signal(n), deadline=20,
            checks=("p2-completes", "p2-output-json"),
        )
        for n in range(40)
    ),
    check("signal-to-us/stop-and-go", "{work}/cli", Expect((0,)), files=CLI, act=stop_and_continue),
    *(
        Case(
            f"signal-to-us/lock-{n}", ("{bin}/agentnative", "contract", "lock", "--json", "--update"),
            Expect((0, 1, 78, -9), leftovers=True, after=complete_lock), files=LOCKED, act=kill_after(n),
        )
        for n in range(5)
    ),
]  # fmt: skip
