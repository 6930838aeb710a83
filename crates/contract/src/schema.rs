//! JSON Schemas, drafts 4 to 2020-12, compiled without network and without files of strangers.

use super::acceptor::{self, Acceptor};
use super::counted::{counted, named};
use super::decimal::Decimal;
use super::pointer::Pointer;
use super::sources::{File, Home, Sources};
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

/// A compiled schema.
pub struct Schema {
    /// What it can answer, the validator is not asked.
    pub(super) acceptor: Option<Acceptor>,
    validator: Validator<TapeJson>,
    /// What the places in it are relative to.
    home: Home,
}

impl Schema {
    /// Compiles a schema. References may point into it and to bundled contracts only; patterns are
    /// matched in linear time. An error of configuration when it is no valid schema, or points outside.
    pub fn compile(schema: &Value) -> Result<Self> {
        let wrong = |error: &ValidationError<'_>| {
            let place = error.instance_path().as_str();
            let place = if place.is_empty() { "the schema" } else { place };
            Error::config(format!("{place}: {error}"))
        };
        meta::validate(schema).map_err(|error| wrong(&error))?;
        let sources = Sources::new(Home::Nowhere);
        let refused = |error: ValidationError<'_>| sources.error().unwrap_or_else(|| wrong(&error));
        let validator = options(&sources).build(schema).map_err(refused)?;
        Ok(Self { acceptor: None, validator, home: Home::Nowhere })
    }

    /// The same, with formats held to be promises in every draft.
    pub fn compile_with_formats(schema: &Value) -> Result<Self> {
        let sources = Sources::new(Home::Nowhere);
        let refused = |error: ValidationError<'_>| Error::config(error.to_string());
        let validator = options(&sources).should_validate_formats(true).build(schema).map_err(refused)?;
        Ok(Self { acceptor: None, validator, home: Home::Nowhere })
    }

    /// All ways in which `document` does not validate.
    pub fn violations(&self, document: &Value) -> Vec<Violation> {
        let mut value = Tape::default();
        value.fill(document);
        value.root().map_or_else(Vec::new, |root| self.node_violations(root, usize::MAX).0)
    }

    /// Whether a value in the reader's representation validates.
    pub fn accepts(&self, node: TapeNode<'_>) -> bool {
        let answer = self.acceptor.as_ref().and_then(|acceptor| acceptor.answer(node));
        answer.unwrap_or_else(|| self.validator.is_valid(node))
    }

    /// As [`Schema::violations`], the first `max` of them, and how many more there are.
    pub fn node_violations(&self, node: TapeNode<'_>, max: usize) -> (Vec<Violation>, u64) {
        let mut errors = self.validator.iter_errors(node);
        let first = errors.by_ref().take(max).map(|error| self.violation(&error, node)).collect();
        (first, errors.count() as u64)
    }

    /// What an error says of a value in this one.
    fn violation(&self, error: &ValidationError<'_>, root: TapeNode<'_>) -> Violation {
        let location = error.absolute_keyword_location().map(|uri| self.home.name(uri.as_str()));
        let rule = location.unwrap_or_else(|| error.schema_path().as_str().to_owned());
        let pointer = error.instance_path().as_str();
        let node = Pointer::literal(pointer).and_then(|pointer| pointer.of(root)).unwrap_or(root);
        let violation = Violation::of_rule(Against::Schema, &rule, pointer, describe(error, node));
        Violation { keyword: Some(error.kind().keyword().to_owned()), ..violation }
    }
}

/// Linear-time patterns, and schemas from these sources only.
fn options(sources: &Sources) -> ValidationOptions<'static, Arc<dyn Retrieve>, TapeJson> {
    jsonschema::options_for::<TapeJson>()
        .with_pattern_options(PatternOptions::regex())
        .with_retriever(sources.clone())
        .with_keyword("multipleOf", multiple_of)
}

/// `multipleOf` by the digits as they are written, in the place of the validator's own, which rounds.
struct MultipleOf {
    number: Number,
    /// None where it has more digits than can be told.
    by: Option<Decimal>,
}

fn multiple_of<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> std::result::Result<Box<dyn for<'i> Keyword<'i, TapeJson>>, ValidationError<'a>> {
    let number = value.as_number().cloned();
    let number = number.ok_or_else(|| ValidationError::custom("`multipleOf` is not a number"))?;
    Ok(Box::new(MultipleOf { by: Decimal::parse(&number.to_string()), number }))
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
        let exact = number.zip(self.by.as_ref()).and_then(|(number, by)| number.is_multiple_of(by));
        exact.unwrap_or(true)
    }
}

/// Schemas of one contract.
pub(super) struct Compiler<'a> {
    sources: &'a Sources,
    registry: Registry<'static>,
}

impl<'a> Compiler<'a> {
    /// Reads these files (URIs without fragments) and all that they refer to.
    pub fn new(sources: &'a Sources, uris: &[String]) -> Result<Self> {
        let mut builder = Registry::new().retriever(sources.clone());
        for uri in uris {
            let file = sources.file(uri)?;
            builder =
                builder.add(uri, file.value.clone()).map_err(|error| file.fault("", error.to_string()))?;
        }
        let registry = builder.prepare().map_err(|error| {
            placed(sources, sources.error().unwrap_or_else(|| Error::config(error.to_string())))
        })?;
        for (_, file) in sources.files() {
            let checked = meta::options().with_registry(&registry).validate(&file.value);
            checked.map_err(|error| file.fault(error.instance_path().as_str(), error.to_string()))?;
        }
        Ok(Self { sources, registry })
    }

