/** Checks whether programs can rely on a command-line tool, in a test:
 *
 *     import { check } from "agentnative-check";
 *
 *     (await check(["mycli"], { probes: ["list"] })).assertConformant();
 */

/** Options of {@link check}. */
export interface CheckOptions {
  /** Calls that are safe to repeat, as `"[EXIT:]ARGS"`: the expected exit code and a colon, if it is not 0, then the
   * arguments, split like words in a shell. */
  probes?: Iterable<string>;
  /** Calls that change something, as `"[EXIT:]ARGS"`. Each run starts in a copy of `workspace`, or in an empty folder. */
  changes?: Iterable<string>;
  /** Folder that each run of `probes` and `changes`, and each explored call, starts in a copy of. */
  workspace?: string;
  /** Contract instead of the default rules: the name of a bundled contract, a contract folder or a schema file. */
  contract?: string;
  /** Numbers of the principles to check. */
  principle?: number | number[];
  /** IDs of the checks to make; `*` matches any part of an ID. */
  checks?: Iterable<string>;
  /** IDs of checks to leave out; `*` matches any part of an ID. */
  skip?: Iterable<string>;
  /** Configuration file. Without it, no configuration is read. Excludes `env` and `exitCodes`. */
  config?: string;
  /** Environment variables for the runs. */
  env?: Record<string, string>;
  /** Exit codes of the command, all of which its help or README has to document. */
  exitCodes?: number[];
  /** Working directory; relative paths are relative to it. */
  cwd?: string;
  /** Fail also if a MUST check is unverified. */
  strict?: boolean;
  /** With `["should"]`, fail also on warnings. */
  deny?: Iterable<"should">;
  /** Time limit of each run, in seconds. */
  timeout?: number;
  /** Number of parallel runs. */
  jobs?: number;
  /** Make only plain runs. */
  fast?: boolean;
  /** Find calls of the command in its help and examples, and judge them, too. */
  explore?: boolean;
  /** List all verdicts in the text report. */
  verbose?: boolean;
  /** Time limit of the complete check, in seconds (default: 600). */
  deadline?: number;
}

/** The verdict of a check, as in `agentnative check --json`. */
export interface CheckResult {
  id: string;
  status: "pass" | "fail" | "warn" | "unverified" | "not-applicable" | "waived";
  [key: string]: unknown;
}

/** The verdicts on a command. */
export class Report {
  private constructor();
  /** The report: the value of `data` in the output of `agentnative check --json`. */
  readonly report: { conformant: boolean; verified: boolean; results: CheckResult[]; [key: string]: unknown };
  /** The text report. */
  readonly text: string;
  /** The reason why the check failed; undefined if it succeeded. */
  readonly failure: string | undefined;
  /** True if no MUST check failed. */
  get conformant(): boolean;
  /** True if no MUST check is unverified. */
  get verified(): boolean;
  /** The verdict of each check. */
  get results(): CheckResult[];
  /** Throws an `AssertionError` with the text report if a MUST check failed, or a check that `strict` or `deny` turns
   * into a failure. */
  assertConformant(): this;
}

/** The command could not be checked. */
export class CheckError extends Error {
  private constructor();
  /** The kind in the error object of the program: `usage`, `auth`, `config`, `nothing-run`, `budget` or `general`; or
   * `not-installed` if the program is not found, or `timeout` if the check exceeded its deadline. */
  readonly kind: string;
  readonly hint: string | undefined;
}

/** Runs a command as its consumers do, and checks its output. `command` is a program with its first arguments; no shell
 * is involved. Rejects with a {@link CheckError} if the command cannot be checked. */
export function check(command: string | readonly string[], options?: CheckOptions): Promise<Report>;

/** Returns the path of the program: that of this package, or else the one on PATH. */
export function findProgram(): Promise<string>;
