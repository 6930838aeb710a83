"""What targets do as processes: leave others behind, go on for ever, turn on those that started them."""

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
#: In full, with all variants. What waits and what is left behind fails `p2-completes`.
WHOLE = {"fast": False, "checks": ("p2-completes",), "timeout": 1, "deadline": 60}
FAILS = Expect((1,), {"p2-completes": "fail"})
#: At its time limit, or at that of its output, which decides nothing.
ENDED = Expect((0, 1), {"p2-completes": "fail unverified"})
#: It computes without end: on a busy machine, which has no processor for it, its verdict stays open.
BUSY = ENDED
PASSES = Expect((0,), {"p2-completes": "pass"})
#: One that leaves nobody: an error of the check instead of a report is an end as well.
EITHER = Expect((0, 1))
SECRET = "s3cr3t-of-the-caller"


def small():
    """The targets that the test of the runner runs, below the program."""
    expected = {
        "background-sleep.sh": FAILS, "closed-pipes-hang.sh": FAILS, "deleted-cwd.sh": FAILS, "double-fork.sh": FAILS,
        "fork-loop.sh": BUSY, "grandchild-chatter.sh": FAILS, "hang.sh": FAILS, "ignore-term.sh": FAILS,
        "open-tty.sh": FAILS, "read-stdin.sh": FAILS, "setsid.sh": FAILS, "shed-environment.sh": FAILS,
        "shed-everything.py": FAILS, "spin.sh": BUSY, "stop-self.sh": FAILS, "unreadable-home.sh": PASSES,
        "yes-stderr.sh": ENDED, "yes-stdout.sh": ENDED,
    }  # fmt: skip
    for name, expect in expected.items():
        yield check(f"process/{name}", f"{OLD}/{name}", expect, **WHOLE)


#: Signals whose default is to do nothing, or to stop, which the kernel does not do to a group without a parent.
HARMLESS = {17, 18, 23, 28}
STOPS = {19, 20, 21, 22}
RESERVED = {32, 33}
FILE_TOO_LARGE = 25


def by_signal():
    """A run that dies of a signal does not exit as expected; one that is stopped does not end."""
    for number in range(1, 65):
        if number in HARMLESS:
            expect = Expect((0,), {"p2-exit-success": "pass", "p2-completes": "pass unverified"})
        elif number in STOPS | RESERVED:
            # Whether its group is an orphan, which the kernel does not stop but by SIGSTOP, is ours to choose; a process
            # that the C library's `posix_spawn` started ignores the signals that it keeps for itself.
            expect = Expect((0, 1), {"p2-exit-success": "fail unverified pass", "p2-completes": "fail pass unverified"})
        elif number == FILE_TOO_LARGE:
            # So the kernel ends a run that goes over its limit, which is no fault.
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


#: Nothing confines a run that is not isolated: it ends or stops whoever started it.
FELLED = Expect((1, -9), leftovers=True)
STOPPED = Expect(hangs=True, leftovers=True)
HELD = Expect((0,), {"p2-exit-success": "pass"})


def serve(scene):
    """Servers outside, at each address that a run may try; each writes what it was sent to `received`."""
    path = str(scene.outside / "socket")
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
    received = scene.outside / "received"
    received.touch()

    def accepts(server):
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

    def takes():
        while True:
            try:
                words = udp.recv(100)
            except OSError:
                return
            with received.open("ab") as file:
                file.write(words + b"\n")

    for server in (tcp, named, abstract):
        threading.Thread(target=accepts, args=(server,), daemon=True).start()
    threading.Thread(target=takes, daemon=True).start()
    for server in (tcp, udp, named, abstract):
        scene.undo.append(lambda server=server: (server.shutdown(2) if server is not udp else None, server.close()))
    scene.words |= {"port": port, "socket": path}


def received(*allowed):
    """Only these words came out."""

    def look(scene):
        time.sleep(0.1)
        words = set((scene.outside / "received").read_bytes().decode().split())
        return f"{', '.join(sorted(words - set(allowed)))} came out" if words - set(allowed) else None

    return look


ALL_WAYS = ("tcp", "mptcp", "fastopen", "udp", "unix", "abstract")


def victim(scene):
    path = scene.outside / "victim"
    path.write_text("untouched")
    path.chmod(0o666)
    scene.before = facts(scene.outside)


def facts(folder):
    """What a run could have changed in a folder and its files."""

    def of(path):
        stat = path.lstat()
        content = path.read_bytes() if path.name == "victim" else b""
        return stat.st_mode, stat.st_uid, stat.st_gid, stat.st_nlink, stat.st_mtime_ns, os.listxattr(path), content

    return {path.name: of(path) for path in folder.iterdir()}


def untouched(scene):
    now = facts(scene.outside)
    return None if now == scene.before else f"changed outside: {sorted(now)}, {now.get('victim')}"


