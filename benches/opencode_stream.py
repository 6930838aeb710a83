"""Writes a long stream of opencode's server bus: real recordings, repeated with new IDs.

Usage: python3 benches/opencode_stream.py RECORDINGS MEGABYTES [--wrong] > events.jsonl

RECORDINGS is a folder with opencode-bus-text.jsonl, opencode-bus-tool.jsonl and opencode-bus-err400.jsonl. The stream is
valid against the contract opencode-events; with --wrong, every session ID is a number.
"""

import itertools
import pathlib
import re
import string
import sys

RUNS = ["text", "tool", "err400"]
ID = re.compile(r"\b((?:evt|ses|msg|prt|call)_)(\w+)")
DIGITS = string.digits + string.ascii_letters


def with_ids(text, number):
    """Returns the text with `number` in the last four characters of each ID, so that no length changes."""
    suffix = "".join(DIGITS[number // len(DIGITS) ** place % len(DIGITS)] for place in (3, 2, 1, 0))
    return ID.sub(lambda found: found[1] + (found[2][:-4] if len(found[2]) > 8 else found[2]) + suffix, text)


def main():
    folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2]) * 1_000_000
    runs = [(folder / f"opencode-bus-{run}.jsonl").read_text(encoding="utf-8") for run in RUNS]
    if "--wrong" in sys.argv:
        runs = [run.replace('"sessionID":"ses_', '"sessionID":7,"was":"ses_') for run in runs]
    for number in itertools.count():
        for run in runs:
            text = with_ids(run, number).encode()
            sys.stdout.buffer.write(text)
            size -= len(text)
        if size <= 0:
            break


if __name__ == "__main__":
    main()
