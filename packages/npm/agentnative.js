#!/usr/bin/env node
// Starts the program for this platform.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");
const tty = require("node:tty");
const { findPackagedProgram } = require("./program.js");

function fail(message) {
  process.stderr.write(`agentnative: ${message}\n`);
  process.exit(1);
}

function program() {
  try {
    return findPackagedProgram();
  } catch (error) {
    fail(error.message);
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
