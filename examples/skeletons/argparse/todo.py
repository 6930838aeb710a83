#!/usr/bin/env python3
"""Keep a list of tasks in todo.json of the current folder."""

import argparse
import json
import os
import signal
import sys
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

from todo_output import FORMATS, Failure, Output

STORE, LOCK = Path("todo.json"), Path("todo.json.lock")
HERE = Path(__file__).resolve().parent
EPILOG = """\
examples:
  todo list --output json
  todo remove milk --yes

exit codes:
  0   success
  1   the command failed
  2   wrong arguments
  77  no token, or the server rejects it
  78  the configuration is missing or invalid
"""
COMPLETIONS = {
    "bash": "complete -o default -W '{words}' todo",
    "zsh": "#compdef todo\n_arguments '1:command:({words})' '*:argument:_files'",
    "fish": "complete -c todo -f -a '{words}'",
}


def load():
    return json.loads(STORE.read_text()) if STORE.exists() else []


def save(change, dry_run):
    """Changes the list, and returns whether that changes anything. The new file is the lock, until it is renamed."""
    if dry_run:
        return change(load()) != load()
    try:
        file = LOCK.open("x")
    except FileExistsError:
        message = f"another call changes {STORE}; try again, or remove {LOCK} if there is none"
        raise Failure("general", "locked", message, retryable=True) from None
    with file:
        before = load()
        after = change(before)
        json.dump(after, file)
    LOCK.replace(STORE) if after != before else LOCK.unlink()
    return after != before


def list_tasks(args, out):
    tasks = load()
    out.note(f"read {len(tasks)} tasks from {STORE}", detail=True)
    items, truncated = tasks[: args.limit], len(tasks) > args.limit
    text = "\n".join(f"{task['name']}  {task['note']}" for task in items)
    out.data({"items": items, "truncated": truncated}, text, items)
    if truncated:
        out.note(f"{len(items)} of {len(tasks)} tasks; --limit shows more")


def show(args, out):
    for task in load():
        if task["name"] == args.name:
            return out.data(task, f"{task['name']}  {task['note']}")
    raise Failure("general", "not_found", f"there is no task '{args.name}'; `todo list` shows all tasks")


def add(args, out):
    replace(args, out, "add", "added", [{"name": args.name, "note": args.note}])


def remove(args, out):
    if not (args.yes or args.dry_run):
        if args.no_input or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Failure("usage", "unconfirmed", f"nothing is removed; --yes removes '{args.name}'")
        if not out.confirms(f"Remove '{args.name}'?"):
            raise Failure("general", "cancelled", "nothing is removed")
    replace(args, out, "remove", "removed", [])


def replace(args, out, verb, done, tasks):
    """Replaces the task, and prints the same fields with and without a dry run."""
    changed = save(lambda before: [one for one in before if one["name"] != args.name] + tasks, args.dry_run)
    done = "nothing to do" if not changed else f"would {verb}" if args.dry_run else done
    out.data({"name": args.name, "changed": changed, "dry_run": args.dry_run}, f"{done}: {args.name}")


def server():
    path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "todo/config.json")
    url = os.environ.get("TODO_URL", "")
    if path.exists():
        try:
            config = json.loads(path.read_text())
            url = url or str(config.get("url", ""))
        except (ValueError, AttributeError) as error:
            raise Failure("config", "invalid_config", f"{path} is no JSON object: {error}") from None
    if not url.startswith(("http://", "https://")):
        raise Failure("config", "no_server", f"'{url}' is no address of a server; set TODO_URL, or `url` in {path}")
    return url


def sync(args, out):
    url = server()
    token = Path(args.token_file).read_text() if args.token_file else os.environ.get("TODO_TOKEN", "")
    if not token.strip():
        raise Failure("auth", "no_token", "there is no token; set TODO_TOKEN, or use --token-file")
    tasks = load()
    if not args.dry_run:
        out.note(f"sending {len(tasks)} tasks to {url}")
        headers = {"Authorization": f"Bearer {token.strip()}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/tasks", json.dumps(tasks).encode(), headers)
        try:
            urllib.request.urlopen(request, timeout=args.timeout).close()
        except HTTPError as error:
            kind = "auth" if error.code in (401, 403) else "general"
            raise Failure(kind, "rejected", f"{url} answers with {error}", retryable=error.code >= 500) from None
        except OSError as error:
            raise Failure("general", "unreachable", f"no answer from {url}: {error}", retryable=True) from None
    done = "would send" if args.dry_run else "sent"
    out.data({"sent": len(tasks), "dry_run": args.dry_run}, f"{done} {len(tasks)} tasks")


