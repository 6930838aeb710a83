"""Recordings that somebody edited, which a replay reads."""

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


def recorded(scene):
    """The lines of a real recording of the target."""
    words = [scene.world.binaries + "/agentnative", "check", "-q", "--layer", "behavioral", "--record", "real.rec"]
    subprocess.run(words, cwd=scene.work, capture_output=True, check=False, env={"PATH": "/usr/bin:/bin", "TMPDIR": scene.tmp})
    return (scene.work / "real.rec").read_text().splitlines()


def places(value, path=()):
    """Every value below a value, by its path."""
    if isinstance(value, (dict, list)):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(below, (*path, key))


def changed(document, chance):
    """The document with one value of it changed into something odd."""
    document = copy.deepcopy(document)
    *path, last = chance.choice(list(places(document)) or [()])
    around = document
    for key in path:
        around = around[key]
    value = around[last]
    if isinstance(value, str):
        around[last] = chance.choice(ODD)
    elif isinstance(value, (int, float)) or value is None:
        around[last] = chance.choice(NUMBERS)
    elif isinstance(value, list):
        around[last] = chance.choice([value * 3000, [], None, value[::-1], [value] * 50])
    else:
        around[last] = chance.choice([{}, None, [], value | {"\x1b[31m": ODD[0]}])
    return document


def edited(nth):
    """A recording in which some values, lines or bytes are others."""

    def make(scene):
        chance, lines = random.Random(nth), recorded(scene)
        kind = nth % 8
        if kind < 5:
            for _ in range(1 + nth % 3):
                at = chance.randrange(len(lines))
                lines[at] = json.dumps(changed(json.loads(lines[at]), chance))
        elif kind == 5:
            lines = lines[: chance.randrange(len(lines))]
        elif kind == 6:
            lines = lines[:1] + lines[1:] * 300
        content = "\n".join(lines).encode()
        if kind == 7:
            content = bytearray(content)
            for _ in range(20):
                content[chance.randrange(len(content))] = chance.randrange(256)
        (scene.work / "edited.rec").write_bytes(content)

    return make


def replaced(old, new):
    """A recording with one text in the place of another, wherever it stands."""

    def make(scene):
        (scene.outside / "secret.json").write_text(json.dumps({"const": SECRET}))
        os.mkfifo(scene.outside / "fifo.json")
        text = "\n".join(recorded(scene))
        (scene.work / "edited.rec").write_text(text.replace(old, new.format(**scene.words)))

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
    replay("folder", lambda scene: (scene.work / "edited.rec").mkdir()),
    replay("device", lambda scene: (scene.work / "edited.rec").symlink_to("/dev/zero"), Expect((1, 2, 78))),
]  # fmt: skip
