//! Embeds `contracts/*/`: a table of names and files, sorted by name.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    println!("cargo::rerun-if-changed=contracts");
    let mut contracts = String::new();
    for folder in entries(&root.join("contracts"))?.into_iter().filter(|path| path.is_dir()) {
        contracts.push_str(&format!("({:?}, &[", name(&folder)));
        let is_embedded = |path: &PathBuf| {
            path.is_file()
                && (path.ends_with("contract.toml")
                    || path.extension().is_some_and(|extension| extension == "json"))
        };
        for path in entries(&folder)?.into_iter().filter(is_embedded) {
            let (file, inside) = (name(&path), format!("/contracts/{}/{}", name(&folder), name(&path)));
            // The macro avoids absolute paths in the generated file, so that a moved source tree still builds.
            contracts.push_str(&format!(
                "({file:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {inside:?}))),\n"
            ));
        }
        contracts.push_str("]),\n");
    }
    fs::write(out.join("contracts.rs"), format!("&[{contracts}]"))
}

/// Returns the entries of a folder, sorted.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
