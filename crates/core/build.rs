//! Generates `CheckId` from the file names in `checks/`, with the text of each file, and embeds the executable of the
//! helper: a copy of this build script or, for a target other than the host, a separate build.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
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
    fs::write(out.join("check_id.rs"), check_id(&root.join("checks"))?)
}

/// Returns the source of the enum, with a variant for each file of the folder, sorted by name.
fn check_id(folder: &Path) -> io::Result<String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // File names have another order: `a-b.toml` precedes `a.toml`, but the ID `a-b` follows `a`.
    files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let (mut variants, mut all, mut ids, mut texts) =
        (String::new(), String::new(), String::new(), String::new());
    for path in files {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        let variant = variant(&id);
        variants += &format!("/// `{id}`\n{variant},\n");
        all += &format!("Self::{variant}, ");
        ids += &format!("Self::{variant} => {id:?},\n");
        texts += &format!(
            "Self::{variant} => include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/checks/{id}.toml\")),\n"
        );
    }
    Ok(format!(
        "/// The ID of a check, one for each file in `checks/`. IDs never change.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]\n\
         #[serde(rename_all = \"kebab-case\")]\n\
         pub enum CheckId {{\n{variants}}}\n\
         impl CheckId {{\n\
         /// Every ID, sorted by name.\n\
         pub const ALL: &'static [Self] = &[{all}];\n\
         /// Returns the ID as in reports and configurations.\n\
         pub const fn as_str(self) -> &'static str {{ match self {{\n{ids}}} }}\n\
         /// Returns the text of the file of the check.\n\
         pub(crate) const fn text(self) -> &'static str {{ match self {{\n{texts}}} }}\n\
         }}\n"
    ))
}

/// Returns the name of the variant of an ID: `P2OutputJson` for `p2-output-json`.
fn variant(id: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    id.split('-').filter_map(capital).collect()
}

/// Embeds the executable of the helper. A build script runs on the host, so for another target the program of the helper
/// is built separately. Systems other than Linux have no helper.
fn embed_helper(out: &Path) -> io::Result<()> {
    let target = env::var("TARGET").map_err(io::Error::other)?;
    let helper = if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        Vec::new()
    } else if env::var("HOST").as_deref() == Ok(&target) {
        fs::read(env::current_exe()?)?
    } else {
        fs::read(build_helper(&target, &out.join("helper"))?)?
    };
    fs::write(out.join("agentnative-helper"), helper)
}

/// Builds the program of the helper for this target in a separate folder, and returns its path.
fn build_helper(target: &str, folder: &Path) -> io::Result<PathBuf> {
    let program = "agentnative-helper";
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--features", "runtime", "--bin", program])
        .args(["--manifest-path", agentnative_helper::MANIFEST, "--target", target, "--target-dir"])
        .arg(folder)
        .status()?;
    if !status.success() {
        let message = format!("cannot build {program} for {target}, which runs the programs under check");
        return Err(io::Error::other(message));
    }
    Ok(folder.join(target).join("release").join(program))
}
