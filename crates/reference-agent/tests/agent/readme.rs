//! The commands in the README exit as documented.

use crate::support::{TestEnv, wait_for_output};
use std::path::Path;
use std::process::Command;

#[test]
fn every_command_exits_as_documented() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() > 5);
    let env = TestEnv::new();
    for line in lines {
        let code = line.split_once("# exit ").map_or(0, |(_, code)| code.parse().unwrap());
        // The name in the README stands for the program that was built.
        let script = format!("exec \"$0\" {}", line.strip_prefix("reference-agent").unwrap());
        let agent = env.agent::<&str>([]);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).arg(agent.get_program()).env_clear().env("HOME", env.outside("home"));
        shell.current_dir(env.work()).stdin(std::process::Stdio::null());
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let output = wait_for_output(shell.spawn().unwrap());
        assert_eq!(output.code, code, "{line}: {output:?}");
    }
}
