"""The empty package that pre-commit installs for the hook `agentnative`; the program is in `additional_dependencies`."""

from setuptools import setup

setup(name="agentnative-pre-commit", version="0", py_modules=[])
