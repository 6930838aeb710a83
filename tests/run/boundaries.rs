//! Resources that a confined run cannot reach: persistent files, sockets, pipes, locks, keyrings and terminals.

use super::{python, run, sh};
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{Confinement, RequestedConfinement, RunEnd, RunSpec, Secret, SetupCall, Workspace};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Stdout of a run in namespaces; `None`, with a message, where the system has none.
fn in_namespaces(mut spec: RunSpec) -> Option<String> {
    spec.job.isolation = RequestedConfinement::Available;
    let finished = finish(options(), vec![spec]);
    let observation = &finished.observations[0];
    if observation.confinement != Some(Confinement::Namespaces) {
        eprintln!("skipped: this system has no namespaces: {:?}", finished.no_namespaces);
        return None;
    }
    assert_eq!(
        observation.end,
        RunEnd::Exited(0),
        "{}{}",
        text(&observation.stdout),
        text(&observation.stderr)
    );
    Some(text(&observation.stdout))
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn changes_to_the_start_folder_are_copy_on_write() {
    // The overlay can be in the same file system as the folder, or not.
    for temporary in [std::env::temp_dir(), "/dev/shm".into()] {
        let Ok(folder) = tempfile::tempdir_in(&temporary) else { continue };
        let project = folder.path();
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir(project.join("sub")).unwrap();
        fs::write(project.join("file"), "before").unwrap();
        fs::write(project.join("sub/gone"), "").unwrap();
        let script = "echo after >../file; rm gone; mkdir new; echo x >new/x; echo x >../.git/hooks/post-commit; \
                      mv new moved; cat ../file moved/x; ls -A; stat -c %d . .. | uniq | wc -l";
        let mut spec = sh(script, Variant::Plain);
        spec.job.cwd = project.join("sub").into();
        let Some(printed) = in_namespaces(spec.clone()) else { return };
        assert_eq!(printed, "after\nx\nmoved\n1\n");
        assert_eq!(fs::read_to_string(project.join("file")).unwrap(), "before");
        assert_eq!(listing(&project.join("sub")), ["gone"]);
        assert!(listing(&project.join(".git/hooks")).is_empty());
        // A run sees the changes of its setup calls, but not those of other runs.
        spec.job.args = ["-c", "cat made; ls -A"].map(Into::into).into();
        let args = ["-c", "echo setup >made"].map(Into::into).into();
        spec.job.setup = vec![SetupCall { args, env: Vec::new(), interrupt: None }];
        assert_eq!(in_namespaces(spec).unwrap(), "setup\ngone\nmade\n");
    }
}

#[test]
fn a_run_with_writes_cannot_change_protected_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    fs::write(folder.path().join("agentnative.toml"), "").unwrap();
    let script = "for file in made .git/hooks/post-commit agentnative.toml; do (echo x >$file) 2>/dev/null && echo $file; done; \
                  mv .git moved 2>/dev/null && echo moved; rm agentnative.toml 2>/dev/null && echo removed; exit 0";
    let mut spec = sh(script, Variant::Plain);
    spec.job.cwd = folder.path().into();
    spec.job.writes_to_start_folder = true;
    spec.job.protected = vec![folder.path().join("agentnative.toml").into()];
    let Some(printed) = in_namespaces(spec) else { return };
    assert_eq!(printed, "made\n");
    assert_eq!(listing(folder.path()), [".git", "agentnative.toml", "made"]);
}

#[test]
fn without_an_overlay_the_start_folder_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = sh("(echo x >made) 2>/dev/null || echo read-only", Variant::Plain);
    spec.job.cwd = folder.path().into();
    spec.job.isolation = RequestedConfinement::Landlock;
    let outcome = run(spec.clone());
    if outcome.confinement != Some(Confinement::Landlock) {
        eprintln!("skipped: this system has no Landlock");
        return;
    }
    assert_eq!((text(&outcome.stdout).as_str(), outcome.read_only_start), ("read-only\n", true));
    spec.job.writes_to_start_folder = true;
    assert!(!run(spec).read_only_start && folder.path().join("made").exists());
}

