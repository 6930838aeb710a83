//! Calls that change something: where they run, and what is said where that does not show enough.

use super::support::{CliOutput, Folder, output_of};
use serde_json::Value;
use std::process::Command;

const PROBES: &str = r#"
[target]
command = ["./cli"]

[[probe]]
name = "add"
args = ["add", "bread"]
workspace = true
changes = true
idempotent = true

[[probe]]
name = "remove"
args = ["remove", "milk"]
workspace = true
setup = [["add", "milk"]]
destructive = true
idempotent = true
"#;

const P5: [&str; 4] = ["check", "--json", "--principle", "5"];

fn folder(lines: &str, config: &str) -> Folder {
    let folder = Folder::demo(lines);
    folder.write("agentnative.toml", config);
    folder
}

/// Status and message of a check.
fn told(output: &CliOutput, id: &str) -> (String, String) {
    let document = output.json();
    let mut results = document["data"]["results"].as_array().unwrap().iter();
    let result = results.find(|result| result["id"] == id).unwrap_or_else(|| panic!("no {id}"));
    let word = |key: &str| result[key].as_str().unwrap().to_owned();
    (word("status"), word("message"))
}

fn is(output: &CliOutput, id: &str, status: &str, part: &str) {
    let (own, message) = told(output, id);
    assert!(own == status && message.contains(part), "{id}: {own}: {message}");
}

#[test]
fn nothing_is_changed_but_in_copies() {
    let folder = folder("", PROBES);
    let before: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    let output = folder.run(&P5);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&output, id, "pass", "");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), before.len());
}

#[test]
fn a_recording_holds_what_was_changed() {
    let folder = folder("store() { printf x >>\"$operand.rec\"; }", PROBES);
    let all: Vec<&str> = P5.into_iter().chain(["--record", "runs"]).collect();
    let seen = folder.run(&all);
    is(&seen, "p5-idempotent", "warn", "the second call modifies `bread.rec`");
    let again = folder.run(&["check", "--json", "--principle", "5", "--replay", "runs"]);
    let results = |output: &CliOutput| output.data()["results"].clone();
    assert_eq!(results(&again), results(&seen));
    // One that is older tells nothing of changes.
    let older: String = folder
        .read("runs")
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("changes");
            format!("{line}\n")
        })
        .collect();
    folder.write("older", older);
    let older = folder.run(&["check", "--json", "--principle", "5", "--replay", "older"]);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&older, id, "unverified", "is not known");
    }
}

#[test]
fn one_fault_is_told_once() {
    let locked = folder("destroy() { fail 1 locked general 'it is locked'; }", PROBES).run(&P5);
    is(&locked, "p5-confirm", "fail", "with `--yes`, the exit code is 1 instead of 0");
    is(&locked, "p5-dry-run", "unverified", "see p5-confirm");
    is(&locked, "p5-idempotent", "unverified", "see p5-confirm");

    let full = folder("store() { fail 1 full general 'there is no room'; }", PROBES).run(&P5);
    is(&full, "p5-confirm", "unverified", "the call before it, `add milk`, exited with 1");
    is(&full, "p5-dry-run", "unverified", "correct `args`, `setup` or `exit` of the probe");
    is(&full, "p5-read-only", "pass", "");

    let asks = "unconfirmed() { command printf 'Sure? ' >&2; read -r answer </dev/tty; destroy; }";
    let asks = folder(asks, PROBES).run(&["check", "--json", "--principle", "1,5"]);
    is(&asks, "p5-confirm", "fail", "without `--yes`, the call removes `milk.rec`");
}

#[test]
fn who_refuses_the_confirmation_is_told_of_that_alone() {
    let refuses = "remove() { if [ -n \"$yes\" ]; then usage_error 'unknown flag: --yes'; fi; plan; if [ -z \"$dry\" ]; then destroy; fi; }";
    let output =
        folder(refuses, PROBES).run(&["check", "--json", "--check", "p5-*,p4-names-culprit,p4-unknown-flag"]);
    is(&output, "p5-confirm", "fail", "");
    is(&output, "p4-names-culprit", "pass", "");
    is(&output, "p4-unknown-flag", "pass", "");
}

