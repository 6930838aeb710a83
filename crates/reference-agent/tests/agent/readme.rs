//! The commands of the README do what it says.

use crate::support::{Place, ran};
use std::path::Path;
use std::process::Command;

#[test]
fn every_command_ends_as_it_says() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() > 5);
    let place = Place::new();
    for line in lines {
        let code = line.split_once("# exit ").map_or(0, |(_, code)| code.parse().unwrap());
        // The name in the README stands for the program that was built.
        let script = format!("exec \"$0\" {}", line.strip_prefix("reference-agent").unwrap());
        let agent = place.agent::<&str>([]);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).arg(agent.get_program()).env_clear().env("HOME", place.outside("home"));
        shell.current_dir(place.work()).stdin(std::process::Stdio::null());
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let ran = ran(shell.spawn().unwrap());
        assert_eq!(ran.code, code, "{line}: {ran:?}");
    }
}