/// Setup calls can write to the folder of their run.
#[test]
fn a_secret_file_is_not_written_through_a_link() {
    for isolation in
        [RequestedConfinement::None, RequestedConfinement::Landlock, RequestedConfinement::Available]
    {
        let victim = tempfile::NamedTempFile::new().unwrap();
        fs::write(victim.path(), "of the user").unwrap();
        let script = format!(
            "own=${{TMPDIR%/*}}; for place in $own/secret $own.private/secret; do ln -s {} $place; done 2>/dev/null; exit 0",
            victim.path().display()
        );
        let mut spec = sh("cat {file}", Variant::Plain);
        spec.job.isolation = isolation;
        spec.job.workspace = Some(Workspace::Empty);
        spec.job.secret = Some(Secret { value: "not-a-real-token".into(), file: Some("{file}".into()) });
        let args = vec!["-c".into(), script.into()];
        spec.job.setup = vec![SetupCall { args, env: Vec::new(), interrupt: None }];
        let outcome = run(spec);
        let is_made = outcome.end == RunEnd::Exited(0);
        assert!(is_made || isolation == RequestedConfinement::None, "{isolation:?}: {:?}", outcome.end);
        assert_eq!(fs::read_to_string(victim.path()).unwrap(), "of the user", "{isolation:?}");
    }
}

const ATTEMPT: &str = "
import ctypes, fcntl, os, socket, sys
def attempt(name, act):
    try: act()
    except OSError: return
    print(name)
";

/// Renamed and linked sockets have other paths than those that they were bound to.
#[test]
fn sockets_pipes_and_locks_of_the_machine_are_unreachable() {
    for temporary in [std::env::temp_dir(), "/var/tmp".into(), env!("CARGO_TARGET_TMPDIR").into()] {
        let folder = tempfile::tempdir_in(temporary).unwrap();
        let path = |name: &str| folder.path().join(name);
        let _listeners =
            ["plain", "renamed", "linked", "line\nfeed"].map(|name| UnixListener::bind(path(name)).unwrap());
        fs::rename(path("renamed"), path("other name")).unwrap();
        fs::hard_link(path("linked"), path("other link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o666),
            0,
        )
        .unwrap();
        let pipe = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NONBLOCK;
        let _reader = rustix::fs::open(path("pipe"), pipe, rustix::fs::Mode::empty()).unwrap();
        let lock = fs::File::create(path("lock")).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let script = format!(
            "{ATTEMPT}
os.chdir(sys.argv[1])
for name in ('plain', 'other name', 'linked', 'other link', 'line\\nfeed'):
    attempt(name, lambda: socket.socket(socket.AF_UNIX).connect(name))
attempt('pipe', lambda: os.open('pipe', os.O_WRONLY | os.O_NONBLOCK))
attempt('lock', lambda: fcntl.flock(open('lock'), fcntl.LOCK_EX | fcntl.LOCK_NB))
"
        );
        let mut spec = python(&script, Variant::Plain);
        spec.job.args.push(folder.path().into());
        let everything = "plain\nother name\nlinked\nother link\nline\nfeed\npipe\n";
        assert_eq!(text(&run(spec.clone()).stdout), everything);
        // The run can take a lock of its own, which blocks no process outside.
        let in_start_folder = {
            let mut spec = spec.clone();
            spec.job.cwd = folder.path().into();
            spec
        };
        for spec in [spec, in_start_folder] {
            let Some(printed) = in_namespaces(spec) else { return };
            assert_eq!(printed, "lock\n", "{}", folder.path().display());
        }
    }
}

#[test]
fn keyrings_vsocks_and_further_namespaces_are_unavailable() {
    let script = format!(
        "{ATTEMPT}
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), 'refused')
keyctl, io_uring, user = (250, 425, 0x10000000) if os.uname().machine == 'x86_64' else (219, 425, 0x10000000)
attempt('keyring', lambda: call(keyctl, 0, -3, 1))
attempt('io_uring', lambda: call(io_uring, 1, ctypes.create_string_buffer(256)))
attempt('namespace', lambda: call(272 if keyctl == 250 else 97, user))
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK))
attempt('kernel events', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15))
attempt('routes', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt('unix', socket.socketpair)
"
    );
    let spec = python(&script, Variant::Plain);
    let Some(printed) = in_namespaces(spec.clone()) else { return };
    assert_eq!(printed, "routes\nunix\n");
    let mut online = spec.clone();
    online.job.network = true;
    assert_eq!(in_namespaces(online).unwrap(), "routes\nunix\n");
    for network in [false, true] {
        let mut weaker = spec.clone();
        weaker.job.isolation = RequestedConfinement::Landlock;
        weaker.job.network = network;
        let outcome = run(weaker);
        if outcome.confinement == Some(Confinement::Landlock) {
            assert!(!text(&outcome.stdout).contains("keyring"), "{}", text(&outcome.stdout));
        }
    }
}

