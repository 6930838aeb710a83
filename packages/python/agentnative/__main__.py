"""Runs the program: `python -m agentnative`."""

import os
import sys

from agentnative import Error, find_program

if __name__ == "__main__":
    try:
        program = find_program()
    except Error as error:
        sys.exit(f"error: {error}")
    os.execv(program, [str(program), *sys.argv[1:]])  # noqa: S606
