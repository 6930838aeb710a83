//! Embeds `contracts/*/` and `changes/*.toml`: tables of names and texts, sorted by name.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    println!("cargo::rerun-if-changed=changes");
    println!("cargo::rerun-if-changed=contracts");
    fs::write(out.join("changes.rs"), format!("&[{}]", rows(&root.join("changes"), &["toml"], stem)?))?;
    let mut contracts = String::new();
    for folder in entries(&root.join("contracts"))?.into_iter().filter(|path| path.is_dir()) {
        let files = rows(&folder, &["toml", "json"], name)?;
        contracts.push_str(&format!("({:?}, &[{files}]),\n", name(&folder)));
    }
    fs::write(out.join("contracts.rs"), format!("&[{contracts}]"))
}

/// What is in a folder, sorted.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// A row for each file in a folder with one of these extensions: its label, and its text.
fn rows(folder: &Path, extensions: &[&str], label: fn(&Path) -> String) -> io::Result<String> {
    let wanted = |path: &PathBuf| {
        path.is_file() && path.extension().is_some_and(|have| extensions.iter().any(|want| have == *want))
    };
    let files = entries(folder)?.into_iter().filter(wanted);
    Ok(files.map(|path| format!("({:?}, include_str!({path:?})),\n", label(&path))).collect())
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
