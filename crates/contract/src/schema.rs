//! Compiles JSON Schemas (drafts 4 to 2020-12) without network access and without files from outside the contract.

use super::acceptor::{self, Acceptor};
use super::counted::{counted, list_names};
use super::decimal::Decimal;
use super::pointer::Pointer;
use super::sources::{File, FileStore, Sources};
use super::tape_json::TapeJson;
use super::violation::{Against, Violation, excerpt};
use crate::error::{Error, Result};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::json::{JsonNumber as _, Node as _};
use jsonschema::paths::Location;
use jsonschema::{
    Keyword, PatternOptions, Registry, Retrieve, ValidationError, ValidationOptions, Validator, meta,
};
use serde_json::{Map, Number, Value, json};
use std::sync::Arc;
use strict_json::{JsonKind, JsonType, Tape, TapeNode, escape_token};

/// A compiled JSON Schema, which validates values.
pub struct Schema {
    /// Decides faster than the validator about most values; `None` if it cannot check this schema.
    pub(super) acceptor: Option<Acceptor>,
    validator: Validator<TapeJson>,
    /// The files of the contract. Locations of keywords in messages are relative to them.
    store: FileStore,
}

impl Schema {
    /// Compiles a schema. References may point into the schema itself and to bundled contracts only. Patterns are
    /// matched in linear time.
    ///
    /// # Errors
    /// Of kind `Config` if the schema is not valid or has another reference.
    pub fn compile(schema: &Value) -> Result<Self> {
        let invalid = |error: &ValidationError<'_>| {
            let pointer = error.instance_path().as_str();
            let place = if pointer.is_empty() { "the schema" } else { pointer };
            Error::config(format!("{place}: {error}"))
        };
        meta::validate(schema).map_err(|error| invalid(&error))?;
        let sources = Sources::new(FileStore::Empty);
        let failed = |error: ValidationError<'_>| sources.take_error().unwrap_or_else(|| invalid(&error));
        let validator = validator_options(&sources).build(schema).map_err(failed)?;
        Ok(Self { acceptor: None, validator, store: FileStore::Empty })
    }

    /// Compiles a schema like [`Schema::compile`], but the schema's `format` keywords are constraints in every draft.
    pub fn compile_with_formats(schema: &Value) -> Result<Self> {
        let sources = Sources::new(FileStore::Empty);
        let failed = |error: ValidationError<'_>| Error::config(error.to_string());
        let options = validator_options(&sources).should_validate_formats(true);
        let validator = options.build(schema).map_err(failed)?;
        Ok(Self { acceptor: None, validator, store: FileStore::Empty })
    }

    /// Returns all violations of the schema by a document.
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        let mut value = Tape::default();
        value.fill(document);
        value.root().map_or_else(Vec::new, |root| self.node_violations(root, usize::MAX).0)
    }

    /// Returns whether a value on a tape is valid against the schema.
    pub fn accepts(&self, node: TapeNode<'_>) -> bool {
        let answer = self.acceptor.as_ref().and_then(|acceptor| acceptor.accepts_if_known(node));
        answer.unwrap_or_else(|| self.validator.is_valid(node))
    }

    /// Returns the first `max` violations of the schema by a value, and the number of the others.
    pub fn node_violations(&self, node: TapeNode<'_>, max: usize) -> (Vec<Violation>, u64) {
        let mut errors = self.validator.iter_errors(node);
        let first = errors.by_ref().take(max).map(|error| self.violation(&error, node)).collect();
        (first, errors.count() as u64)
    }

    /// Converts an error of the validator to a violation. `root` is the value that was validated.
    fn violation(&self, error: &ValidationError<'_>, root: TapeNode<'_>) -> Violation {
        let location = error.absolute_keyword_location().map(|uri| self.store.name(uri.as_str()));
        let rule = location.unwrap_or_else(|| error.schema_path().as_str().to_owned());
        let pointer = error.instance_path().as_str();
        let node =
            Pointer::parse_literal(pointer).and_then(|pointer| pointer.first_match(root)).unwrap_or(root);
        let violation = Violation::new(Against::Schema, &rule, pointer, describe(error, node));
        Violation { keyword: Some(error.kind().keyword().to_owned()), ..violation }
    }
}

