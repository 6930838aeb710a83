"""The program `agentnative`: where it is, and one call of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "agentnative"
# How long the program may take to end its runs after SIGTERM, in seconds.
GRACE = 5.0


class Error(Exception):
    """The command could not be checked.

    `kind` is that of the error object of the program: `usage`, `auth`, `config`, `nothing-run`, `budget`, `general`;
    or `not-installed`, if there is no program, and `timeout`, if the check took longer than its deadline.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        """Make an error of this kind."""
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.kind = kind
        self.message = message
        self.hint = hint


class Ended(NamedTuple):
    """What came of a call."""

    code: int
    stdout: str
    stderr: str

    def error_object(self) -> dict[str, Any] | None:
        """Give the error object on stderr, which is its last line."""
        lines = self.stderr.splitlines()
        try:
            found = json.loads(lines[-1]) if lines else None
        except ValueError:
            return None
        return found if isinstance(found, dict) and "kind" in found else None

    def error(self) -> Error:
        """Give the error that ended the program."""
        if (found := self.error_object()) is None:
            last = self.stderr.strip() or f"{NAME} exited with {self.code} and no message"
            return Error("general", last)
        issues = found.get("issues") or []
        message = "\n  ".join([str(found["message"]), *(_issue(issue) for issue in issues)])
        return Error(str(found["kind"]), message, found.get("hint"))


def _issue(issue: dict[str, Any]) -> str:
    place = ":".join(str(issue[key]) for key in ("file", "line", "column") if issue.get(key))
    return f"{place}: {issue['message']}" if place else str(issue["message"])


def find_program() -> Path:
    """Give the path of the program: the one of this package, else the one on PATH."""
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    # `pip install --target` has the folder `bin` beside the package, `--prefix` beside `lib/python3.x/site-packages`.
    packages = Path(__file__).resolve().parent.parent
    folders.append(str(packages / "bin"))
    if packages.name in ("site-packages", "dist-packages"):
        folders += [str(above / "bin") for above in list(packages.parents)[2:3]]
    found = shutil.which(NAME, path=os.pathsep.join(folders)) or shutil.which(NAME)
    if found is None:
        raise Error(
            "not-installed",
            f"the program {NAME} is neither beside this package nor on PATH",
            f"install the package again: pip install --force-reinstall {NAME}",
        )
    return Path(found)


def call(arguments: Sequence[str], cwd: str | os.PathLike[str] | None, deadline: float | None) -> Ended:
    """Run the program to its end. If it is given up, it ends its runs first."""
    program = find_program()
    try:
        process = subprocess.Popen(
            [str(program), *arguments],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, ValueError) as error:
        raise Error("usage", f"cannot start {program}: {error}") from error
    with process:
        try:
            stdout, stderr = process.communicate(timeout=deadline)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                message = f"the check took longer than its deadline of {deadline:g} seconds"
                raise Error("timeout", message) from None
            raise
    return Ended(process.returncode, stdout, stderr)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        # Its helper ends the runs then.
        process.kill()
