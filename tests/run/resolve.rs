//! Resolution of program names, and programs of version managers under a new HOME.

use super::run;
use crate::runs::{spec, text};
use agentnative::model::Variant;
use agentnative::run::{RunEnd, absolute_path_entries, manager_variables, resolve};
use agentnative_contract::error::ErrorKind;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn program(path: &Path, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn names_are_searched_in_absolute_entries_of_path() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first/tool"), folder.path().join("second/tool"));
    program(&first, 0o644);
    program(&second, 0o755);
    let path = format!("::relative:.:{0}/first:{0}/second", folder.path().display());
    assert_eq!(absolute_path_entries(Some(OsStr::new(&path))).to_str().unwrap().matches(':').count(), 1);
    // A file that is not executable is skipped, as by a shell.
    assert_eq!(resolve(OsStr::new("tool"), Some(OsStr::new(&path))).unwrap(), second);
    let only_first = format!("{}/first", folder.path().display());
    let error = resolve(OsStr::new("tool"), Some(OsStr::new(&only_first))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Auth);
    let error = resolve(OsStr::new("missing"), Some(OsStr::new(&path))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    assert_eq!(resolve(OsStr::new(""), None).unwrap_err().kind, ErrorKind::Config);
}

#[test]
fn paths_are_not_searched_in_path() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("tool");
    program(&tool, 0o644);
    assert_eq!(resolve(tool.as_os_str(), None).unwrap_err().kind, ErrorKind::Auth);
    assert_eq!(resolve(folder.path().as_os_str(), None).unwrap_err().kind, ErrorKind::Auth);
    program(&tool, 0o755);
    assert_eq!(resolve(tool.as_os_str(), None).unwrap(), tool);
    assert_eq!(resolve(OsStr::new("./no/such"), None).unwrap_err().kind, ErrorKind::Config);
    // A symbolic link is not resolved, because a program may depend on its name.
    let link = folder.path().join("other-name");
    std::os::unix::fs::symlink(&tool, &link).unwrap();
    assert_eq!(resolve(link.as_os_str(), None).unwrap(), link);
}

#[test]
fn a_shim_of_asdf_resolves_to_the_installed_program() {
    let folder = tempfile::tempdir().unwrap();
    let shim = folder.path().join("shims/node");
    program(&shim, 0o755);
    std::fs::write(&shim, "#!/usr/bin/env bash\n# asdf-plugin: nodejs 18.0.0\nexec asdf exec node \"$@\"\n")
        .unwrap();
    // Without an installed program the shim is used.
    assert_eq!(resolve(shim.as_os_str(), None).unwrap(), shim);
    let real = folder.path().join("installs/nodejs/18.0.0/bin/node");
    program(&real, 0o755);
    assert_eq!(resolve(shim.as_os_str(), None).unwrap(), real);
}

#[test]
fn variables_of_version_managers_are_kept_if_they_are_in_use() {
    let home = tempfile::tempdir().unwrap();
    let caller = |path: String| -> BTreeMap<_, _> {
        [
            ("HOME".into(), home.path().into()),
            ("PATH".into(), path.into()),
            ("PYENV_VERSION".into(), "3.1".into()),
        ]
        .into()
    };
    let path = format!("{}/.pyenv/shims:/usr/bin", home.path().display());
    assert_eq!(manager_variables(&caller(path.clone())), []);
    std::fs::create_dir_all(home.path().join(".pyenv/shims")).unwrap();
    std::fs::create_dir_all(home.path().join(".rbenv")).unwrap();
    let kept = manager_variables(&caller(path));
    let names: Vec<_> = kept.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(names, ["PYENV_ROOT", "PYENV_VERSION"]);
}

#[test]
fn managed_programs_run_under_a_new_home() {
    let path = std::env::var_os("PATH");
    for name in ["cargo", "rustc", "python3", "pip", "node", "npm"] {
        let Ok(found) = resolve(OsStr::new(name), path.as_deref()) else {
            eprintln!("skipped: there is no {name} here");
            continue;
        };
        let outcome = run(spec(found.to_str().unwrap(), &["--version"], Variant::Plain));
        assert_eq!(outcome.end, RunEnd::Exited(0), "{name}: {}", text(&outcome.stderr));
        assert!(text(&outcome.stdout).contains('.'), "{name}: {}", text(&outcome.stdout));
    }
}
