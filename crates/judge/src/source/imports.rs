//! The imports of a source file.

use super::walk::SourceFile;
use agentnative_core::model::Language;
use std::collections::BTreeSet;

/// File extensions that an import in JavaScript or TypeScript may name.
pub(super) const SCRIPTS: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// Returns what a file imports from the project. For TypeScript, these are relative paths. For the entry module of a
/// Python program, they are the modules from which its start function is imported. For Go, they are packages. Other
/// files have none.
pub(super) fn imports(text: &str, file: &SourceFile<'_>) -> Vec<String> {
    match file.language {
        Language::TypeScript => script_imports(text),
        Language::Python if file.package.is_entry(file.language, &file.path) => {
            let functions = file.package.starts.iter().filter_map(|(start, ..)| start.name.split_once(':'));
            let functions: BTreeSet<&str> = functions.map(|(_, function)| function.trim()).collect();
            text.lines().filter_map(|line| python_import(line.trim(), &functions)).collect()
        }
        Language::Go => go_imports(text),
        Language::Python | Language::Rust => Vec::new(),
    }
}

/// Returns the paths of the packages that a Go file imports.
fn go_imports(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in text.lines().map(str::trim) {
        let single = line.strip_prefix("import ");
        if single.is_some_and(|rest| rest.trim_start().starts_with('(')) {
            inside = true;
        } else if inside && line.starts_with(')') {
            inside = false;
        }
        if inside || single.is_some() {
            let mut parts = line.split(['"', '`']);
            names.extend(parts.nth(1).map(str::to_owned));
        } else if ["func ", "type ", "var ", "const "].iter().any(|word| line.starts_with(word)) {
            break;
        }
    }
    names
}

fn script_imports(text: &str) -> Vec<String> {
    let quoted = ['"', '\''].into_iter().flat_map(|quote| {
        text.match_indices(quote).filter_map(move |(offset, _)| {
            let rest = &text[offset + 1..];
            if !(rest.starts_with("./") || rest.starts_with("../")) {
                return None;
            }
            let before = text[..offset].trim_end();
            let before = before.strip_suffix('(').map_or(before, str::trim_end);
            let imports = ["from", "import", "require"].iter().any(|word| before.ends_with(word));
            imports.then(|| rest.split([quote, '\n']).next()).flatten()
        })
    });
    // Data and styles are not code.
    let is_code = |name: &&str| {
        let file = name.rsplit('/').next().unwrap_or_default();
        file.trim_start_matches('.')
            .rsplit_once('.')
            .is_none_or(|(_, extension)| SCRIPTS.contains(&extension))
    };
    quoted.filter(is_code).map(str::to_owned).collect()
}

/// Returns the relative path of the module in a line such as `from .module import function`, if it imports one of
/// `functions`. Otherwise returns `None`.
fn python_import(line: &str, functions: &BTreeSet<&str>) -> Option<String> {
    let (module, names) = line.strip_prefix("from ")?.split_once(" import ")?;
    let named = |word: &str| functions.contains(word.split_whitespace().last().unwrap_or_default());
    if !names.trim_matches(['(', ')', ' ']).split(',').any(named) {
        return None;
    }
    let below = module.trim().trim_start_matches('.');
    let dots = module.trim().len() - below.len();
    (dots > 0 && !below.is_empty())
        .then(|| format!("./{}{}", "../".repeat(dots - 1), below.replace('.', "/")))
}
