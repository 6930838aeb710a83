"""Finds and calls the program `agentnative`."""

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
PACKAGE = "agentnative-check"
# Time that the program has to end its runs after SIGTERM, in seconds.
GRACE_PERIOD = 5.0


class Error(Exception):
    """The command could not be checked.

    `kind` is the kind in the error object of the program: `usage`, `auth`, `config`, `nothing-run`, `budget` or
    `general`; or `not-installed` if the program is not found, or `timeout` if the check exceeded its deadline.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        """Create an error of this kind."""
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.kind = kind
        self.message = message
        self.hint = hint


class Completed(NamedTuple):
    """The exit code and the output of a call."""

    code: int
    stdout: str
    stderr: str

    def error_object(self) -> dict[str, Any] | None:
        """Return the error object in the last line of stderr, or `None`."""
        lines = self.stderr.splitlines()
        try:
            found = json.loads(lines[-1]) if lines else None
        except ValueError:
            return None
        return found if isinstance(found, dict) and "kind" in found else None

    def error(self) -> Error:
        """Return the error with which the program exited."""
        if (found := self.error_object()) is None:
            message = self.stderr.strip() or f"{NAME} exited with {self.code} and no message"
            return Error("general", message)
        issues = found.get("issues") or []
        message = "\n  ".join([str(found["message"]), *(_issue(issue) for issue in issues)])
        return Error(str(found["kind"]), message, found.get("hint"))


def _issue(issue: dict[str, Any]) -> str:
    position = ":".join(str(issue[key]) for key in ("file", "line", "column") if issue.get(key))
    return f"{position}: {issue['message']}" if position else str(issue["message"])


def find_program() -> Path:
    """Return the path of the program: of this package, or else on PATH."""
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    # `pip install --target` creates `bin` next to the package, `--prefix` next to `lib/python3.x/site-packages`.
    packages = Path(__file__).resolve().parent.parent
    folders.append(str(packages / "bin"))
    if packages.name in ("site-packages", "dist-packages"):
        folders += [str(above / "bin") for above in list(packages.parents)[2:3]]
    found = shutil.which(NAME, path=os.pathsep.join(folders)) or shutil.which(NAME)
    if found is None:
        raise Error(
            "not-installed",
            f"the program {NAME} is neither in this package nor on PATH",
            f"install the package again: pip install --force-reinstall {PACKAGE}",
        )
    return Path(found)


def call(arguments: Sequence[str], cwd: str | os.PathLike[str] | None, deadline: float | None) -> Completed:
    """Run the program and wait for it. After an interrupt or the deadline, the program ends its runs first."""
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
            _terminate(process)
            if isinstance(error, subprocess.TimeoutExpired):
                message = f"the check exceeded its deadline of {deadline:g} seconds"
                raise Error("timeout", message) from None
            raise
    return Completed(process.returncode, stdout, stderr)


def _terminate(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=GRACE_PERIOD)
    except subprocess.TimeoutExpired:
        # The helper of the program ends the runs.
        process.kill()
