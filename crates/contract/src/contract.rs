//! A contract: found, read and compiled.

use super::read;
use super::rule_index::RuleIndex;
use super::schema::{Compiler, Schema};
use super::schema_keywords::has_keyword;
use super::sources::{BUNDLE, Home, Sources, bundled, read_limited, unreadable};
use super::spec::{ContractProgram, Framing, Spec};
use super::version::{self, ContractVersion, VersionChoice};
use crate::Stream;
use crate::error::{Error, Issue, Result};
use crate::spanned_toml::{nearest, place};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that makes a folder a contract.
pub const CONTRACT_FILE: &str = "contract.toml";

/// What a target promises: framing, schemas, rules on its stream, exit codes, error channel.
pub struct Contract {
    pub(super) spec: Spec,
    pub(super) index: RuleIndex,
    /// The schema of the document, or of records whose type has none.
    pub(super) schema: Option<Arc<Schema>>,
    /// The schemas of the event types, in the order of the file.
    pub(super) schemas: Vec<Arc<Schema>>,
    /// The schemas of the JSON objects on stderr, by condition.
    pub(super) stderr_schemas: Vec<Option<Arc<Schema>>>,
    /// The schema of an element, where the document may be judged element by element.
    pub(super) elements: Option<Arc<Schema>>,
    pub(super) sources: Sources,
    /// The text of its `contract.toml` and the version that was named; none of a schema file.
    pub(super) text: Option<(String, Option<String>)>,
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contract").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

/// The names of the bundled contracts, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUNDLE.iter().map(|(name, _)| *name)
}

/// The path that a contract's name stands for, relative to `root`; none for a bundled contract.
///
/// A name is a path when it holds a `/` or ends in `.json`.
pub fn contract_path(root: &Path, name: &str) -> Option<PathBuf> {
    (name.contains('/') || name.ends_with(".json")).then(|| root.join(name))
}

/// The name of a contract, and the version behind its last `@`.
pub fn split_version(name: &str) -> (&str, Option<&str>) {
    name.rsplit_once('@').map_or((name, None), |(name, version)| (name, Some(version)))
}

impl Contract {
    /// A bundled contract, by its name or as `NAME@VERSION`; an error of configuration when there is none of this
    /// name.
    pub fn bundled(name: &str) -> Result<Self> {
        let (name, version) = split_version(name);
        let Some(known) = names().find(|known| *known == name) else {
            let error = Error::config(format!("unknown contract `{name}`"));
            return Err(match nearest(name, names()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("`agentnative contract list` lists the bundled contracts; a path contains a `/` or ends in .json"),
            });
        };
        let text = bundled(known, CONTRACT_FILE).unwrap_or_default();
        let path = Path::new("contracts").join(known).join(CONTRACT_FILE);
        Self::from_toml(text, &path, Home::Bundle(known), version)
    }

