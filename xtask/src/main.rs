//! The command line of `cargo xtask`.

use std::path::Path;
use std::process::ExitCode;
use xtask::{ScaffoldKind, man, scaffold, site};

const USAGE: &str = "usage: cargo xtask new check ID | contract NAME | renderer NAME | change ID
       cargo xtask site
       cargo xtask man DIR";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let result = match words[..] {
        ["new", kind, name] => ScaffoldKind::parse(kind).and_then(|kind| {
            let paths = scaffold(root, kind, name)?;
            let lines: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
            Ok(format!("{lines}\n{}", kind.next_steps()))
        }),
        ["site"] => {
            site::write(root).map(|folder| format!("{folder}\n\n`mdbook build` builds the site from it."))
        }
        ["man", folder] => man::write(Path::new(folder)),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
