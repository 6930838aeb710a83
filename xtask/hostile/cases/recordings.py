"""Replays of recordings that were edited."""

import copy
import json
import os
import random
import subprocess

from case import Expect, program

from .schemas import SECRET

CLI = """#!/bin/sh
case $1 in
schema) echo '{"type":"object"}' ;;
go) echo '{"a":1}' ;;
*) echo '{"error":"usage","kind":"usage","message":"no"}' >&2; exit 2 ;;
esac
"""
CONFIG = """[target]
command = ['./cli']
schema = ['schema']
[[probe]]
name = 'go'
args = ['go']
contract = 'schema.json'
"""
FILES = {"x:cli": CLI, "agentnative.toml": CONFIG, "schema.json": '{"type":"object"}'}
ODD = ["\x1b[31m\u202e\x07", "", "/etc/passwd", "../../../etc/passwd", "x" * 100_000, "\0", "/dev/zero", "{port}"]
NUMBERS = [-1, 0, 2**53 + 1, 2**64, 1e308, -1e-300, True, None]


def recorded(context):
    """Records a check of the target, and returns the lines of the recording."""
    words = [context.world.binaries + "/agentnative", "check", "-q", "--layer", "behavioral", "--record", "real.rec"]
    subprocess.run(words, cwd=context.work, capture_output=True, check=False, env={"PATH": "/usr/bin:/bin", "TMPDIR": context.tmp})
    return (context.work / "real.rec").read_text().splitlines()


def paths(value, path=()):
    """Yields the path of every value inside a value."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from paths(inner, (*path, key))


def mutated(document, rng):
    """Returns the document with one value replaced by an unusual one."""
    document = copy.deepcopy(document)
    *path, last = rng.choice(list(paths(document)) or [()])
    container = document
    for key in path:
        container = container[key]
    value = container[last]
    if isinstance(value, str):
        container[last] = rng.choice(ODD)
    elif isinstance(value, (int, float)) or value is None:
        container[last] = rng.choice(NUMBERS)
    elif isinstance(value, list):
        container[last] = rng.choice([value * 3000, [], None, value[::-1], [value] * 50])
    else:
        container[last] = rng.choice([{}, None, [], value | {"\x1b[31m": ODD[0]}])
    return document


def edited(nth):
    """Returns a function that writes a recording with changed values, lines or bytes."""

    def make(context):
        rng, lines = random.Random(nth), recorded(context)
        kind = nth % 8
        if kind < 5:
            for _ in range(1 + nth % 3):
                index = rng.randrange(len(lines))
                lines[index] = json.dumps(mutated(json.loads(lines[index]), rng))
        elif kind == 5:
            lines = lines[: rng.randrange(len(lines))]
        elif kind == 6:
            lines = lines[:1] + lines[1:] * 300
        content = "\n".join(lines).encode()
        if kind == 7:
            content = bytearray(content)
            for _ in range(20):
                content[rng.randrange(len(content))] = rng.randrange(256)
        (context.work / "edited.rec").write_bytes(content)

    return make


def replaced(old, new):
    """Returns a function that writes a recording in which each `old` is replaced by `new`."""

    def make(context):
        (context.outside / "secret.json").write_text(json.dumps({"const": SECRET}))
        os.mkfifo(context.outside / "fifo.json")
        text = "\n".join(recorded(context))
        (context.work / "edited.rec").write_text(text.replace(old, new.format(**context.words)))

    return make


def replay(name, prepare, expect=Expect((0, 1, 2, 78), lacks=(SECRET, "root:x")), **rest):
    words = ("check", "--json", "--layer", "behavioral", "--replay", "edited.rec")
    return program(f"recording/{name}", *words, expect=expect, files=FILES, prepare=prepare, deadline=40, **rest)


CASES = [
    replay("whole", replaced("nothing", "nothing"), Expect((0, 1), {"p2-contract-schema": "pass"})),
    *(replay(f"edited-{nth}", edited(nth)) for nth in range(64)),
    *(
        replay(f"schema-{name}", replaced("schema.json", path))
        for name, path in (
            ("outside", "{outside}/secret.json"), ("parent", "../outside/secret.json"), ("text", "/etc/passwd"),
            ("fifo", "{outside}/fifo.json"), ("device", "/dev/zero"),
        )
    ),
    replay("folder", lambda context: (context.work / "edited.rec").mkdir()),
    replay("device", lambda context: (context.work / "edited.rec").symlink_to("/dev/zero"), Expect((1, 2, 78))),
]  # fmt: skip
