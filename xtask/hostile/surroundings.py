"""The surroundings in which the cases can run. Each is a command that executes the command of a case."""

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

#: Description of each surroundings, and the command that creates it.
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
        "in such a container, with a seccomp profile that refuses Landlock",
        lambda scripts: (PYTHON, f"{scripts}/container.py", "--no-landlock"),
    ),
    "user-container": (
        "in such a container, as an ordinary user",
        lambda scripts: (*(USER if os.geteuid() == 0 else ()), PYTHON, f"{scripts}/container.py"),
    ),
}

#: A target whose exit code is its confinement level: 40 none, 41 Landlock, 42 namespaces.
LEVEL_TARGET = """#!/bin/sh
[ "$(readlink /proc/self/ns/pid)" = "$(cat "${0%/*}/namespace")" ] || exit 42
(echo >"${0%/*}/outside/written") 2>/dev/null && exit 40
exit 41
"""
CODES = {"40": "none", "41": "landlock", "42": "namespaces"}


def unavailable(prefix):
    """Returns why the surroundings are not available; `None` if they are."""
    completed = subprocess.run([*prefix, "true"], capture_output=True, text=True)
    return None if completed.returncode == 0 else completed.stderr.strip() or f"exit code {completed.returncode}"


def level(binaries, prefix, isolation, base):
    """Returns the confinement level that `--isolation` results in, as found by a run; `None` if it is unknown."""
    with tempfile.TemporaryDirectory(dir=base) as folder:
        os.chmod(folder, 0o755)
        for name in ("work", "outside"):
            os.mkdir(f"{folder}/{name}")
            os.chmod(f"{folder}/{name}", 0o777)
        target = pathlib.Path(folder, "target")
        target.write_text(LEVEL_TARGET)
        target.chmod(0o755)
        pathlib.Path(folder, "namespace").touch()
        os.chmod(f"{folder}/namespace", 0o666)
        # The PID namespace that the program itself is in.
        script = 'readlink /proc/self/ns/pid >../namespace; exec "$0" "$@"'
        words = ["check", "--json", "--fast", "--probe", "go", "--check", "p2-exit-success", "--isolation", isolation]
        argv = [*prefix, "sh", "-c", script, f"{binaries}/agentnative", *words, str(target)]
        completed = subprocess.run(argv, capture_output=True, text=True, cwd=f"{folder}/work")
        code = re.search(r"exit code (4\d)", completed.stdout)
        return CODES[code[1]] if code else None