def unwritten(scene):
    """No byte and no name of it changed; Landlock has no rule for rights, owners and times."""
    names = sorted(path.name for path in scene.outside.iterdir())
    content = (scene.outside / "victim").read_text() if "victim" in names else None
    return None if (names, content) == (["victim"], "untouched") else f"written outside: {names}, {content!r}"


def kill_checker(scene, child):
    """Kills the program once its target has left a daemon."""
    until = time.monotonic() + 5
    while not (scene.work / "daemon").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    try:
        os.kill(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def setuid_root(scene):
    """A python of root's that everybody may run as root, and a target that leaves it."""
    program = scene.work / "python"
    program.write_bytes(pathlib.Path("/usr/bin/python3").resolve().read_bytes())
    program.chmod(0o4755)
    target = scene.work / "target"
    work = "import os, time; os.setresuid(0, 0, 0); os.setsid(); print(1, flush=True); os.closerange(0, 3); time.sleep(1000)"
    target.write_text(f"#!/bin/sh\n{{ {program} -I -c '{work}' </dev/null 2>/dev/null & }} | read -r line\necho '{{}}'\n")
    target.chmod(0o755)


def counts(scene, child):
    """How many there are below the program at once, those that ended and were not reaped among them."""
    scene.most = 0
    while (found := stat(child.pid)) and found[0] not in ZOMBIES:
        scene.most = max(scene.most, len(descendants(child.pid, dead=True)))
        time.sleep(0.02)


def were_few(scene):
    return None if 0 < scene.most < 2000 else f"{scene.most} processes at once below the program"


CASES = [
    *small(),
    *by_signal(),
    *by_code(),
    check("process/hold-200", f"{HEAVY}/hold-200.py", FAILS, **WHOLE | {"timeout": 10, "fast": True}),
    check(
        "process/refork", f"{HEAVY}/refork.py", replace(BUSY, after=were_few), act=counts,
        **WHOLE | {"fast": True, "timeout": 5},
    ),
    check("process/threads-500", f"{HEAVY}/threads-500.py", BUSY, **WHOLE | {"fast": True}),
    check("process/kill-group", f"{HEAVY}/kill-group.sh", Expect((0, 1), {"p2-exit-success": "fail unverified"})),
    check(
        "process/fork-storm", f"{HEAVY}/fork-storm.py", Expect((0, 1), {"p2-completes": "fail unverified"}),
        **WHOLE | {"fast": True}, more=("--jobs", "1"), heavy=True, alone=True,
    ),
    check(
        "process/fork-failing", f"{HEAVY}/fork-failing.py", Expect((0, 1)), user=True, before="ulimit -u 60;",
        **WHOLE | {"fast": True}, heavy=True, alone=True,
    ),
    check(
        "process/setuid-daemon", "{work}/target",
        {
            # The kernel lets nobody but root end it.
            "none": Expect((1,), {"p2-completes": "fail"}, has=("could not be ended",), survivors=True),
            # Nobody gains rights in a run, so the daemon does not come about.
            "landlock": Expect((0,), {"p2-completes": "unverified"}),
        },
        prepare=setuid_root, root=True, user=True, fast=True, checks=("p2-completes",),
    ),
    check(
        "process/memory", f"{HEAVY}/memory.py", Expect((0, 1), {"p2-completes": "fail unverified"}),
        probe="go 1000", **WHOLE | {"fast": True}, more=("--jobs", "1"), heavy=True, alone=True,
    ),
    parent("KILL", "KILL", {"none": FELLED, "landlock": HELD}),
    parent("TERM", "TERM", {"none": Expect((0, 1, 143)), "landlock": HELD}),
    parent("INT", "INT", {"none": Expect((0, 1, 130)), "landlock": HELD}),
    parent("STOP", "STOP", {"none": STOPPED, "landlock": HELD}),
    check(
        "parent/group-TERM", f"{HEAVY}/kill-parents-group.sh", {"none": Expect((0, 1, 143)), "landlock": HELD},
        probe="go TERM", deadline=10,
    ),
    check(
        "parent/group-KILL", f"{HEAVY}/kill-parents-group.sh", {"none": FELLED, "landlock": HELD}, probe="go KILL",
        deadline=10,
    ),
    check(
        "parent/ptrace", f"{HEAVY}/ptrace-parent.py",
        {"none": Expect((0, 1), hangs=None, leftovers=True), "landlock": HELD}, probe="go", deadline=10,
    ),
    check("parent/ptrace-of-user", f"{HEAVY}/ptrace-parent.py", HELD, user=True, deadline=10),
    # Root reads every process, unless it has a PID namespace between.
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
            # Sockets with a path are files, and there is no rule for connecting to them.
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
