//! Servers with an untrusted certificate do not receive the key.

use crate::support::{TestEnv, wait_for_output};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

const KEY: &str = "sk-0123456789-of-the-test";
/// Prints its port and writes the bytes that it receives to a file.
const SERVER_SCRIPT: &str = "
import ssl, socket, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
with open(sys.argv[3], 'ab', buffering=0) as log:
    while True:
        connection, _ = listener.accept()
        log.write(b'connection\\n')
        try:
            with context.wrap_socket(connection, server_side=True) as secure:
                log.write(secure.recv(65536))
        except OSError as error:
            log.write(b'no request\\n')
";

/// The process of a server and its port.
struct Server(Child, u16);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn server(env: &TestEnv, name: &str) -> Server {
    let files = ["crt", "key", "log"].map(|kind| env.outside(&format!("{name}.{kind}")));
    let mut child = Command::new("python3")
        .args(["-c", SERVER_SCRIPT])
        .args(files)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    Server(child, port.trim().parse().unwrap())
}

/// Runs openssl; returns false if it is not installed.
fn openssl(env: &TestEnv, args: &str) -> bool {
    let mut command = Command::new("openssl");
    command.args(args.split_whitespace()).current_dir(env.outside("")).stderr(Stdio::piped());
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(_) => false,
    }
}

#[test]
fn a_server_with_an_invalid_certificate_gets_no_key() {
    let env = TestEnv::new();
    let new = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test";
    let cases = [
        ("self-signed", "-days 2 -addext subjectAltName=DNS:localhost,IP:127.0.0.1"),
        (
            "expired",
            "-not_before 20200101000000Z -not_after 20200102000000Z -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
        ),
        ("other-host", "-days 2 -addext subjectAltName=DNS:example.com"),
    ];
    for (name, more) in cases {
        if !openssl(&env, "version") {
            eprintln!("skipped: there is no openssl");
            return;
        }
        // Older versions cannot make a certificate with past dates.
        let help = Command::new("openssl").args(["req", "-help"]).output().unwrap().stderr;
        if more.contains("-not_before") && !String::from_utf8_lossy(&help).contains("-not_before") {
            eprintln!("skipped: this openssl makes no expired certificate");
            continue;
        }
        assert!(openssl(&env, &format!("req {new} {more} -keyout {name}.key -out {name}.crt")));
        let server = server(&env, name);
        let url = format!("https://localhost:{}/v1", server.1);
        let mut agent = env.agent(["--json", "--base-url", &url, "--max-retries", "0", "a query"]);
        let output = wait_for_output(agent.env("OPENAI_API_KEY", KEY).spawn().unwrap());
        assert_eq!(output.code, 1, "{name}: {output:?}");
        let error = output.error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("certificate") && !output.stderr.contains(KEY), "{name}: {message}");
        let log = fs::read_to_string(env.outside(&format!("{name}.log"))).unwrap();
        assert!(log.contains("connection\n") && !log.contains("POST") && !log.contains(KEY), "{name}: {log}");
    }
}

#[test]
fn plain_http_to_another_machine_gets_no_key() {
    let env = TestEnv::new();
    for url in ["http://example.com/v1", "http://192.0.2.1/v1", "http://localhost.example.com/v1"] {
        let mut agent = env.agent(["--json", "--base-url", url, "--max-retries", "0", "a query"]);
        let output = wait_for_output(agent.env("OPENAI_API_KEY", KEY).spawn().unwrap());
        assert_eq!(output.code, 78, "{url}: {output:?}");
        assert!(output.error()["hint"].as_str().unwrap_or_default().contains("https"), "{url}: {output:?}");
    }
}
