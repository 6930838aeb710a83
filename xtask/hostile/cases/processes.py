"""Targets that leave processes behind, never end, or attack the processes that started them."""

import os
import pathlib
import signal
import socket
import threading
import time
from dataclasses import replace

from case import Expect, check
from processes import ZOMBIES, descendants, stat

OLD = "{targets}"
HEAVY = "{targets}/heavy"
#: All variants instead of plain runs only. Runs that hang or leave processes behind fail `p2-completes`.
FULL = {"fast": False, "checks": ("p2-completes",), "timeout": 1, "deadline": 60}
FAILS = Expect((1,), {"p2-completes": "fail"})
#: Ended by the time limit, or by the output limit, after which the check is unverified.
ENDED = Expect((0, 1), {"p2-completes": "fail unverified"})
#: Computes without end. On a busy machine, the run may get too little CPU time for a verdict.
BUSY = ENDED
PASSES = Expect((0,), {"p2-completes": "pass"})
SECRET = "s3cr3t-of-the-caller"


def small():
    """Yields a case for each target that `tests/hostile.rs` runs."""
    expected = {
        "background-sleep.sh": FAILS, "closed-pipes-hang.sh": FAILS, "deleted-cwd.sh": FAILS, "double-fork.sh": PASSES,
        "fork-loop.sh": BUSY, "grandchild-chatter.sh": FAILS, "hang.sh": FAILS, "ignore-term.sh": FAILS,
        "open-tty.sh": FAILS, "read-stdin.sh": FAILS, "setsid.sh": FAILS, "shed-environment.sh": FAILS,
        "shed-everything.py": FAILS, "spin.sh": BUSY, "stop-self.sh": FAILS, "unreadable-home.sh": PASSES,
        "yes-stderr.sh": ENDED, "yes-stdout.sh": ENDED,
    }  # fmt: skip
    for name, expect in expected.items():
        yield check(f"process/{name}", f"{OLD}/{name}", expect, **FULL)


#: Signals whose default action is to do nothing; and those that stop a process, except in an orphaned process group.
HARMLESS = {17, 18, 23, 28}
STOPS = {19, 20, 21, 22}
RESERVED = {32, 33}
FILE_TOO_LARGE = 25


def by_signal():
    """Yields a case for each signal: a run that is killed fails its exit code; a stopped run never ends."""
    for number in range(1, 65):
        if number in HARMLESS:
            expect = Expect((0,), {"p2-exit-success": "pass", "p2-completes": "pass unverified"})
        elif number in STOPS | RESERVED:
            # The kernel stops an orphaned process group only by SIGSTOP, and whether the group is orphaned is up to
            # agentnative. A process that `posix_spawn` started ignores the signals that the C library reserves.
            expect = Expect((0, 1), {"p2-exit-success": "fail unverified pass", "p2-completes": "fail pass unverified"})
        elif number == FILE_TOO_LARGE:
            # The kernel sends this signal to a run that exceeds its file size limit, which is not a problem of the target.
            expect = Expect((0,), {"p2-exit-success": "unverified", "p2-exit-consistent": "unverified"})
        else:
            expect = Expect((1,), {"p2-exit-success": "fail unverified", "p2-exit-consistent": "fail"})
        checks = ("p2-exit-success", "p2-exit-consistent", "p2-completes")
        yield check(f"signal/{number}", f"{HEAVY}/die.py", expect, probe=f"go {number}", checks=checks, timeout=1)


def by_code():
    for code in (0, 1, 2, 125, 126, 127, 128, 129, 137, 139, 255):
        expect = Expect((1,), {"p2-exit-success": "fail"}) if code else Expect((0,), {"p2-exit-success": "pass"})
        yield check(f"exit/{code}", f"{HEAVY}/exit.sh", expect, probe=f"go {code}")


def parent(name, number, expect, **rest):
    return check(f"parent/{name}", f"{HEAVY}/kill-parent.sh", expect, probe=f"go {number}", deadline=10, **rest)


#: Without isolation, a run can kill or stop the processes that started it.
KILLED = Expect((1, -9), leftovers=True)
STOPPED = Expect(hangs=True, leftovers=True)
CONFINED = Expect((0,), {"p2-exit-success": "pass"})


