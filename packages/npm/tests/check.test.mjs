// Tests of the package, which must be installed. CLIS is the folder with the fixtures.

import assert from "node:assert";
import { rmSync, mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { check, CheckError } from "agentnative-check";

const good = path.join(process.env.CLIS, "conforming/sh/cli");
const bad = path.join(process.env.CLIS, "violating/p2-output-json.bom/cli");

test("a conforming tool passes", async () => {
  const report = await check(good, { probes: ["list"], checks: ["p2-output-json", "p2-exit-auth"] });
  assert.strictEqual(report.assertConformant(), report);
  assert.ok(report.conformant && !report.verified);
  const status = Object.fromEntries(report.results.map(({ id, status }) => [id, status]));
  assert.deepStrictEqual(status, { "p2-output-json": "pass", "p2-exit-auth": "unverified" });
});

test("a failure contains the text report", async () => {
  const report = await check([bad], { probes: ["list"], principle: 2, checks: ["p2-output-json"] });
  assert.ok(!report.conformant);
  assert.throws(() => report.assertConformant(), (error) => {
    assert.strictEqual(error.code, "ERR_ASSERTION");
    assert.match(error.message, /^1 MUST check failed\n\ncli  /);
    assert.match(error.message, /✗ p2-output-json  /);
    return true;
  });
});

test("strict fails on unverified checks", async () => {
  const report = await check([good], { probes: ["list"], checks: ["p2-exit-auth"], strict: true });
  assert.throws(() => report.assertConformant(), /^AssertionError.*: 1 MUST check unverified/);
});

test("runs receive environment, folder and arguments unchanged", async () => {
  const value = 'a "b" \\ $HOME ü 😀 \t\x7f';
  const script = `[ "$A" = '${value}' ] && [ "$PWD" = /usr ] && [ "$1" = 'x; y' ]`;
  const conformant = async (options) => {
    const fixed = { env: { A: value }, cwd: "/usr", timeout: 5.5, jobs: 2, fast: true };
    const selected = { probes: ["list"], checks: ["p2-exit-success"] };
    return (await check(["sh", "-c", script, "mycli", "x; y"], { ...fixed, ...selected, ...options })).conformant;
  };
  assert.ok(await conformant({}));
  assert.ok(!(await conformant({ env: { A: "b" } })));
  assert.ok(!(await conformant({ cwd: "/" })));
});

test("calls that change something run in copies of the workspace", async () => {
  const workspace = mkdtempSync(path.join(os.tmpdir(), "agentnative-"));
  writeFileSync(path.join(workspace, "list"), "a\n");
  const script = '[ -e list ] && case "$*" in *--dry-run*) ;; *add*) echo b >>list ;; esac';
  const options = { workspace, changes: ["add"], probes: ["list"], checks: ["p5-read-only", "p2-exit-success"] };
  const report = await check(["sh", "-c", script, "mycli"], options);
  assert.deepStrictEqual(report.results.map(({ status }) => status), ["pass", "pass"]);
  rmSync(workspace, { recursive: true });
});

test("each error has its kind", async () => {
  const cases = [
    [[good], { checks: ["p2-output-jsn"] }, "usage", "did you mean `p2-output-json`"],
    [[good], { probes: "list" }, "usage", "expected an array of strings"],
    [[good], { probe: ["list"] }, "usage", "unknown option `probe`"],
    [[good], { config: "x.toml", env: {} }, "usage", "exclude each other"],
    [[good], { exitCodes: [0, 256] }, "config", "exit_codes"],
    [[good], { probes: ["list"], workspace: "/nonexistent" }, "usage", "no such folder: /nonexistent"],
    [[good], { cwd: "/nonexistent" }, "usage", "cannot start"],
    [[], {}, "usage", "the command is empty"],
    [["no-such-mycli"], {}, "config", "no-such-mycli"],
    [["sh", "-c", "while :; do sleep 60; done"], { deadline: 0.3 }, "timeout", "its deadline of 0.3 seconds"],
  ];
  for (const [command, options, kind, part] of cases) {
    const error = await check(command, options).then(() => undefined, (error) => error);
    assert.ok(error instanceof CheckError && error.message.includes(part), `${part}: ${error?.message}`);
    assert.strictEqual(error.kind, kind);
  }
});
