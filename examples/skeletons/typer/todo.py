"""Keep a list of tasks in todo.json of the current folder."""

import json
import os
import signal
import sys
import urllib.request
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError

import typer
from todo_output import Failure, Format, Output
from typer.completion import get_completion_script

STORE, LOCK = Path("todo.json"), Path("todo.json.lock")
# In a paragraph that begins with \b, lines are not joined.
EPILOG = """\b
Examples:
  todo list --output json
  todo remove milk --yes

\b
Exit codes:
  0   success
  1   the command failed
  2   wrong arguments
  77  no token, or the server rejects it
  78  the configuration is missing or invalid
"""


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


app = typer.Typer(epilog=EPILOG, add_completion=False, rich_markup_mode=None)
out = Output()
Name = Annotated[str, typer.Argument(help="Name of the task.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change.")]


def version(wanted: bool):
    if wanted:
        raise typer.Exit(out.raw("todo 1.0.0"))


def usage(context: typer.Context, wanted: bool):
    if wanted:
        raise typer.Exit(out.raw(f"{context.get_usage()}\n\ntodo --help explains the options"))


@app.callback()
def common(
    output: Annotated[Format, typer.Option("--output", "-o", help="Format of the output.")] = Format.text,
    json: Annotated[bool, typer.Option("--json", help="Short for --output json.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Short for --output jsonl.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print data and errors only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print more details.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask no questions.")] = False,
    version: Annotated[bool, typer.Option("--version", "-V", is_eager=True, callback=version, help="Show the version.")] = False,
    usage: Annotated[bool, typer.Option("-h", is_eager=True, callback=usage, help="Show the usage.")] = False,
):
    """Keep a list of tasks in todo.json of the current folder."""
    global out
    out = Output("json" if json else "jsonl" if jsonl else output.value, quiet, verbose, no_input)


@app.command("list", epilog="\b\nExample:\n  todo list --limit 2")
def list_tasks(limit: Annotated[int, typer.Option(min=1, help="Print at most this number of tasks.")] = 10):
    """List the tasks."""
    tasks = load()
    out.note(f"read {len(tasks)} tasks from {STORE}", detail=True)
    items, truncated = tasks[:limit], len(tasks) > limit
    text = "\n".join(f"{task['name']}  {task['note']}" for task in items)
    out.data({"items": items, "truncated": truncated}, text, items)
    if truncated:
        out.note(f"{len(items)} of {len(tasks)} tasks; --limit shows more")


@app.command(epilog="\b\nExample:\n  todo show milk")
def show(name: Name):
    """Show a task."""
    for task in load():
        if task["name"] == name:
            return out.data(task, f"{name}  {task['note']}")
    raise Failure("general", "not_found", f"there is no task '{name}'; `todo list` shows all tasks")


@app.command(epilog="\b\nExample:\n  todo add milk --note 'two bottles'")
def add(name: Name, note: Annotated[str, typer.Option(help="Text of the task.")] = "", dry_run: DryRun = False):
    """Add or replace a task."""
    replace(name, dry_run, "add", "added", [{"name": name, "note": note}])


@app.command(epilog="\b\nExample:\n  todo remove milk --yes")
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for a confirmation.")] = False,
    dry_run: DryRun = False,
):
    """Remove a task."""
    if not (yes or dry_run):
        if out.no_input or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Failure("usage", "unconfirmed", f"nothing is removed; --yes removes '{name}'")
        if not typer.confirm(f"Remove '{name}'?", err=True):
            raise Failure("general", "cancelled", "nothing is removed")
    replace(name, dry_run, "remove", "removed", [])


def replace(name, dry_run, verb, done, tasks):
    """Replaces the task, and prints the same fields with and without a dry run."""
    changed = save(lambda before: [one for one in before if one["name"] != name] + tasks, dry_run)
    done = "nothing to do" if not changed else f"would {verb}" if dry_run else done
    out.data({"name": name, "changed": changed, "dry_run": dry_run}, f"{done}: {name}")


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


@app.command(epilog="\b\nExample:\n  todo sync --dry-run")
def sync(
    token_file: Annotated[Path | None, typer.Option(help="Read the token from a file.")] = None,
    timeout: Annotated[int, typer.Option(min=1, help="Time limit in seconds.")] = 10,
    dry_run: DryRun = False,
):
    """Send the tasks to a server (TODO_URL, TODO_TOKEN)."""
    url = server()
    token = token_file.read_text() if token_file else os.environ.get("TODO_TOKEN", "")
    if not token.strip():
        raise Failure("auth", "no_token", "there is no token; set TODO_TOKEN, or use --token-file")
    tasks = load()
    if not dry_run:
        out.note(f"sending {len(tasks)} tasks to {url}")
        headers = {"Authorization": f"Bearer {token.strip()}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/tasks", json.dumps(tasks).encode(), headers)
        try:
            urllib.request.urlopen(request, timeout=timeout).close()
        except HTTPError as error:
            kind = "auth" if error.code in (401, 403) else "general"
            raise Failure(kind, "rejected", f"{url} answers with {error}", retryable=error.code >= 500) from None
        except OSError as error:
            raise Failure("general", "unreachable", f"no answer from {url}: {error}", retryable=True) from None
    done = "would send" if dry_run else "sent"
    out.data({"sent": len(tasks), "dry_run": dry_run}, f"{done} {len(tasks)} tasks")


def resource(name):
    """Returns a file of this project, or of the installed package."""
    folder = Path(__file__).resolve().parent
    return next(path for path in (folder / name, folder / "todo_files" / name) if path.exists()).read_text()


@app.command(epilog="\b\nExample:\n  todo schema")
def schema():
    """Print the JSON Schema of the output."""
    out.raw(resource("todo.schema.json"))


@app.command(epilog="\b\nExample:\n  todo completions bash")
def completions(shell: StrEnum("Shell", ["bash", "zsh", "fish"])):
    """Print a completion script."""
    out.raw(get_completion_script(prog_name="todo", complete_var="_TODO_COMPLETE", shell=shell.value))


@app.command(epilog="\b\nExample:\n  todo install-skill")
def install_skill():
    """Install the instructions for agents."""
    path = Path.home() / ".agents/skills/todo/SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(resource("SKILL.md"))
    out.data({"path": str(path)}, str(path))


def common_first(words):
    """Moves the common options before the command, so that they are accepted after it as well."""
    flags = {"-h", "--json", "--jsonl", "-q", "--quiet", "-v", "--verbose", "--no-input"}
    first, others, words = [], [], iter(words)
    for word in words:
        if word in ("-o", "--output"):
            first += [word, *[value for value in [next(words, None)] if value is not None]]
        else:
            (first if word in flags or word.startswith("--output=") else others).append(word)
    return first + others


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    words = common_first(sys.argv[1:])
    names = [word.removeprefix("--output=").removeprefix("--") for word in words]
    out.format = next((name for name in names if name in ("json", "jsonl")), "text")
    try:
        app(words, prog_name="todo", standalone_mode=False)
    except typer.TyperException as error:
        sys.exit(out.fail(Failure("usage", "usage", error.format_message())))
    except typer.Abort:
        sys.exit(out.fail(Failure("general", "cancelled", "nothing is changed")))
    except Failure as failure:
        sys.exit(out.fail(failure))
    except (OSError, ValueError) as error:
        sys.exit(out.fail(Failure("general", "failed", str(error))))


if __name__ == "__main__":
    main()
