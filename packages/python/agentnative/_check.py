"""The function `check` and its result, `Report`."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from agentnative._program import Error, call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A program or an argument.
Word = Union[str, "os.PathLike[str]"]


class Report:
    """The verdicts on a command."""

    def __init__(self, report: dict[str, Any], text: str, failure: str | None) -> None:
        """Store the parts of a report, which `check` provides."""
        self.report = report
        """The report: the value of `data` in the output of `agentnative check --json`."""
        self.text = text
        """The text report."""
        self.failure = failure
        """The reason why the check failed; `None` if it succeeded."""

    @property
    def conformant(self) -> bool:
        """True if no MUST check failed."""
        return bool(self.report["conformant"])

    @property
    def verified(self) -> bool:
        """True if no MUST check is unverified."""
        return bool(self.report["verified"])

    @property
    def results(self) -> list[dict[str, Any]]:
        """The verdict of each check: `id`, `status`, `message`, `evidence` and more."""
        return list(self.report["results"])

    def assert_conformant(self) -> Report:
        """Raise an AssertionError with the text report if a MUST check failed.

        Raises it also for the results that `strict` and `deny` turn into failures.
        """
        __tracebackhide__ = True
        if self.failure is not None:
            raise AssertionError(f"{self.failure}\n\n{self.text.rstrip()}")
        return self

    def __repr__(self) -> str:
        """Return a summary of the verdicts."""
        return f"<Report conformant={self.conformant} verified={self.verified}>"


def check(  # noqa: PLR0913
    command: Word | Sequence[Word],
    *,
    probes: Iterable[str] = (),
    changes: Iterable[str] = (),
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
    explore: bool = False,
    workspace: Word | None = None,
    verbose: bool = False,
    deadline: float | None = 600,
) -> Report:
    """Run a command as its consumers do, and check its output.

    `command` is a program with its first arguments; no shell is involved. Each of the `probes` is a call that is
    safe to repeat, in the form `"[EXIT:]ARGS"`: the expected exit code and a colon, if it is not 0, then the
    arguments, split like words in a shell. `contract` replaces the default rules: the name of a bundled contract,
    a contract folder or a schema file. `principle`, `checks` and `skip` select checks; `*` matches any part of
    an ID. With `strict`, the check fails also if a MUST check is unverified; with `deny=["should"]`, also on
    warnings.

    `config` is a configuration file, with additional probes, formats and waivers. Without it, no configuration is
    read, so that a test depends only on its arguments. `env` then sets environment variables for the runs, and
    `exit_codes` lists the exit codes of the command, all of which its help or README has to document. `cwd` is the
    working directory; relative paths are relative to it. `timeout` limits each run and `deadline` the complete
    check, in seconds. With `fast`, only plain runs are made; with `verbose`, the text report lists all verdicts.

    `changes` are calls that change something, in the form of `probes`. Each of their runs, and each run of `probes`,
    starts in a copy of the folder `workspace`; without it, the `changes` start in an empty folder.

    With `explore`, calls of the command are found in its help and examples, and judged, too. They are made in full
    confinement, each in a copy of the folder `workspace`, or of a folder with a few sample files.

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
            config.write_text(_config_text(env or {}, exit_codes), encoding="utf-8")
        options = {
            "probe": probes,
            "changes": changes,
            "principle": [str(number) for number in principles],
            "check": checks,
            "skip": skip,
            "deny": deny,
            "contract": [] if contract is None else [os.fspath(contract)],
            "timeout": [] if timeout is None else [repr(timeout)],
            "jobs": [] if jobs is None else [str(jobs)],
            "config": [os.fspath(config)],
            "workspace": [] if workspace is None else [os.fspath(workspace)],
            "report": [f"text={text}"],
            # The source layer needs a project; a command has none.
            "layer": ["behavioral,project"],
        }
        arguments = ["check", "--json"]
        arguments += [f"--{name}={value}" for name, values in options.items() for value in _strings(name, values)]
        flags = {"strict": strict, "fast": fast, "verbose": verbose, "explore": explore}
        arguments += [f"--{name}" for name, is_set in flags.items() if is_set]
        completed = call([*arguments, "--", *(os.fspath(word) for word in words)], cwd, deadline)
        try:
            report = json.loads(completed.stdout)["data"]
            text_report = text.read_text(encoding="utf-8")
        except (ValueError, KeyError, OSError):
            raise completed.error() from None
    failure = completed.error().message if completed.code else None
    return Report(report, text_report, failure)


def _strings(name: str, values: Iterable[str]) -> list[str]:
    """Return the values of an option. Rejects a single string, which would be split into characters."""
    if isinstance(values, str):
        raise Error("usage", f"{name}: expected a list of strings, found a string: {values!r}")
    return list(values)


def _config_text(env: Mapping[str, str], exit_codes: Iterable[int] | None) -> str:
    """Return a configuration with these variables and exit codes."""

    def toml_string(text: str) -> str:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    pairs = ", ".join(f"{toml_string(name)} = {toml_string(value)}" for name, value in env.items())
    lines = [f"env = {{ {pairs} }}\n"] if pairs else []
    if exit_codes is not None:
        lines.append(f"exit_codes = [{', '.join(str(int(code)) for code in exit_codes)}]\n")
    return "".join(["[target]\n", *lines])
