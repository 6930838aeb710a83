"""The pytest fixture `agentnative`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import agentnative as module

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="session")
def agentnative() -> ModuleType:
    """Return the module: `agentnative.check(["mycli"], probes=["list"]).assert_conformant()`."""
    return module