/// Returns options for validators: patterns are matched in linear time, and schemas come from `sources` only.
fn validator_options(sources: &Sources) -> ValidationOptions<'static, Arc<dyn Retrieve>, TapeJson> {
    jsonschema::options_for::<TapeJson>()
        .with_pattern_options(PatternOptions::regex())
        .with_retriever(sources.clone())
        .with_keyword("multipleOf", multiple_of)
}

/// The keyword `multipleOf`, evaluated exactly. It replaces the implementation of the validator, which rounds.
struct MultipleOf {
    number: Number,
    /// The number in exact form; `None` if it cannot be parsed.
    divisor: Option<Decimal>,
}

fn multiple_of<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> std::result::Result<Box<dyn for<'i> Keyword<'i, TapeJson>>, ValidationError<'a>> {
    let number = value.as_number().cloned();
    let number = number.ok_or_else(|| ValidationError::custom("`multipleOf` is not a number"))?;
    Ok(Box::new(MultipleOf { divisor: Decimal::parse(&number.to_string()), number }))
}

impl<'i> Keyword<'i, TapeJson> for MultipleOf {
    fn validate(&self, node: TapeNode<'i>) -> std::result::Result<(), ValidationError<'i>> {
        if Keyword::<TapeJson>::is_valid(self, node) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("a multiple of {}", self.number)))
    }

    fn is_valid(&self, node: TapeNode<'i>) -> bool {
        let Some(written) = node.as_number() else { return true };
        let number = Decimal::parse(&written.as_str());
        let exact =
            number.zip(self.divisor.as_ref()).and_then(|(number, divisor)| number.is_multiple_of(divisor));
        exact.unwrap_or(true)
    }
}

/// Compiles the schemas of one contract.
pub(super) struct Compiler<'a> {
    sources: &'a Sources,
    registry: Registry<'static>,
}

impl<'a> Compiler<'a> {
    /// Reads the files at these URIs, which have no fragments, and all files that they refer to.
    pub fn new(sources: &'a Sources, uris: &[String]) -> Result<Self> {
        let mut builder = Registry::new().retriever(sources.clone());
        for uri in uris {
            let file = sources.file(uri)?;
            builder =
                builder.add(uri, file.value.clone()).map_err(|error| file.error_at("", error.to_string()))?;
        }
        let registry = builder.prepare().map_err(|error| {
            add_place(sources, sources.take_error().unwrap_or_else(|| Error::config(error.to_string())))
        })?;
        for (_, file) in sources.files() {
            let result = meta::options().with_registry(&registry).validate(&file.value);
            result.map_err(|error| file.error_at(error.instance_path().as_str(), error.to_string()))?;
        }
        Ok(Self { sources, registry })
    }

    /// Compiles the schema at a URI with a fragment, such as `folder:/contract/x.json#/$defs/y`.
    pub fn compile(&self, uri: &str) -> Result<Schema> {
        let schema = json!({ "$ref": uri });
        let failed = |error: ValidationError<'_>| self.compile_error(uri, &error);
        let options = validator_options(self.sources).with_registry(&self.registry);
        let validator = options.build(&schema).map_err(failed)?;
        Ok(Schema { acceptor: self.acceptor(uri), validator, store: self.sources.store().clone() })
    }

    fn acceptor(&self, uri: &str) -> Option<Acceptor> {
        let (file, fragment) = uri.split_once('#')?;
        let resolver = self.registry.resolver(referencing::uri::from_str(file).ok()?);
        let resolved = resolver.lookup(&format!("#{fragment}")).ok()?;
        let (schema, resolver, draft) = resolved.into_inner();
        acceptor::compile(schema, &resolver, draft)
    }

