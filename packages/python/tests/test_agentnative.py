"""Tests of the package; the program must be on PATH. Run `python3 -m unittest tests.test_agentnative` in `..`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import agentnative

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(__file__).resolve().parents[1]
CLIS = PACKAGE.parents[1] / "fixtures/clis"
GOOD = CLIS / "conforming/sh/cli"
BAD = CLIS / "violating/p2-output-json.bom/cli"


class CheckTest(unittest.TestCase):
    """Tests that check the fixtures."""

    def setUp(self) -> None:
        # Hides a program that is installed on the machine, so that the one of this build is found.
        patch = mock.patch("sysconfig.get_path", return_value="/nonexistent")
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_conforming_tool_passes(self) -> None:
        report = agentnative.check(GOOD, probes=["list"], checks=["p2-output-json", "p2-exit-auth"])
        self.assertIs(report.assert_conformant(), report)
        self.assertTrue(report.conformant)
        self.assertFalse(report.verified)
        status = {result["id"]: result["status"] for result in report.results}
        self.assertEqual(status, {"p2-output-json": "pass", "p2-exit-auth": "unverified"})
        self.assertEqual(report.report["target"]["command"], [str(GOOD)])

    def test_strict_fails_on_unverified_checks(self) -> None:
        report = agentnative.check([GOOD], probes=["list"], checks=["p2-exit-auth"], strict=True)
        with self.assertRaisesRegex(AssertionError, "(?s)^1 MUST check unverified\n\ncli .*p2-exit-auth"):
            report.assert_conformant()

    def test_a_failure_contains_the_text_report(self) -> None:
        report = agentnative.check([BAD], probes=["list"], checks=["p2-output-json"])
        self.assertFalse(report.conformant)
        with self.assertRaises(AssertionError) as raised:
            report.assert_conformant()
        message = str(raised.exception)
        self.assertTrue(message.startswith("1 MUST check failed\n\ncli  "), message)
        for part in ["✗ p2-output-json  ", "list --output json", "not conformant: 1 failed"]:
            self.assertIn(part, message)
        self.assertNotIn("\x1b", message)

    def test_runs_receive_environment_folder_and_arguments_unchanged(self) -> None:
        value = 'a "b" \\ $HOME ü 😀 \t\x7f'
        script = f'[ "$A" = \'{value}\' ] && [ "$PWD" = /usr ] && [ "$1" = \'x; y\' ]'
        command = ["sh", "-c", script, "mycli", "x; y"]

        def conformant(**options: Any) -> bool:
            options = {"env": {"A": value}, "cwd": "/usr", "timeout": 5.5, "jobs": 2, "fast": True, **options}
            return agentnative.check(command, probes=["list"], checks=["p2-exit-success"], **options).conformant

        self.assertTrue(conformant())
        self.assertFalse(conformant(env={"A": "b"}))
        self.assertFalse(conformant(cwd="/"))

    def test_calls_that_change_something_run_in_copies_of_the_workspace(self) -> None:
        script = '[ -e list ] && case "$*" in *add*) echo b >>list ;; esac'
        with tempfile.TemporaryDirectory() as workspace:
            Path(workspace, "list").write_text("a\n", encoding="utf-8")
            report = agentnative.check(
                ["sh", "-c", script, "mycli"],
                probes=["list"],
                changes=["add"],
                workspace=workspace,
                checks=["p5-read-only", "p2-exit-success"],
            )
            self.assertEqual([result["status"] for result in report.results], ["pass", "pass"])
            self.assertEqual(Path(workspace, "list").read_text(encoding="utf-8"), "a\n")

    def test_a_given_configuration_is_used(self) -> None:
        config = CLIS / "agentnative.toml"
        agentnative.check(GOOD, config=config, checks=["p2-exit-success"], strict=True).assert_conformant()

    def test_each_error_has_its_kind(self) -> None:
        with tempfile.NamedTemporaryFile() as denied:
            cases: list[tuple[Any, dict[str, Any], str, str]] = [
                ([GOOD], {"checks": ["p2-output-jsn"]}, "usage", "did you mean `p2-output-json`"),
                ([GOOD], {"probes": ["list 'x"]}, "usage", "an unclosed quote"),
                ([GOOD], {"probes": "list"}, "usage", "expected a list of strings, found a string: 'list'"),
                ([GOOD], {"principle": [2, 9]}, "usage", "no checks for principle 9"),
                ([GOOD], {"timeout": 0}, "usage", "expected a number of seconds above 0"),
                ([GOOD], {"config": "x.toml", "env": {}}, "usage", "exclude each other"),
                ([GOOD], {"config": "x.toml", "exit_codes": [0]}, "usage", "exclude each other"),
                ([GOOD], {"exit_codes": [0, 256]}, "config", "exit_codes"),
                ([GOOD], {"probes": ["list"], "workspace": "/nonexistent"}, "usage", "no such folder: /nonexistent"),
                ([GOOD], {"cwd": "/nonexistent"}, "usage", "/nonexistent"),
                ([], {}, "usage", "the command is empty; expected a program"),
                ([GOOD], {"contract": "dexter-falt"}, "config", "dexter-flat"),
                ([GOOD], {"config": "/nonexistent.toml"}, "config", "cannot read /nonexistent.toml"),
                (["no-such-mycli"], {}, "config", "no-such-mycli"),
                ([denied.name], {}, "auth", denied.name),
            ]
            for command, options, kind, part in cases:
                with self.subTest(command=command, **options), self.assertRaises(agentnative.Error) as raised:
                    agentnative.check(command, **options)
                self.assertEqual(raised.exception.kind, kind, raised.exception)
                self.assertIn(part, str(raised.exception))

    def test_a_missing_program_is_an_error(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}), self.assertRaises(agentnative.Error) as raised:
            agentnative.check([GOOD])
        self.assertEqual(raised.exception.kind, "not-installed")
        self.assertIn("pip install", str(raised.exception))

    def test_the_program_of_the_prefix_is_found_next_to_site_packages(self) -> None:
        with tempfile.TemporaryDirectory() as prefix:
            program = Path(prefix, "bin/agentnative")
            program.parent.mkdir()
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o755)
            for package, found in [("lib/python3/site-packages", True), ("checkout/packages/python", False)]:
                folder = Path(prefix, package)
                shutil.copytree(PACKAGE / "agentnative", folder / "agentnative")
                script = "import agentnative._program as program; print(program.find_program())"
                environment = {"PATH": "/nonexistent", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
                completed = subprocess.run(
                    [sys.executable, "-c", script],
                    cwd=prefix,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(completed.stdout.strip() == str(program.resolve()), found, completed.stderr)

    def test_an_aborted_check_leaves_no_process(self) -> None:
        marker = f"agentnative-test-{os.getpid()}"
        command = ["sh", "-c", "while :; do sleep 60; done", marker]
        with self.assertRaises(agentnative.Error) as raised:
            agentnative.check(command, deadline=0.5)
        self.assertEqual(raised.exception.kind, "timeout")
        self.assertEqual(_running(marker), [])

        script = f"import agentnative\nagentnative.check({command!r})"
        with subprocess.Popen([sys.executable, "-c", script], cwd=PACKAGE, stderr=subprocess.PIPE, text=True) as python:
            # Waits for the program and its first run: earlier, the module may not have started the program yet.
            _wait_until(lambda: len(_running(f"\0{marker}\0")) > 1)
            python.send_signal(signal.SIGINT)
            _, stderr = python.communicate(timeout=20)
        self.assertIn("KeyboardInterrupt", stderr)
        self.assertEqual(_running(f"\0{marker}\0"), [])


def _running(text: str) -> list[str]:
    """Return the processes with this text in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in words and folder.name != str(os.getpid()):
            found.append(f"{folder.name} {words}")
    return found


def _wait_until(condition: Callable[[], object]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("the condition was not met in time")


if __name__ == "__main__":
    unittest.main()
