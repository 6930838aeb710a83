//! Generates `Dialect` from the mappers that are code and the files `contracts/*/mapper.toml`, and embeds these files.

#[expect(dead_code, reason = "the build script only reads the files")]
#[path = "src/mapper_file.rs"]
mod mapper_file;

use mapper_file::MapperFile;
use std::path::PathBuf;
use std::{env, fs, io};

/// The dialects whose mappers are code, with their documentation.
const CODE: [(&str, &str); 5] = [
    ("opencode", "Events of opencode, as documented and as its server sends them."),
    ("opencode-run", "Output of `opencode run --format json`."),
    ("claude", "Output of `claude -p --output-format stream-json` or `json`."),
    ("codex", "Output of `codex exec --json`, version 0.42 and later."),
    ("qwen", "Output of `qwen --output-format stream-json` or `json`."),
];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    println!("cargo::rerun-if-changed=contracts");
    let mut folders: Vec<_> = fs::read_dir(root.join("contracts"))?.collect::<io::Result<_>>()?;
    folders.sort_by_key(fs::DirEntry::path);
    let mut dialects = CODE.map(|(name, title)| (name.to_owned(), title.to_owned())).to_vec();
    let mut files = String::new();
    for path in folders.iter().map(|folder| folder.path().join("mapper.toml")).filter(|path| path.exists()) {
        let error = |error: toml::de::Error| io::Error::other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(&path)?;
        let mapper: MapperFile = toml::from_str(&text).map_err(error)?;
        // JSON needs no other parser in the program.
        let json = toml::from_str::<serde_json::Value>(&text).map_err(error)?.to_string();
        files += &format!("(Dialect::{}, {json:?}),\n", variant(&mapper.program));
        let title =
            format!("Output of `{}` in the format `{}`.", mapper.program, mapper.formats.0.join("` or `"));
        dialects.push((mapper.program, title));
    }
    let variants: String =
        dialects.iter().map(|(name, title)| format!("/// {title}\n{},\n", variant(name))).collect();
    let all: String = dialects.iter().map(|(name, _)| format!("Self::{},\n", variant(name))).collect();
    let generated = format!(
        "/// The agent that wrote a stream.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]\n\
         #[cfg_attr(feature = \"clap\", derive(clap::ValueEnum))]\n\
         pub enum Dialect {{\n\
         /// Detected by the first event of a known agent.\n#[default]\nAuto,\n{variants}}}\n\
         impl Dialect {{\n\
         /// All dialects.\n\
         pub const ALL: [Self; {}] = [Self::Auto,\n{all}];\n\
         }}\n\
         /// The mappers that are data, as JSON.\n\
         const MAPPER_FILES: &[(Dialect, &str)] = &[\n{files}];\n",
        dialects.len() + 1
    );
    fs::write(out.join("dialect.rs"), generated)
}

/// Returns the variant of a name: `OpencodeRun` for `opencode-run`.
fn variant(name: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    name.split('-').filter_map(capital).collect()
}
