"""Processes as /proc shows them: who descends from us, who is left, and how much memory the checker held."""

import ctypes
import os
import re
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
ZOMBIES = "ZX"


def become_subreaper():
    """Whoever loses its parent below us becomes our child: no daemon gets away unseen, whatever it sheds."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat(pid):
    """State and parent of a process; `None` if it is gone."""
    _, _, rest = read(f"/proc/{pid}/stat").rpartition(b") ")
    fields = rest.split()
    return (fields[0].decode(), int(fields[1])) if len(fields) > 1 else None


def forget_peak():
    """What a process inherits from us counts as its own memory: no more than we hold now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def descendants(root, dead=False):
    """Everybody below a process, as numbers: also the dead that nobody has buried, if they are asked for."""
    below = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat(name)):
            below.setdefault(found[1], []).append((int(name), found[0]))
    seen, queue = [], [root]
    while queue:
        for pid, state in below.get(queue.pop(), []):
            queue.append(pid)
            if dead or state not in ZOMBIES:
                seen.append(pid)
    return seen


def reap():
    """Buries the dead among our children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def described(pid):
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").strip() or read(f"/proc/{pid}/comm").strip()
    return f"{pid} ({words[:60].decode(errors='backslashreplace')})"


def survivors(grace):
    """Whoever is still there below us after `grace` seconds."""
    until = time.monotonic() + grace
    while True:
        reap()
        left = descendants(os.getpid())
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def opened(pid):
    """A handle of a process that still descends from us: its number may be somebody else's by now."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    while (found := stat(pid)) and found[1] > 1:
        if (pid := found[1]) == os.getpid():
            return handle
    os.close(handle)
    return None


def kill_all():
    """Ends everybody below us. Who forks meanwhile is found in the next round."""
    for _ in range(500):
        left = descendants(os.getpid())
        if not left:
            break
        handles = [handle for pid in left if (handle := opened(pid))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for handle in handles:
                try:
                    signal.pidfd_send_signal(handle, number)
                except OSError:
                    pass
        for handle in handles:
            os.close(handle)
        reap()
        time.sleep(0.01)
    reap()


class Memory:
    """The largest resident memory of each process of a program, by polling: targets are not counted."""

    def __init__(self, names):
        self.names = [name.encode() for name in names]
        self.peak = 0

    def is_ours(self, pid):
        first = read(f"/proc/{pid}/cmdline").split(b"\0")[0]
        return any(first == name or first.endswith(b"/" + name) for name in self.names)

    def look(self, root):
        """Looks at a process and at those below it, as far as they are ours or lead there."""
        queue = [root]
        while queue:
            pid = queue.pop()
            if self.is_ours(pid):
                found = re.search(rb"VmHWM:\s*(\d+) kB", read(f"/proc/{pid}/status"))
                self.peak = max(self.peak, int(found[1]) * 1024 if found else 0)
            elif pid != root and not read(f"/proc/{pid}/cmdline").startswith((b"unshare", b"sh\0")):
                continue
            try:
                tasks = os.listdir(f"/proc/{pid}/task")
            except OSError:
                continue
            for task in tasks:
                queue += [int(child) for child in read(f"/proc/{pid}/task/{task}/children").split()]
