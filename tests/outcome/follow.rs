//! `--follow`: growing files, pipes, and signals.

use super::{assistant, session, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A call of the program, which is killed if a test fails.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    fn new(args: &[&str], stdin: Stdio) -> (Self, Option<ChildStdin>, BufReader<ChildStdout>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        let mut child =
            command.arg("outcome").args(args).stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        (Self(child), stdin, stdout)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn code(&mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    /// Returns the CPU time so far, in clock ticks.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

fn next_outcome(stdout: &mut impl BufRead) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or(Value::Null)
}

fn to_line(event: &Value) -> Vec<u8> {
    format!("{event}\n").into_bytes()
}

#[test]
fn a_growing_file_is_followed_until_sigint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    File::create(&path).unwrap().write_all(&to_line(&session("s"))).unwrap();
    let (mut program, _, mut stdout) =
        Program::new(&["--follow", "--jsonl", path.to_str().unwrap()], Stdio::null());
    assert_eq!(next_outcome(&mut stdout)["session_id"], "s");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&to_line(&assistant("m", json!({})))).unwrap();
    assert_eq!(next_outcome(&mut stdout)["success"], true);
    // An incomplete line is not read.
    let event = to_line(&text("m", "p", "Done."));
    file.write_all(&event[..40]).unwrap();
    file.write_all(&event[40..]).unwrap();
    assert_eq!(next_outcome(&mut stdout)["message"], "Done.");
    let before = program.ticks();
    file.write_all(&to_line(&text("m", "p", "Done!"))).unwrap();
    assert_eq!(next_outcome(&mut stdout)["message"], "Done!");
    assert!(program.ticks() - before < 20, "waiting uses no CPU time");
    // An event that changes nothing prints nothing; an incomplete last line is a warning of the last outcome.
    file.write_all(b"{\"type\":\"plugin.added\"}\n{\"type\":").unwrap();
    program.signal(Signal::INT);
    let last = next_outcome(&mut stdout);
    assert!(last.is_null() || last["warnings"][0].as_str().unwrap().contains("end of the line"), "{last}");
    assert_eq!(next_outcome(&mut stdout), Value::Null);
    assert_eq!(program.code(), Some(0));
}

#[test]
fn a_pipe_is_followed_to_its_end() {
    let (mut program, stdin, mut stdout) = Program::new(&["--follow", "--jsonl"], Stdio::piped());
    let mut stdin = stdin.unwrap();
    stdin.write_all(&to_line(&session("s"))).unwrap();
    // There may be an empty outcome before the first byte.
    let first = next_outcome(&mut stdout);
    let second = if first["session_id"].is_null() { next_outcome(&mut stdout) } else { first };
    assert_eq!(second["session_id"], "s");
    stdin.write_all(&to_line(&assistant("m", json!({})))).unwrap();
    assert_eq!(next_outcome(&mut stdout)["success"], true);
    drop(stdin);
    assert_eq!(next_outcome(&mut stdout), Value::Null);
    assert_eq!(program.code(), Some(0));
}

#[test]
fn json_and_text_print_the_last_outcome_on_a_signal() {
    for (format, signal) in [("--json", Signal::INT), ("--output=text", Signal::TERM)] {
        let (mut program, stdin, mut stdout) = Program::new(&["--follow", format], Stdio::piped());
        let mut stdin = stdin.unwrap();
        stdin.write_all(&to_line(&session("following"))).unwrap();
        stdin.write_all(&to_line(&assistant("m", json!({})))).unwrap();
        // The program has read all of the pipe and waits for more, so its signal handler is installed.
        while rustix::io::ioctl_fionread(&stdin).unwrap() > 0 || !is_sleeping(&program.0) {
            std::thread::yield_now();
        }
        program.signal(signal);
        let mut all = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut all).unwrap();
        assert!(all.contains("following"), "{all}");
        assert_eq!(program.code(), Some(0));
    }
}

fn is_sleeping(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit_once(')').unwrap().1.trim_start().starts_with('S')
}
