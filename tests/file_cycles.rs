//! No file of a crate imports, directly or through others, a file that imports it. A re-export (`pub use`) is no import:
//! an item that is imported by way of one is looked up where it is defined. Read from the syntax tree of the source;
//! paths in the arguments of macros are not seen.

use crate::architecture::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

/// A path in the source, or the names of nested modules.
type Names = Vec<String>;

/// A file as a module.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// The items that it defines.
    items: BTreeSet<String>,
    /// What it re-exports, by the name that others use; `*` for all of a module.
    exports: BTreeMap<String, Vec<Names>>,
    /// What it imports, by the name that it uses.
    aliases: BTreeMap<String, Names>,
    /// The paths that it names.
    paths: BTreeSet<Names>,
}

/// The files of a crate, by the path of their modules.
type Modules = BTreeMap<Names, Module>;

#[test]
fn no_file_imports_one_that_imports_it() {
    let mut crates: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    for (file, text) in sources() {
        let is_source = |folder: &&Path| folder.ends_with("src");
        let source = file.ancestors().filter(is_source).last().unwrap().to_owned();
        crates.entry(source).or_default().push((file, text));
    }
    let mut wrong = Vec::new();
    for (source, files) in crates {
        for (file, imports) in cycles(&modules(&source, files)) {
            let imports: Vec<String> = imports.iter().map(|import| import.display().to_string()).collect();
            wrong.push(format!("{} imports {}", file.display(), imports.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "these files import each other:\n{}", wrong.join("\n"));
}

#[test]
fn imports_are_followed_to_the_definition() {
    let cycles = |deep: &str| {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use b::{Two, deep::Three as Four};\n"),
            ("a.rs", "use super::{Two, b};\npub struct One;\nfn f(_: Two) { b::deep::g() }\n"),
            (
                "b/mod.rs",
                "pub mod deep;\npub struct Two;\n#[cfg(test)]\nmod tests { use super::*; use crate::a::One; }\n",
            ),
            ("b/deep.rs", deep),
        ];
        let files = files.map(|(file, text)| (PathBuf::from(file), text.to_owned()));
        cycles(&modules(Path::new(""), files))
    };
    // `Four` is an item of this file, by way of the crate's root.
    assert_eq!(cycles("pub struct Three;\npub fn g() { let _ = crate::Four; }\n"), BTreeMap::new());
    let expected = [("a.rs", "b/deep.rs"), ("b/deep.rs", "a.rs")];
    let expected = expected.map(|(file, import)| (PathBuf::from(file), vec![PathBuf::from(import)]));
    let found = cycles("use crate::a;\npub struct Three;\npub fn g() { let _ = a::One; }\n");
    assert_eq!(found, BTreeMap::from(expected));
}

/// Reads these files of a crate, whose source is in this folder.
fn modules(source: &Path, files: impl IntoIterator<Item = (PathBuf, String)>) -> Modules {
    let read = |(file, text): (PathBuf, String)| {
        let path = file.strip_prefix(source).unwrap().with_extension("");
        let mut names: Names = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if ["mod", "lib"].contains(&&**names.last().unwrap()) {
            names.pop();
        }
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut module = Module { file, ..Module::default() };
        module.visit_file(&syntax);
        (names, module)
    };
    files.into_iter().map(read).collect()
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Mod(item) => (None, &item.attrs),
            Item::Impl(item) => (None, &item.attrs),
            _ => return syn::visit::visit_item(self, item),
        };
        if !attributes.iter().any(is_test) {
            self.items.extend(name.map(ToString::to_string));
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_private = matches!(item.vis, Visibility::Inherited);
        for (path, name) in leaves(&item.tree, &Names::new()) {
            if is_private {
                self.paths.insert(path.clone());
                self.aliases.insert(name, path);
            } else {
                self.exports.entry(name).or_default().push(path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
}

/// The paths of a `use`, each with the name that it is used by.
fn leaves(tree: &UseTree, before: &Names) -> Vec<(Names, String)> {
    let with = |name: String| [&before[..], &[name]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(path.ident.to_string())),
        UseTree::Group(group) => group.items.iter().flat_map(|tree| leaves(tree, before)).collect(),
        UseTree::Name(name) if name.ident == "self" => {
            vec![(before.clone(), before.last().cloned().unwrap_or_default())]
        }
        UseTree::Name(name) => vec![(with(name.ident.to_string()), name.ident.to_string())],
        UseTree::Rename(rename) => vec![(with(rename.ident.to_string()), rename.rename.to_string())],
        UseTree::Glob(_) => vec![(with("*".to_owned()), "*".to_owned())],
    }
}

/// The module whose file defines what a path in this module names; none for a module itself, and for what is not in this
/// crate.
fn definition(modules: &Modules, at: &Names, path: &[String], depth: usize) -> Option<Names> {
    let (first, mut rest) = path.split_first()?;
    let mut found = match &**first {
        "crate" => Names::new(),
        "self" => at.clone(),
        "super" => at[..at.len().checked_sub(1)?].to_vec(),
        name if modules.contains_key(&[&at[..], &[name.to_owned()]].concat()) => {
            rest = path;
            at.clone()
        }
        name => {
            let alias =
                modules[at].aliases.get(name).filter(|alias| depth < 8 && alias.first() != Some(first))?;
            return definition(modules, at, &[&alias[..], rest].concat(), depth + 1);
        }
    };
    while let Some((name, behind)) = rest.split_first() {
        let inner = [&found[..], std::slice::from_ref(name)].concat();
        if name == "super" {
            found.pop();
        } else if modules.contains_key(&inner) {
            found = inner;
        } else {
            let module = &modules[&found];
            if module.items.contains(name) || depth > 8 {
                return Some(found);
            }
            let named = module.exports.get(name).into_iter().flatten().cloned();
            let globs = module.exports.get("*").into_iter().flatten();
            let globs = globs.map(|glob| [&glob[..glob.len() - 1], std::slice::from_ref(name)].concat());
            let mut exports = named.chain(globs).map(|export| [&export[..], behind].concat());
            return exports.find_map(|export| definition(modules, &found, &export, depth + 1));
        }
        rest = behind;
    }
    None
}

/// The files in circles of imports, each with those of them that it imports.
fn cycles(modules: &Modules) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let imports = |(at, module): (&Names, &Module)| {
        let defined = module.paths.iter().filter_map(|path| definition(modules, at, path, 0));
        (at.clone(), defined.filter(|found| found != at).collect::<BTreeSet<Names>>())
    };
    let mut graph: BTreeMap<Names, BTreeSet<Names>> = modules.iter().map(imports).collect();
    loop {
        // What imports nothing, or is imported by nothing, of what is left is in no circle.
        let imported: BTreeSet<Names> = graph.values().flatten().cloned().collect();
        let outside =
            |(at, imports): &(&Names, &BTreeSet<Names>)| imports.is_empty() || !imported.contains(*at);
        let outside: BTreeSet<Names> = graph.iter().filter(outside).map(|(at, _)| at.clone()).collect();
        if outside.is_empty() {
            break;
        }
        graph.retain(|at, _| !outside.contains(at));
        graph.values_mut().for_each(|imports| imports.retain(|import| !outside.contains(import)));
    }
    let file = |at: &Names| modules[at].file.clone();
    graph.iter().map(|(at, imports)| (file(at), imports.iter().map(file).collect())).collect()
}
