"""What the program prints: data, remarks and errors."""

import json
import sys
from dataclasses import dataclass
from enum import StrEnum

EXIT_ERROR, EXIT_USAGE, EXIT_AUTH, EXIT_CONFIG = 1, 2, 77, 78
EXIT_CODES = {"general": EXIT_ERROR, "usage": EXIT_USAGE, "auth": EXIT_AUTH, "config": EXIT_CONFIG}


class Format(StrEnum):
    text = "text"
    json = "json"
    jsonl = "jsonl"


class Failure(Exception):
    """An error with its kind, which sets the exit code."""

    def __init__(self, kind, error, message, retryable=False):
        self.fields = {"error": error, "kind": kind, "message": message, "retryable": retryable}


@dataclass
class Output:
    """Prints data on stdout, and everything else on stderr."""

    format: str = "text"
    quiet: bool = False
    verbose: bool = False
    no_input: bool = False

    def data(self, data, text, records=None):
        lines = [data] if records is None else records
        formats = {"json": [{"ok": True, "data": data}], "jsonl": lines}
        self.raw("\n".join(map(json.dumps, formats[self.format])) if self.format in formats else text)

    def raw(self, text):
        if text:
            print(text.rstrip("\n"), flush=True)

    def note(self, text, detail=False):
        if self.format == "text" and not self.quiet and (self.verbose or not detail):
            print(text, file=sys.stderr, flush=True)

    def fail(self, failure):
        """Prints an error, and returns its exit code."""
        fields = failure.fields
        print(f"todo: {fields['message']}" if self.format == "text" else json.dumps(fields), file=sys.stderr)
        return EXIT_CODES[fields["kind"]]
