//! What confined runs can and cannot do at each confinement level.

use super::{python, run, sh};
use crate::runs::{children, children_of, finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{Confinement, RequestedConfinement, RunEnd, RunSpec, Runner, Workspace};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// Each confinement level with the isolation that selects it.
const LEVELS: [(RequestedConfinement, Confinement); 2] = [
    (RequestedConfinement::Landlock, Confinement::Landlock),
    (RequestedConfinement::Full, Confinement::Namespaces),
];

/// Stdout of a confined run; `None`, with a message, where the system does not support the level.
fn confined(spec: RunSpec, (isolation, level): (RequestedConfinement, Confinement)) -> Option<String> {
    let finish_one = |mut spec: RunSpec| {
        spec.job.isolation = isolation;
        finish(options(), vec![spec])
    };
    let trial = finish_one(sh("", Variant::Plain));
    if trial.confinement != Some(level) {
        eprintln!("skipped: this system has no {level:?}, but {:?}", trial.observations[0].end);
        return None;
    }
    let finished = finish_one(spec);
    let observation = &finished.observations[0];
    assert_eq!(
        (&observation.end, observation.confinement),
        (&RunEnd::Exited(0), Some(level)),
        "{}",
        text(&observation.stderr)
    );
    Some(text(&observation.stdout))
}

/// Prints the name of each attempt that does not fail.
const ATTEMPT: &str = "
import ctypes, os, signal, socket, sys
def attempt(name, act):
    try:
        act()
        print(name)
    except (OSError, AttributeError): pass
";

#[test]
fn a_confined_run_reaches_only_its_own_network() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let _unix = UnixListener::bind(folder.path().join("socket")).unwrap();
    let script = format!(
        "{ATTEMPT}
tcp, udp, unix = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def connect(kind, protocol=0):
    socket.socket(socket.AF_INET, kind, protocol).connect(('127.0.0.1', tcp))
def fast_open():
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).sendto(b'x', 0x20000000, ('127.0.0.1', tcp))
def datagram():
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(('127.0.0.1', udp))
    sender.send(b'x')
    sender.settimeout(0.05)
    try: sender.recv(1)
    except TimeoutError: pass
def own():
    server = socket.create_server(('127.0.0.1', 0))
    socket.create_connection(server.getsockname())
attempt('tcp', lambda: connect(socket.SOCK_STREAM))
attempt('mptcp', lambda: connect(socket.SOCK_STREAM, 262))
attempt('fast open', fast_open)
attempt('udp', datagram)
attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect(unix))
attempt('own', own)
attempt('pair', socket.socketpair)
"
    );
    let mut spec = python(&script, Variant::Plain);
    spec.job.args.push(tcp.local_addr().unwrap().port().to_string().into());
    spec.job.args.push(udp.local_addr().unwrap().port().to_string().into());
    spec.job.args.push(folder.path().join("socket").into());
    let unconfined = text(&run(spec.clone()).stdout);
    assert!(
        unconfined.starts_with("tcp\n") && unconfined.ends_with("udp\nunix\nown\npair\n"),
        "{unconfined}"
    );
    for level in LEVELS {
        // Landlock has no rule for connecting to a socket that is a file.
        let expected = if level.0 == RequestedConfinement::Full { "own\npair\n" } else { "unix\npair\n" };
        let Some(printed) = confined(spec.clone(), level) else { continue };
        assert_eq!(printed, expected, "{level:?}");
        let mut online = spec.clone();
        online.job.network = true;
        assert!(confined(online, level).is_some_and(|printed| printed.starts_with("tcp\n")), "{level:?}");
        // Only the declared port can be connected to.
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut with_port = spec.clone();
        with_port.job.connect = vec![tcp.local_addr().unwrap().port()];
        let printed = confined(with_port, level).unwrap();
        // Landlock does not control other kinds of connections, so they are denied there.
        let expected = match level.0 {
            RequestedConfinement::Full => "tcp\nmptcp\nfast open\nown\npair\n",
            _ => "tcp\nunix\npair\n",
        };
        assert_eq!(printed, expected, "{level:?}");
        let mut elsewhere = spec.clone();
        elsewhere.job.connect = vec![other.local_addr().unwrap().port()];
        assert!(!confined(elsewhere, level).unwrap().contains("tcp"), "{level:?}");
    }
}

