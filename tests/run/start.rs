//! Start and end of runs, and the environment of a target.

use super::{python, run, run_all, sh};
use crate::runs::{bytes, children, finish, options, spec, text};
use agentnative::model::{COMBINED, Variant};
use agentnative::run::{HOSTILE_ENVIRONMENTS, Job, Limit, RequestedConfinement, RunEnd, Runner};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

#[test]
fn exact_bytes_and_exit_code_are_captured() {
    let outcome = run(sh(r"printf 'a\000\377\r\n'; printf 'e\n' >&2; exit 3", Variant::Plain));
    assert_eq!(outcome.end, RunEnd::Exited(3));
    assert_eq!(bytes(&outcome.stdout), b"a\0\xff\r\n");
    assert_eq!(bytes(&outcome.stderr), b"e\n");
    assert_eq!((outcome.left_behind.len(), outcome.held_open, outcome.waiting), (0, false, None));
    assert!(outcome.duration > Duration::ZERO);
}

#[test]
fn a_signal_and_an_exit_code_are_distinguished() {
    assert_eq!(run(sh("kill -SEGV $$", Variant::Plain)).end, RunEnd::Signaled(11));
    assert_eq!(run(sh("exit 139", Variant::Plain)).end, RunEnd::Exited(139));
    // The helper also sends SIGTERM, but here the process sent it itself.
    assert_eq!(run(sh("kill -TERM $$", Variant::Plain)).end, RunEnd::Signaled(15));
}

#[test]
fn a_launch_failure_is_not_an_exit_code() {
    assert_eq!(run(sh("exit 127", Variant::Plain)).end, RunEnd::Exited(127));
    let end_of = |program: &Path| run(spec(program.to_str().unwrap(), &[], Variant::Plain)).end;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let reason = |text: &str| text.to_owned();
    let missing = RunEnd::NotStarted(2, reason("No such file or directory"));
    assert_eq!(end_of(&folder.path().join("missing")), missing);
    assert_eq!(end_of(&file("bad-interpreter", "#!/no/such/interpreter\n", 0o755)), missing);
    let denied = RunEnd::NotStarted(13, reason("Permission denied"));
    assert_eq!(end_of(&file("not-executable", "#!/bin/sh\n", 0o644)), denied);
    assert_eq!(end_of(folder.path()), denied);
    // A file that the kernel cannot execute is not passed to a shell.
    let refused = RunEnd::NotStarted(8, reason("Exec format error"));
    assert_eq!(end_of(&file("no-program", "echo it ran\n", 0o755)), refused);
    assert_eq!(end_of(&file("other-machine", "\x7fELF\x02\x01\x01 of another machine", 0o755)), refused);
    assert_eq!(end_of(&file("empty", "", 0o755)), refused);

    let mut lost = sh("exit 0", Variant::Plain);
    lost.job.cwd = folder.path().join("missing").into();
    let RunEnd::NotStarted(2, reason) = run(lost).end else { panic!("it started in a missing folder") };
    assert!(reason.contains("working directory"), "{reason}");
    let mut nul = sh("exit 0", Variant::Plain);
    nul.job.args.push("a\0b".into());
    assert!(matches!(run(nul).end, RunEnd::NotStarted(22, _)));
}

#[test]
fn names_that_are_not_utf8_are_started() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join(OsStr::from_bytes(b"f\xff"));
    std::fs::create_dir(&below).unwrap();
    let program = below.join(OsStr::from_bytes(b"p\xfe"));
    std::fs::write(&program, "#!/bin/sh\nprintf %s \"$1\"; pwd\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut odd = sh("", Variant::Plain);
    (odd.job.program, odd.job.cwd) = (program.into(), below.clone().into());
    odd.job.args = vec![OsStr::from_bytes(b"\xfd").into()];
    odd.job.isolation = RequestedConfinement::Available;
    let outcome = run(odd);
    assert_eq!(outcome.end, RunEnd::Exited(0));
    assert_eq!(bytes(&outcome.stdout), [b"\xfd", below.as_os_str().as_bytes(), b"\n"].concat());
}

