#!/usr/bin/env python3
"""The hostile suite: targets, inputs, servers and surroundings that try to fell the programs.

    python3 xtask/hostile [--bin DIR] [--surroundings NAME] [--isolation KIND] [--quick] [PATTERN...]

Runs the table in `cases/` on built programs. Each case has to end before its deadline with an expected code and the
expected verdict, in less than 256 MiB, without a process, a folder or a raw control character left. Exits with 1 if
one does not. Needs Linux and Python 3.11.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import driver
import processes
import surroundings
from cases import ALL
from surroundings import SURROUNDINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORLD = None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*", help="run the cases whose names contain one of these")
    parser.add_argument("--bin", default=f"{ROOT}/target/debug", help="folder of the programs [default: target/debug]")
    parser.add_argument("--surroundings", default="here", choices=SURROUNDINGS, help="where it runs [default: here]")
    parser.add_argument("--isolation", default="auto", help="confinement of runs: none, landlock, auto [default: auto]")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long or much of the machine")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the size of large inputs [default: 1]")
    parser.add_argument("--jobs", type=int, default=2, help="number of cases at a time [default: 2]")
    parser.add_argument("--list", action="store_true", help="list the cases, and run none")
    parser.add_argument("--verbose", action="store_true", help="show the output of each case that is wrong")
    return parser.parse_args()


#: Cases that concern the process itself: in surroundings they would hit the command that makes these.
OF_THE_CALLER = ("environment/", "files/disk-full", "limit/", "signal-to-us/")


def selected(args):
    for case in ALL:
        named = not args.pattern or any(pattern in case.name for pattern in args.pattern)
        # What runs no target is the same at every rung, and needs the surroundings of the caller alone.
        fits = args.surroundings == "here" or (
            case.live and not case.user and not case.name.startswith(OF_THE_CALLER)
        )
        if named and fits and not (args.quick and case.heavy):
            yield case


def base_folder(args):
    """A folder that every user can look into, with what the cases share."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
    base.chmod(0o755)
    os.mkdir(base / "bin")
    for name in ("agentnative", "reference-agent"):
        shutil.copy(pathlib.Path(args.bin, name), base / "bin" / name)
    shutil.copytree(ROOT / "fixtures/hostile", base / "targets")
    shutil.copy(ROOT / "xtask/hostile/container.py", base / "container.py")
    return base


def world(args, base):
    prefix = SURROUNDINGS[args.surroundings][1](base)
    if problem := surroundings.works(prefix):
        sys.exit(f"hostile: there is no `{args.surroundings}` here: {problem}")
    rung = "none"
    if args.surroundings != "no-proc":
        rung = surroundings.rung(base / "bin", prefix, args.isolation, base)
        if rung is None:
            sys.exit(f"hostile: a check with --isolation {args.isolation} tells nothing here")
    return driver.World(
        base, str(base / "bin"), str(base / "targets"), prefix, args.surroundings, args.isolation, rung, args.scale
    )


def begin(given):
    global WORLD
    WORLD = given
    processes.become_subreaper()
    # A target that fills the memory of the machine takes nobody else with it.
    os.nice(5)


def one(index):
    try:
        return driver.run(WORLD, ALL[index])
    except Exception as error:
        return driver.Result(ALL[index].name, [f"the suite failed: {error!r}"])


def run_all(args, given):
    cases = [(ALL.index(case), case) for case in selected(args)]
    context = multiprocessing.get_context("fork")
    groups = [(args.jobs, [n for n, case in cases if not case.alone]), (1, [n for n, case in cases if case.alone])]
    for jobs, group in groups:
        with concurrent.futures.ProcessPoolExecutor(jobs, context, begin, (given,)) as pool:
            yield from pool.map(one, group)


def show(args, result):
    if result.skipped:
        print(f"skip  {result.name}: {result.skipped}", flush=True)
        return
    code = "-" if result.code is None else result.code
    verdict = "FAIL" if result.wrong else "ok  "
    figures = f"exit {code!s:>4}  {result.seconds:5.1f} s  {result.memory >> 20:4} MiB"
    print(f"{verdict}  {figures}  {result.name}" + "".join(f"\n        {fault}" for fault in result.wrong), flush=True)
    if result.wrong and args.verbose:
        print("".join(f"        | {line}\n" for line in result.shown.splitlines()), end="", flush=True)


def main():
    args = arguments()
    if args.list:
        print("\n".join(case.name for case in selected(args)))
        return 0
    base = base_folder(args)
    try:
        given = world(args, base)
        about = SURROUNDINGS[args.surroundings][0]
        print(f"hostile: {about}; --isolation {args.isolation}, which is {given.rung} here", flush=True)
        started, results = time.monotonic(), []
        for result in run_all(args, given):
            results.append(result)
            show(args, result)
    finally:
        subprocess.run(["rm", "-rf", base], check=False)
    failed = [result.name for result in results if result.wrong]
    skipped = sum(1 for result in results if result.skipped)
    most = max((result.memory for result in results), default=0) >> 20
    took = time.monotonic() - started
    print(f"{len(results)} cases, {skipped} skipped, {len(failed)} failed, at most {most} MiB, {took:.0f} s")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