#[test]
fn a_run_sees_only_its_own_terminal() {
    let other =
        rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).unwrap();
    rustix::pty::unlockpt(&other).unwrap();
    let name = rustix::pty::ptsname(&other, Vec::new()).unwrap().into_string().unwrap();
    let script = "tty <&1; test -t 1 && ls /dev/pts | xargs; stty size <&1";
    for variant in [Variant::Tty, Variant::FullTerminal] {
        let Some(printed) = in_namespaces(sh(script, variant)) else { return };
        assert_eq!(printed, "/dev/pts/0\n0 ptmx\n24 80\n", "{name}");
    }
    let mut prompting = sh("read answer", Variant::TerminalIn);
    prompting.job.isolation = RequestedConfinement::Available;
    let outcome = run(prompting);
    assert_eq!(
        (&outcome.end, outcome.waits_for_input()),
        (&RunEnd::Waited, true),
        "the run waits for its terminal"
    );
}

/// The file system answers no request, like that of a server that is down.
#[test]
fn an_unresponsive_file_system_does_not_block_runs() {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: only root mounts a file system that answers nothing");
        return;
    }
    let dead = tempfile::tempdir().unwrap();
    let script = format!(
        "{ATTEMPT}
import subprocess
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x20000) == 0 and libc.mount(b'none', b'/', None, 0x44000, None) == 0
fuse = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={{fuse}},rootmode=40000,user_id=0,group_id=0'.encode()
if libc.mount(b'dead', sys.argv[1].encode(), b'fuse.dead', 0, options):
    sys.exit('skipped: cannot mount')
folder = sys.argv[3]
open(folder + '/cli', 'w').write('#!/bin/sh\\necho done\\n')
os.chmod(folder + '/cli', 0o755)
check = [sys.argv[2], 'check', './cli', '--probe', 'go', '--check', 'p2-exit-success', '--fast', '--json']
done = subprocess.run(check, cwd=folder, capture_output=True, text=True, timeout=60)
print(done.stdout)
"
    );
    let folder = tempfile::tempdir().unwrap();
    let mut spec = python(&script, Variant::Plain);
    spec.job.args.push(dead.path().into());
    spec.job.args.push(env!("CARGO_BIN_EXE_agentnative").into());
    spec.job.args.push(folder.path().into());
    let outcome = run(spec);
    let (out, err) = (text(&outcome.stdout), text(&outcome.stderr));
    if err.contains("skipped: ") {
        eprintln!("{err}");
        return;
    }
    assert!(
        out.contains("\"isolation\": \"namespaces\"") || out.contains("\"isolation\":\"namespaces\""),
        "{out}{err}"
    );
}
