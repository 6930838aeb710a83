//! Calls that change something: where they run, and what is reported if their changes cannot be observed.

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

const CHECK_P5: [&str; 4] = ["check", "--json", "--principle", "5"];

fn folder(lines: &str, config: &str) -> Folder {
    let folder = Folder::demo(lines);
    folder.write("agentnative.toml", config);
    folder
}

/// Status and message of a check.
fn result(output: &CliOutput, id: &str) -> (String, String) {
    let document = output.json();
    let mut results = document["data"]["results"].as_array().unwrap().iter();
    let result = results.find(|result| result["id"] == id).unwrap_or_else(|| panic!("no {id}"));
    let word = |key: &str| result[key].as_str().unwrap().to_owned();
    (word("status"), word("message"))
}

fn expect(output: &CliOutput, id: &str, status: &str, part: &str) {
    let (own, message) = result(output, id);
    assert!(own == status && message.contains(part), "{id}: {own}: {message}");
}

#[test]
fn changing_calls_run_in_copies() {
    let folder = folder("", PROBES);
    let before: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    let output = folder.run(&CHECK_P5);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        expect(&output, id, "pass", "");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), before.len());
}

#[test]
fn a_recording_contains_the_changes() {
    let folder = folder("store() { printf x >>\"$operand.rec\"; }", PROBES);
    let all: Vec<&str> = CHECK_P5.into_iter().chain(["--record", "runs"]).collect();
    let live = folder.run(&all);
    expect(&live, "p5-idempotent", "warn", "the second call modifies `bread.rec`");
    let again = folder.run(&["check", "--json", "--principle", "5", "--replay", "runs"]);
    let results = |output: &CliOutput| output.data()["results"].clone();
    assert_eq!(results(&again), results(&live));
    // Older recordings contain no changes.
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
        expect(&older, id, "unverified", "are unknown");
    }
}

#[test]
fn a_problem_is_reported_by_one_check() {
    let locked = folder("destroy() { fail 1 locked general 'it is locked'; }", PROBES).run(&CHECK_P5);
    expect(&locked, "p5-confirm", "fail", "with `--yes`, the command exits with 1, expected 0");
    expect(&locked, "p5-dry-run", "unverified", "see p5-confirm");
    expect(&locked, "p5-idempotent", "unverified", "see p5-confirm");

    let full = folder("store() { fail 1 full general 'there is no room'; }", PROBES).run(&CHECK_P5);
    expect(&full, "p5-confirm", "unverified", "the preceding call `add milk` exited with 1");
    expect(&full, "p5-dry-run", "unverified", "correct `args`, `setup` or `exit` of the probe");
    expect(&full, "p5-read-only", "pass", "");

    let prompting = "unconfirmed() { command printf 'Sure? ' >&2; read -r answer </dev/tty; destroy; }";
    let prompting = folder(prompting, PROBES).run(&["check", "--json", "--principle", "1,5"]);
    expect(&prompting, "p5-confirm", "fail", "without `--yes`, the call removes `milk.rec`");
}

#[test]
fn a_rejected_confirmation_flag_fails_only_the_check_of_the_confirmation() {
    let refuses = "remove() { if [ -n \"$yes\" ]; then usage_error 'unknown flag: --yes'; fi; plan; if [ -z \"$dry\" ]; then destroy; fi; }";
    let output =
        folder(refuses, PROBES).run(&["check", "--json", "--check", "p5-*,p4-names-culprit,p4-unknown-flag"]);
    expect(&output, "p5-confirm", "fail", "");
    expect(&output, "p4-names-culprit", "pass", "");
    expect(&output, "p4-unknown-flag", "pass", "");
}

#[test]
fn setup_calls_receive_the_secret_in_the_environment() {
    let config = "[target]\ncommand = ['./cli']\nsecret = { env = 'DEMO_TOKEN', file = ['--token-file', '{file}'] }\n\
        [[probe]]\nname = 'account'\nargs = ['whoami']\nworkspace = true\nsecret = true\nsetup = [['whoami']]\n\
        env = { DEMO_TOKEN = 'tok_4f7a91c2' }\n";
    let output = folder("", config).run(&["check", "--json", "--check", "p1-secret-*"]);
    expect(&output, "p1-secret-path", "pass", "");
    expect(&output, "p1-secret-silent", "pass", "");
    let short = folder("", &config.replace("tok_4f7a91c2", "tok"));
    let short = short.run(&["check", "--json", "--check", "p1-secret-*"]);
    expect(&short, "p1-secret-path", "unverified", "the preceding call `whoami` exited with 77");
}

#[test]
fn changes_that_reading_calls_also_make_are_reported_for_those() {
    let list = "\n[[probe]]\nname = \"list\"\nargs = [\"list\"]\nworkspace = true\n";
    let config = format!("{PROBES}{list}");
    // Files that the first call leaves in a fresh home.
    let first = folder("before() { : >>\"$HOME/.demo-first\"; }", &config).run(&CHECK_P5);
    expect(&first, "p5-read-only", "fail", "creates `~/.demo-first`");
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        expect(&first, id, "pass", "");
    }
    let index = folder("before() { command printf x >>index; }", &config).run(&CHECK_P5);
    expect(&index, "p5-read-only", "fail", "creates `index`");
    for id in ["p5-dry-run", "p5-idempotent"] {
        expect(&index, id, "unverified", "see p5-read-only");
    }
}

