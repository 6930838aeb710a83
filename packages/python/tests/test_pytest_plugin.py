"""The fixture, in a pytest of its own; needs the wheel and pytest installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures/clis"
TESTS = """
CLIS = {clis!r}

def test_good(agentnative):
    agentnative.check([CLIS + "/conforming/sh/cli"], probes=["list"], checks=["p2-output-json"]).assert_conformant()

def test_bad(agentnative):
    agentnative.check([CLIS + "/violating/p2-output-json.bom/cli"], probes=["list"], principle=2).assert_conformant()
"""


class Plugin(unittest.TestCase):
    """The entry point `pytest11` of the wheel."""

    def test_the_fixture_is_there_and_a_failure_shows_the_report_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "test_cli.py").write_text(TESTS.format(clis=str(FIXTURES)), encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertIn("E       AssertionError: 1 MUST check failed", done.stdout)
        self.assertRegex(done.stdout, r"\nE +✗ p2-output-json  ")
        # The code of this package is no part of the story.
        self.assertNotIn("_check.py", done.stdout)


if __name__ == "__main__":
    unittest.main()
