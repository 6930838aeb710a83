//! Failures that are attributed to the confinement.

use super::support::{CliOutput, Folder};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

const CONFIG: &str = "[target]\ncommand = ['python3', 'cli.py']\nformats.text = []\nformats.json = []\nformats.jsonl = []\n[[probe]]\nname = 'list'\nargs = ['list']\n";

/// Checks a target with this Python code, in which `outside` has this value.
fn check(code: &str, outside: &str, config: &str, isolation: &str) -> CliOutput {
    let folder = Folder::new();
    folder.write("cli.py", format!("import os, socket, sys\noutside = {outside:?}\n{code}\nprint('done')\n"));
    folder.write("agentnative.toml", config);
    folder.run(&["check", "--json", "--fast", "--check", "p2-exit-success", "--isolation", isolation])
}

/// Whether the runs were confined by namespaces.
fn in_namespaces(output: &CliOutput) -> bool {
    let is_confined = output.data()["isolation"] == "namespaces";
    if !is_confined {
        eprintln!("skipped: this system has no namespaces");
    }
    is_confined
}

fn verdict(output: &CliOutput) -> (String, String) {
    let data = output.data();
    let word = |key: &str| data["results"][0][key].as_str().unwrap().to_owned();
    (word("status"), word("message"))
}

/// Asserts that the target passes without confinement and is unverified with it, with these words in the message.
/// Returns false where the system has no namespaces.
fn is_attributed(code: &str, outside: &str, words: [&str; 2]) -> bool {
    let unconfined = check(code, outside, CONFIG, "none");
    assert_eq!(verdict(&unconfined).0, "pass", "{}{}", unconfined.out, unconfined.err);
    let confined = check(code, outside, CONFIG, "auto");
    if !in_namespaces(&confined) {
        return false;
    }
    let (status, message) = verdict(&confined);
    assert!(status == "unverified" && words.iter().all(|word| message.contains(word)), "{status}: {message}");
    true
}

#[test]
fn a_failure_without_the_network_is_attributed_to_the_confinement() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let code = "socket.create_connection(('127.0.0.1', int(outside)))";
    let port = listener.local_addr().unwrap().port().to_string();
    if is_attributed(code, &port, ["seems to need the network", "`network = true`"]) {
        let network = CONFIG.replace("[target]", "[target]\nnetwork = true");
        assert_eq!(verdict(&check(code, &port, &network, "auto")).0, "pass");
    }
}

#[test]
fn an_attempt_to_connect_explains_only_failures_that_it_caused() {
    let folder = Folder::new();
    let attempt = "import os, socket, sys\nsocket.socket().connect_ex(('127.0.0.1', 9))\n";
    let check = |check: &str, code: &str, config: &str| {
        folder.write("cli.py", format!("{attempt}{code}"));
        folder.write("agentnative.toml", config);
        verdict(&folder.run(&["check", "--json", "--check", check])).0
    };
    let network = CONFIG.replace("[target]", "[target]\nnetwork = true");
    let flood = "for n in range(100000): print(n)\n";
    assert_eq!(check("p2-broken-pipe", flood, CONFIG), "fail", "the other runs tried to connect as well");
    assert_eq!(check("p2-exit-success", "sys.exit(3)\n", &network), "fail", "it has the network");
    assert_eq!(
        check("p2-exit-consistent", "os.abort()\n", CONFIG),
        "fail",
        "no missing network aborts a program"
    );
}

#[test]
fn a_failed_write_outside_is_attributed_to_the_confinement() {
    let outside = tempfile::tempdir().unwrap();
    let code = "open(outside + '/file', 'w').write('x')";
    is_attributed(
        code,
        outside.path().to_str().unwrap(),
        ["seems to write to a place where", "declare a `workspace`"],
    );
}

#[test]
fn a_failure_without_a_service_of_the_machine_is_attributed_to_the_confinement() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("agent.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let code = "try: socket.socket(socket.AF_UNIX).connect(outside)\nexcept OSError as e: sys.exit(f'{outside}: {e}')";
    is_attributed(
        code,
        path.to_str().unwrap(),
        ["seems to need a service of the machine", "`isolation = \"none\"`"],
    );
}

#[test]
fn other_failures_stay_failures() {
    for isolation in ["none", "landlock", "auto"] {
        let failed = check("sys.exit('cannot read the list')", "", CONFIG, isolation);
        assert_eq!(verdict(&failed).0, "fail", "{isolation}");
    }
}

#[test]
fn a_usage_error_that_the_confinement_prevents_is_not_judged() {
    let folder = Folder::new();
    let code = "import socket, sys\ntry: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\nexcept OSError as e: sys.exit(f'cannot open a socket: {e}')\n\
        if len(sys.argv) > 1: sys.exit(f'usage: unknown {sys.argv[1:]}')\n";
    folder.write("cli.py", code);
    folder.write("agentnative.toml", CONFIG.replace("args = ['list']", "args = []"));
    let check =
        |isolation| folder.run(&["check", "--json", "--check", "p4-names-culprit", "--isolation", isolation]);
    assert_eq!(verdict(&check("none")).0, "pass");
    let confined = check("landlock");
    if confined.data()["isolation"] == "landlock" {
        let (status, message) = verdict(&confined);
        assert!(status == "unverified" && message.contains("`network = true`"), "{status}: {message}");
    } else {
        eprintln!("skipped: this system has no Landlock");
    }
}
