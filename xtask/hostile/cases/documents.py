"""Large and unusual documents, with each command that reads documents. Sizes apply to `--scale 1`."""

import json

from case import Expect, program


LINE = b'{"type":"text","id":%d,"text":"' + b"x" * 900 + b'","n":[1,2.5,true,null],"o":{"k":"v"}}\n'


def lines(path, size):
    """Writes records of about 1 KB each."""
    with open(path, "wb") as file:
        for start in range(0, size >> 10, 1000):
            file.write(b"".join(LINE % n for n in range(start, start + 1000)))


def small_lines(path, count):
    with open(path, "wb") as file:
        for start in range(0, count, 100_000):
            file.write(b"".join(b'{"a":%d}\n' % n for n in range(start, min(count, start + 100_000))))


def array(path, count):
    with open(path, "wb") as file:
        file.write(b"[")
        for start in range(0, count, 100_000):
            file.write(b"".join(b'{"a":%d,"b":"some text"},' % n for n in range(start, min(count, start + 100_000))))
        file.write(b'{"a":0,"b":""}]')


def types(path, count):
    with open(path, "wb") as file:
        for n in range(count):
            file.write(b'{"type":"t%d","k%d":1}\n' % (n, n))


def claude(path, size):
    """Writes the stream of an agent with many messages."""
    text = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "x" * 3000}]}}
    line = json.dumps(text).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(b'{"type":"system","subtype":"init","session_id":"s"}\n')
        for _ in range(size // len(line) // 100):
            file.write(line * 100)
        file.write(b'{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s"}\n')


def large(name, command, content, size, *words, expect=Expect((0, 1)), file="large.jsonl", **rest):
    """Returns a case of a command with one large file."""

    def prepare(context):
        content(context.work / file, int(size * context.world.scale))

    return program(
        f"large/{name}", command, "--json", *words, file, expect=expect, prepare=prepare, heavy=True, deadline=240,
        files={"object.json": '{"type":"object"}', "array.json": '{"type":"array","items":{"required":["a"]}}',
               "wrong.json": '{"type":"array"}'}, **rest,
    )  # fmt: skip


ODD = {
    "brackets": lambda path: path.write_bytes(b"[" * 1_000_000 + b"]" * 1_000_000),
    "braces": lambda path: path.write_bytes(b'{"a":' * 1_000_000),
    "digits": lambda path: path.write_bytes(b'{"a":1' + b"0" * 3_000_000 + b',"b":1e' + b"9" * 3_000_000 + b"}"),
    "same-keys": lambda path: path.write_bytes(b"{" + b'"a":1,' * 1_000_000 + b'"a":1}'),
    "keys": lambda path: path.write_bytes(b"{" + b"".join(b'"k%d":1,' % n for n in range(1_000_000)) + b'"a":1}'),
    "long-key": lambda path: path.write_bytes(b'{"' + b"k" * 5_000_000 + b'":1,"' + b"\\u0000" * 500_000 + b'":1}'),
    "strings": lambda path: path.write_bytes(b'["' + b"\\ud83d\\ude00" * 500_000 + b'"]'),
    "controls": lambda path: path.write_bytes(b'{"\x1b[31m\xe2\x80\xae\xc2\x9b":"\x07\xff\xfe","a":\x1b}\n::error::x\n' * 100),
    "nul": lambda path: path.write_bytes(bytes(5_000_000)),
    "blank": lambda path: path.write_bytes(b"\n" * 5_000_000),
    "returns": lambda path: path.write_bytes(b"\r" * 5_000_000),
    "utf-16": lambda path: path.write_bytes('{"a":1}'.encode("utf-16")),
    "empty": lambda path: path.write_bytes(b""),
}
#: Arguments of each command that reads a document.
READERS = {
    "validate": ("validate", "--contract", "./object.json"),
    "validate-stream": ("validate", "--contract", "claude-stream"),
    "infer": ("contract", "infer"),
    "infer-lines": ("contract", "infer", "--framing", "lines"),
    "outcome": ("outcome", "--from", "claude"),
    "outcome-auto": ("outcome",),
    "diff": ("contract", "diff", "other.json"),
}


def odd():
    for name, content in ODD.items():
        for reader, words in READERS.items():
            file = "odd.jsonl" if "lines" in reader or "stream" in reader else "odd.json"
            files = {file: content, "object.json": '{"type":"object"}', "other.json": '[{"a":1}]'}
            yield program(
                f"document/{name}/{reader}", *words, "--json", file, expect=Expect((0, 1, 2, 78)), files=files, deadline=60
            )


GIB, MIB = 1 << 30, 1 << 20
CASES = [
    *odd(),
    large("validate-lines-1-GB", "validate", lines, GIB, "--contract", "./object.json", expect=Expect((0,))),
    large("infer-lines-1-GB", "contract infer", lines, GIB, expect=Expect((0,))),
    large("validate-lines-many", "validate", small_lines, 10_000_000, "--contract", "./object.json", expect=Expect((0,))),
    large("infer-lines-many", "contract infer", small_lines, 10_000_000, expect=Expect((0,))),
    large("validate-array", "validate", array, 1_000_000, "--contract", "./array.json", file="large.json"),
    large("validate-array-wrong", "validate", array, 1_000_000, "--contract", "./object.json", file="large.json"),
    large("infer-array", "contract infer", array, 1_000_000, file="large.json"),
    large("diff-array", "contract diff", array, 1_000_000, "array.json", file="large.json"),
    large("diff-lines", "contract diff", lines, 300 * MIB, "array.json"),
    large("outcome-300-MB", "outcome", claude, 300 * MIB, "--from", "claude"),
    large("outcome-full-300-MB", "outcome", claude, 300 * MIB, "--full"),
    large("validate-stream-300-MB", "validate", claude, 300 * MIB, "--contract", "claude-stream"),
    large("infer-types-200000", "contract infer", types, 200_000),
    large("diff-types-200000", "contract diff", types, 200_000, "object.json"),
    large("validate-types-200000", "validate", types, 200_000, "--contract", "claude-stream"),
]