    /// A contract folder, or a schema file that is a contract with nothing else in it; an error of
    /// configuration with the place of everything that is wrong.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_version(path, None)
    }

    fn load_version(path: &Path, version: Option<&str>) -> Result<Self> {
        let full = path.canonicalize().map_err(|error| unreadable(path, &error))?;
        if full.is_dir() {
            let file = path.join(CONTRACT_FILE);
            let text = String::from_utf8(read_limited(&file)?)
                .map_err(|_| Error::config(format!("{} is not UTF-8", file.display())))?;
            return Self::from_toml(&text, &file, Home::Folder(full), version);
        }
        let (Some(folder), Some(file)) = (full.parent(), full.file_name().and_then(|name| name.to_str()))
        else {
            return Err(Error::config(format!("{} is not a schema file", path.display())));
        };
        Self::of_schema(path.display().to_string(), file, Home::Folder(folder.to_owned()))
    }

    /// A schema file that is a contract with nothing else in it.
    pub(super) fn of_schema(name: String, file: &str, home: Home) -> Result<Self> {
        let (title, schema) = ("A JSON Schema".to_owned(), Some(file.to_owned()));
        let spec = Spec { name, title, schema, ..Spec::default() };
        Self::compile(spec, Sources::new(home), &|error, _| error)
    }

    /// What a bundled contract's name or a path relative to `root` stands for, see [`contract_path`], with
    /// `@VERSION` behind it or not.
    pub fn named(root: &Path, name: &str) -> Result<Self> {
        match contract_path(root, name) {
            Some(path) if path.exists() => Self::load(&path),
            Some(path) => {
                let (name, version) = split_version(name);
                Self::load_version(&version.map_or(path, |_| root.join(name)), version)
            }
            None => Self::bundled(name),
        }
    }

    /// The program whose output it is taken from, where that has a contract for its runs by default.
    pub fn program(&self) -> Option<&ContractProgram> {
        self.spec.program.as_ref()
    }

    /// The bundled contract for the runs of a program of this name.
    pub fn of_program(program: &str) -> Option<Self> {
        let is_for = |contract: &Self| contract.program().is_some_and(|known| known.name == program);
        // Only what names the program is read and compiled.
        let names_it = |name: &&str| bundled(name, CONTRACT_FILE).is_some_and(|text| text.contains(program));
        names().filter(names_it).filter_map(|name| Self::bundled(name).ok()).find(is_for)
    }

    /// The versions of the program that it has a form for.
    pub fn versions(&self) -> &[ContractVersion] {
        &self.spec.versions
    }

    /// The version for a program, by what its `--version` prints; none where that contains no version number,
    /// or the contract has no versions.
    pub fn version_for(&self, printed: &str) -> Option<VersionChoice<'_>> {
        version::choose(self.versions(), &version::find_version(printed)?)
    }

    pub(super) fn from_toml(text: &str, path: &Path, home: Home, version: Option<&str>) -> Result<Self> {
        let (spec, references) = read::read(text, path, version)?;
        let contract = Self::compile(spec, Sources::new(home), &|error, reference| {
            // Without a place of its own the error is about the reference.
            let Some(span) = references.get(reference).filter(|_| error.issues.is_empty()) else {
                return error;
            };
            let place = Some(place(path, text, span.start));
            let message = format!("`{reference}`: {}", error.message);
            Error::config(format!("{} has an error", path.display())).issues(vec![Issue { place, message }])
        })?;
        Ok(Self { text: Some((text.to_owned(), version.map(str::to_owned))), ..contract })
    }

    fn compile(spec: Spec, sources: Sources, locate: &dyn Fn(Error, &str) -> Error) -> Result<Self> {
        let types = || spec.events.iter().flat_map(|events| &events.schemas).map(|(_, reference)| reference);
        let full = |reference: &str| {
            let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            (sources.home().uri(file), fragment.to_owned())
        };
        let mut uris = Vec::new();
        let of_errors = || spec.conditions.iter().filter_map(|condition| condition.stderr_schema.as_ref());
        for reference in spec.schema.iter().chain(types()).chain(of_errors()) {
            let (uri, fragment) = full(reference);
            if !uris.contains(&uri) {
                let file = sources.file(&uri).map_err(|error| locate(error, reference))?;
                if fragment.is_empty() && !has_keyword(&file.value) {
                    let message = "it contains no JSON Schema keyword and would allow every value";
                    return Err(file.fault("", message.to_owned()));
                }
                uris.push(uri);
            }
        }
        let compiler = Compiler::new(&sources, &uris)?;
        // Types that share a schema share it compiled, too.
        let mut compiled = HashMap::new();
        let mut compile = |reference: &String| {
            let (uri, fragment) = full(reference);
            let uri = format!("{uri}#{fragment}");
            if let Some(schema) = compiled.get(&uri) {
                return Ok(Arc::clone(schema));
            }
            let schema = Arc::new(compiler.compile(&uri).map_err(|error| locate(error, reference))?);
            compiled.insert(uri, Arc::clone(&schema));
            Ok::<_, Error>(schema)
        };
        let schema = spec.schema.as_ref().map(&mut compile).transpose()?;
        let schemas = types().map(&mut compile).collect::<Result<Vec<_>>>()?;
        let errors = spec.conditions.iter().map(|condition| condition.stderr_schema.as_ref());
        let stderr_schemas =
            errors.map(|schema| schema.map(&mut compile).transpose()).collect::<Result<_>>()?;
        let alone = spec.framing == Framing::Document && spec.rules.is_empty() && spec.conditions.is_empty();
        let elements = spec.schema.as_ref().filter(|_| alone).and_then(|reference| {
            let (uri, fragment) = full(reference);
            element_schema(&sources, uri, fragment)
        });
        let elements = elements.map(|uri| compiler.compile(&uri).map(Arc::new)).transpose()?;
        drop(compiler);
        let index = RuleIndex::new(&spec);
        Ok(Self { index, spec, schema, schemas, stderr_schemas, elements, sources, text: None })
    }

    /// Its name; for a schema file the path as it was given.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What it is, in a line.
    pub fn title(&self) -> &str {
        &self.spec.title
    }

    /// Framing of the data on a stream.
    pub fn framing(&self) -> Framing {
        self.spec.framing
    }

    /// The arguments that ask a target for the contract's format, where it says so.
    pub fn ask(&self) -> Option<&[String]> {
        self.spec.ask.as_deref()
    }

    /// The stream that holds the data of a failed run, where it says so.
    pub fn errors(&self) -> Option<Stream> {
        self.spec.errors
    }

    /// The exit codes that it has, sorted; none where it says nothing of them.
    pub fn exit_codes(&self) -> Vec<i32> {
        self.spec.exit_codes().into_iter().collect()
    }

    /// Whether it is a schema file and nothing else.
    pub fn is_bare_schema(&self) -> bool {
        self.spec.version.is_empty()
    }

    /// Whether it says anything of what holds between events.
    pub fn has_stream_rules(&self) -> bool {
        let bounded = |events: &super::spec::EventTypes| events.first.is_some() || events.last.is_some();
        self.spec.framing.has_events()
            && (!self.spec.rules.is_empty() || self.spec.events.as_ref().is_some_and(bounded))
    }

    /// The pointer to the type of an event, if the data is a stream of events.
    pub fn discriminator(&self) -> Option<&str> {
        self.spec.events.as_ref().map(|events| events.discriminator.text.as_str())
    }

    /// The schema of an event type, or of the document.
    pub(super) fn schema_of(&self, kind: Option<usize>) -> Option<&Schema> {
        kind.map(|kind| &*self.schemas[kind]).or(self.schema.as_deref())
    }
}

/// The URI of the schema of an array's elements, if nothing else in the schema looks into them.
fn element_schema(sources: &Sources, mut uri: String, mut fragment: String) -> Option<String> {
    const HARMLESS: [&str; 13] = [
        "$schema",
        "$id",
        "id",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "type",
        "minItems",
        "maxItems",
    ];
    // A reference may lead to a reference, but not for ever.
    for _ in 0..16 {
        let file = sources.file(&uri).ok()?;
        let schema = file.value.pointer(&fragment)?.as_object()?;
        let others: Vec<&String> = schema.keys().filter(|key| !HARMLESS.contains(&key.as_str())).collect();
        match others.as_slice() {
            [only] if *only == "items" && !schema[*only].is_array() => {
                return Some(format!("{uri}#{fragment}/items"));
            }
            // With an ID of its own, a file's references are not relative to where it lies.
            [only] if *only == "$ref" && !schema.contains_key("$id") && file.value.get("$id").is_none() => {
                let (to, pointer) = schema[*only].as_str()?.split_once('#')?;
                if !to.is_empty() {
                    uri = sources.home().uri(to);
                }
                fragment = pointer.to_owned();
            }
            _ => return None,
        }
    }
    None
}