    fn compile_error(&self, uri: &str, error: &ValidationError<'_>) -> Error {
        if let Some(error) = self.sources.take_error() {
            return add_place(self.sources, error);
        }
        let file = self.sources.file(uri.split('#').next().unwrap_or(uri));
        let message = error.to_string();
        // An error about a pattern or a dangling reference may have no location; then search for its text.
        match file {
            Ok(file) => {
                let pointer = error.instance_path().as_str();
                let pointer = if pointer.is_empty() {
                    find_mentioned(&file.value, &message)
                } else {
                    pointer.to_owned()
                };
                file.error_at(&pointer, message)
            }
            Err(error) => error,
        }
    }
}

/// Adds a place to an error that has none: the place of the text in the schemas that its message mentions, or else the
/// start of the first file.
fn add_place(sources: &Sources, error: Error) -> Error {
    if !error.issues.is_empty() {
        return error;
    }
    let files = sources.files();
    let mentioned = |(_, file): &(_, Arc<File>)| {
        let pointer = find_mentioned(&file.value, &error.message);
        (!pointer.is_empty()).then(|| (Arc::clone(file), pointer))
    };
    let first = || files.first().map(|(_, file)| (Arc::clone(file), String::new()));
    match files.iter().find_map(mentioned).or_else(first) {
        Some((file, pointer)) => {
            let with_place = file.error_at(&pointer, error.message);
            Error { kind: error.kind, hint: error.hint, ..with_place }
        }
        None => error,
    }
}

/// Returns the pointer to the first `pattern`, reference or `$schema` in a schema whose value `message` mentions; empty
/// if there is none.
fn find_mentioned(schema: &Value, message: &str) -> String {
    fn search(value: &Value, message: &str, path: &mut String) -> bool {
        let length = path.len();
        let members: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(elements) => {
                elements.iter().enumerate().map(|(nth, value)| (nth.to_string(), value)).collect()
            }
            _ => return false,
        };
        for (key, value) in members {
            path.push('/');
            path.push_str(&escape_token(&key));
            let text = value.as_str();
            let is_mentioned = match key.as_str() {
                "pattern" => text.is_some_and(|text| !text.is_empty() && message.contains(text)),
                "$schema" => text.is_some_and(|text| {
                    ['\'', '`'].iter().any(|quote| message.contains(&format!("{quote}{text}{quote}")))
                }),
                "$ref" | "$dynamicRef" | "$recursiveRef" => text.is_some_and(|text| {
                    // A message may contain the resolved reference.
                    let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
                    let name = file.rsplit('/').next().unwrap_or(file);
                    [name, fragment].iter().any(|part| !part.is_empty() && message.contains(part))
                }),
                _ => false,
            };
            if is_mentioned || search(value, message, path) {
                return true;
            }
            path.truncate(length);
        }
        false
    }
    let mut path = String::new();
    search(schema, message, &mut path);
    path
}

