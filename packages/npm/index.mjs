// Checks a command in a test: `check` calls the program, and a `Report` contains the verdicts. The types and their
// documentation are in index.d.mts.

import { AssertionError } from "node:assert";
import { spawn } from "node:child_process";
import { access, constants, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import packaged from "./program.js";

/** Time that the program has to end its runs after SIGTERM, in milliseconds. */
const GRACE_PERIOD = 5_000;
/** Options with lists of strings, by the option of the program. */
const LISTS = { probes: "probe", changes: "changes", checks: "check", skip: "skip", deny: "deny" };
const VALUES = ["contract", "timeout", "jobs", "workspace"];
const FLAGS = ["strict", "fast", "verbose", "explore"];
/** Settings that the generated configuration contains. */
const SETTINGS = ["env", "exitCodes"];
const OPTIONS = [...Object.keys(LISTS), ...VALUES, ...FLAGS, ...SETTINGS, "principle", "config", "cwd", "deadline"];

export class CheckError extends Error {
  constructor(kind, message, hint) {
    super(hint ? `${message}\nhint: ${hint}` : message);
    this.name = "CheckError";
    this.kind = kind;
    this.hint = hint;
  }
}

export class Report {
  constructor(report, text, failure) {
    this.report = report;
    this.text = text;
    this.failure = failure;
  }

  get conformant() {
    return this.report.conformant;
  }

  get verified() {
    return this.report.verified;
  }

  get results() {
    return this.report.results;
  }

  assertConformant() {
    if (this.failure !== undefined) {
      const message = `${this.failure}\n\n${this.text.trimEnd()}`;
      throw new AssertionError({ message, operator: "assertConformant", stackStartFn: this.assertConformant });
    }
    return this;
  }
}

export async function check(command, options = {}) {
  const words = typeof command === "string" ? [command] : command;
  if (!words[0]) throw new CheckError("usage", "the command is empty; expected a program and its first arguments");
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown) throw new CheckError("usage", `unknown option \`${unknown}\``, `the options are: ${OPTIONS.join(", ")}`);
  const excluded = SETTINGS.find((name) => options[name] !== undefined && options.config !== undefined);
  if (excluded) {
    const hint = "set it under [target] in the file";
    throw new CheckError("usage", `\`${excluded}\` and \`config\` exclude each other`, hint);
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), "agentnative-"));
  try {
    const text = path.join(folder, "report.txt");
    const config = options.config ?? path.join(folder, "agentnative.toml");
    if (options.config === undefined) await writeFile(config, configText(options));
    // The source layer needs a project; a command has none.
    const fixed = [`--config=${config}`, `--report=text=${text}`, "--layer=behavioral,project"];
    const completed = await call(["check", "--json", ...fixed, ...flags(options), "--", ...words], options);
    let report, shown;
    try {
      report = JSON.parse(completed.stdout).data;
      shown = await readFile(text, "utf8");
    } catch {
      throw errorOf(completed);
    }
    return new Report(report, shown, completed.code === 0 ? undefined : errorOf(completed).message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function findProgram() {
  try {
    return packaged.findPackagedProgram();
  } catch (missing) {
    for (const folder of (process.env.PATH ?? "").split(path.delimiter).filter(Boolean)) {
      const file = path.join(folder, "agentnative");
      const executable = await access(file, constants.X_OK).then(() => true, () => false);
      if (executable) return file;
    }
    throw new CheckError("not-installed", `${missing.message}; and the program agentnative is not on PATH`);
  }
}

/** Returns the options as options of the program. */
function flags(options) {
  const lists = Object.entries(LISTS).flatMap(([name, flag]) =>
    list(name, options[name]).map((value) => `--${flag}=${value}`),
  );
  const principles = [options.principle ?? []].flat().map((number) => `--principle=${number}`);
  const values = VALUES.filter((name) => options[name] !== undefined).map((name) => `--${name}=${options[name]}`);
  return [...lists, ...principles, ...values, ...FLAGS.filter((name) => options[name]).map((name) => `--${name}`)];
}

/** Returns the value of an option. Rejects a single string, which would be split into characters. */
function list(name, values) {
  if (typeof values === "string") {
    throw new CheckError("usage", `${name}: expected an array of strings, found a string: ${JSON.stringify(values)}`);
  }
  return [...(values ?? [])];
}

/** Returns a configuration with the variables and exit codes of the options. */
function configText({ env = {}, exitCodes }) {
  const string = (text) => JSON.stringify(text).replaceAll("\x7f", "\\u007f");
  const pairs = Object.entries(env).map(([name, value]) => `${string(name)} = ${string(value)}`);
  const codes = exitCodes === undefined ? [] : [`exit_codes = [${exitCodes.join(", ")}]`];
  return ["[target]", `env = { ${pairs.join(", ")} }`, ...codes, ""].join("\n");
}

/** Calls the program and returns its exit code and output. After the deadline, the program ends its runs first. */
async function call(words, { cwd, deadline = 600 }) {
  const program = await findProgram();
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
    }
    const timers = [];
    let expired = false;
    const end = (seconds, action) => timers.push(setTimeout(action, seconds));
    if (Number.isFinite(deadline)) {
      end(deadline * 1_000, () => {
        expired = true;
        child.kill("SIGTERM");
        // The helper of the program ends the runs.
        end(GRACE_PERIOD, () => child.kill("SIGKILL"));
      });
    }
    const kill = () => child.kill("SIGTERM");
    process.once("exit", kill);
    const settle = (action) => {
      timers.forEach(clearTimeout);
      process.removeListener("exit", kill);
      action();
    };
    child.on("error", (error) => settle(() => reject(startError(program, error))));
    child.on("close", (code) => {
      const late = new CheckError("timeout", `the check exceeded its deadline of ${deadline} seconds`);
      settle(() => (expired ? reject(late) : resolve({ ...output, code })));
    });
  });
}

function startError(program, error) {
  return new CheckError("usage", `cannot start ${program}: ${error.message}`);
}

/** Returns the error with which the program exited: the error object in the last line of stderr. */
function errorOf({ code, stderr }) {
  let found;
  try {
    found = JSON.parse(stderr.trimEnd().split("\n").at(-1));
  } catch {
    const message = stderr.trim() || `agentnative exited with ${code} and no message`;
    return new CheckError("general", message);
  }
  const issues = (found.issues ?? []).map((issue) => {
    const position = [issue.file, issue.line, issue.column].filter(Boolean).join(":");
    return position ? `${position}: ${issue.message}` : issue.message;
  });
  return new CheckError(found.kind ?? "general", [found.message, ...issues].join("\n  "), found.hint);
}
