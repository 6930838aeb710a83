"""The fixture `agentnative` for pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import agentnative as module

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="session")
def agentnative() -> ModuleType:
    """Check a command: `agentnative.check(["mycli"], probes=["list"]).assert_conformant()`."""
    return module
