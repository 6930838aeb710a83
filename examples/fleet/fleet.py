#!/usr/bin/env python3
"""Checks many command-line tools, or validates folders of recordings, on a Ray cluster.

    pip install "ray[data]"
    python fleet.py check tools --parts 20 --out reports
    python fleet.py validate recordings --contract list.schema.json --out summary.json

`agentnative` and the files must have the same path on each machine: use a shared file system or an image. The
environment variable AGENTNATIVE names the program if it is not on PATH. Ray repeats a task whose worker is lost.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ray

PROGRAM = os.environ.get("AGENTNATIVE", "agentnative")
# Number of files that one call validates.
BATCH = 200
SUFFIXES = tuple(f"{kind}{packed}" for kind in (".json", ".jsonl", ".ndjson") for packed in ("", ".gz", ".zst"))


class Interrupted(Exception):
    """A call was killed by a signal: its output is incomplete."""


def call(arguments, folder, stdin=None):
    """Calls the program. Exit code 1 means that it has findings; this is not an error."""
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, input=stdin, capture_output=True, text=True)
    if done.returncode < 0 or done.returncode > 128:
        raise Interrupted(f"{PROGRAM} was killed by a signal")
    return done


@ray.remote(max_retries=5, retry_exceptions=[Interrupted])
def check_part(paths, part, parts, options, folder):
    """Checks one part of the targets, and returns the report."""
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary, "report.json")
        partition = ["--partition", f"{part}/{parts}", "--report", f"json={report}"]
        done = call(["check", "--all", *paths, *partition, "--quiet", *options], folder)
        if not report.exists():
            raise RuntimeError(done.stderr.strip())
        return report.read_text()


def check(args):
    """Checks each part in a task, and merges the reports."""
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("part-*.json"):
        old.unlink()
    parts = range(1, args.parts + 1)
    tasks = {check_part.remote(args.paths, part, args.parts, args.option, os.getcwd()): part for part in parts}
    waiting = list(tasks)
    while waiting:
        (task,), waiting = ray.wait(waiting)
        part = tasks[task]
        try:
            Path(out, f"part-{part}.json").write_text(ray.get(task))
            print(f"part {part}/{args.parts} finished, {len(waiting)} remaining", file=sys.stderr)
        except ray.exceptions.RayError as error:
            print(f"part {part}/{args.parts} failed: {error}", file=sys.stderr)
    # `report merge` names missing parts and rejects duplicate ones.
    files = sorted(str(path) for path in out.glob("part-*.json"))
    if not files:
        return 1
    merged = ["report", "merge", *files, "--report", f"json={out / 'fleet.json'}"]
    return subprocess.run([PROGRAM, *merged], check=False).returncode


def validate_batch(batch, contract, folder):
    """Validates the files of a batch, and returns a row for each."""
    paths = list(batch["path"])
    arguments = ["validate", "--json", "--contract", contract, "--jobs", "1", "--max-errors", "1"]
    done = call([*arguments, "--files-from", "-"], folder, "\0".join(paths) + "\0")
    if not done.stdout:
        raise RuntimeError(done.stderr.strip())
    data = json.loads(done.stdout)["data"]
    files = {file["file"]: file for file in data["files"]}
    unreadable = {file["file"]: file["message"] for file in data["unreadable"]}
    results = [files.get(path, {}) for path in paths]
    error = [next((error["message"] for error in file.get("errors", [])), "") for file in results]
    return {
        "path": paths,
        "valid": [bool(file.get("valid")) for file in results],
        "records": [file.get("records", 0) for file in results],
        "error": [message or unreadable.get(path, "") for path, message in zip(paths, error)],
    }


def validate(args):
    """Validates the files in batches, and writes a summary with each file once."""
    found = set()
    for path in map(Path, args.paths):
        below = path.rglob("*") if path.is_dir() else [path]
        found.update(str(file) for file in below if file.is_file() and file.name.endswith(SUFFIXES))
    rows = ray.data.from_items([{"path": path} for path in sorted(found)])
    rows = rows.repartition(max(1, -(-len(found) // BATCH)))
    keywords = {"contract": args.contract, "folder": os.getcwd()}
    rows = rows.map_batches(validate_batch, batch_size=BATCH, fn_kwargs=keywords)
    files = sorted(rows.take_all(), key=lambda row: row["path"])
    assert [file["path"] for file in files] == sorted(found)
    invalid = [file for file in files if not file["valid"]]
    summary = {
        "files": len(files),
        "records": sum(int(file["records"]) for file in files),
        "invalid": [{"file": file["path"], "error": file["error"]} for file in invalid],
    }
    Path(args.out).write_text(json.dumps(summary, indent=2) + "\n")
    print(f"{len(files)} files, {summary['records']} records, {len(invalid)} files invalid or unreadable")
    return int(bool(invalid))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="auto", help="address of the cluster; `local` starts one on this machine")
    commands = parser.add_subparsers(required=True)
    checking = commands.add_parser("check", help="check the targets of configurations")
    checking.add_argument("--parts", type=int, default=10, help="number of parts; a few per machine")
    checking.add_argument("--out", default="reports", help="folder for the reports of the parts and the merged report")
    checking.add_argument("--option", action="append", default=[], help="option of `agentnative check`, such as --option=--fast; repeatable")
    checking.set_defaults(run=check)
    validating = commands.add_parser("validate", help="validate JSON documents and JSON Lines")
    validating.add_argument("--contract", required=True)
    validating.add_argument("--out", default="summary.json", help="file for the summary")
    validating.set_defaults(run=validate)
    for command in (checking, validating):
        command.add_argument("paths", nargs="+", metavar="PATH")
    args = parser.parse_args()
    ray.init(address=args.address, log_to_driver=False)
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
