"""Checks whether programs can rely on a command-line tool.

    import agentnative

    agentnative.check(["mycli"], probes=["list"]).assert_conformant()

The pytest fixture `agentnative` returns this module.
"""

from agentnative._check import Report, check
from agentnative._program import Error, find_program

__all__ = ["Error", "Report", "check", "find_program"]
