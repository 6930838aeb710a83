//! Explores the programs in `fixtures/hostile/explore`: nothing changes outside of the folders of their runs.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hostile/explore");
/// The file that all targets include.
const COMMON: &str = "common.sh";
/// Targets that exhaust processors, memory or disk, and would disturb other tests.
const HEAVY: &[&str] = &["fork.sh", "huge-output.sh", "memory.sh"];
/// The target without an attack: none of the commands that its help page lists exists.
const HARMLESS: &str = "endless-help.sh";
/// Time limit of an exploration, which a busy machine does not exceed.
const DEADLINE: Duration = Duration::from_secs(300);
/// Folders that an exploration must not change.
const VICTIMS: [&str; 3] = ["home", "workspace", "target/canary"];

fn targets() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name != COMMON);
    names.sort();
    names
}

#[test]
#[ignore = "it takes two minutes; `.ci/more` runs it"]
fn exploration_changes_nothing_outside_of_its_runs() {
    let targets = targets();
    assert_eq!(targets.len(), 20, "{targets:?}");
    targets.iter().filter(|target| !HEAVY.contains(&target.as_str())).for_each(|target| explore(target));
}

#[test]
#[ignore = "it uses much of the machine; `.ci/more` runs it"]
fn exploration_withstands_targets_that_exhaust_the_machine() {
    HEAVY.iter().for_each(|target| explore(target));
}

/// The surroundings of a target: folders and servers that it attacks.
struct Surroundings {
    root: tempfile::TempDir,
    tcp: TcpListener,
    sockets: [UnixListener; 2],
}

impl Surroundings {
    fn new(target: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for folder in VICTIMS {
            fs::create_dir_all(path(folder).join("folder")).unwrap();
            fs::write(path(folder).join("file"), "before").unwrap();
            fs::write(path(folder).join("folder/inner"), "before").unwrap();
        }
        fs::create_dir(path("temporary")).unwrap();
        for file in [target, COMMON] {
            fs::copy(Path::new(FOLDER).join(file), path("target").join(file)).unwrap();
        }
        let victims = VICTIMS.map(|folder| format!("{}\n", path(folder).display()));
        fs::write(path("target/victims"), victims.concat()).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port().to_string();
        fs::write(path("target/port"), &port).unwrap();
        let unnamed = SocketAddr::from_abstract_name(format!("agentnative-hostile-{port}")).unwrap();
        let sockets =
            [UnixListener::bind(path("target/socket")).unwrap(), UnixListener::bind_addr(&unnamed).unwrap()];
        Self { root, tcp, sockets }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Explores a target with a few calls.
    fn explore(&self, target: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentnative"));
        command
            .args(["check", "--explore", "--explore-calls", "8", "--fast", "--timeout", "2"])
            .args(["--isolation", "require", "--output", "json", "--command"])
            .arg(self.path("target").join(target))
            .arg("--workspace")
            .arg(self.path("workspace"))
            .arg("--record")
            .arg(self.path("recording.jsonl"))
            .current_dir(self.path("target"))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("temporary"))
            .env("XDG_CACHE_HOME", "/dev/null/cache")
            .stdin(Stdio::null());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(command.output().unwrap()));
        receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{target} does not end"))
    }

    /// Returns properties of all files that must not change.
    fn files(&self) -> BTreeMap<PathBuf, impl PartialEq + std::fmt::Debug> {
        let mut files = BTreeMap::new();
        let mut rest = ["home", "workspace", "target"].map(|name| self.path(name)).to_vec();
        while let Some(path) = rest.pop() {
            let found = fs::symlink_metadata(&path).unwrap();
            let content = found.is_file().then(|| fs::read(&path).unwrap());
            if found.is_dir() {
                rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let identity = (found.ino(), found.mode(), found.uid(), found.gid(), found.nlink());
            let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
            files.insert(path, (identity, times, content));
        }
        files
    }

    fn is_reached(&self) -> bool {
        self.tcp.set_nonblocking(true).unwrap();
        self.sockets.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        let tcp = self.tcp.accept().map(drop);
        let all = self.sockets.iter().map(|socket| socket.accept().map(drop)).chain([tcp]);
        all.into_iter().any(|accepted| !accepted.is_err_and(|error| error.kind() == ErrorKind::WouldBlock))
    }

    /// Returns the command lines of the processes that were started here.
    fn processes(&self) -> Vec<String> {
        let root = self.root.path().to_str().unwrap();
        let mentions =
            |file: PathBuf| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).contains(root);
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        processes
            .filter(|path| mentions(path.join("environ")) || mentions(path.join("cmdline")))
            .map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default())
            .collect()
    }
}

fn explore(target: &str) {
    let surroundings = Surroundings::new(target);
    let before = surroundings.files();
    let (start, clock) = (Instant::now(), SystemTime::now());
    let output = surroundings.explore(target);
    let seconds = start.elapsed().as_secs_f64();
    let drift = (clock.elapsed().unwrap_or_default().as_secs_f64() - seconds).abs();
    eprintln!("{target}: {seconds:.1} s");

    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
    if stdout.is_empty() && stderr.contains(r#""kind":"isolation""#) {
        eprintln!("skipped: {stderr}");
        return;
    }
    assert!(matches!(output.status.code(), Some(0..=2)), "{target}: {:?} {stderr}", output.status);
    let report: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{target}: {error}: {stderr}"));
    assert!(report["data"]["results"].is_array(), "{target}: {report:#}");
    let is_raw = |character: char| character.is_control() && character != '\n';
    assert!(!stdout.contains(is_raw) && !stderr.contains(is_raw), "{target}: {stdout}{stderr}");

    assert_eq!(surroundings.files(), before, "{target}");
    assert!(!surroundings.is_reached(), "{target} reached a server");
    assert!(drift < 3600.0, "{target} set the clock");
    assert_eq!(surroundings.processes(), Vec::<String>::new(), "{target}");
    assert_eq!(fs::read_dir(surroundings.path("temporary")).unwrap().count(), 0, "{target}");
    let recording = fs::read_to_string(surroundings.path("recording.jsonl")).unwrap();
    assert!(!recording.contains("breach:"), "{target}: {recording}");
    assert_eq!(recording.contains("attack begins"), target != HARMLESS, "{target}");
}
