"""Where the table is run: each surroundings is a command that becomes the command of a case."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
UID = 65534
USER = ("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups")
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
NO_PROC = 'mount -t tmpfs none /proc && exec "$0" "$@"'
PID = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
MAP_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")

#: What surrounds the program, and the command that does it.
SURROUNDINGS = {
    "here": ("as the caller", lambda scripts: ()),
    "user": ("as an ordinary user", lambda scripts: USER if os.geteuid() == 0 else ()),
    "pid-namespace": ("as the first process of a PID namespace", lambda scripts: (PID[0], *MAP_ROOT, *PID[1:])),
    "no-proc": ("without /proc", lambda scripts: ("unshare", *MAP_ROOT, "--mount", "sh", "-c", NO_PROC)),
    "container": (
        "in a container of a hosted CI: no user namespaces, no mounts, few capabilities",
        lambda scripts: (PYTHON, f"{scripts}/container.py"),
    ),
    "old-container": (
        "the same, with a profile that has no Landlock",
        lambda scripts: (PYTHON, f"{scripts}/container.py", "--no-landlock"),
    ),
    "user-container": (
        "the container, as an ordinary user",
        lambda scripts: (*(USER if os.geteuid() == 0 else ()), PYTHON, f"{scripts}/container.py"),
    ),
}

#: Tells by its exit code what confines it: 40 nothing, 41 Landlock, 42 namespaces.
TELLING = """#!/bin/sh
[ "$(readlink /proc/self/ns/pid)" = "$(cat "${0%/*}/namespace")" ] || exit 42
(echo >"${0%/*}/outside/written") 2>/dev/null && exit 40
exit 41
"""
CODES = {"40": "none", "41": "landlock", "42": "namespaces"}


def works(prefix):
    """Whether these surroundings can be had; if not, why."""
    done = subprocess.run([*prefix, "true"], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def rung(binaries, prefix, isolation, base):
    """What `--isolation` gives in these surroundings, as a run of the program finds it."""
    with tempfile.TemporaryDirectory(dir=base) as folder:
        os.chmod(folder, 0o755)
        for name in ("work", "outside"):
            os.mkdir(f"{folder}/{name}")
            os.chmod(f"{folder}/{name}", 0o777)
        target = pathlib.Path(folder, "telling")
        target.write_text(TELLING)
        target.chmod(0o755)
        pathlib.Path(folder, "namespace").touch()
        os.chmod(f"{folder}/namespace", 0o666)
        # The PID namespace that the program itself is in.
        script = 'readlink /proc/self/ns/pid >../namespace; exec "$0" "$@"'
        words = ["check", "--json", "--fast", "--probe", "go", "--check", "p2-exit-success", "--isolation", isolation]
        argv = [*prefix, "sh", "-c", script, f"{binaries}/agentnative", *words, str(target)]
        done = subprocess.run(argv, capture_output=True, text=True, cwd=f"{folder}/work")
        code = re.search(r"exit code (4\d)", done.stdout)
        return CODES[code[1]] if code else None