#[test]
fn a_secret_is_given_to_the_calls_before_as_usual() {
    let config = "[target]\ncommand = ['./cli']\nsecret = { env = 'DEMO_TOKEN', file = ['--token-file', '{file}'] }\n\
        [[probe]]\nname = 'account'\nargs = ['whoami']\nworkspace = true\nsecret = true\nsetup = [['whoami']]\n\
        env = { DEMO_TOKEN = 'tok_4f7a91c2' }\n";
    let output = folder("", config).run(&["check", "--json", "--check", "p1-secret-*"]);
    is(&output, "p1-secret-path", "pass", "");
    is(&output, "p1-secret-silent", "pass", "");
    let short = folder("", &config.replace("tok_4f7a91c2", "tok"));
    let short = short.run(&["check", "--json", "--check", "p1-secret-*"]);
    is(&short, "p1-secret-path", "unverified", "the call before it, `whoami`, exited with 77");
}

#[test]
fn what_reading_calls_change_too_is_told_of_them() {
    let list = "\n[[probe]]\nname = \"list\"\nargs = [\"list\"]\nworkspace = true\n";
    let config = format!("{PROBES}{list}");
    // What the first call of all leaves in a fresh home.
    let first = folder("before() { : >>\"$HOME/.demo-first\"; }", &config).run(&P5);
    is(&first, "p5-read-only", "fail", "creates `~/.demo-first`");
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&first, id, "pass", "");
    }
    let index = folder("before() { command printf x >>index; }", &config).run(&P5);
    is(&index, "p5-read-only", "fail", "creates `index`");
    for id in ["p5-dry-run", "p5-idempotent"] {
        is(&index, id, "unverified", "see p5-read-only");
    }
}

#[test]
fn of_too_many_changes_some_may_be_results() {
    let many = "cd \"$XDG_CACHE_HOME\" && seq 1100 | xargs touch; cd - >/dev/null";
    let caches =
        format!("plan() {{ mkdir -p \"$XDG_CACHE_HOME\"; {many}; begin ''; row 1 x 1; finish ''; }}");
    is(&folder(&caches, PROBES).run(&P5), "p5-dry-run", "unverified", "changes too much to tell");
    let results = "plan() { seq 1100 | xargs touch; begin ''; row 1 x 1; finish ''; }";
    is(&folder(results, PROBES).run(&P5), "p5-dry-run", "fail", "more");
}

#[test]
fn what_shows_no_change_shows_no_dry_run() {
    let remote = folder("store() { :; }", PROBES).run(&P5);
    is(&remote, "p5-dry-run", "unverified", "changes nothing in the workspace or the home");
    let confirmed = "destroy() { :; }";
    is(&folder(confirmed, PROBES).run(&P5), "p5-confirm", "fail", "the call changes nothing");
    // Beside a service, or where it may write anywhere, the change may be elsewhere.
    let service = "\n[[service]]\ncommand = [\"./serve\"]\nready = { line = \"up\" }\n";
    let served = folder(confirmed, &format!("{PROBES}{service}"));
    served.script("serve", "echo up; exec sleep 60");
    is(&served.run(&P5), "p5-confirm", "unverified", "the call changes nothing");
    let free: Vec<&str> = P5.into_iter().chain(["--allow-unconfined"]).collect();
    is(&folder(confirmed, PROBES).run(&free), "p5-confirm", "unverified", "the call changes nothing");
}

#[test]
fn a_command_whose_name_says_that_it_changes_something_is_named() {
    let with = |target: &str| {
        let probe = "[[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\n";
        folder("", &format!("[target]\ncommand = ['./cli']\n{target}\n{probe}")).run(&P5)
    };
    let open = with("");
    is(&open, "p5-dry-run", "unverified", "the help lists the command `add`");
    is(&open, "p5-confirm", "unverified", "the help lists the command `remove`");
    is(&open, "p5-read-only", "pass", "");
    let lacking = with("lacks = ['changes']");
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&lacking, id, "not-applicable", "changes nothing according to its configuration");
    }
}

#[test]
fn without_a_folder_of_its_own_a_call_shows_nothing() {
    let config = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    is(&folder("", config).run(&P5), "p5-read-only", "unverified", "declare `workspace` for list");
    let both = format!("{config}\n[[probe]]\nname = 'show'\nargs = ['show', '1']\nworkspace = true\n");
    is(&folder("", &both).run(&P5), "p5-read-only", "unverified", "declare `workspace` for list (");
    let writes = folder("before() { : >index; }", &both);
    is(&writes.run(&P5), "p5-read-only", "fail", "the call creates `index`");
}

