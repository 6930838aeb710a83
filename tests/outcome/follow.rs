//! `--follow`: a growing file, a pipe, and the signal that ends it.

use super::{assistant, session, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program under test; it is killed when a test fails.
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

    /// The time on a processor so far, in clock ticks.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

fn next(stdout: &mut impl BufRead) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or(Value::Null)
}

fn line(event: &Value) -> Vec<u8> {
    format!("{event}\n").into_bytes()
}

#[test]
fn a_growing_file_gives_an_outcome_at_each_change_until_sigint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    File::create(&path).unwrap().write_all(&line(&session("s"))).unwrap();
    let (mut program, _, mut stdout) =
        Program::new(&["--follow", "--jsonl", path.to_str().unwrap()], Stdio::null());
    assert_eq!(next(&mut stdout)["session_id"], "s");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&line(&assistant("m", json!({})))).unwrap();
    assert_eq!(next(&mut stdout)["success"], true);
    // Half a line says nothing yet.
    let event = line(&text("m", "p", "Done."));
    file.write_all(&event[..40]).unwrap();
    file.write_all(&event[40..]).unwrap();
    assert_eq!(next(&mut stdout)["message"], "Done.");
    let before = program.ticks();
    file.write_all(&line(&text("m", "p", "Done!"))).unwrap();
    assert_eq!(next(&mut stdout)["message"], "Done!");
    assert!(program.ticks() - before < 20, "it waits without using the processor");
    // An event that changes nothing prints nothing; a torn line at the end is told with the last one.
    file.write_all(b"{\"type\":\"plugin.added\"}\n{\"type\":").unwrap();
    program.signal(Signal::INT);
    let last = next(&mut stdout);
    assert!(last.is_null() || last["warnings"][0].as_str().unwrap().contains("end of the line"), "{last}");
    assert_eq!(next(&mut stdout), Value::Null);
    assert_eq!(program.code(), Some(0));
}

#[test]
fn a_pipe_is_followed_to_its_end() {
    let (mut program, stdin, mut stdout) = Program::new(&["--follow", "--jsonl"], Stdio::piped());
    let mut stdin = stdin.unwrap();
    stdin.write_all(&line(&session("s"))).unwrap();
    // Before the first byte there may have been an outcome of nothing.
    let first = next(&mut stdout);
    let second = if first["session_id"].is_null() { next(&mut stdout) } else { first };
    assert_eq!(second["session_id"], "s");
    stdin.write_all(&line(&assistant("m", json!({})))).unwrap();
    assert_eq!(next(&mut stdout)["success"], true);
    drop(stdin);
    assert_eq!(next(&mut stdout), Value::Null);
    assert_eq!(program.code(), Some(0));
}

#[test]
fn json_and_text_give_the_last_outcome_when_a_signal_comes() {
    for (format, signal) in [("--json", Signal::INT), ("--output=text", Signal::TERM)] {
        let (mut program, stdin, mut stdout) = Program::new(&["--follow", format], Stdio::piped());
        let mut stdin = stdin.unwrap();
        stdin.write_all(&line(&session("following"))).unwrap();
        stdin.write_all(&line(&assistant("m", json!({})))).unwrap();
        // It reads the pipe empty, and then waits for more with its handler set.
        while rustix::io::ioctl_fionread(&stdin).unwrap() > 0 || !waits(&program.0) {
            std::thread::yield_now();
        }
        program.signal(signal);
        let mut all = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut all).unwrap();
        assert!(all.contains("following"), "{all}");
        assert_eq!(program.code(), Some(0));
    }
}

/// Whether a process sleeps.
fn waits(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit_once(')').unwrap().1.trim_start().starts_with('S')
}
