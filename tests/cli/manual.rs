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

/// The status and message of the verdict on the documentation of exit codes.
fn verdict(command: &mut Command) -> (String, String) {
    let said = output_of(command.args(["--json", "--check", "p2-exit-documented"]));
    let result = said.data()["results"][0].clone();
    (result["status"].as_str().unwrap().to_owned(), result["message"].as_str().unwrap().to_owned())
}

fn packed(page: &Path) {
    assert!(Command::new("gzip").arg("-n").arg(page).status().unwrap().success());
}

#[test]
fn a_page_beside_the_program_documents_its_exit_codes() {
    let folder = Folder::new();
    let place = |name: &str| folder.path().join(name);
    script(&place("here/bin/tool"), "echo 'a tool'");
    fs::write(place("agentnative.toml"), "[target]\nexit_codes = [0, 1, 2]\n").unwrap();
    let path = format!("{}:/usr/bin:/bin", place("here/bin").display());
    let verdict = || {
        let mut command = folder.command();
        command.env("PATH", &path).args(["check", "--config", "agentnative.toml", "--command", "tool"]);
        verdict(&mut command)
    };
    let pages = [
        ("here/share/man/man1/tool.1", MAN, true),
        ("here/man/man8/tool.8", MDOC, true),
        ("here/man/man5/tool.5", ASCIIDOCTOR, true),
        ("here/share/man/man1/tool-other.1", MAN, false),
        ("here/share/man/man1/tool.1.md", MAN, false),
        ("elsewhere/share/man/man1/tool.1", MAN, false),
    ];
    for (page, source, own) in pages {
        fs::create_dir_all(place(page).parent().unwrap()).unwrap();
        fs::write(place(page), source).unwrap();
        let (status, message) = verdict();
        let expected = if own { "pass" } else { "not-applicable" };
        assert_eq!(status, expected, "{page}: {message}");
        assert_eq!(message.contains(page), own, "{message}");
        fs::remove_file(place(page)).unwrap();
    }
    let page = place("here/share/man/man1/tool.1");
    fs::write(&page, MAN).unwrap();
    packed(&page);
    assert_eq!(verdict().0, "pass");
    fs::rename(place("here/share/man/man1/tool.1.gz"), place("here/share/man/man1/other.1.gz")).unwrap();
    fs::write(&page, ".so man1/other.1\n").unwrap();
    assert_eq!(verdict().0, "pass");
    fs::remove_file(place("here/share/man/man1/other.1.gz")).unwrap();
    assert_eq!(verdict().0, "not-applicable");
    // A link out of the tree leads to the page of somebody else.
    fs::remove_file(&page).unwrap();
    fs::write(place("elsewhere/share/man/man1/tool.1"), MAN).unwrap();
    std::os::unix::fs::symlink(place("elsewhere/share/man/man1/tool.1"), &page).unwrap();
    assert_eq!(verdict().0, "not-applicable");
}

#[test]
fn a_page_in_the_project_documents_them_with_and_without_runs() {
    let folder = Folder::new();
    let place = |name: &str| folder.path().join(name);
    script(&place("tool"), "echo 'a tool'");
    fs::write(place("agentnative.toml"), "[target]\ncommand = ['./tool']\nexit_codes = [0, 1, 2]\n").unwrap();
    let verdicts = || {
        let check = |layers: &[&str]| verdict(folder.command().arg("check").args(layers));
        [check(&[]), check(&["--layer", "project"])]
    };
    for page in
        ["tool.1", "man/tool.1", "man/man1/tool.1", "doc/tool.8", "docs/man/tool.1", "share/man/man1/tool.1"]
    {
        fs::create_dir_all(place(page).parent().unwrap()).unwrap();
        fs::write(place(page), MAN).unwrap();
        for compressed in [false, true] {
            if compressed {
                packed(&place(page));
            }
            let name = if compressed { format!("{page}.gz") } else { page.to_owned() };
            for (status, message) in verdicts() {
                assert_eq!(status, "pass", "{page}: {message}");
                assert!(message.contains(&format!("documented in {name}, line")), "{message}");
            }
        }
        fs::remove_file(place(&format!("{page}.gz"))).unwrap();
    }
    fs::write(place("man/tool-other.1"), MAN).unwrap();
    let [live, still] = verdicts();
    assert_eq!((live.0.as_str(), still.0.as_str()), ("fail", "unverified"), "{}{}", live.1, still.1);
}