#[test]
fn with_too_many_changes_some_may_be_results() {
    let many = "cd \"$XDG_CACHE_HOME\" && seq 1100 | xargs touch; cd - >/dev/null";
    let caches =
        format!("plan() {{ mkdir -p \"$XDG_CACHE_HOME\"; {many}; begin ''; row 1 x 1; finish ''; }}");
    expect(
        &folder(&caches, PROBES).run(&CHECK_P5),
        "p5-dry-run",
        "unverified",
        "changes too many files to distinguish",
    );
    let results = "plan() { seq 1100 | xargs touch; begin ''; row 1 x 1; finish ''; }";
    expect(&folder(results, PROBES).run(&CHECK_P5), "p5-dry-run", "fail", "more");
}

#[test]
fn a_call_without_visible_changes_does_not_verify_a_dry_run() {
    let remote = folder("store() { :; }", PROBES).run(&CHECK_P5);
    expect(&remote, "p5-dry-run", "unverified", "changes nothing in the workspace or the home");
    let confirmed = "destroy() { :; }";
    expect(&folder(confirmed, PROBES).run(&CHECK_P5), "p5-confirm", "fail", "the call changes nothing");
    // With a service, or without confinement, the change may be elsewhere.
    let service = "\n[[service]]\ncommand = [\"./serve\"]\nready = { line = \"up\" }\n";
    let served = folder(confirmed, &format!("{PROBES}{service}"));
    served.script("serve", "echo up; exec sleep 60");
    expect(&served.run(&CHECK_P5), "p5-confirm", "unverified", "the call changes nothing");
    let unconfined: Vec<&str> = CHECK_P5.into_iter().chain(["--allow-unconfined"]).collect();
    expect(
        &folder(confirmed, PROBES).run(&unconfined),
        "p5-confirm",
        "unverified",
        "the call changes nothing",
    );
}

#[test]
fn a_command_whose_name_suggests_changes_is_named() {
    let check_with = |target: &str| {
        let probe = "[[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\n";
        folder("", &format!("[target]\ncommand = ['./cli']\n{target}\n{probe}")).run(&CHECK_P5)
    };
    let undeclared = check_with("");
    expect(&undeclared, "p5-dry-run", "unverified", "the help lists the command `add`");
    expect(&undeclared, "p5-confirm", "unverified", "the help lists the command `remove`");
    expect(&undeclared, "p5-read-only", "pass", "");
    let lacking = check_with("lacks = ['changes']");
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        expect(&lacking, id, "not-applicable", "changes nothing according to its configuration");
    }
}

#[test]
fn a_call_without_a_workspace_is_unverified() {
    let config = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    expect(&folder("", config).run(&CHECK_P5), "p5-read-only", "unverified", "declare `workspace` for list");
    let both = format!("{config}\n[[probe]]\nname = 'show'\nargs = ['show', '1']\nworkspace = true\n");
    expect(&folder("", &both).run(&CHECK_P5), "p5-read-only", "unverified", "declare `workspace` for list (");
    let writes = folder("before() { : >index; }", &both);
    expect(&writes.run(&CHECK_P5), "p5-read-only", "fail", "the call creates `index`");
}

#[test]
fn a_changing_call_with_declared_formats_is_checked_like_others() {
    let formats = PROBES.replace("[\"add\", \"bread\"]", "[\"add\", \"bread\"]\nformats = [\"json\"]");
    let only = ["check", "--json", "--check", "p2-output-json"];
    expect(&folder("", PROBES).run(&only), "p2-output-json", "unverified", "declare a probe");
    expect(&folder("", &formats).run(&only), "p2-output-json", "pass", "");
    expect(&folder("after() { echo done; }", &formats).run(&only), "p2-output-json", "fail", "");
}

#[test]
fn json_is_requested_only_if_that_writes_no_file() {
    let lines = "for arg; do case $arg in --help) echo 'Commands:'; echo '  add  Add'; exit 0 ;; esac; done\n\
        case \"$*\" in *--dry-run*) echo would add ;; *) echo added; : >added ;; esac\n\
        case \"$*\" in *--output*) : >\"${*##* }\" ;; esac\n";
    let probe = "[[probe]]\nname = 'add'\nargs = ['add']\nworkspace = true\nchanges = true\n";
    let target = Folder::with(lines);
    target.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{probe}"));
    expect(&target.run(&CHECK_P5), "p5-dry-run", "unverified", "add was not run in json");
    target.write(
        "agentnative.toml",
        format!("[target]\ncommand = ['./cli']\nformats = {{ json = false, jsonl = false }}\n{probe}"),
    );
    expect(&target.run(&CHECK_P5), "p5-dry-run", "pass", "");
}

