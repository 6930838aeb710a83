//! No file of a crate imports, directly or through other files, a file that imports it. A re-export (`pub use`) is not
//! an import: an item that is imported through a re-export is resolved to its definition. Imports are read from the
//! syntax tree of the source; paths in the arguments of macros are ignored.

use crate::architecture::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

/// A path in the source code, or the path of a module.
type ModulePath = Vec<String>;

/// A file as a module.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Names of the defined items.
    items: BTreeSet<String>,
    /// Re-exported paths by exported name; `*` for glob re-exports.
    exports: BTreeMap<String, Vec<ModulePath>>,
    /// Imported paths by local name.
    aliases: BTreeMap<String, ModulePath>,
    /// All paths in the code.
    paths: BTreeSet<ModulePath>,
}

/// The files of a crate by module path.
type Modules = BTreeMap<ModulePath, Module>;

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
        for (file, imports) in cycles(&parse_modules(&source, files)) {
            let imports: Vec<String> = imports.iter().map(|import| import.display().to_string()).collect();
            wrong.push(format!("{} imports {}", file.display(), imports.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "these files import each other:\n{}", wrong.join("\n"));
}

#[test]
fn imports_are_resolved_to_the_definition() {
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
        cycles(&parse_modules(Path::new(""), files))
    };
    // `Four` resolves to an item of this file, through the root of the crate.
    assert_eq!(cycles("pub struct Three;\npub fn g() { let _ = crate::Four; }\n"), BTreeMap::new());
    let expected = [("a.rs", "b/deep.rs"), ("b/deep.rs", "a.rs")];
    let expected = expected.map(|(file, import)| (PathBuf::from(file), vec![PathBuf::from(import)]));
    let found = cycles("use crate::a;\npub struct Three;\npub fn g() { let _ = a::One; }\n");
    assert_eq!(found, BTreeMap::from(expected));
}

/// Parses files of a crate; `source` is its source folder.
fn parse_modules(source: &Path, files: impl IntoIterator<Item = (PathBuf, String)>) -> Modules {
    let parse = |(file, text): (PathBuf, String)| {
        let path = file.strip_prefix(source).unwrap().with_extension("");
        let mut names: ModulePath = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if ["mod", "lib"].contains(&&**names.last().unwrap()) {
            names.pop();
        }
        let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut module = Module { file, ..Module::default() };
        module.visit_file(&syntax);
        (names, module)
    };
    files.into_iter().map(parse).collect()
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
        for (path, name) in use_paths(&item.tree, &ModulePath::new()) {
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

/// Returns the paths of a `use` declaration, each with its local name. `prefix` is the path before `tree`.
fn use_paths(tree: &UseTree, prefix: &ModulePath) -> Vec<(ModulePath, String)> {
    let joined = |name: String| [&prefix[..], &[name]].concat();
    match tree {
        UseTree::Path(path) => use_paths(&path.tree, &joined(path.ident.to_string())),
        UseTree::Group(group) => group.items.iter().flat_map(|tree| use_paths(tree, prefix)).collect(),
        UseTree::Name(name) if name.ident == "self" => {
            vec![(prefix.clone(), prefix.last().cloned().unwrap_or_default())]
        }
        UseTree::Name(name) => vec![(joined(name.ident.to_string()), name.ident.to_string())],
        UseTree::Rename(rename) => vec![(joined(rename.ident.to_string()), rename.rename.to_string())],
        UseTree::Glob(_) => vec![(joined("*".to_owned()), "*".to_owned())],
    }
}

/// Returns the module whose file defines the item that `path` names in `module`. Returns `None` if it is a module or in
/// another crate.
fn defining_module(
    modules: &Modules,
    module: &ModulePath,
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    let (first, mut rest) = path.split_first()?;
    let mut found = match &**first {
        "crate" => ModulePath::new(),
        "self" => module.clone(),
        "super" => module[..module.len().checked_sub(1)?].to_vec(),
        name if modules.contains_key(&[&module[..], &[name.to_owned()]].concat()) => {
            rest = path;
            module.clone()
        }
        name => {
            let alias = modules[module]
                .aliases
                .get(name)
                .filter(|alias| depth < 8 && alias.first() != Some(first))?;
            return defining_module(modules, module, &[&alias[..], rest].concat(), depth + 1);
        }
    };
    while let Some((name, remaining)) = rest.split_first() {
        let inner = [&found[..], std::slice::from_ref(name)].concat();
        if name == "super" {
            found.pop();
        } else if modules.contains_key(&inner) {
            found = inner;
        } else {
            let parent = &modules[&found];
            if parent.items.contains(name) || depth > 8 {
                return Some(found);
            }
            let named = parent.exports.get(name).into_iter().flatten().cloned();
            let globs = parent.exports.get("*").into_iter().flatten();
            let globs = globs.map(|glob| [&glob[..glob.len() - 1], std::slice::from_ref(name)].concat());
            let mut exports = named.chain(globs).map(|export| [&export[..], remaining].concat());
            return exports.find_map(|export| defining_module(modules, &found, &export, depth + 1));
        }
        rest = remaining;
    }
    None
}

/// Returns the files in import cycles, each with the files that it imports within the cycles.
fn cycles(modules: &Modules) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let imports = |(path, module): (&ModulePath, &Module)| {
        let defined = module.paths.iter().filter_map(|used| defining_module(modules, path, used, 0));
        (path.clone(), defined.filter(|found| found != path).collect::<BTreeSet<ModulePath>>())
    };
    let mut graph: BTreeMap<ModulePath, BTreeSet<ModulePath>> = modules.iter().map(imports).collect();
    loop {
        // A remaining file that imports no other or that no other imports is in no cycle.
        let imported: BTreeSet<ModulePath> = graph.values().flatten().cloned().collect();
        let outside = |(path, imports): &(&ModulePath, &BTreeSet<ModulePath>)| {
            imports.is_empty() || !imported.contains(*path)
        };
        let outside: BTreeSet<ModulePath> =
            graph.iter().filter(outside).map(|(path, _)| path.clone()).collect();
        if outside.is_empty() {
            break;
        }
        graph.retain(|path, _| !outside.contains(path));
        graph.values_mut().for_each(|imports| imports.retain(|import| !outside.contains(import)));
    }
    let file = |path: &ModulePath| modules[path].file.clone();
    graph.iter().map(|(path, imports)| (file(path), imports.iter().map(file).collect())).collect()
}