    /// Compiles the schema that a URI with a fragment names.
    pub fn compile(&self, uri: &str) -> Result<Schema> {
        let schema = json!({ "$ref": uri });
        let wrong = |error: ValidationError<'_>| self.wrong(uri, &error);
        let options = options(self.sources).with_registry(&self.registry);
        let validator = options.build(&schema).map_err(wrong)?;
        Ok(Schema { acceptor: self.acceptor(uri), validator, home: self.sources.home().clone() })
    }

    fn acceptor(&self, uri: &str) -> Option<Acceptor> {
        let (file, fragment) = uri.split_once('#')?;
        let resolver = self.registry.resolver(referencing::uri::from_str(file).ok()?);
        let resolved = resolver.lookup(&format!("#{fragment}")).ok()?;
        let (schema, resolver, draft) = resolved.into_inner();
        acceptor::compile(schema, &resolver, draft)
    }

    fn wrong(&self, uri: &str, error: &ValidationError<'_>) -> Error {
        if let Some(error) = self.sources.error() {
            return placed(self.sources, error);
        }
        let file = self.sources.file(uri.split('#').next().unwrap_or(uri));
        let message = error.to_string();
        // What is wrong (a pattern, a dangling reference) is not always located: look for its text.
        match file {
            Ok(file) => {
                let pointer = error.instance_path().as_str();
                let pointer =
                    if pointer.is_empty() { culprit(&file.value, &message) } else { pointer.to_owned() };
                file.fault(&pointer, message)
            }
            Err(error) => error,
        }
    }
}

/// The error of a fault in these schemas, at what it speaks of: where that is not known, at the start of the first.
fn placed(sources: &Sources, error: Error) -> Error {
    if !error.issues.is_empty() {
        return error;
    }
    let files = sources.files();
    let named = |(_, file): &(_, Arc<File>)| {
        let pointer = culprit(&file.value, &error.message);
        (!pointer.is_empty()).then(|| (Arc::clone(file), pointer))
    };
    let first = || files.first().map(|(_, file)| (Arc::clone(file), String::new()));
    match files.iter().find_map(named).or_else(first) {
        Some((file, pointer)) => {
            let placed = file.fault(&pointer, error.message);
            Error { kind: error.kind, hint: error.hint, ..placed }
        }
        None => error,
    }
}

/// The pointer of the first `pattern`, reference or meta-schema whose text a message mentions.
fn culprit(schema: &Value, message: &str) -> String {
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
            let named = match key.as_str() {
                "pattern" => text.is_some_and(|text| !text.is_empty() && message.contains(text)),
                "$schema" => text.is_some_and(|text| {
                    ['\'', '`'].iter().any(|quote| message.contains(&format!("{quote}{text}{quote}")))
                }),
                "$ref" | "$dynamicRef" | "$recursiveRef" => text.is_some_and(|text| {
                    // A message may have the reference as it is resolved.
                    let (file, fragment) = text.split_once('#').unwrap_or((text, ""));
                    let name = file.rsplit('/').next().unwrap_or(file);
                    [name, fragment].iter().any(|part| !part.is_empty() && message.contains(part))
                }),
                _ => false,
            };
            if named || search(value, message, path) {
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

/// What was found and what was expected. The value is that on the tape: that of the error would be built for it,
/// however large it is.
fn describe(error: &ValidationError<'_>, node: TapeNode<'_>) -> String {
    use ValidationErrorKind as Kind;
    let found = found(node, error.kind());
    let no_keys = ["/additionalProperties", "/propertyNames"];
    let expected = match error.kind() {
        Kind::Required { property } => {
            let name = excerpt(property.as_str().unwrap_or_default());
            return format!("missing key `{name}`");
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            return unexpected_keys(unexpected.iter().map(String::as_str));
        }
        // Of an object that may have no key at all, the error has but the first value.
        Kind::FalseSchema
            if node.is(JsonType::Object)
                && no_keys.iter().any(|keyword| error.schema_path().as_str().ends_with(keyword)) =>
        {
            return unexpected_keys(node.pairs().map(|(key, _)| key));
        }
        Kind::Type { kind: TypeKind::Single(one) } => with_article(*one).to_owned(),
        Kind::Type { kind: TypeKind::Multiple(types) } => {
            types.iter().map(with_article).collect::<Vec<_>>().join(" or ")
        }
        Kind::Enum { options } => format!("one of {}", excerpt_long(options)),
        Kind::Constant { expected_value } => excerpt_long(expected_value),
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

/// At most so many keys are named in a message.
const MAX_NAMED: usize = 20;

fn unexpected_keys<'k>(names: impl Iterator<Item = &'k str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let keys = if names.len() == 1 { "key" } else { "keys" };
    let named = named(names.into_iter().map(excerpt), MAX_NAMED);
    format!("unexpected {keys} {named}; the schema allows no additional keys")
}

/// The words for a type of JSON Schema, of which one is no type of JSON.
fn with_article(name: jsonschema::JsonType) -> &'static str {
    JsonType::from_name(name.as_str()).map_or("an integer", JsonType::with_article)
}

/// A short name of a value; how much is in it, where that is wrong.
fn found(node: TapeNode<'_>, wrong: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    let how_many = match wrong {
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
        kind @ (JsonKind::Array | JsonKind::Object) => match (how_many, kind) {
            (Some(unit), _) => counted(node.count() as u64, unit),
            (None, _) if node.count() > 0 => node.json_type().with_article().to_owned(),
            (None, JsonKind::Array) => "an empty array".to_owned(),
            (None, _) => "an empty object".to_owned(),
        },
    }
}

/// A value of a schema, as JSON.
fn excerpt_long(value: &Value) -> String {
    match value {
        Value::Array(elements) => elements.iter().map(excerpt_long).collect::<Vec<_>>().join(", "),
        scalar => excerpt(&scalar.to_string()),
    }
}
