#!/usr/bin/env node
// Keeps a list of tasks in todo.json of the current folder.

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";

const FORMATS = ["text", "json", "jsonl"];
const EXIT_CODES = { general: 1, usage: 2, auth: 77, config: 78 };
const STORE = "todo.json";
const LOCK = "todo.json.lock";
const COMMANDS = "list show add remove sync schema completions install-skill";
const COMPLETIONS = {
  bash: `complete -o default -W '${COMMANDS}' todo`,
  zsh: `#compdef todo\n_arguments '1:command:(${COMMANDS})' '*:argument:_files'`,
  fish: `complete -c todo -f -a '${COMMANDS}'`,
};
const EPILOG = `Exit codes:
  0   success
  1   the command failed
  2   wrong arguments
  77  no token, or the server rejects it
  78  the configuration is missing or invalid`;

/** An error with its kind, which sets the exit code. */
class Failure extends Error {
  constructor(kind, error, message, retryable = false) {
    super(message);
    Object.assign(this, { kind, error, retryable });
  }
}

/** All output: data on stdout, everything else on stderr. */
const out = {
  format: "text",
  quiet: false,
  verbose: false,
  data(data, text, records = [data]) {
    if (this.format === "json") text = JSON.stringify({ ok: true, data });
    if (this.format === "jsonl") text = records.map((record) => JSON.stringify(record)).join("\n");
    this.raw(text);
  },
  // Written at once: a pipe gets all of it before the process exits, and an error is thrown here.
  raw(text) {
    let rest = Buffer.from(text ? `${text.trimEnd()}\n` : "");
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(1, rest));
      } catch (error) {
        if (error.code === "EPIPE") process.exit(0);
        if (error.code !== "EAGAIN") throw error;
      }
    }
  },
  note(text, detail = false) {
    if (this.format === "text" && !this.quiet && (this.verbose || !detail)) process.stderr.write(`${text}\n`);
  },
  fail({ kind = "general", error = "failed", message, retryable = false }) {
    const text = this.format === "text" ? `todo: ${message}` : JSON.stringify({ error, kind, message, retryable });
    process.stderr.write(`${text}\n`);
    process.exitCode = EXIT_CODES[kind];
  },
};

const load = () => (existsSync(STORE) ? JSON.parse(readFileSync(STORE, "utf8")) : []);
const differ = (one, other) => JSON.stringify(one) !== JSON.stringify(other);

/** Changes the list, and returns whether that changes anything. The new file is the lock, until it is renamed. */
function save(change, dryRun) {
  if (dryRun) return differ(load(), change(load()));
  let file;
  try {
    file = openSync(LOCK, "wx");
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const message = `another call changes ${STORE}; try again, or remove ${LOCK} if there is none`;
    throw new Failure("general", "locked", message, true);
  }
  const before = load();
  const after = change(before);
  writeFileSync(file, JSON.stringify(after));
  closeSync(file);
  if (differ(before, after)) renameSync(LOCK, STORE);
  else unlinkSync(LOCK);
  return differ(before, after);
}

function list({ limit }) {
  const tasks = load();
  out.note(`read ${tasks.length} tasks from ${STORE}`, true);
  const items = tasks.slice(0, limit);
  const truncated = tasks.length > limit;
  out.data({ items, truncated }, items.map((task) => `${task.name}  ${task.note}`).join("\n"), items);
  if (truncated) out.note(`${items.length} of ${tasks.length} tasks; --limit shows more`);
}

function show({ name }) {
  const task = load().find((task) => task.name === name);
  if (!task) throw new Failure("general", "not_found", `there is no task '${name}'; \`todo list\` shows all tasks`);
  out.data(task, `${name}  ${task.note}`);
}

function add({ name, note, dryRun }) {
  const changed = save((tasks) => [...tasks.filter((task) => task.name !== name), { name, note }], dryRun);
  report(name, changed, dryRun, "add");
}

async function remove({ name, yes, dryRun, noInput }) {
  if (!yes && !dryRun) {
    if (noInput || !process.stdin.isTTY || !process.stderr.isTTY)
      throw new Failure("usage", "unconfirmed", `nothing is removed; --yes removes '${name}'`);
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`Remove '${name}'? [y/N] `);
    terminal.close();
    if (answer !== "y") throw new Failure("general", "cancelled", "nothing is removed");
  }
  report(name, save((tasks) => tasks.filter((task) => task.name !== name), dryRun), dryRun, "remove");
}

/** Prints the result of a change: the same fields with and without a dry run. */
function report(name, changed, dryRun, verb) {
  const done = !changed ? "nothing to do" : dryRun ? `would ${verb}` : `${verb.replace(/e$/, "")}ed`;
  out.data({ name, changed, dry_run: dryRun }, `${done}: ${name}`);
}

function server() {
  const path = join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "todo/config.json");
  let config = {};
  try {
    if (existsSync(path)) config = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Failure("config", "invalid_config", `${path} is no JSON object: ${error.message}`);
  }
  const url = process.env.TODO_URL || config.url || "";
  if (!/^https?:/.test(url))
    throw new Failure("config", "no_server", `'${url}' is no address of a server; set TODO_URL, or \`url\` in ${path}`);
  return url;
}

