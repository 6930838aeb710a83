//! What confinement keeps from a target is no fault of it.

use super::support::{CliOutput, Folder};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

const CONFIG: &str = "[target]\ncommand = ['python3', 'cli.py']\nformats.text = []\nformats.json = []\nformats.jsonl = []\n[[probe]]\nname = 'list'\nargs = ['list']\n";

/// Checks a target of this code, with what it finds as `outside`.
fn check(code: &str, outside: &str, config: &str, isolation: &str) -> CliOutput {
    let folder = Folder::new();
    folder.write("cli.py", format!("import os, socket, sys\noutside = {outside:?}\n{code}\nprint('done')\n"));
    folder.write("agentnative.toml", config);
    folder.run(&["check", "--json", "--fast", "--check", "p2-exit-success", "--isolation", isolation])
}

/// Whether this output is of runs in namespaces.
fn in_namespaces(output: &CliOutput) -> bool {
    let is = output.data()["isolation"] == "namespaces";
    if !is {
        eprintln!("skipped: this system has no namespaces");
    }
    is
}

fn verdict(output: &CliOutput) -> (String, String) {
    let data = output.data();
    let word = |key: &str| data["results"][0][key].as_str().unwrap().to_owned();
    (word("status"), word("message"))
}

/// The target passes without confinement, and with it cannot be decided for a reason with these words.
fn is_excused(code: &str, outside: &str, words: [&str; 2]) -> bool {
    let open = check(code, outside, CONFIG, "none");
    assert_eq!(verdict(&open).0, "pass", "{}{}", open.out, open.err);
    let confined = check(code, outside, CONFIG, "auto");
    if !in_namespaces(&confined) {
        return false;
    }
    let (status, message) = verdict(&confined);
    assert!(status == "unverified" && words.iter().all(|word| message.contains(word)), "{status}: {message}");
    true
}

#[test]
fn a_target_without_its_network_is_not_blamed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let code = "socket.create_connection(('127.0.0.1', int(outside)))";
    let port = listener.local_addr().unwrap().port().to_string();
    if is_excused(code, &port, ["seems to need the network", "`network = true`"]) {
        let network = CONFIG.replace("[target]", "[target]\nnetwork = true");
        assert_eq!(verdict(&check(code, &port, &network, "auto")).0, "pass");
    }
}

#[test]
fn an_attempt_to_connect_excuses_nothing_that_it_did_not_cause() {
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
fn a_target_that_may_not_write_outside_is_not_blamed() {
    let outside = tempfile::tempdir().unwrap();
    let code = "open(outside + '/file', 'w').write('x')";
    is_excused(code, outside.path().to_str().unwrap(), ["seems to write where", "declare a `workspace`"]);
}

#[test]
fn a_target_without_a_service_of_the_machine_is_not_blamed() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("agent.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let code = "try: socket.socket(socket.AF_UNIX).connect(outside)\nexcept OSError as e: sys.exit(f'{outside}: {e}')";
    is_excused(
        code,
        path.to_str().unwrap(),
        ["seems to need a service of the machine", "`isolation = \"none\"`"],
    );
}

#[test]
fn other_faults_stay_faults() {
    for isolation in ["none", "landlock", "auto"] {
        let failed = check("sys.exit('cannot read the list')", "", CONFIG, isolation);
        assert_eq!(verdict(&failed).0, "fail", "{isolation}");
    }
}

#[test]
fn a_refusal_that_does_not_come_about_is_not_judged() {
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
