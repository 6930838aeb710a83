#!/usr/bin/env node
// Starts the program for this platform, which an optional dependency of this package contains.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");
const tty = require("node:tty");

const platform = `${process.platform}-${process.arch}`;
const name = `@agentnative/${platform}`;
const supported = Object.keys(require("./package.json").optionalDependencies);

function fail(message) {
  process.stderr.write(`agentnative: ${message}\n`);
  process.exit(1);
}

function program() {
  if (!supported.includes(name)) {
    const platforms = supported.map((name) => name.split("/")[1]).join(", ");
    fail(`no program for ${platform}; supported: ${platforms}`);
  }
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), "agentnative");
  } catch {
    fail(`the package ${name} is not installed; install agentnative again with optional dependencies, on this platform`);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`cannot start the program: ${error.message}`));

// A terminal sends SIGINT to the program as well; a second SIGINT would end it without a report.
const terminal = [0, 1, 2].some(tty.isatty);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (!(signal === "SIGINT" && terminal)) child.kill(signal);
  });
}

child.on("exit", (code, signal) => {
  process.exitCode = code ?? 128 + os.constants.signals[signal];
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