#[test]
fn the_command_line_can_set_the_isolation() {
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

/// Runs a command without namespaces, as in a container of hosted CI, and, with `none` as the first argument, without
/// Landlock: their system calls fail.
const WITHOUT_CONFINEMENT: &str = r#"
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
fn calls_that_cannot_be_confined_run_only_if_that_is_allowed() {
    let folder = folder("", PROBES);
    let run_with_kernel = |kernel: &str, args: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-c", WITHOUT_CONFINEMENT, kernel, env!("CARGO_BIN_EXE_agentnative")]).args(args);
        output_of(command.current_dir(folder.path()))
    };
    let without = |args: &[&str]| run_with_kernel("none", args);
    let refused = without(&CHECK_P5);
    if refused.err.contains("no filter") {
        eprintln!("skipped: no system call can be filtered here");
        return;
    }
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        expect(&refused, id, "unverified", "this system has neither namespaces for it nor Landlock");
        expect(&refused, id, "unverified", "--allow-unconfined");
    }
    expect(&refused, "p5-read-only", "pass", "");
    let allowed: Vec<&str> = CHECK_P5.into_iter().chain(["--allow-unconfined"]).collect();
    let allowed = without(&allowed);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent"] {
        expect(&allowed, id, "pass", "");
    }
    assert!(allowed.out.contains("was not enforced"), "{}", allowed.out);
    let required = without(&["check", "--isolation", "require"]);
    assert_eq!((required.code, required.out.as_str()), (Some(1), ""), "{required:?}");
    assert!(
        required.err.contains("this system has no namespaces for it: Operation not permitted"),
        "{required:?}"
    );

    // Landlock alone is enough for all verdicts; the report says what it does not restrict.
    let confined = run_with_kernel("landlock", &CHECK_P5);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent", "p5-read-only"] {
        expect(&confined, id, "pass", "");
    }
    assert_eq!(confined.data()["isolation"], "landlock");
    assert!(confined.out.contains("they could read the files of the user"), "{}", confined.out);
    let required = run_with_kernel("landlock", &["check", "--isolation", "require"]);
    assert_eq!((required.code, required.out.as_str()), (Some(1), ""), "{required:?}");
}

#[test]
fn a_call_that_sends_no_request_does_not_verify_a_timeout() {
    let ping = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'ping'\nargs = ['ping', '{stalled}']\n";
    let only = ["check", "--json", "--check", "p6-timeout"];
    let silent = folder("ping() { fail 1 offline general offline; }", ping).run(&only);
    expect(&silent, "p6-timeout", "unverified", "exited with 1 and sent no request");
    expect(&folder("", ping).run(&only), "p6-timeout", "pass", "");
    let none = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    expect(&folder("", none).run(&only), "p6-timeout", "unverified", "the help lists the command `sync`");
    let lacking = none.replace("[target]", "[target]\nlacks = ['network']");
    expect(&folder("", &lacking).run(&only), "p6-timeout", "not-applicable", "");
}

#[test]
fn a_call_that_never_prints_the_expected_text_is_not_interrupted() {
    let only = ["check", "--json", "--check", "p6-sigterm"];
    let probe = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'backup'\nargs = ['backup']\nworkspace = true\n\
        changes = true\ninterrupt = { after = 'AFTER' }\n";
    let check_with = |after: &str| folder("", &probe.replace("AFTER", after)).run(&only);
    expect(&check_with("backing up"), "p6-sigterm", "pass", "");
    expect(&check_with("exporting"), "p6-sigterm", "unverified", "did not print `exporting`");
    expect(&check_with("1     backup"), "p6-sigterm", "unverified", "ended before it could be interrupted");
}

#[test]
fn options_are_placed_where_the_format_option_is_accepted() {
    let strict = "seen= value=\nfor word in \"$@\"; do\n  if [ -n \"$value\" ]; then value=; continue; fi\n  \
        case $seen$word in yes-*) echo \"demo: unknown option $word\" >&2; exit 2 ;; esac\n  \
        case $word in --output | --limit | --timeout) value=yes ;; -*) ;; *) seen=yes ;; esac\ndone\n";
    let list = "\n[[probe]]\nname = \"list\"\nargs = [\"history\"]\nlist = { items = \"/data/items\", max = 5 }\n\
        [[probe]]\nname = \"show\"\nargs = [\"show\", \"1\"]\n";
    let config = format!("{PROBES}{list}");
    let output = folder(strict, &config).run(&["check", "--json", "--check", "p5-*", "--check", "p7-limit"]);
    for id in ["p5-dry-run", "p5-confirm", "p5-idempotent", "p7-limit"] {
        expect(&output, id, "pass", "");
    }
}

#[test]
fn help_that_changes_files_is_found_with_any_workspaces_of_the_probes() {
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
        expect(&folder.run(&CHECK_P5), "p5-read-only", "fail", "the call creates `seen`");
    }
}
