//! Embeds `checks/*.toml`: a table of names and texts, sorted by name.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
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
