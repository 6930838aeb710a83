"""Test of the fixture in a separate pytest process. Requires that the wheel and pytest are installed."""

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


class PluginTest(unittest.TestCase):
    """Tests of the entry point `pytest11` of the wheel."""

    def test_a_failure_of_the_fixture_shows_only_the_report(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "test_cli.py").write_text(TESTS.format(clis=str(FIXTURES)), encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no"]
            completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(completed.returncode, 1, completed.stdout + completed.stderr)
        self.assertIn("1 failed, 1 passed", completed.stdout)
        self.assertIn("E       AssertionError: 1 MUST check failed", completed.stdout)
        self.assertRegex(completed.stdout, r"\nE +✗ p2-output-json  ")
        # The traceback omits the code of this package.
        self.assertNotIn("_check.py", completed.stdout)


if __name__ == "__main__":
    unittest.main()