def install_skill(args, out):
    path = Path.home() / ".agents/skills/todo/SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((HERE / "SKILL.md").read_text())
    out.data({"path": str(path)}, str(path))


class Parser(argparse.ArgumentParser):
    """Reports errors in the format of the call, and prints a short help for `-h`."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message):
        words = [word.removeprefix("--output=").removeprefix("--") for word in sys.argv]
        format = next((word for word in words if word in FORMATS[1:]), "text")
        failure = Failure("usage", "usage", f"{message}; `{self.prog} --help` shows the options")
        sys.exit(Output(format).fail(failure))


class ShortHelp(argparse.Action):
    def __call__(self, parser, *_):
        parser.exit(Output().raw(f"{parser.format_usage()}\n{parser.prog} --help explains the options"))


def positive(text):
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def common(default):
    """The options of the program and of every command."""
    parent = argparse.ArgumentParser(add_help=False, argument_default=default)
    parent.add_argument("-h", action=ShortHelp, nargs=0, default=argparse.SUPPRESS, help="show the usage")
    parent.add_argument("--help", action="help", help="show this help")
    parent.add_argument("-o", "--output", choices=FORMATS, help="format of the output (default: text)")
    parent.add_argument("--json", dest="output", action="store_const", const="json", help="short for --output json")
    parent.add_argument("--jsonl", dest="output", action="store_const", const="jsonl", help="short for --output jsonl")
    parent.add_argument("-q", "--quiet", action="store_true", help="print data and errors only")
    parent.add_argument("-v", "--verbose", action="store_true", help="print more details")
    parent.add_argument("--no-input", action="store_true", help="ask no questions")
    return parent


def parse():
    parser = Parser(prog="todo", description=__doc__, epilog=EPILOG, parents=[common(None)], add_help=False)
    parser.add_argument("-V", "--version", action="version", version="todo 1.0.0", help="show the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name, run, help, example, *names):
        epilog = f"example:\n  todo {example}"
        parents = [common(argparse.SUPPRESS)]
        sub = commands.add_parser(name, help=help, description=help, epilog=epilog, parents=parents, add_help=False)
        sub.set_defaults(run=run)
        for one in names:
            sub.add_argument(one, help="name of the task")
        if run in (add, remove, sync):
            sub.add_argument("--dry-run", action="store_true", help="show what would change")
        return sub

    sub = command("list", list_tasks, "list the tasks", "list --limit 2")
    sub.add_argument("--limit", type=positive, default=10, metavar="N", help="at most N tasks (default: 10)")
    command("show", show, "show a task", "show milk", "name")
    sub = command("add", add, "add or replace a task", "add milk --note 'two bottles'", "name")
    sub.add_argument("--note", default="", help="text of the task")
    sub = command("remove", remove, "remove a task", "remove milk --yes", "name")
    sub.add_argument("-y", "--yes", action="store_true", help="do not ask for a confirmation")
    sub = command("sync", sync, "send the tasks to a server (TODO_URL, TODO_TOKEN)", "sync --dry-run")
    sub.add_argument("--token-file", metavar="FILE", help="read the token from a file")
    sub.add_argument("--timeout", type=positive, default=10, metavar="SECONDS", help="time limit (default: 10)")
    schema = HERE / "todo.schema.json"
    command("schema", lambda _, out: out.raw(schema.read_text()), "print the JSON Schema of the output", "schema")
    words = " ".join([*commands.choices, "--output", "--quiet", "--verbose", "--no-input", "--help"])
    completions = lambda args, out: out.raw(COMPLETIONS[args.shell].format(words=words))
    sub = command("completions", completions, "print a completion script", "completions bash")
    sub.add_argument("shell", choices=COMPLETIONS, help="the shell")
    command("install-skill", install_skill, "install the instructions for agents", "install-skill")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    args = parse()
    out = Output(args.output or "text", bool(args.quiet), bool(args.verbose))
    try:
        args.run(args, out)
    except Failure as failure:
        sys.exit(out.fail(failure))
    except (OSError, ValueError) as error:
        sys.exit(out.fail(Failure("general", "failed", str(error))))


if __name__ == "__main__":
    main()
