//! Embeds `checks/*.toml`: writes a table of (file stem, text), sorted by name.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=checks");
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut stems = Vec::new();
    for entry in fs::read_dir(Path::new(&root).join("checks"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml")
            && let Some(stem) = path.file_stem()
        {
            stems.push(stem.to_string_lossy().into_owned());
        }
    }
    stems.sort();
    let rows: String = stems
        .iter()
        .map(|stem| {
            let path = format!("{root}/checks/{stem}.toml");
            format!("({stem:?}, include_str!({path:?})),\n")
        })
        .collect();
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("checks.rs"), format!("&[{rows}]"))
}
