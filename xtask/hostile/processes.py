"""Finds and kills the descendants of this process, and measures the memory of the programs, by /proc."""

import ctypes
import os
import re
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
ZOMBIES = "ZX"


def become_subreaper():
    """Makes this process the new parent of orphaned descendants, so that every daemon stays a descendant."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat(pid):
    """Returns the state and the parent of a process; `None` if it does not exist."""
    _, _, rest = read(f"/proc/{pid}/stat").rpartition(b") ")
    fields = rest.split()
    return (fields[0].decode(), int(fields[1])) if len(fields) > 1 else None


def reset_peak():
    """Resets the peak memory of this process, which a forked child inherits."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def descendants(root, zombies=False):
    """Returns the process IDs of all descendants of a process, with `zombies` including those not yet reaped."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat(name)):
            children.setdefault(found[1], []).append((int(name), found[0]))
    found, queue = [], [root]
    while queue:
        for pid, state in children.get(queue.pop(), []):
            queue.append(pid)
            if zombies or state not in ZOMBIES:
                found.append(pid)
    return found


def reap():
    """Reaps the children that ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def description(pid):
    """Returns the process ID with the start of the command line."""
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").strip() or read(f"/proc/{pid}/comm").strip()
    return f"{pid} ({words[:60].decode(errors='backslashreplace')})"


def survivors(grace):
    """Waits until no descendants are left, for at most `grace` seconds; returns those that are."""
    until = time.monotonic() + grace
    while True:
        reap()
        left = descendants(os.getpid())
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def pidfd_of_descendant(pid):
    """Returns a pidfd; `None` if the process is no longer a descendant, since its ID may be reused."""
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
    """Kills all descendants. Repeats this for processes that were forked in the meantime."""
    for _ in range(500):
        left = descendants(os.getpid())
        if not left:
            break
        handles = [handle for pid in left if (handle := pidfd_of_descendant(pid))]
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
    """The peak resident memory of any process of the named programs, without targets, measured by polling."""

    def __init__(self, names):
        self.names = [name.encode() for name in names]
        self.peak = 0

    def is_measured(self, pid):
        first = read(f"/proc/{pid}/cmdline").split(b"\0")[0]
        return any(first == name or first.endswith(b"/" + name) for name in self.names)

    def update(self, root):
        """Measures a process and its descendants. Follows only the named programs and the commands that start them."""
        queue = [root]
        while queue:
            pid = queue.pop()
            if self.is_measured(pid):
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
