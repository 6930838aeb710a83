"""Targets with endless, huge, deeply nested or invalid output, and output to the terminal."""

from case import Expect, check

PRINT = "{targets}/heavy/print.py"
JSON = ("p2-output-json", "p2-json-strict")
BROKEN = Expect((1,), {"p2-output-json": "fail"})
#: With plain runs only, some checks that would pass are unverified.
FINE = Expect((0,), {"p2-output-json": "pass unverified"})


def printed(name, kind, expect, *, checks=JSON, **rest):
    return check(f"output/{name}", PRINT, expect, probe=f"go {kind}", checks=checks, **rest)


ENDLESS = Expect((0, 1), {"p2-completes": "fail unverified", "p2-output-json": "fail unverified"})

CASES = [
    printed("endless", "endless", ENDLESS, checks=("p2-completes", *JSON), timeout=10, deadline=90, heavy=True),
    printed("endless-stderr", "endless-stderr", ENDLESS, checks=("p2-completes", *JSON), timeout=10, deadline=90, heavy=True),
    printed("line-300-MB", "long-line 300000", BROKEN, timeout=30, deadline=120, heavy=True),
    printed("string-300-MB", "string 300000", FINE, timeout=30, deadline=120, heavy=True),
    printed("string-30-MB", "string 30000", FINE, timeout=30, deadline=60),
    printed("brackets", "brackets 1000000", Expect((0, 1), {"p2-output-json": "fail unverified"}), timeout=30),
    printed("braces", "braces 1000000", Expect((0, 1), {"p2-output-json": "fail unverified"}), timeout=30),
    printed("digits", "digits 3000000", Expect((0, 1), {"p2-output-json": "pass unverified"}), timeout=30),
    printed("same-keys", "same-keys 1000000", Expect((1,), {"p2-json-strict": "fail"}), timeout=30, deadline=60),
    printed("keys", "keys 1000000", FINE, timeout=30, deadline=60),
    printed("types", "types 200000", Expect((0, 1)), checks=("p2-output-jsonl",), timeout=30, deadline=60),
    printed("controls", "controls", Expect((1,)), checks=("p2-*",), fast=False, deadline=60),
    printed("slow", "slow", Expect((1,), {"p2-completes": "fail"}), checks=("p2-completes",), timeout=3),
    printed("terminal", "terminal", Expect((0, 1)), checks=("p2-completes", *JSON), fast=False),
    # It stops its terminals. Each run that therefore times out is repeated alone.
    printed("terminal-modes", "modes", Expect((0, 1)), checks=("p2-completes", *JSON), fast=False, timeout=2, deadline=90),
    printed("closed-streams", "closed", Expect((1,), {"p2-completes": "fail"}), checks=("p2-completes",), timeout=1),
]  # fmt: skip
