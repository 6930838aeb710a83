"""Holds what `agentnative validate` says of numbers to Python's jsonschema, whose numbers are made exact here.

Usage: differential.py AGENTNATIVE [SCHEMAS [SEED]]. Needs the package jsonschema. Exits with 1 if the two differ.

One difference is deliberate: limits (`minimum` and the like), `const` and `enum` compare numbers as binary64 has them,
as most readers do. So documents here have only numbers that binary64 holds, except where the schema has `multipleOf`
or `type` alone, which are exact.
"""

import json
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from jsonschema import Draft7Validator, Draft202012Validator, ValidationError, validators

INTEGERS = [0, 1, 2, 3, 5, 7, 10, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 10**20, 3 * 10**25 + 1]
WRITTEN = ["0.0", "-0.0", "0.1", "0.3", "0.30", "1.5", "4.50", "1e2", "1E-2", "1e-7", "5e-324", "9007199254740993.5",
           "0.1234567890123456789", "18446744073709551615.5", "1e400", "1e-400", "3e21", "123e-2"]
FACTORS = ["1", "2", "3", "7", "10", "0.1", "0.01", "0.5", "1.5", "0.25", "2.5", "1e2", "1e-7", "9007199254740991",
           "18446744073709551615"]
DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
    "http://json-schema.org/draft-07/schema#": Draft7Validator,
}


def is_number(_, value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def is_integer(checker, value):
    return is_number(checker, value) and Fraction(value).denominator == 1


def multiple_of(_, factor, value, __):
    if is_number(None, value) and (Fraction(value) / Fraction(factor)).denominator != 1:
        yield ValidationError("not a multiple")


def exact(draft):
    checker = draft.TYPE_CHECKER.redefine("number", is_number).redefine("integer", is_integer)
    return validators.extend(draft, {"multipleOf": multiple_of}, type_checker=checker)


def number(dice):
    sign = dice.choice(["", "-"])
    near = dice.choice(INTEGERS) + dice.randint(-2, 2)
    return dice.choice([sign + dice.choice(WRITTEN).lstrip("-"), sign + str(abs(near)), f"{abs(near)}.{dice.choice('05')}"])


def held(written):
    """Whether binary64 or 64 bits hold a number as it is written."""
    if written.lstrip("-").isdigit() and abs(int(written)) < 2**63:
        return True
    return Decimal(float(written)) == Decimal(written)


def scalar(dice, exactly):
    if dice.random() < 0.75:
        written = number(dice)
        while not exactly and not held(written):
            written = number(dice)
        return written
    return dice.choice(["null", "true", '"a"', '""'])


def document(dice, exactly, depth=2):
    kind = dice.random()
    if depth == 0 or kind < 0.6:
        return scalar(dice, exactly)
    if kind < 0.8:
        return "[" + ",".join(document(dice, exactly, depth - 1) for _ in range(dice.randint(0, 3))) + "]"
    keys = dice.sample("abc", dice.randint(0, 3))
    return "{" + ",".join(f'"{key}":' + document(dice, exactly, depth - 1) for key in keys) + "}"


def schema(dice, exactly, depth=2):
    """The text of a schema; `exactly` for one whose keywords are exact."""
    simple = ['{"type":"integer"}', '{"type":"number"}', '{"type":["integer","null"]}',
              f'{{"multipleOf":{dice.choice(FACTORS)}}}']
    if not exactly:
        simple = ['{"type":"integer"}', f'{{"enum":[{scalar(dice, False)},{scalar(dice, False)}]}}',
                  f'{{"const":{scalar(dice, False)}}}', '{"uniqueItems":true}']
        limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
        written = number(dice)
        while not held(written):
            written = number(dice)
        simple.append(f'{{"{dice.choice(limits)}":{written}}}')
    if depth == 0 or dice.random() < 0.35:
        return dice.choice(simple)
    inner = [schema(dice, exactly, depth - 1) for _ in range(2)]
    return dice.choice([
        '{"items":%s,"contains":%s}', '{"properties":{"a":%s},"additionalProperties":%s}', '{"anyOf":[%s,%s]}',
        '{"oneOf":[%s,%s]}', '{"allOf":[%s,{"not":%s}]}', '{"if":%s,"then":%s}',
    ]) % tuple(inner)


def read(text):
    return json.loads(text, parse_float=Decimal)


def main():
    program = sys.argv[1]
    schemas = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    compared = different = 0
    with tempfile.TemporaryDirectory() as folder:
        contract, lines = Path(folder, "c.schema.json"), Path(folder, "documents.jsonl")
        for _ in range(schemas):
            exactly, uri = dice.random() < 0.5, dice.choice(list(DRAFTS))
            text = f'{{"$schema":"{uri}","properties":{{"v":{schema(dice, exactly)}}}}}'
            documents = [f'{{"v":{document(dice, exactly)}}}' for _ in range(60)]
            contract.write_text(text)
            lines.write_text("".join(line + "\n" for line in documents))
            ran = subprocess.run(
                [program, "validate", "--json", "--max-errors", "100000", "--framing", "lines", "--contract", contract,
                 lines], capture_output=True, text=True, check=False)
            if ran.returncode not in (0, 1):
                sys.exit(f"{text}: {ran.stderr}")
            errors = json.loads(ran.stdout)["data"]["files"][0]["errors"]
            ours = {found["line"] for found in errors}
            validator = exact(DRAFTS[uri])(read(text))
            for line, written in enumerate(documents, 1):
                compared += 1
                theirs = not validator.is_valid(read(written))
                if theirs != (line in ours):
                    different += 1
                    print(f"{text}\n  {written}\n  ours: {'in' if line in ours else ''}valid")
    print(f"{compared} documents, {schemas} schemas, {different} differences")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