#[test]
fn with_formats_a_call_that_changes_something_runs_like_others() {
    let formats = PROBES.replace("[\"add\", \"bread\"]", "[\"add\", \"bread\"]\nformats = [\"json\"]");
    let only = ["check", "--json", "--check", "p2-output-json"];
    is(&folder("", PROBES).run(&only), "p2-output-json", "unverified", "declare a probe");
    is(&folder("", &formats).run(&only), "p2-output-json", "pass", "");
    is(&folder("after() { echo done; }", &formats).run(&only), "p2-output-json", "fail", "");
}

#[test]
fn json_is_asked_for_only_where_that_writes_no_file() {
    let lines = "for arg; do case $arg in --help) echo 'Commands:'; echo '  add  Add'; exit 0 ;; esac; done\n\
        case \"$*\" in *--dry-run*) echo would add ;; *) echo added; : >added ;; esac\n\
        case \"$*\" in *--output*) : >\"${*##* }\" ;; esac\n";
    let probe = "[[probe]]\nname = 'add'\nargs = ['add']\nworkspace = true\nchanges = true\n";
    let open = Folder::with(lines);
    open.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{probe}"));
    is(&open.run(&P5), "p5-dry-run", "unverified", "add was not tried in json");
    open.write(
        "agentnative.toml",
        format!("[target]\ncommand = ['./cli']\nformats = {{ json = false, jsonl = false }}\n{probe}"),
    );
    is(&open.run(&P5), "p5-dry-run", "pass", "");
}

#[test]
fn isolation_is_said_on_the_command_line_too() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("file");
    let config = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let folder = folder(&format!("before() {{ : >'{}'; }} 2>/dev/null", file.display()), config);
    let check = |isolation: &str| {
        let output = folder.run(&["check", "--json", "--check", "p2-exit-success", "--isolation", isolation]);
        let written = file.exists();
        std::fs::remove_file(&file).unwrap_or_default();
        (output, written)
    };
    assert!(check("none").1);
    for kind in ["landlock", "auto", "require", "sandbox"] {
        let (output, written) = check(kind);
        assert!(!written, "{kind}: {output:?}");
    }
    let unknown = folder.run(&["check", "--isolation", "jail"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("none, landlock, auto, require"), "{unknown:?}");
}

/// Runs a command where the kernel seems to have no namespaces for us, as in a container of hosted CI, and, with `none` as
/// the first argument, no Landlock either: the system calls for them fail.
const WITHOUT: &str = r#"
import ctypes, os, struct, sys
unshare = {'x86_64': 272, 'aarch64': 97, 'riscv64': 97}[os.uname().machine]
landlock = 444 if sys.argv.pop(1) == 'none' else 0xFFFFFFFF
# Load the number of the system call; if it is that of Landlock, ENOSYS; if that of namespaces, EPERM; else allow.
code = [(0x20, 0, 0, 0), (0x15, 0, 1, landlock), (0x06, 0, 0, 0x00050000 | 38), (0x15, 0, 1, unshare),
        (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7FFF0000)]
