"""Schemas that try to make the program hang, read other files or crash, with each command that reads schemas."""

import json
import os

from case import MIB, Expect, check, program

SECRET = "s3cr3t-of-a-file"


def doubling(word, levels=40):
    """Returns a schema in which each definition refers twice to the previous one."""
    definitions = {"d0": {"type": "object"}}
    for n in range(1, levels):
        definitions[f"d{n}"] = {word: [{"$ref": f"#/$defs/d{n - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/d{levels - 1}"}


def chain(length):
    definitions = {f"c{n}": {"$ref": f"#/$defs/c{n + 1}"} for n in range(length)}
    return {"$defs": definitions | {f"c{length}": {"type": "object"}}, "$ref": "#/$defs/c0"}


def nested(levels, word="properties"):
    text = '{"properties":{"a":' if word == "properties" else '{"not":'
    return text * levels + "{}" + ("}}" if word == "properties" else "}") * levels


#: Expectations of `validate`: a result or an error, an exceeded budget, a rejected schema.
ANY = Expect((0, 1, 78))
BUDGET = Expect((1,), kind="budget")
REFUSED = Expect((78,), kind="config")
REPEAT = {"type": "string", "pattern": "^(a{1,1000}){1,1000}{1,1000}$"}
SCHEMAS = {
    "doubling-all": (doubling("allOf"), BUDGET),
    "doubling-any": (doubling("anyOf"), ANY),
    "doubling-one": (doubling("oneOf"), BUDGET),
    "doubling-not": ({"$defs": doubling("allOf")["$defs"], "not": {"$ref": "#/$defs/d39"}}, BUDGET),
    "doubling-if": ({"$defs": doubling("allOf")["$defs"], "if": {"$ref": "#/$defs/d39"}, "then": {"required": ["b"]}}, BUDGET),
    "chain-2000": (lambda: chain(2000), ANY),
    "chain-20000": (lambda: chain(20_000), ANY),
    "any-100000": (lambda: {"anyOf": [{"const": n} for n in range(100_000)]}, REFUSED),
    "any-30000": (lambda: {"anyOf": [{"const": n} for n in range(30_000)]}, ANY),
    "enum-150000": (lambda: {"enum": list(range(150_000))}, ANY),
    "nested-100": (lambda: nested(100, "not"), ANY),
    "nested-100000": (lambda: nested(100_000, "not"), REFUSED),
    "nested-properties": (lambda: nested(100_000), REFUSED),
    "loop": ({"$ref": "#"}, ANY),
    "loop-of-two": ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, ANY),
    "loop-all": ({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, ANY),
    "dynamic": ({"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}] * 2}, ANY),
    "unevaluated": ({"$defs": doubling("anyOf")["$defs"], "$ref": "#/$defs/d39", "unevaluatedProperties": False}, ANY),
    "http": ({"$ref": "http://127.0.0.1:9/schema.json"}, REFUSED),
    "https-id": ({"$id": "https://127.0.0.1:9/a.json", "$ref": "b.json"}, REFUSED),
    "metaschema": ({"$schema": "http://127.0.0.1:9/meta"}, REFUSED),
    "file": ({"$ref": "file:///etc/passwd"}, REFUSED),
    "absolute": ({"$ref": "/etc/passwd"}, REFUSED),
    "parent": ({"$ref": "../outside/secret.json"}, REFUSED),
    "symlink": ({"$ref": "link.json"}, REFUSED),
    "dev-zero": ({"$ref": "zero.json"}, REFUSED),
    "fifo": ({"$ref": "fifo.json"}, REFUSED),
    "redos": ({"patternProperties": {"^(a+)+$": {}, "^(([a-z])+.)+[A-Z]([a-z])+$": {}}, "propertyNames": {"pattern": "(a|a)*b"}}, ANY),
    "redos-lookaround": ({"propertyNames": {"pattern": "^(?=(a+))\\1(?=(a+)+$)(a|aa)+$"}}, ANY),
    "repetition": ({"propertyNames": REPEAT}, ANY),
    "multiple-of": ({"properties": {"n": {"multipleOf": 1e-300}}, "additionalProperties": {"multipleOf": 5e-324}}, ANY),
    "huge-bounds": ('{"minimum":1e999999999,"maxLength":1e400,"properties":{"a":{"multipleOf":1e-400}}}', ANY),
    "lengths": (
        {
            "required": ["a", "b", "c"],
            "properties": {
                "a": {"type": "string", "minLength": 2**63},
                "b": {"type": "array", "minItems": 10**12, "uniqueItems": True},
                "c": {"type": "object", "minProperties": 2**64 - 1},
            },
        },
        ANY,
    ),
    "contains": ({"type": "array", "minContains": 2**63, "contains": {}, "uniqueItems": True}, ANY),
    "keys-150000": (lambda: {"properties": {f"k{n}": True for n in range(150_000)}}, ANY),
    "depends": (lambda: {"dependentSchemas": {"a": {"$ref": "#"}}, "required": [f"r{n}" for n in range(100_000)]}, ANY),
    "controls": ({"required": ["\x1b[31m\u202e\x9b"], "title": "\x07", "const": "\x1b]0;x\x07"}, ANY),
}
INSTANCE = '{"a":{"a":{"a":1}},"n":1e300,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!":1}'


def written(schema):
    """Returns a function that generates and writes a schema."""

    def write(path):
        value = schema() if callable(schema) else schema
        path.write_text(value if isinstance(value, str) else json.dumps(value))

    return write


def forbidden_files(context):
    """Creates files that a schema must not refer to: a file outside, and devices."""
    (context.outside / "secret.json").write_text(json.dumps({"const": SECRET}))
    (context.work / "link.json").symlink_to(context.outside / "secret.json")
    (context.work / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(context.work / "fifo.json")


def safe(expect, *codes):
    """Returns the expectation, without any output from files other than the schema."""
    return Expect(codes or expect.codes, expect.status, kind=None if codes else expect.kind, lacks=(SECRET, "root:x"))


def with_each_command(name, schema, expect):
    """Yields a case for each command that reads the schema."""
    files = {"schema.json": written(schema), "other.json": '{"type":"string"}', "one.json": INSTANCE}
    beside = {"type": "object", "properties": {"a": {"$ref": "schema.json"}, "b": {"type": "integer"}}, "required": ["a"]}
    files |= {"changed.json": json.dumps(beside), "beside.json": json.dumps(beside | {"required": ["a", "b"]})}
    files |= {"contract/contract.toml": CONTRACT, "contract/schema.json": files["schema.json"]}
    rest = {"files": files, "prepare": forbidden_files, "deadline": 60}
    yield program(
        f"schema/{name}/validate", "validate", "--json", "--contract", "./schema.json", "one.json", expect=safe(expect), **rest
    )
    if name == "controls":
        # The text output shows texts of the schema.
        yield program(
            f"schema/{name}/text", "validate", "--contract", "./schema.json", "one.json", expect=ANY, **rest, json=False
        )
    for first, second in (("schema", "other"), ("other", "schema")):
        yield program(
            f"schema/{name}/diff-{second}", "contract diff", "--json", f"{first}.json", f"{second}.json",
            # In a debug build, 150,000 keys take 273 MiB.
            expect=safe(expect, 0, 1, 78), **rest | {"deadline": 90, "memory": 320 << 20},
        )  # fmt: skip
    # The diff generates values of the schema as witnesses. It compiles each schema twice, to compare it and to validate
    # the values, which needs the most memory.
    yield program(
        f"schema/{name}/diff-beside", "contract diff", "--json", "beside.json", "changed.json",
        expect=safe(expect, 0, 1, 78), **rest | {"deadline": 90, "memory": 384 * MIB},
    )  # fmt: skip
    yield program(
        f"schema/{name}/show", "contract show", "--json", "./contract", expect=safe(expect, 0, 1, 78), **rest
    )
    # The same schema, printed by a target.
    files = files | {
        "x:cli": f"#!/bin/sh\ncase $1 in schema) cat schema.json ;; go) echo '{INSTANCE}' ;; *) exit 2 ;; esac\n",
        "agentnative.toml": "[target]\ncommand = ['./cli']\nschema = ['schema']\n",
    }
    own = Expect((0, 1), {"p2-schema-print": "warn unverified pass"}, lacks=(SECRET, "root:x"))
    yield check(
        f"schema/{name}/printed", "{work}", own, **rest | {"files": files, "heavy": expect is BUDGET},
        checks=("p2-schema-print",),
    )  # fmt: skip


CONTRACT = """title = "Odd"
[json]
schema = "schema.json"
"""

CASES = [case for name, (schema, expect) in SCHEMAS.items() for case in with_each_command(name, schema, expect)]