async function sync({ tokenFile, timeout, dryRun }) {
  const url = server();
  const token = (tokenFile ? readFileSync(tokenFile, "utf8") : process.env.TODO_TOKEN || "").trim();
  if (!token) throw new Failure("auth", "no_token", "there is no token; set TODO_TOKEN, or use --token-file");
  const tasks = load();
  if (!dryRun) {
    out.note(`sending ${tasks.length} tasks to ${url}`);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = { method: "POST", body: JSON.stringify(tasks), headers, signal: AbortSignal.timeout(timeout * 1000) };
    const response = await fetch(`${url}/tasks`, request).catch((error) => {
      throw new Failure("general", "unreachable", `no answer from ${url}: ${error.message}`, true);
    });
    const kind = [401, 403].includes(response.status) ? "auth" : "general";
    const message = `${url} answers with ${response.status}`;
    if (!response.ok) throw new Failure(kind, "rejected", message, response.status >= 500);
  }
  out.data({ sent: tasks.length, dry_run: dryRun }, `${dryRun ? "would send" : "sent"} ${tasks.length} tasks`);
}

const resource = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

function installSkill() {
  const path = join(homedir(), ".agents/skills/todo/SKILL.md");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, resource("SKILL.md"));
  out.data({ path }, path);
}

const words = hideBin(process.argv);
const program = yargs(words)
  .scriptName("todo")
  .parserConfiguration({ "boolean-negation": false }) // `--no-input` is an option of its own.
  .usage("Keep a list of tasks in todo.json of the current folder.\n\nUsage: $0 COMMAND [options]")
  .option("output", { alias: "o", choices: FORMATS, default: "text", requiresArg: true, describe: "Format of the output" })
  .option("json", { type: "boolean", describe: "Short for --output json" })
  .option("jsonl", { type: "boolean", describe: "Short for --output jsonl" })
  .option("quiet", { alias: "q", type: "boolean", describe: "Print data and errors only" })
  .option("verbose", { alias: "v", type: "boolean", describe: "Print more details" })
  .option("no-input", { type: "boolean", describe: "Ask no questions" })
  .middleware(({ output, json, jsonl, quiet, verbose }) => {
    Object.assign(out, { format: json ? "json" : jsonl ? "jsonl" : output, quiet, verbose });
  })
  .example("$0 list --output json", "the tasks as JSON")
  .example("$0 remove milk --yes", "remove a task")
  .epilogue(EPILOG)
  .help("help")
  .version("version", "Show the version", "todo 1.0.0")
  .alias("version", "V")
  .demandCommand(1, "Name a command; `todo --help` lists them")
  .strict()
  .fail((message, error) => {
    throw error ?? new Failure("usage", "usage", message);
  });

function command(name, describe, example, run, options = {}) {
  const build = (yargs) => yargs.usage(`${describe}\n\nUsage: $0 ${name} [options]`).example(`$0 ${example}`, describe).options(options);
  program.command(name, describe, build, run);
}

const dryRun = { "dry-run": { type: "boolean", default: false, describe: "Show what would change" } };
const number = (value, what) => ({ type: "number", default: value, requiresArg: true, describe: what, coerce: positive });
function positive(value) {
  if (!(value >= 1)) throw new Failure("usage", "usage", "expected a number from 1");
  return value;
}
command("list", "List the tasks", "list --limit 2", list, { limit: number(10, "Print at most this number of tasks") });
command("show <name>", "Show a task", "show milk", show);
command("add <name>", "Add or replace a task", "add milk --note 'two bottles'", add, {
  note: { type: "string", default: "", requiresArg: true, describe: "Text of the task" },
  ...dryRun,
});
command("remove <name>", "Remove a task", "remove milk --yes", remove, {
  yes: { alias: "y", type: "boolean", describe: "Do not ask for a confirmation" },
  ...dryRun,
});
command("sync", "Send the tasks to a server (TODO_URL, TODO_TOKEN)", "sync --dry-run", sync, {
  "token-file": { type: "string", requiresArg: true, describe: "Read the token from a file" },
  timeout: number(10, "Time limit in seconds"),
  ...dryRun,
});
command("schema", "Print the JSON Schema of the output", "schema", () => out.raw(resource("todo.schema.json")));
command("completions <shell>", "Print a completion script", "completions bash", ({ shell }) => out.raw(COMPLETIONS[shell]), {
  shell: { choices: Object.keys(COMPLETIONS), describe: "The shell" },
});
command("install-skill", "Install the instructions for agents", "install-skill", installSkill);

// Errors of the parser are printed in the format of the call.
out.format = words.map((word) => word.replace(/^--(output=)?/, "")).find((word) => FORMATS.slice(1).includes(word)) ?? "text";
if (words.includes("-h")) {
  out.raw("Usage: todo COMMAND [options]\n\ntodo --help explains the options");
} else {
  try {
    await program.parseAsync();
  } catch (error) {
    out.fail(error);
  }
}
