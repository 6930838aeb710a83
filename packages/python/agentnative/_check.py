"""Checking a command, and its report."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from agentnative._program import Error, call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A program, or an argument.
Word = Union[str, "os.PathLike[str]"]


class Report:
    """The verdicts on a command."""

    def __init__(self, report: dict[str, Any], text: str, failure: str | None) -> None:
        """Keep the parts of a report; `check` makes them."""
        self.report = report
        """The report as `agentnative check --json` prints it under `data`."""
        self.text = text
        """The report for people."""
        self.failure = failure
        """What fails; none if the command does what is required."""

    @property
    def conformant(self) -> bool:
        """No MUST failed."""
        return bool(self.report["conformant"])

    @property
    def verified(self) -> bool:
        """No MUST is unverified."""
        return bool(self.report["verified"])

    @property
    def results(self) -> list[dict[str, Any]]:
        """The verdict of each check: `id`, `status`, `message`, `evidence` and more."""
        return list(self.report["results"])

    def assert_conformant(self) -> Report:
        """Raise an AssertionError with the text report if a MUST failed.

        What `strict` and `deny` of the check add counts as well.
        """
        __tracebackhide__ = True
        if self.failure is not None:
            raise AssertionError(f"{self.failure}\n\n{self.text.rstrip()}")
        return self

    def __repr__(self) -> str:
        """Tell the verdict."""
        return f"<Report conformant={self.conformant} verified={self.verified}>"


def check(  # noqa: PLR0913
    command: Word | Sequence[Word],
    *,
    probes: Iterable[str] = (),
    contract: Word | None = None,
    principle: int | Iterable[int] = (),
    checks: Iterable[str] = (),
    skip: Iterable[str] = (),
    config: Word | None = None,
    env: Mapping[str, str] | None = None,
    exit_codes: Iterable[int] | None = None,
    cwd: Word | None = None,
    strict: bool = False,
    deny: Iterable[str] = (),
    timeout: float | None = None,
    jobs: int | None = None,
    fast: bool = False,
    verbose: bool = False,
    deadline: float | None = 600,
) -> Report:
    """Run a command as its consumers do, and judge its output.

    `command` is a program and its first arguments; no shell is involved. Each of the `probes` is a call that is
    safe to repeat, as `"[EXIT:]ARGS"`: the expected exit code and a colon, if it is not 0, then the arguments,
    split as a shell splits words. `contract` replaces the default rules: the name of a bundled contract, a
    contract folder or a schema file. `principle`, `checks` and `skip` select checks; `*` matches any part of
    an ID. `strict` fails also if a MUST is unverified, `deny=["should"]` also on warnings.

    `config` is a configuration file, with further probes, formats and waivers. Without it none is read, so that
    a test depends only on what it states; `env` then sets variables for the runs, and `exit_codes` states the
    exit codes of the command, all of which its help or README has to document. `cwd` is the folder in which
    they run; relative paths are relative to it. `timeout` limits each run and `deadline` the whole check, in
    seconds. `fast` makes plain runs only, and `verbose` lists all verdicts in the text.

    Raises `Error` if the command cannot be checked.
    """
    for name, value in (("env", env), ("exit_codes", exit_codes)):
        if value is not None and config is not None:
            raise Error(
                "usage", f"`{name}` and `config` exclude each other", f"set `{name}` under [target] in the file"
            )
    words = [command] if isinstance(command, (str, os.PathLike)) else command
    if not words or not os.fspath(words[0]):
        raise Error("usage", "the command is empty; expected a program and its first arguments")
    principles = [principle] if isinstance(principle, int) else principle
    with tempfile.TemporaryDirectory(prefix="agentnative-") as folder:
        text = Path(folder, "report.txt")
        if config is None:
            config = Path(folder, "agentnative.toml")
            config.write_text(_target(env or {}, exit_codes), encoding="utf-8")
        options = {
            "probe": probes,
            "principle": [str(number) for number in principles],
            "check": checks,
            "skip": skip,
            "deny": deny,
            "contract": [] if contract is None else [os.fspath(contract)],
            "timeout": [] if timeout is None else [repr(timeout)],
            "jobs": [] if jobs is None else [str(jobs)],
            "config": [os.fspath(config)],
            "report": [f"text={text}"],
            # A command has no source code.
            "layer": ["behavioral,project"],
        }
        arguments = ["check", "--json"]
        arguments += [f"--{name}={value}" for name, values in options.items() for value in _all(name, values)]
        switches = {"strict": strict, "fast": fast, "verbose": verbose}
        arguments += [f"--{name}" for name, on in switches.items() if on]
        ended = call([*arguments, "--", *(os.fspath(word) for word in words)], cwd, deadline)
        try:
            report = json.loads(ended.stdout)["data"]
            shown = text.read_text(encoding="utf-8")
        except (ValueError, KeyError, OSError):
            raise ended.error() from None
    failure = ended.error().message if ended.code else None
    return Report(report, shown, failure)


def _all(name: str, values: Iterable[str]) -> list[str]:
    """Give the values of an option; one string is a mistake, for it would be taken apart."""
    if isinstance(values, str):
        raise Error("usage", f"{name}: expected a list of strings, found a string: {values!r}")
    return list(values)


def _target(env: Mapping[str, str], exit_codes: Iterable[int] | None) -> str:
    """Give a configuration with these variables and exit codes."""

    def string(text: str) -> str:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    pairs = ", ".join(f"{string(name)} = {string(value)}" for name, value in env.items())
    lines = [f"env = {{ {pairs} }}\n"] if pairs else []
    if exit_codes is not None:
        lines.append(f"exit_codes = [{', '.join(str(int(code)) for code in exit_codes)}]\n")
    return "".join(["[target]\n", *lines])