program = b''.join(struct.pack('HBBI', *line) for line in code)
buffer = ctypes.create_string_buffer(program)
class Filter(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
no_new_privs, seccomp, by_filter = 38, 22, 2
assert libc.prctl(no_new_privs, 1, 0, 0, 0) == 0
filter = Filter(len(code), ctypes.cast(buffer, ctypes.c_void_p))
if libc.prctl(seccomp, by_filter, ctypes.byref(filter), 0, 0) != 0: sys.exit('no filter')
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn what_cannot_be_confined_is_not_run_unless_that_is_allowed() {
    let folder = folder("", PROBES);
    let with = |kernel: &str, args: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-c", WITHOUT, kernel, env!("CARGO_BIN_EXE_agentnative")]).args(args);
        output_of(command.current_dir(folder.path()))
    };
    let without = |args: &[&str]| with("none", args);
    let refused = without(&P5);
    if refused.err.contains("no filter") {
        eprintln!("skipped: no system call can be filtered here");
        return;
    }
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&refused, id, "unverified", "this system has neither namespaces for it nor Landlock");
        is(&refused, id, "unverified", "--allow-unconfined");
    }
    is(&refused, "p5-read-only", "pass", "");
    let allowed: Vec<&str> = P5.into_iter().chain(["--allow-unconfined"]).collect();
    let allowed = without(&allowed);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        is(&allowed, id, "pass", "");
    }
    assert!(allowed.out.contains("was not enforced"), "{}", allowed.out);
    let required = without(&["check", "--isolation", "require"]);
    assert_eq!((required.code, required.out.as_str()), (Some(1), ""), "{required:?}");
    assert!(
        required.err.contains("this system has no namespaces for it: Operation not permitted"),
        "{required:?}"
    );

    // With Landlock alone, all is decided, and the report says what is open.
    let confined = with("landlock", &P5);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent", "p5-read-only"] {
        is(&confined, id, "pass", "");
    }
    assert_eq!(confined.data()["isolation"], "landlock");
    assert!(confined.out.contains("they could read the files of the user"), "{}", confined.out);
    let required = with("landlock", &["check", "--isolation", "require"]);
    assert_eq!((required.code, required.out.as_str()), (Some(1), ""), "{required:?}");
}

#[test]
fn a_request_that_is_not_sent_shows_no_time_limit() {
    let ping = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'ping'\nargs = ['ping', '{stalled}']\n";
    let only = ["check", "--json", "--check", "p6-timeout"];
    let silent = folder("ping() { fail 1 offline general offline; }", ping).run(&only);
    is(&silent, "p6-timeout", "unverified", "exit code 1 and sent no request");
    is(&folder("", ping).run(&only), "p6-timeout", "pass", "");
    let none = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    is(&folder("", none).run(&only), "p6-timeout", "unverified", "the help lists the command `sync`");
    let lacking = none.replace("[target]", "[target]\nlacks = ['network']");
    is(&folder("", &lacking).run(&only), "p6-timeout", "not-applicable", "");
}

#[test]
fn a_call_that_never_begins_is_not_interrupted() {
    let only = ["check", "--json", "--check", "p6-sigterm"];
    let probe = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'backup'\nargs = ['backup']\nworkspace = true\n\
        changes = true\ninterrupt = { after = 'AFTER' }\n";
    let with = |after: &str| folder("", &probe.replace("AFTER", after)).run(&only);
    is(&with("backing up"), "p6-sigterm", "pass", "");
    is(&with("exporting"), "p6-sigterm", "unverified", "`exporting` was not seen");
    is(&with("1     backup"), "p6-sigterm", "unverified", "ended before it could be interrupted");
}

#[test]
fn options_go_where_the_format_option_is_accepted() {
    let strict = "seen= value=\nfor word in \"$@\"; do\n  if [ -n \"$value\" ]; then value=; continue; fi\n  \
        case $seen$word in yes-*) echo \"demo: unknown option $word\" >&2; exit 2 ;; esac\n  \
        case $word in --output | --limit | --timeout) value=yes ;; -*) ;; *) seen=yes ;; esac\ndone\n";
    let list = "\n[[probe]]\nname = \"list\"\nargs = [\"history\"]\nlist = { items = \"/data/items\", max = 5 }\n\
        [[probe]]\nname = \"show\"\nargs = [\"show\", \"1\"]\n";
    let config = format!("{PROBES}{list}");
    let output = folder(strict, &config).run(&["check", "--json", "--check", "p5-*", "--check", "p7-limit"]);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent", "p7-limit"] {
        is(&output, id, "pass", "");
    }
}

#[test]
fn help_that_changes_something_is_seen_whatever_the_workspaces_of_the_probes() {
    let probes = |list: &str, show: &str| {
        format!(
            "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\nworkspace = {list}\n\
             [[probe]]\nname = 'show'\nargs = ['show', '1']\nworkspace = {show}\n"
        )
    };
    for (list, show) in [("true", "true"), ("'files'", "true"), ("true", "'files'"), ("'files'", "'more'")] {
        let folder = folder("case $* in --help) : >seen ;; esac\n", &probes(list, show));
        for name in ["files", "more"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            folder.write(&format!("{name}/one"), "1");
        }
        is(&folder.run(&P5), "p5-read-only", "fail", "the call creates `seen`");
    }
}
