//! Finds, reads and compiles contracts.

use super::read;
use super::rule_index::RuleIndex;
use super::schema::{Compiler, Schema};
use super::schema_keywords::has_keyword;
use super::sources::{BUNDLE, FileStore, Sources, bundled, read_error, read_limited};
use super::spec::{ContractProgram, Framing, Spec};
use super::version::{self, ContractVersion, VersionChoice};
use crate::Stream;
use crate::error::{Error, Issue, Result};
use crate::spanned_toml::{nearest, place};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the main file of a contract folder.
pub const CONTRACT_FILE: &str = "contract.toml";

/// A compiled contract, against which outputs are validated: framing, schemas, rules on the stream, exit codes and
/// error output of a target.
pub struct Contract {
    pub(super) spec: Spec,
    pub(super) index: RuleIndex,
    /// The schema of the document, or of each record whose event type has no schema.
    pub(super) schema: Option<Arc<Schema>>,
    /// The schema of each event type, in the order of the file.
    pub(super) schemas: Vec<Arc<Schema>>,
    /// For each condition: the schema of the JSON object on stderr, if the condition has one.
    pub(super) stderr_schemas: Vec<Option<Arc<Schema>>>,
    /// The schema of one element, if the document is an array that can be judged element by element.
    pub(super) elements: Option<Arc<Schema>>,
    pub(super) sources: Sources,
    /// The text of `contract.toml` and the requested version; `None` for a schema file.
    pub(super) text: Option<(String, Option<String>)>,
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contract").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

/// Returns the names of the bundled contracts, sorted.
pub fn bundled_names() -> impl Iterator<Item = &'static str> {
    BUNDLE.iter().map(|(name, _)| *name)
}

/// Returns the path that the name of a contract denotes, relative to `root`; `None` for a bundled contract.
///
/// A name is a path if it contains a `/` or ends in `.json`.
pub fn contract_path(root: &Path, name: &str) -> Option<PathBuf> {
    (name.contains('/') || name.ends_with(".json")).then(|| root.join(name))
}

/// Splits `NAME@VERSION` at its last `@` into the name and the version, which is `None` without an `@`.
pub fn split_version(name: &str) -> (&str, Option<&str>) {
    name.rsplit_once('@').map_or((name, None), |(name, version)| (name, Some(version)))
}

impl Contract {
    /// Loads a bundled contract by `NAME` or `NAME@VERSION`.
    ///
    /// # Errors
    /// Of kind `Config` if there is no such contract or version.
    pub fn bundled(name: &str) -> Result<Self> {
        let (name, version) = split_version(name);
        let Some(known) = bundled_names().find(|known| *known == name) else {
            let error = Error::config(format!("unknown contract `{name}`"));
            return Err(match nearest(name, bundled_names()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("list the bundled contracts with `agentnative contract list`; a path contains a `/` or ends in .json"),
            });
        };
        let text = bundled(known, CONTRACT_FILE).unwrap_or_default();
        let path = Path::new("contracts").join(known).join(CONTRACT_FILE);
        Self::from_toml(text, &path, FileStore::Bundle(known), version)
    }