/// Returns a message with the expected and the found value. `node` is the found value on the tape: building the value
/// of the error may be expensive.
fn describe(error: &ValidationError<'_>, node: TapeNode<'_>) -> String {
    use ValidationErrorKind as Kind;
    let found = describe_value(node, error.kind());
    let no_keys = ["/additionalProperties", "/propertyNames"];
    let expected = match error.kind() {
        Kind::Required { property } => {
            let name = excerpt(property.as_str().unwrap_or_default());
            return format!("missing key `{name}`");
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            return unexpected_keys(unexpected.iter().map(String::as_str));
        }
        // If no key is allowed, the error has the value of the first key only.
        Kind::FalseSchema
            if node.has_type(JsonType::Object)
                && no_keys.iter().any(|keyword| error.schema_path().as_str().ends_with(keyword)) =>
        {
            return unexpected_keys(node.members().map(|(key, _)| key));
        }
        Kind::Type { kind: TypeKind::Single(one) } => with_article(*one).to_owned(),
        Kind::Type { kind: TypeKind::Multiple(types) } => {
            types.iter().map(with_article).collect::<Vec<_>>().join(" or ")
        }
        Kind::Enum { options } => format!("one of {}", format_expected(options)),
        Kind::Constant { expected_value } => format_expected(expected_value),
        Kind::Pattern { pattern } => format!("a string that matches `{pattern}`"),
        Kind::Format { format } => format!("the format `{format}`"),
        Kind::MinLength { limit } => format!("at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", counted(*limit, "character")),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::AdditionalItems { limit } => format!("at most {}", counted(*limit as u64, "element")),
        Kind::UniqueItems => "elements that differ from each other".to_owned(),
        Kind::Contains => "an element that matches `contains`".to_owned(),
        Kind::MinItems { limit } => format!("at least {}", counted(*limit, "element")),
        Kind::MaxItems { limit } => format!("at most {}", counted(*limit, "element")),
        Kind::MinProperties { limit } => format!("at least {}", counted(*limit, "key")),
        Kind::MaxProperties { limit } => format!("at most {}", counted(*limit, "key")),
        Kind::FalseSchema => "no value".to_owned(),
        Kind::OneOfNotValid { .. } => "a value that matches an alternative of the schema".to_owned(),
        Kind::AnyOf { .. } => "a value that matches an alternative of the schema".to_owned(),
        Kind::Custom { message, .. } => message.clone(),
        Kind::OneOfMultipleValid { .. } => {
            "a value that matches exactly one alternative of the schema".to_owned()
        }
        Kind::Not { .. } => "a value that does not match `not`".to_owned(),
        _ => return excerpt(&error.masked_with(&found).to_string()),
    };
    format!("expected {expected}, found {found}")
}

/// Maximum number of keys that a message names.
const MAX_NAMED_KEYS: usize = 20;

fn unexpected_keys<'k>(names: impl Iterator<Item = &'k str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let keys = if names.len() == 1 { "key" } else { "keys" };
    let named = list_names(names.into_iter().map(excerpt), MAX_NAMED_KEYS);
    format!("unexpected {keys} {named}; the schema allows no additional keys")
}

/// Returns the name of a JSON Schema type with its article; `integer` is not a JSON type.
fn with_article(name: jsonschema::JsonType) -> &'static str {
    JsonType::from_name(name.as_str()).map_or("an integer", JsonType::with_article)
}

/// Describes a value in a few words, such as `the number 7`. If the error is about the number of elements or keys,
/// returns this number.
fn describe_value(node: TapeNode<'_>, error: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    let unit = match error {
        Kind::MinItems { .. } | Kind::MaxItems { .. } | Kind::AdditionalItems { .. } => Some("element"),
        Kind::MinProperties { .. } | Kind::MaxProperties { .. } => Some("key"),
        _ => None,
    };
    match node.kind() {
        JsonKind::Null => "null".to_owned(),
        JsonKind::Bool(value) => value.to_string(),
        JsonKind::Number(_) => format!("the number {}", excerpt(node.text())),
        JsonKind::Text("") => "an empty string".to_owned(),
        JsonKind::Text(text) => format!("the string \"{}\"", excerpt(text)),
        kind @ (JsonKind::Array | JsonKind::Object) => match (unit, kind) {
            (Some(unit), _) => counted(node.count() as u64, unit),
            (None, _) if node.count() > 0 => node.json_type().with_article().to_owned(),
            (None, JsonKind::Array) => "an empty array".to_owned(),
            (None, _) => "an empty object".to_owned(),
        },
    }
}

/// Formats an expected value for a message, shortened. The elements of an array are shortened individually.
fn format_expected(value: &Value) -> String {
    match value {
        Value::Array(elements) => elements.iter().map(format_expected).collect::<Vec<_>>().join(", "),
        scalar => excerpt(&scalar.to_string()),
    }
}
