//! Orphans: processes whose run cannot be determined from their parents.

use super::{python, run_all};
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{RunEnd, RunnerOptions};

/// Python code that removes everything that identifies the run of a process.
const LOSE_TRACES: &str =
    "os.setsid()\n resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n os.closerange(0, 64)\n";

#[test]
fn orphans_are_reaped_while_several_runs_are_active() {
    let folder = tempfile::tempdir().unwrap();
    let both = folder.path().display();
    // A zombie has no environment. Each run waits until the other one has started.
    let script = |own: usize| {
        format!(
            "import glob, os, resource, time\n\
             end = time.monotonic() + 30\n\
             def wait(reached):\n\
             \x20while time.monotonic() < end:\n\
             \x20 if reached(): return True\n\
             \x20 time.sleep(.005)\n\
             \x20return False\n\
             open('{both}/{own}', 'w').close()\n\
             print(wait(lambda: len(glob.glob('{both}/[01]')) == 2))\n\
             if os.fork() == 0:\n {LOSE_TRACES} for _ in range(40):\n  if os.fork(): os._exit(0)\n os._exit(0)\n\
             os.wait()\n\
             def zombies():\n\
             \x20def stat(path):\n\
             \x20 try: return open(path).read().rsplit(') ')[1].split()\n\
             \x20 except OSError: return ['', '']\n\
             \x20all = [stat(path)[:2] for path in glob.glob('/proc/[0-9]*/stat')]\n\
             \x20return all.count(['Z', str(os.getppid())])\n\
             print(wait(lambda: zombies() == 0))\n\
             open('{both}/done-{own}', 'w').close()\n\
             wait(lambda: len(glob.glob('{both}/done-*')) == 2)"
        )
    };
    let runs = run_all((0..2).map(|own| python(&script(own), Variant::Plain)).collect());
    for outcome in runs.into_iter().map(|observation| observation.outcome) {
        assert_eq!(
            (outcome.end, &*text(&outcome.stdout)),
            (RunEnd::Exited(0), "True\nTrue\n"),
            "{}",
            text(&outcome.stderr)
        );
    }
}

#[test]
fn an_orphan_with_the_limit_of_another_run_is_killed() {
    let name = format!("1000.{}", std::process::id());
    // Runs are identified by file size limits a little above 4 GiB.
    let script = format!(
        "import os, resource\nbegun, ours = os.pipe()\nif os.fork() == 0:\n os.setsid()\n\
         \x20resource.setrlimit(resource.RLIMIT_FSIZE, ((4 << 30) + 1, (4 << 30) + 1))\n\
         \x20for fd in range(3): os.dup2(os.open('/dev/null', os.O_RDWR), fd)\n\
         \x20os.execve('/bin/sleep', ['sleep', '{name}'], {{}})\n\
         os.close(ours)\nos.read(begun, 1)\n"
    );
    let specs = vec![python("pass", Variant::Plain), python(&script, Variant::Plain)];
    let outcome = finish(RunnerOptions { jobs: 1, ..options() }, specs).observations.remove(1).outcome;
    assert_eq!((outcome.end, &*text(&outcome.stderr)), (RunEnd::Exited(0), ""));
    let left: Vec<_> = outcome.left_behind.iter().map(|it| (&*it.name, it.detached)).collect();
    assert_eq!(left, [(&b"sleep"[..], true)]);
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let words = numbers.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    assert_eq!(words.filter(|all| all.split(|&b| b == 0).any(|one| one == name.as_bytes())).count(), 0);
}