    /// Loads a contract folder, or a schema file as a contract with only a schema.
    ///
    /// # Errors
    /// Of kind `Config`, with the place of each problem.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_version(path, None)
    }

    fn load_version(path: &Path, version: Option<&str>) -> Result<Self> {
        let full = path.canonicalize().map_err(|error| read_error(path, &error))?;
        if full.is_dir() {
            let file = path.join(CONTRACT_FILE);
            let text = String::from_utf8(read_limited(&file)?)
                .map_err(|_| Error::config(format!("{} is not UTF-8", file.display())))?;
            return Self::from_toml(&text, &file, FileStore::Folder(full), version);
        }
        let (Some(folder), Some(file)) = (full.parent(), full.file_name().and_then(|name| name.to_str()))
        else {
            return Err(Error::config(format!("{} is not a schema file", path.display())));
        };
        Self::from_schema(path.display().to_string(), file, FileStore::Folder(folder.to_owned()))
    }

    /// Loads a schema file as a contract with only a schema.
    pub(super) fn from_schema(name: String, file: &str, store: FileStore) -> Result<Self> {
        let (title, schema) = ("A JSON Schema".to_owned(), Some(file.to_owned()));
        let spec = Spec { name, title, schema, ..Spec::default() };
        Self::compile(spec, Sources::new(store), &|error, _| error)
    }

    /// Loads the contract that `name` denotes: a bundled contract, or a path relative to `root` (see
    /// [`contract_path`]). Both may be followed by `@VERSION`.
    pub fn by_name(root: &Path, name: &str) -> Result<Self> {
        match contract_path(root, name) {
            Some(path) if path.exists() => Self::load(&path),
            Some(path) => {
                let (name, version) = split_version(name);
                Self::load_version(&version.map_or(path, |_| root.join(name)), version)
            }
            None => Self::bundled(name),
        }
    }

    /// Returns the program whose output this contract describes, from `[program]`. Runs of this program have the
    /// contract by default.
    pub fn program(&self) -> Option<&ContractProgram> {
        self.spec.program.as_ref()
    }

    /// Returns the bundled contract that describes this program, or `None`. A contract names its program in the
    /// table `[program]`.
    pub fn for_program(program: &str) -> Option<Self> {
        let is_for = |contract: &Self| {
            contract.program().is_some_and(|known| known.name.iter().any(|name| name == program))
        };
        // Only contracts that mention the program are compiled.
        let mentions_it =
            |name: &&str| bundled(name, CONTRACT_FILE).is_some_and(|text| text.contains(program));
        bundled_names().filter(mentions_it).filter_map(|name| Self::bundled(name).ok()).find(is_for)
    }

    /// Returns the versions of the contract, from `[[versions]]`.
    pub fn versions(&self) -> &[ContractVersion] {
        &self.spec.versions
    }

    /// Chooses the version of the contract for a program that printed `printed` for `--version`. Returns `None` if
    /// `printed` contains no version number, or the contract has no versions.
    pub fn version_for(&self, program: &str, printed: &str) -> Option<VersionChoice<'_>> {
        version::choose(self.versions(), Some(program), &version::find_version(printed)?)
    }

    /// Returns the ranges of the versions of `program` that the contract describes, such as `>=0.42, <0.44`.
    pub fn ranges(&self, program: &str) -> Vec<&str> {
        self.versions()
            .iter()
            .filter(|version| version.is_of(program))
            .map(|version| &*version.range)
            .collect()
    }

    pub(super) fn from_toml(
        text: &str,
        path: &Path,
        store: FileStore,
        version: Option<&str>,
    ) -> Result<Self> {
        let (spec, references) = read::read(text, path, version)?;
        let contract = Self::compile(spec, Sources::new(store), &|error, reference| {
            // An error without a place is about the reference.
            let Some(span) = references.get(reference).filter(|_| error.issues.is_empty()) else {
                return error;
            };
            let place = Some(place(path, text, span.start));
            let message = format!("`{reference}`: {}", error.message);
            Error::config(format!("{} is invalid", path.display())).issues(vec![Issue { place, message }])
        })?;
        Ok(Self { text: Some((text.to_owned(), version.map(str::to_owned))), ..contract })
    }

    fn compile(spec: Spec, sources: Sources, locate: &dyn Fn(Error, &str) -> Error) -> Result<Self> {
        let types = || spec.events.iter().flat_map(|events| &events.schemas).map(|(_, reference)| reference);
        let resolve = |reference: &str| {
            let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            (sources.store().uri(file), fragment.to_owned())
        };
        let mut uris = Vec::new();
        let stderr_references =
            || spec.conditions.iter().filter_map(|condition| condition.stderr_schema.as_ref());
        for reference in spec.schema.iter().chain(types()).chain(stderr_references()) {
            let (uri, fragment) = resolve(reference);
            if !uris.contains(&uri) {
                let file = sources.file(&uri).map_err(|error| locate(error, reference))?;
                if fragment.is_empty() && !has_keyword(&file.value) {
                    let message = "it contains no JSON Schema keyword and would allow every value";
                    return Err(file.error_at("", message.to_owned()));
                }
                uris.push(uri);
            }
        }
        let compiler = Compiler::new(&sources, &uris)?;
        // Types with the same schema share the compiled schema.
        let mut compiled = HashMap::new();
        let mut compile = |reference: &String| {
            let (uri, fragment) = resolve(reference);
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
        let has_schema_only =
            spec.framing == Framing::Document && spec.rules.is_empty() && spec.conditions.is_empty();
        let elements = spec.schema.as_ref().filter(|_| has_schema_only).and_then(|reference| {
            let (uri, fragment) = resolve(reference);
            element_schema(&sources, uri, fragment)
        });
        let elements = elements.map(|uri| compiler.compile(&uri).map(Arc::new)).transpose()?;
        drop(compiler);
        let index = RuleIndex::new(&spec);
        Ok(Self { index, spec, schema, schemas, stderr_schemas, elements, sources, text: None })
    }

    /// Returns the name of the contract; for a schema file, the path as given.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns the title of the contract, in one line.
    pub fn title(&self) -> &str {
        &self.spec.title
    }

    /// Returns how the data on a stream is framed: as one document, as lines or as an array of events.
    pub fn framing(&self) -> Framing {
        self.spec.framing
    }

    /// Returns the arguments that select the format of the contract, such as `--json`, if the contract declares them.
    pub fn format_args(&self) -> Option<&[String]> {
        self.spec.ask.as_deref()
    }

    /// Returns the stream on which a failed run prints its data, if the contract declares it.
    pub fn error_stream(&self) -> Option<Stream> {
        self.spec.errors
    }

    /// Returns the exit codes that the conditions of the contract allow, sorted; empty if it has no conditions.
    pub fn exit_codes(&self) -> Vec<i32> {
        self.spec.exit_codes().into_iter().collect()
    }

    /// Returns whether the contract was made from a single schema file, without a `contract.toml`.
    pub fn is_bare_schema(&self) -> bool {
        self.spec.version.is_empty()
    }

    /// Returns whether the contract describes a stream of events and has rules for it.
    pub fn has_stream_rules(&self) -> bool {
        let bounded = |events: &super::spec::EventTypes| events.first.is_some() || events.last.is_some();
        self.spec.framing.has_events()
            && (!self.spec.rules.is_empty() || self.spec.events.as_ref().is_some_and(bounded))
    }

    /// Returns the pointer to the type in each event, such as `/type`, if the contract defines event types.
    pub fn discriminator(&self) -> Option<&str> {
        self.spec.events.as_ref().map(|events| events.discriminator.text.as_str())
    }

    /// Returns the schema of the event type with this index in the contract; for `None`, the schema of the document.
    pub(super) fn schema_of(&self, event_type: Option<usize>) -> Option<&Schema> {
        event_type.map(|event_type| &*self.schemas[event_type]).or(self.schema.as_deref())
    }
}

/// Returns the URI of the schema of the elements, if a document is an array that can be judged element by element: no
/// keyword of its schema but `items` depends on the elements. `uri` and `fragment` locate the schema of the document.
fn element_schema(sources: &Sources, mut uri: String, mut fragment: String) -> Option<String> {
    const INDEPENDENT: [&str; 13] = [
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
    // Limits chains of references, which may be circular.
    for _ in 0..16 {
        let file = sources.file(&uri).ok()?;
        let schema = file.value.pointer(&fragment)?.as_object()?;
        let others: Vec<&String> = schema.keys().filter(|key| !INDEPENDENT.contains(&key.as_str())).collect();
        match others.as_slice() {
            [only] if *only == "items" && !schema[*only].is_array() => {
                return Some(format!("{uri}#{fragment}/items"));
            }
            // References in a file with an `$id` are relative to that, not to the path of the file.
            [only] if *only == "$ref" && !schema.contains_key("$id") && file.value.get("$id").is_none() => {
                let (to, pointer) = schema[*only].as_str()?.split_once('#')?;
                if !to.is_empty() {
                    uri = sources.store().uri(to);
                }
                fragment = pointer.to_owned();
            }
            _ => return None,
        }
    }
    None
}
