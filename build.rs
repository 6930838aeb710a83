//! Embeds `checks/*.toml` as a table of names and texts, sorted by name, and the helper that makes the
//! runs: its executable is this build script itself, copied.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> io::Result<ExitCode> {
    if let Some(code) = agentnative_helper::main() {
        return Ok(code);
    }
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    embed_checks(&root, &out)?;
    embed_helper(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn embed_checks(root: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=checks");
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join("checks"))?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let rows = files.iter().map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("({stem:?}, include_str!({path:?})),\n")
    });
    fs::write(out.join("checks.rs"), format!("&[{}]", rows.collect::<String>()))
}

/// A build script runs on the machine that builds, the library perhaps on another one: that gets none.
fn embed_helper(out: &Path) -> io::Result<()> {
    let helper = if env::var_os("HOST") == env::var_os("TARGET") && cfg!(target_os = "linux") {
        fs::read(env::current_exe()?)?
    } else {
        Vec::new()
    };
    fs::write(out.join("agentnative-helper"), helper)
}
