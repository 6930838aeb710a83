//! The page of a target's own manual: which counts as its own, and what is read of it.

use super::support::{Folder, output_of};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// The source of a page in the macros of man, and one in those of mdoc.
const MAN: &str = ".\\\" A comment\n.TH TOOL 1\n.SH NAME\ntool \\- works\n.SH \"EXIT STATUS\"\n.TP\n.B 0\nAll went \\fIwell\\fR.\n.TP\n\\fB1\\fP\nIt did not.\n.IP 2\nWrong arguments.\n.SH BUGS\n77 of them are known.\n";
const MDOC: &str = ".Dd today\n.Dt TOOL 1\n.Sh EXIT STATUS\n.Bl -tag\n.It Li 0\nAll went well.\n.It 1\nIt did not.\n.It 2\nWrong arguments.\n.El\n";

/// The same as asciidoctor writes it.
const ASCIIDOCTOR: &str = ".SH \"EXIT STATUS\"\n.sp\n0\n.RS 4\nsuccess\n.RE\n.sp\n1\n.RS 4\nfailure\n.RE\n.sp\n2\n.RS 4\nwrong arguments\n.RE\n.SH \"ENVIRONMENT\"\n";

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_page_beside_the_program_documents_its_exit_codes() {
    let folder = Folder::new();
    let place = |name: &str| folder.path().join(name);
    script(&place("here/bin/tool"), "echo 'a tool'");
    script(&place("bin/man"), &format!("cat '{}'", place("found").display()));
    fs::write(place("agentnative.toml"), "[target]\nexit_codes = [0, 1, 2]\n").unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", place("bin").display(), place("here/bin").display());
    let verdict = |page: &str| {
        fs::write(place("found"), format!("{}\n", place(page).display())).unwrap();
        let mut command = folder.command();
        command.env("PATH", &path).args(["check", "--json", "--check", "p2-exit-documented"]);
        let said = output_of(command.args(["--config", "agentnative.toml", "--command", "tool"]));
        let result = said.data()["results"][0].clone();
        (result["status"].as_str().unwrap().to_owned(), result["message"].as_str().unwrap().to_owned())
    };
    let pages = [
        ("here/share/man/man1/tool.1", MAN, true),
        ("here/man/man8/tool.8", MDOC, true),
        ("here/man/man5/tool.5", ASCIIDOCTOR, true),
        ("here/share/man/man1/tool-other.1", MAN, false),
        ("elsewhere/share/man/man1/tool.1", MAN, false),
    ];
    for (page, source, own) in pages {
        fs::create_dir_all(place(page).parent().unwrap()).unwrap();
        fs::write(place(page), source).unwrap();
        let (status, message) = verdict(page);
        let expected = if own { "pass" } else { "not-applicable" };
        assert_eq!(status, expected, "{page}: {message}");
        assert_eq!(message.contains(page), own, "{message}");
    }
    let gz = place("here/share/man/man1/tool.1.gz");
    let packed =
        Command::new("gzip").args(["-kn"]).arg(place("here/share/man/man1/tool.1")).status().unwrap();
    assert!(packed.success());
    fs::write(place("here/share/man/man1/tool.1"), ".so man1/tool.1.gz\n").unwrap();
    assert_eq!(verdict("here/share/man/man1/tool.1.gz").0, "pass");
    assert_eq!(verdict("here/share/man/man1/tool.1").0, "pass");
    fs::remove_file(gz).unwrap();
    assert_eq!(verdict("here/share/man/man1/tool.1").0, "not-applicable");
}