#[test]
fn a_program_that_is_being_written_is_a_launch_failure() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::copy("/bin/true", &program).unwrap();
    // The file stays open for writing, so all attempts fail.
    let writer = std::fs::OpenOptions::new().append(true).open(&program).unwrap();
    let end = run(spec(program.to_str().unwrap(), &[], Variant::Plain)).end;
    assert_eq!(end, RunEnd::NotStarted(26, "Text file busy".into()));
    drop(writer);
    assert_eq!(run(spec(program.to_str().unwrap(), &[], Variant::Plain)).end, RunEnd::Exited(0));
}

#[test]
fn the_environment_is_cleared() {
    let outcome = run(spec("/usr/bin/env", &[], Variant::Plain));
    let all = text(&outcome.stdout);
    let env: BTreeMap<&str, &str> = all.lines().filter_map(|line| line.split_once('=')).collect();
    for (name, value) in [("LANG", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb")] {
        assert_eq!(env.get(name), Some(&value), "{name}");
    }
    let base = "PATH LANG TZ TERM HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME \
                XDG_RUNTIME_DIR TMPDIR AGENTNATIVE_RUN";
    let managers = agentnative::run::manager_variables(&std::env::vars_os().collect());
    let managers: Vec<String> = managers.into_iter().map(|(name, _)| name.into_string().unwrap()).collect();
    for name in env.keys() {
        let is_known = base.split_whitespace().any(|known| known == *name);
        assert!(is_known || managers.iter().any(|kept| kept == name), "{name} was passed on");
    }
    assert!(env["PATH"].split(':').all(|entry| entry.starts_with('/')), "{}", env["PATH"]);
}

#[test]
fn variables_of_the_specification_override_others() {
    let mut wanted = sh(r#"echo "$TERM $FORCE_COLOR $HOME""#, Variant::HostileEnv);
    wanted.job.env.push(("FORCE_COLOR".into(), "3".into()));
    wanted.job.env.push(("HOME".into(), "/elsewhere".into()));
    assert_eq!(text(&run(wanted).stdout), "xterm-256color 3 /elsewhere\n");
}

#[test]
fn each_hostile_environment_is_passed() {
    for (nth, (name, variables)) in HOSTILE_ENVIRONMENTS.iter().enumerate() {
        let mut wanted = spec("/usr/bin/env", &[], Variant::HostileEnv);
        wanted.job.environment = u8::try_from(nth).unwrap();
        let env = text(&run(wanted).stdout);
        for (variable, value) in variables.iter().copied().flatten() {
            let line = format!("{variable}={value}");
            assert!(env.lines().any(|one| one == line), "{name}: no {line} in {env}");
        }
    }
    assert_eq!(HOSTILE_ENVIRONMENTS.len(), 7);
}

#[test]
fn a_run_under_combined_conditions_has_each_of_them() {
    for (whole, parts) in COMBINED {
        let mut wanted = sh(
            "env; readlink /proc/self/fd/0; [ -t 1 ] && echo terminal; [ -f /dev/stdout ] && echo file",
            whole.0,
        );
        wanted.job.environment = whole.1;
        let printed = text(&run(wanted).stdout);
        let has_line = |line: &str| printed.lines().any(|one| one == line);
        for (variant, nth) in *parts {
            for (name, value) in variant.added_variables(*nth) {
                assert!(has_line(&format!("{name}={value}")), "{whole:?}: no {name}={value} in {printed}");
            }
            match variant {
                Variant::Tty => assert!(has_line("terminal"), "{printed}"),
                Variant::File => assert!(has_line("file"), "{printed}"),
                Variant::OpenStdin => assert!(printed.contains("pipe:["), "{printed}"),
                _ => {}
            }
        }
    }
}

#[test]
fn the_home_is_empty_private_and_removed_after_the_run() {
    let script = r#"for d in "$HOME" "$TMPDIR" "$XDG_RUNTIME_DIR"; do stat -c '%a %n' "$d"; ls -A "$d"; done
        umask; echo kept >"$HOME/file"; mkdir -p "$XDG_CACHE_HOME/a/b"; chmod 0 "$XDG_CACHE_HOME/a""#;
    let outcome = run(sh(script, Variant::Plain));
    let printed = text(&outcome.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 4, "a new folder is not empty: {printed}");
    assert_eq!(lines[3], "0022");
    for line in &lines[..3] {
        let (mode, folder) = line.split_once(' ').unwrap();
        assert_eq!(mode, "700");
        assert!(!Path::new(folder).exists(), "{folder} is still there");
    }
}

#[test]
fn signals_have_their_default_dispositions() {
    // Not Python, which ignores SIGPIPE: a program that a shell executes inherits the dispositions of the shell.
    let status_spec = sh("exec cat /proc/self/status", Variant::Plain);
    let status = text(&run(status_spec).stdout);
    let masks = status.lines().filter(|line| line.starts_with("SigIgn:") || line.starts_with("SigBlk:"));
    for line in masks {
        let mask = u64::from_str_radix(line[7..].trim(), 16).unwrap();
        // The C library reserves 32 and 33.
        assert_eq!(mask & 0x7fff_ffff, 0, "{line}");
    }
    assert_eq!(run(spec("/usr/bin/yes", &[], Variant::ClosedPipe)).end, RunEnd::Signaled(13));
}

/// Runs one test of this binary in another process, which a shell script starts with `AGAIN` in its environment.
fn run_test_again(script: &str, test: &str) -> std::process::Output {
    let program = std::env::current_exe().unwrap();
    let mut shell = std::process::Command::new("/bin/sh");
    // A killed checker leaves its temporary folder.
    let temporary = tempfile::tempdir().unwrap();
    shell.env("AGAIN", "1").env("TMPDIR", temporary.path());
    shell.args(["-c", script]).arg(program).arg(test).output().unwrap()
}

/// Parents that ignore signals are nohup, or a shell for its background jobs.
#[test]
fn ignored_signals_of_the_caller_are_reset() {
    let script = r#"trap '' HUP INT QUIT USR1 PIPE CHLD; exec "$0" --exact "$1""#;
    let again = run_test_again(script, "run::start::signals_have_their_default_dispositions");
    let printed = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Some parents block signals while they start their children.
#[test]
fn blocked_signals_of_the_caller_are_reset() {
    let block = "import os, signal, sys; \
                 signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); \
                 os.execv(sys.argv[1], sys.argv[1:])";
    let script = format!(r#"exec '{}' -c '{block}' "$0" --exact "$1""#, crate::python::program().display());
    let tests = [
        "run::start::signals_have_their_default_dispositions",
        "run::confinement::the_end_of_a_run_is_the_same_in_namespaces",
    ];
    for test in tests {
        let again = run_test_again(&script, test);
        let printed = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && printed.contains("1 passed"), "{printed}");
    }
}

#[test]
fn the_target_is_killed_with_its_supervisor() {
    let temporary = tempfile::tempdir().unwrap();
    if std::env::var_os("AGAIN").is_some() {
        // The target kills its supervisor, which cannot clean up.
        let mut wanted = sh("echo $$ >pid; kill -KILL $PPID; exec sleep 1000", Variant::Plain);
        wanted.job.cwd = std::env::current_dir().unwrap().into();
        run(wanted);
        return;
    }
    let folder = temporary.path().display();
    let script = format!(r#"cd {folder} && "$0" --exact "$1""#);
    let again = run_test_again(&script, "run::start::the_target_is_killed_with_its_supervisor");
    assert!(!again.status.success());
    let pid = std::fs::read_to_string(temporary.path().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    if let Ok(handle) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        let mut wait = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
        let limit = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut wait, Some(&limit)), Ok(1), "the target is still running");
    }
}

#[test]
fn memory_use_does_not_depend_on_the_output() {
    if std::env::var_os("AGAIN").is_none() {
        let script = r#"exec "$0" --exact "$1" --nocapture"#;
        let again = run_test_again(script, "run::start::memory_use_does_not_depend_on_the_output");
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        return;
    }
    let mut runner = Runner::new(options());
    let specs = vec![sh("head -c 300000000 /dev/zero", Variant::Plain); 3];
    let observations = runner.run_all(specs, &mut |_| {}).unwrap().observations;
    assert!(
        observations.iter().all(|one| one.end == RunEnd::Exited(0) && one.stdout.bytes.len() == 300_000_000)
    );
    let peak = |pid: &str| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let helpers = children();
    assert_eq!(helpers.len(), 1);
    for process in ["self", &helpers[0]] {
        assert!(peak(process) < 64 * 1024, "{process}: {} kB", peak(process));
    }
}

#[test]
fn only_the_standard_descriptors_are_inherited() {
    let outcome = run(python("import os; print(sorted(os.listdir('/proc/self/fd')))", Variant::Plain));
    // Descriptor 3 reads the folder.
    assert_eq!(text(&outcome.stdout), "['0', '1', '2', '3']\n");
}

#[test]
fn resource_limits_are_set() {
    let outcome = run(sh("ulimit -c; ulimit -v; ulimit -n; ulimit -t", Variant::Plain));
    let printed = text(&outcome.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[..2], ["0", "unlimited"]);
    assert!(lines[2].parse::<u64>().unwrap() <= 1 << 16, "{printed}");
    assert!(lines[3].parse::<u64>().is_ok(), "{printed}");
}

#[test]
fn stdin_is_dev_null_or_the_given_bytes() {
    let plain = run(sh("wc -c; readlink /proc/self/fd/0", Variant::Plain));
    assert_eq!(text(&plain.stdout), "0\n/dev/null\n");
    for len in [0, 5, 3_000_000] {
        let mut fed = spec("/usr/bin/wc", &["-c"], Variant::Plain);
        fed.job.stdin = Some(vec![b'x'; len].into());
        assert_eq!(text(&run(fed).stdout).trim(), len.to_string());
        let mut left_unread = sh("exit 4", Variant::OpenStdin);
        left_unread.job.stdin = Some(vec![b'x'; len].into());
        assert_eq!(run(left_unread).end, RunEnd::Exited(4));
    }
}

#[test]
fn observations_are_in_the_order_of_the_specifications() {
    let specs = (0..40).map(|n| sh(&format!("echo {n}; exit {n}"), Variant::Plain)).collect();
    let mut reported = 0;
    let mut runner = Runner::new(options());
    let finished = runner.run_all(specs, &mut |_| reported += 1).unwrap();
    assert_eq!((reported, finished.interrupted, finished.confinement), (40, None, None));
    for (n, observation) in finished.observations.iter().enumerate() {
        assert_eq!(
            (observation.end.clone(), text(&observation.stdout)),
            (RunEnd::Exited(n as i32), format!("{n}\n"))
        );
    }
}

#[test]
fn a_quiet_run_has_no_parallel_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let specs = (0..6).map(|n| {
        let script = format!("touch {path}/{n}; ls {path}; rm {path}/{n}");
        let mut spec = sh(&script, Variant::Plain);
        spec.job.runs_alone = n % 2 == 0;
        spec
    });
    for (n, observation) in run_all(specs.collect()).iter().enumerate() {
        if n % 2 == 0 {
            assert_eq!(text(&observation.stdout), format!("{n}\n"));
        }
    }
}

#[test]
fn a_trusted_tool_has_the_callers_environment() {
    let args = ["-c", "echo \"$HOME $PATH\"; pwd"];
    let mut runner = Runner::new(options());
    let observation = runner.run_trusted(Job::new("/bin/sh", args, "/tmp", Duration::from_secs(60)));
    let [home, path] = ["HOME", "PATH"].map(|name| std::env::var(name).unwrap_or_default());
    let outcome = observation.unwrap().outcome;
    assert_eq!((outcome.end, text(&outcome.stdout)), (RunEnd::Exited(0), format!("{home} {path}\n/tmp\n")));
}

#[test]
fn a_run_over_its_output_limit_is_killed_and_keeps_the_output_up_to_it() {
    let mut small = options();
    small.max_output = 100_000;
    let specs = vec![
        spec("/usr/bin/yes", &[], Variant::Plain),
        sh("yes >&2", Variant::Plain),
        spec("/usr/bin/yes", &[], Variant::File),
        spec("/usr/bin/yes", &[], Variant::Tty),
        spec("/usr/bin/yes", &[], Variant::SlowReader),
        sh("head -c 100000 /dev/zero", Variant::Plain),
        sh("head -c 100001 /dev/zero", Variant::Plain),
    ];
    let observations = finish(small, specs).observations;
    for (n, one) in observations.iter().enumerate() {
        let end = if n == 5 { RunEnd::Exited(0) } else { RunEnd::TooMuch(Limit::Output(100_000)) };
        assert_eq!(one.end, end, "{n}");
        let stream = if n == 1 { &one.stderr } else { &one.stdout };
        assert_eq!(stream.bytes.len(), 100_000, "{n}");
        assert_eq!(bytes(stream).len(), 100_000, "{n}");
    }
}