def serve(context):
    """Starts servers at each address that a run may try; they write what they receive to the file `received`."""
    path = str(context.outside / "socket")
    internet, unix = socket.AF_INET, socket.AF_UNIX
    tcp, udp, named, abstract = (
        socket.socket(family, kind)
        for family, kind in (
            (internet, socket.SOCK_STREAM), (internet, socket.SOCK_DGRAM), (unix, socket.SOCK_STREAM),
            (unix, socket.SOCK_STREAM),
        )
    )  # fmt: skip
    tcp.bind(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    udp.bind(("127.0.0.1", port))
    named.bind(path)
    os.chmod(path, 0o777)
    abstract.bind("\0" + path)
    received = context.outside / "received"
    received.touch()

    def accept(server):
        server.listen()
        while True:
            try:
                with server.accept()[0] as connection, received.open("ab") as file:
                    connection.settimeout(2)
                    file.write(connection.recv(100) + b"\n")
            except TimeoutError:
                pass
            except OSError:
                return

    def receive():
        while True:
            try:
                words = udp.recv(100)
            except OSError:
                return
            with received.open("ab") as file:
                file.write(words + b"\n")

    for server in (tcp, named, abstract):
        threading.Thread(target=accept, args=(server,), daemon=True).start()
    threading.Thread(target=receive, daemon=True).start()
    for server in (tcp, udp, named, abstract):
        context.undo.append(lambda server=server: (server.shutdown(2) if server is not udp else None, server.close()))
    context.words |= {"port": port, "socket": path}


def received(*allowed):
    """Requires that the servers received only these words."""

    def find_problem(context):
        time.sleep(0.1)
        words = set((context.outside / "received").read_bytes().decode().split())
        return f"{', '.join(sorted(words - set(allowed)))} was received" if words - set(allowed) else None

    return find_problem


ALL_WAYS = ("tcp", "mptcp", "fastopen", "udp", "unix", "abstract")


def victim(context):
    """Creates a file outside the start folder that no run may change."""
    path = context.outside / "victim"
    path.write_text("untouched")
    path.chmod(0o666)
    context.before = facts(context.outside)


def facts(folder):
    """Returns the properties of the files in a folder that a run could change."""

    def properties(path):
        stat = path.lstat()
        content = path.read_bytes() if path.name == "victim" else b""
        return stat.st_mode, stat.st_uid, stat.st_gid, stat.st_nlink, stat.st_mtime_ns, os.listxattr(path), content

    return {path.name: properties(path) for path in folder.iterdir()}


def untouched(context):
    now = facts(context.outside)
    return None if now == context.before else f"changed outside: {sorted(now)}, {now.get('victim')}"


def unwritten(context):
    """Requires that no name and no content changed; Landlock cannot protect permissions, owners and times."""
    names = sorted(path.name for path in context.outside.iterdir())
    content = (context.outside / "victim").read_text() if "victim" in names else None
    return None if (names, content) == (["victim"], "untouched") else f"written outside: {names}, {content!r}"


def kill_checker(context, child):
    """Kills the program after its target has started a daemon."""
    until = time.monotonic() + 5
    while not (context.work / "daemon").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    try:
        os.kill(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def setuid_root(context):
    """Creates a setuid-root python, and a target that leaves it running as a daemon."""
    program = context.work / "python"
    program.write_bytes(pathlib.Path("/usr/bin/python3").resolve().read_bytes())
    program.chmod(0o4755)
    target = context.work / "target"
    work = "import os, time; os.setresuid(0, 0, 0); os.setsid(); print(1, flush=True); os.closerange(0, 3); time.sleep(1000)"
    target.write_text(f"#!/bin/sh\n{{ {program} -I -c '{work}' </dev/null 2>/dev/null & }} | read -r line\necho '{{}}'\n")
    target.chmod(0o755)


def count_descendants(context, child):
    """Records the maximum number of descendants of the program, zombies included."""
    context.max_descendants = 0
    while (found := stat(child.pid)) and found[0] not in ZOMBIES:
        context.max_descendants = max(context.max_descendants, len(descendants(child.pid, zombies=True)))
        time.sleep(0.02)


def few_descendants(context):
    return None if 0 < context.max_descendants < 2000 else f"{context.max_descendants} descendants of the program at once"


CASES = [
    *small(),
    *by_signal(),
    *by_code(),
    check("process/hold-200", f"{HEAVY}/hold-200.py", FAILS, **FULL | {"timeout": 10, "fast": True}),
    check(
        "process/refork", f"{HEAVY}/refork.py", replace(BUSY, after=few_descendants), act=count_descendants,
        **FULL | {"fast": True, "timeout": 5},
    ),
    check("process/threads-500", f"{HEAVY}/threads-500.py", BUSY, **FULL | {"fast": True}),
    check("process/kill-group", f"{HEAVY}/kill-group.sh", Expect((0, 1), {"p2-exit-success": "fail unverified"})),
    check(
        "process/fork-storm", f"{HEAVY}/fork-storm.py", Expect((0, 1), {"p2-completes": "fail unverified"}),
        **FULL | {"fast": True}, more=("--jobs", "1"), heavy=True, alone=True,
    ),
    check(
        "process/fork-failing", f"{HEAVY}/fork-failing.py", Expect((0, 1)), user=True, before="ulimit -u 60;",
        **FULL | {"fast": True}, heavy=True, alone=True,
    ),
    check(
        "process/setuid-daemon", "{work}/target",
        {
            # Only root can kill the daemon.
            "none": Expect((1,), {"p2-completes": "fail"}, has=("could not be ended",), survivors=True),
            # Confined runs have `no_new_privs`, so the daemon cannot become root.
            "landlock": Expect((0,), {"p2-completes": "unverified"}),
        },
        prepare=setuid_root, root=True, user=True, fast=True, checks=("p2-completes",),
    ),
    check(
        "process/memory", f"{HEAVY}/memory.py", Expect((0, 1), {"p2-completes": "fail unverified"}),
        probe="go 1000", **FULL | {"fast": True}, more=("--jobs", "1"), heavy=True, alone=True,
    ),
    parent("KILL", "KILL", {"none": KILLED, "landlock": CONFINED}),
    parent("TERM", "TERM", {"none": Expect((0, 1, 143)), "landlock": CONFINED}),
    parent("INT", "INT", {"none": Expect((0, 1, 130)), "landlock": CONFINED}),
    parent("STOP", "STOP", {"none": STOPPED, "landlock": CONFINED}),
    check(
        "parent/group-TERM", f"{HEAVY}/kill-parents-group.sh", {"none": Expect((0, 1, 143)), "landlock": CONFINED},
        probe="go TERM", deadline=10,
    ),
    check(
        "parent/group-KILL", f"{HEAVY}/kill-parents-group.sh", {"none": KILLED, "landlock": CONFINED}, probe="go KILL",
        deadline=10,
    ),
    check(
        "parent/ptrace", f"{HEAVY}/ptrace-parent.py",
        {"none": Expect((0, 1), hangs=None, leftovers=True), "landlock": CONFINED}, probe="go", deadline=10,
    ),
    check("parent/ptrace-of-user", f"{HEAVY}/ptrace-parent.py", CONFINED, user=True, deadline=10),
    # Root can read every process outside a PID namespace.
    check(
        "parent/environment", f"{HEAVY}/read-parent.py",
        {"none": Expect((0, 1)), "namespaces": Expect(lacks=(SECRET[::-1],))}, env={"SECRET": SECRET},
        checks=("p2-output-json", "p2-contract-schema"), more=("--contract", "{work}/nothing.json"),
        files={"nothing.json": '{"properties": {"found": {"const": ""}}}'},
    ),
    check(
        "parent/environment-of-user", f"{HEAVY}/read-parent.py", Expect(lacks=(SECRET[::-1],)),
        env={"SECRET": SECRET}, checks=("p2-output-json", "p2-contract-schema"), user=True,
        more=("--contract", "{work}/nothing.json"),
        files={"nothing.json": '{"properties": {"found": {"const": ""}}}'},
    ),
    check(
        "escape/net", f"{HEAVY}/escape-net.py",
        {
            "none": Expect(after=received(*ALL_WAYS)),
            # Landlock cannot restrict connections to sockets with a path.
            "landlock": Expect(after=received("unix")),
            "namespaces": Expect(after=received()),
        },
        probe="go {port} {socket}", prepare=serve,
    ),
    check(
        "escape/files", f"{HEAVY}/change-outside.py",
        {"none": Expect(), "landlock": Expect(after=unwritten), "namespaces": Expect(after=untouched)},
        probe="go {outside}", prepare=victim,
    ),
    check(
        "process/checker-killed", f"{HEAVY}/daemon.py",
        {
            "none": Expect((-9,), survivors=True, leftovers=True),
            "namespaces": Expect((-9,), leftovers=True),
        },
        act=kill_checker, timeout=30, deadline=40,
    ),
]  # fmt: skip