#[test]
fn a_confined_run_cannot_write_or_signal_outside() {
    let outside = tempfile::tempdir().unwrap();
    let start = tempfile::tempdir().unwrap();
    let script = format!(
        "{ATTEMPT}
outside, checker = sys.argv[1], int(sys.argv[2])
attempt('home', lambda: open(os.environ['HOME'] + '/file', 'w'))
attempt('temporary', lambda: open(os.environ['TMPDIR'] + '/file', 'w'))
attempt('start', lambda: open('file', 'w'))
attempt('null', lambda: open('/dev/null', 'w').write('x'))
attempt('outside', lambda: open(outside + '/file', 'w'))
attempt('mode', lambda: os.chmod(outside, 0o777))
attempt('times', lambda: os.utime(outside))
attempt('signal', lambda: os.kill(checker, 0))
attempt('environment', lambda: open(f'/proc/{{checker}}/status'))
"
    );
    let mut spec = python(&script, Variant::Plain);
    spec.job.cwd = start.path().into();
    spec.job.args.push(outside.path().into());
    spec.job.args.push(std::process::id().to_string().into());
    for level in LEVELS {
        let Some(printed) = confined(spec.clone(), level) else { continue };
        // Landlock has no overlay, and does not control modes, times and reads.
        let (start_folder, more) = match level.0 {
            RequestedConfinement::Full => ("start\n", ""),
            _ => ("", "mode\ntimes\nenvironment\n"),
        };
        assert_eq!(printed, format!("home\ntemporary\n{start_folder}null\n{more}"), "{level:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(start.path()).unwrap().count(), 0);
        let mut copied = spec.clone();
        copied.job.workspace = Some(Workspace::Empty);
        copied.job.args.extend([start.path().into()]);
        confined(copied, level);
        assert_eq!(
            std::fs::read_dir(start.path()).unwrap().count(),
            0,
            "{level:?}: a workspace replaces the start folder"
        );
    }
}

#[test]
fn a_run_in_namespaces_does_not_see_the_machine() {
    let level = LEVELS[1];
    let script = "ls -A /run; echo $PPID; ls /proc | grep -c '^[0-9]'; \
                  ls -A ~root/.ssh 2>/dev/null; cat /proc/1/environ 2>/dev/null; \
                  grep -c . /etc/passwd >/dev/null && echo read; : >/run/own && echo wrote; (true >/tmp/own) 2>/dev/null || echo read-only; kill -9 1; echo here";
    let Some(printed) = confined(sh(script, Variant::Plain), level) else { return };
    let expected = "1\n4\nread\nwrote\nread-only\nhere\n";
    // `ls` runs next to the shell and the first process; `grep` may not have started, or may be two processes.
    assert_eq!(printed.replace("\n3\n", "\n4\n").replace("\n5\n", "\n4\n"), expected);
    assert!(!Path::new("/run/own").exists());
}

#[test]
fn a_target_can_start_in_a_masked_folder() {
    for shared in ["/dev/shm", "/run"] {
        let prefix = "agentnative-test-";
        let make = || tempfile::Builder::new().prefix(prefix).tempdir_in(shared);
        let (Ok(start), Ok(other)) = (make(), make()) else {
            eprintln!("skipped: no folder can be made in {shared}");
            continue;
        };
        std::fs::write(start.path().join("input"), "read\n").unwrap();
        // The folder of the run may be in the masked folder as well.
        let script = format!(
            "cat input; echo wrote >made; cat made; own=${{TMPDIR#{shared}/}}; ls .. | grep -vxF \"${{own%%/*}}\""
        );
        let mut spec = sh(&script, Variant::Plain);
        spec.job.cwd = start.path().into();
        let name = start.path().file_name().unwrap().to_str().unwrap();
        let Some(printed) = confined(spec, LEVELS[1]) else { return };
        assert_eq!(printed, format!("read\nwrote\n{name}\n"), "{shared}");
        assert!(!start.path().join("made").exists() && other.path().exists(), "{shared}");
    }
}

#[test]
fn the_end_of_a_run_is_the_same_in_namespaces() {
    for (script, end) in [
        ("exit 42", RunEnd::Exited(42)),
        ("kill -TERM $$", RunEnd::Signaled(15)),
        ("kill -SEGV $$", RunEnd::Signaled(11)),
        ("sleep 60", RunEnd::TimedOut),
        ("trap '' TERM; sleep 60", RunEnd::TimedOut),
        ("kill -STOP $$", RunEnd::TimedOut),
    ] {
        let mut spec = sh(script, Variant::Plain);
        spec.job.isolation = RequestedConfinement::Available;
        spec.job.deadline =
            if end == RunEnd::TimedOut { Duration::from_millis(300) } else { spec.job.deadline };
        assert_eq!(run(spec).end, end, "{script}");
    }
    let mut left =
        sh("setsid sh -c 'exec >/dev/null 2>&1; sleep 60' & (setsid sleep 60 &) ; exit 0", Variant::Plain);
    left.job.isolation = RequestedConfinement::Available;
    let outcome = run(left);
    assert_eq!(outcome.end, RunEnd::Exited(0));
    assert!(
        outcome.left_behind.len() >= 2 && outcome.left_behind.iter().all(|left| !left.survives),
        "{outcome:?}"
    );
}

/// The kernel kills the runs.
#[test]
fn no_process_survives_a_killed_helper() {
    crate::own_process::in_own_process("run::confinement::no_process_survives_a_killed_helper", || {
        let script = "(setsid sh -c 'trap \"\" TERM HUP; exec sleep 1000' &); echo begun; sleep 1000";
        let mut spec = sh(script, Variant::Plain);
        spec.job.isolation = RequestedConfinement::Full;
        let file = tempfile::NamedTempFile::new().unwrap();
        spec.job.env.push(("COOKIE".into(), file.path().into()));
        let with_cookie = || {
            let processes = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
                let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
                let cookie = format!("COOKIE={}", file.path().display());
                environment.split(|byte| *byte == 0).any(|one| one == cookie.as_bytes())
            });
            processes.filter(|entry| entry.file_name() != *std::process::id().to_string()).count()
        };
        let runner = std::thread::spawn(move || Runner::new(options()).run_all(vec![spec], &mut |_| {}));
        let until = |what: &dyn Fn() -> bool| {
            let end = Instant::now() + Duration::from_secs(30);
            while !what() && !runner.is_finished() && Instant::now() < end {
                std::thread::yield_now();
            }
            what()
        };
        if !until(&|| with_cookie() >= 3) {
            eprintln!("skipped: this system has no namespaces");
            return;
        }
        let helper: i32 =
            children().iter().find(|pid| !children_of(pid).is_empty()).unwrap().parse().unwrap();
        let helper = rustix::process::Pid::from_raw(helper).unwrap();
        rustix::process::kill_process(helper, rustix::process::Signal::KILL).unwrap();
        assert!(runner.join().unwrap().is_err());
        let end = Instant::now() + Duration::from_secs(30);
        while with_cookie() > 0 && Instant::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(with_cookie(), 0);
    });
}
