"""Signals to the program itself, at any moment."""

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


def sends(nth):
    """A signal after a while that follows from the number of the case; of three, one is sent twice."""
    chance = random.Random(nth)
    number, pause, twice = chance.choice(NUMBERS), chance.choice((0.005, 0.05, 0.4, 1.5)) * chance.random(), nth % 3 == 0

    def act(scene, child):
        for wait in (pause, 0.02)[: 1 + twice]:
            time.sleep(wait)
            try:
                os.kill(child.pid, number)
            except ProcessLookupError:
                return

    return act


def stops_and_goes_on(scene, child):
    time.sleep(0.1)
    for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        try:
            os.kill(child.pid, number)
        except ProcessLookupError:
            return
        time.sleep(0.1)


def kills_lock(nth):
    def act(scene, child):
        time.sleep(0.1 + 0.15 * nth)
        child.kill()

    return act


def whole_lock(scene):
    """Each file of a lock is whole: the old one or the new one."""
    for path in (scene.work / "agentnative.lock").rglob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError as error:
            return f"{path.name} of the lock is torn: {error}"
    return None


CASES = [
    *(
        check(
            f"signal-to-us/{n}", "{work}/cli", Expect(CODES), files=CLI, fast=False, timeout=10, act=sends(n), deadline=20,
            checks=("p2-completes", "p2-output-json"),
        )
        for n in range(40)
    ),
    check("signal-to-us/stop-and-go", "{work}/cli", Expect((0,)), files=CLI, act=stops_and_goes_on),
    *(
        Case(
            f"signal-to-us/lock-{n}", ("{bin}/agentnative", "contract", "lock", "--json", "--update"),
            Expect((0, 1, 78, -9), leftovers=True, after=whole_lock), files=LOCKED, act=kills_lock(n),
        )
        for n in range(5)
    ),
]  # fmt: skip
