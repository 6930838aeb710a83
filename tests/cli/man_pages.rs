//! Manual pages of a target: which pages belong to it, and the exit codes that they document.

use super::support::{Folder, output_of};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Source of a page with the macros of man.
const MAN: &str = ".\\\" A comment\n.TH TOOL 1\n.SH NAME\ntool \\- works\n.SH \"EXIT STATUS\"\n.TP\n.B 0\nAll went \\fIwell\\fR.\n.TP\n\\fB1\\fP\nIt did not.\n.IP 2\nWrong arguments.\n.SH BUGS\n77 of them are known.\n";
/// Source of a page with the macros of mdoc.
const MDOC: &str = ".Dd today\n.Dt TOOL 1\n.Sh EXIT STATUS\n.Bl -tag\n.It Li 0\nAll went well.\n.It 1\nIt did not.\n.It 2\nWrong arguments.\n.El\n";

/// Source of a page as asciidoctor writes it.
const ASCIIDOCTOR: &str = ".SH \"EXIT STATUS\"\n.sp\n0\n.RS 4\nsuccess\n.RE\n.sp\n1\n.RS 4\nfailure\n.RE\n.sp\n2\n.RS 4\nwrong arguments\n.RE\n.SH \"ENVIRONMENT\"\n";

/// Source of a page with a table whose cells are text blocks, as docutils writes it.
const TABLE: &str = ".SH EXIT STATUS\n.TS\ncenter;\n|l|l|.\n_\nT{\nCode\nT}\tT{\nMeaning\nT}\n_\nT{\n0\nT}\tT{\nsuccess\nT}\n_\nT{\n1\nT}\tT{\na file\nis lost\nT}\n_\nT{\n2\nT}\tT{\nwrong arguments\nT}\n_\n.TE\n";

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Status and message of `p2-exit-documented`.
fn verdict(command: &mut Command) -> (String, String) {
    let output = output_of(command.args(["--json", "--check", "p2-exit-documented"]));
    let result = output.data()["results"][0].clone();
    (result["status"].as_str().unwrap().to_owned(), result["message"].as_str().unwrap().to_owned())
}

fn compress(page: &Path) {
    assert!(Command::new("gzip").arg("-n").arg(page).status().unwrap().success());
}

#[test]
fn a_page_next_to_the_program_documents_its_exit_codes() {
    let folder = Folder::new();
    let path_of = |name: &str| folder.path().join(name);
    script(&path_of("here/bin/tool"), "echo 'a tool'");
    fs::write(path_of("agentnative.toml"), "[target]\nexit_codes = [0, 1, 2]\n").unwrap();
    let path = format!("{}:/usr/bin:/bin", path_of("here/bin").display());
    let verdict = || {
        let mut command = folder.command();
        command.env("PATH", &path).args(["check", "--config", "agentnative.toml", "--command", "tool"]);
        verdict(&mut command)
    };
    let pages = [
        ("here/share/man/man1/tool.1", MAN, true),
        ("here/man/man8/tool.8", MDOC, true),
        ("here/man/man5/tool.5", ASCIIDOCTOR, true),
        ("here/man/man1/tool.1", TABLE, true),
        ("here/share/man/man1/tool-other.1", MAN, false),
        ("here/share/man/man1/tool.1.md", MAN, false),
        ("elsewhere/share/man/man1/tool.1", MAN, false),
    ];
    for (page, source, belongs_to_target) in pages {
        fs::create_dir_all(path_of(page).parent().unwrap()).unwrap();
        fs::write(path_of(page), source).unwrap();
        let (status, message) = verdict();
        let expected = if belongs_to_target { "pass" } else { "not-applicable" };
        assert_eq!(status, expected, "{page}: {message}");
        assert_eq!(message.contains(page), belongs_to_target, "{message}");
        fs::remove_file(path_of(page)).unwrap();
    }
    let page = path_of("here/share/man/man1/tool.1");
    fs::write(&page, MAN).unwrap();
    compress(&page);
    assert_eq!(verdict().0, "pass");
    fs::rename(path_of("here/share/man/man1/tool.1.gz"), path_of("here/share/man/man1/other.1.gz")).unwrap();
    fs::write(&page, ".so man1/other.1\n").unwrap();
    assert_eq!(verdict().0, "pass");
    fs::remove_file(path_of("here/share/man/man1/other.1.gz")).unwrap();
    assert_eq!(verdict().0, "not-applicable");
    // A link out of the tree leads to the page of another program.
    fs::remove_file(&page).unwrap();
    fs::write(path_of("elsewhere/share/man/man1/tool.1"), MAN).unwrap();
    std::os::unix::fs::symlink(path_of("elsewhere/share/man/man1/tool.1"), &page).unwrap();
    assert_eq!(verdict().0, "not-applicable");
}

#[test]
fn a_page_in_the_project_documents_the_exit_codes_with_and_without_runs() {
    let folder = Folder::new();
    let path_of = |name: &str| folder.path().join(name);
    script(&path_of("tool"), "echo 'a tool'");
    fs::write(path_of("agentnative.toml"), "[target]\ncommand = ['./tool']\nexit_codes = [0, 1, 2]\n")
        .unwrap();
    let verdicts = || {
        let check = |layers: &[&str]| verdict(folder.command().arg("check").args(layers));
        [check(&[]), check(&["--layer", "project"])]
    };
    for page in
        ["tool.1", "man/tool.1", "man/man1/tool.1", "doc/tool.8", "docs/man/tool.1", "share/man/man1/tool.1"]
    {
        fs::create_dir_all(path_of(page).parent().unwrap()).unwrap();
        fs::write(path_of(page), MAN).unwrap();
        for compressed in [false, true] {
            if compressed {
                compress(&path_of(page));
            }
            let name = if compressed { format!("{page}.gz") } else { page.to_owned() };
            for (status, message) in verdicts() {
                assert_eq!(status, "pass", "{page}: {message}");
                assert!(message.contains(&format!("documented in {name}, line")), "{message}");
            }
        }
        fs::remove_file(path_of(&format!("{page}.gz"))).unwrap();
    }
    fs::write(path_of("man/tool-other.1"), MAN).unwrap();
    let [live, static_layer] = verdicts();
    assert_eq!(
        (live.0.as_str(), static_layer.0.as_str()),
        ("fail", "unverified"),
        "{}{}",
        live.1,
        static_layer.1
    );
}
