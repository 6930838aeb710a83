//! `cargo xtask new check ID | contract NAME | renderer NAME | change ID`

use std::path::Path;
use std::process::ExitCode;
use xtask::{Kind, new};

const USAGE: &str = "usage: cargo xtask new check ID | contract NAME | renderer NAME | change ID";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let made = match words[..] {
        ["new", kind, name] => Kind::parse(kind).and_then(|kind| Ok((kind, new(root, kind, name)?))),
        _ => Err(USAGE.to_owned()),
    };
    match made {
        Ok((kind, paths)) => {
            for path in paths {
                println!("{}", path.display());
            }
            println!("\n{}", kind.next());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
