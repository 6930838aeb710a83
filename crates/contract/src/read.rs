//! Reads `contract.toml` and reports all problems at once, each with its span.

use super::finding::Finding;
use super::layers::{self, EXTENDED_TABLES, Layers};
use super::pointer::Pointer;
use super::read_rule::{self, KnownTypes, MAX_BITS, one_or_more, patterns, pointer};
use super::read_values::{non_empty_string, tables};
use super::spec::{Condition, ContractProgram, ErrorOutput, EventTypes, Framing, Payload, Spec};
use super::version::{self, ContractVersion};
use crate::Stream;
use crate::error::{Error, Result};
use crate::spanned_toml::{Span, Table, Value, collect_all, name_hint, parse_file};
use std::collections::HashMap;
use std::path::Path;

const KEYS: [&str; 14] = [
    "name",
    "title",
    "version",
    "origin",
    "framing",
    "schema",
    "ask",
    "errors",
    "events",
    "rule",
    "condition",
    "finding",
    "versions",
    "program",
];

/// Parses `text`, the contents of the `contract.toml` at `path`. `version` selects a version of the contract; `None`
/// selects the main version. Also returns the span of each schema reference, by the reference.
pub(super) fn read(text: &str, path: &Path, version: Option<&str>) -> Result<(Spec, HashMap<String, Span>)> {
    parse_file(text, path, |file| parse(&file, version))?
}

fn parse(file: &Table<'_>, wanted: Option<&str>) -> Result<(Spec, HashMap<String, Span>)> {
    file.report_unknown_keys(&KEYS);
    let main = parse_layers(&Layers::new(file));
    check_unique(&tables(file, "versions"), "version", "version");
    let mut parsed = vec![];
    for table in tables(file, "versions") {
        let Some(version) = layers::parse_version(&table) else { continue };
        let changed =
            layers::changes_contract(&table).then(|| parse_layers(&Layers::with_version(file, &table)));
        parsed.push((version, changed));
    }
    let versions: Vec<ContractVersion> = parsed.iter().map(|(version, _)| version.clone()).collect();
    let chosen = match wanted.filter(|wanted| *wanted != main.0.version) {
        Some(wanted) => {
            let chosen =
                choose(&versions, wanted).ok_or_else(|| unknown_version(&main.0, &versions, wanted))?;
            parsed.into_iter().find(|(version, _)| *version == *chosen)
        }
        None => None,
    };
    let (spec, references) = match chosen {
        Some((version, Some((spec, references)))) => {
            let name = format!("{}@{}", main.0.name, version.version);
            (Spec { name, version: version.version, ..spec }, references)
        }
        _ => main,
    };
    Ok((Spec { versions, ..spec }, references))
}

/// Returns the version with the name `wanted`, or the one whose range includes the program version `wanted`.
fn choose<'v>(versions: &'v [ContractVersion], wanted: &str) -> Option<&'v ContractVersion> {
    let named = versions.iter().find(|version| version.version == wanted);
    let fitting =
        || version::choose(versions, None, &version::find_version(wanted)?).filter(|choice| choice.fits);
    named.or_else(|| fitting().map(|choice| choice.version))
}

fn unknown_version(spec: &Spec, versions: &[ContractVersion], wanted: &str) -> Error {
    let error = Error::config(format!("the contract {} has no version {wanted}", spec.name));
    let known: Vec<String> =
        versions.iter().map(|version| format!("{} ({})", version.version, version.range)).collect();
    error.hint(if known.is_empty() {
        format!("its only version is {}", spec.version)
    } else {
        format!("versions: {}", known.join("; "))
    })
}

fn parse_layers(file: &Layers<'_, '_>) -> (Spec, HashMap<String, Span>) {
    let mut references = HashMap::new();
    let framing = file
        .require("framing", "\"document\", \"lines\" or \"array\"")
        .and_then(|value| {
            let framings = [Framing::Document, Framing::Lines, Framing::Array];
            value.choice(&framings.map(|framing| (framing.name(), framing)))
        })
        .unwrap_or_default();
    let schema = file.get("schema").and_then(|value| reference(&value, &mut references));
    let events = file.get("events").and_then(|value| events(&value, &mut references));
    if framing == Framing::Document
        && let (Some(_), Some(value)) = (&events, file.get("events"))
    {
        value.report::<()>("`events` requires framing = \"lines\" or \"array\"; a document has one schema");
    }
    if schema.is_none() && file.get("schema").is_none() && file.get("events").is_none() {
        file.file.require("schema", "the file of the schema, or [events] with a schema for each type");
    }
    let types = KnownTypes::new(framing, events.as_ref());
    let rules = file.tables("rule").iter().filter_map(|table| read_rule::read(table, &types)).collect();
    let conditions: Vec<_> = file
        .tables("condition")
        .iter()
        .filter_map(|table| condition(table, &types, &mut references))
        .collect();
    if conditions.iter().map(|condition| condition.some.len() + condition.none.len()).sum::<usize>()
        > MAX_BITS
        && let Some(value) = file.get("condition")
    {
        value.report::<()>(&format!(
            "the conditions have more than {MAX_BITS} patterns; the maximum is {MAX_BITS}"
        ));
    }
    for (list, key) in EXTENDED_TABLES {
        check_unique(&file.tables(list), list, key);
    }
    let text = |key: &str| {
        let value = file.require(key, "a non-empty string");
        value.and_then(|value| non_empty_string(&value)).unwrap_or_default()
    };
    let spec = Spec {
        name: text("name"),
        title: text("title"),
        version: text("version"),
        origin: text("origin"),
        framing,
        schema,
        ask: file
            .get("ask")
            .and_then(|value| value.arguments())
            .map(|arguments| arguments.into_iter().map(|argument| argument.text).collect()),
        errors: file
            .get("errors")
            .and_then(|value| value.choice(&[("stdout", Stream::Stdout), ("stderr", Stream::Stderr)])),
        events,
        rules,
        conditions,
        findings: file.tables("finding").iter().filter_map(finding).collect(),
        program: file.get("program").and_then(|value| program(&value)),
        versions: Vec::new(),
    };
    for table in ["rule", "condition"].iter().flat_map(|list| file.tables(list)) {
        if let Some(value) = table.get("finding") {
            check_finding(&value, &spec.findings);
        }
    }
    (spec, references)
}

/// Reports each table whose `key` has the same value as that of an earlier table. `name` is the name of the array of
/// tables.
fn check_unique(tables: &[Table<'_>], name: &str, key: &str) {
    let mut seen = Vec::new();
    for table in tables {
        let Some(value) = table.get(key) else { continue };
        let Some(text) = value.inner.as_str() else { continue };
        if seen.contains(&text) {
            value.report::<()>(&format!("duplicate {name} `{text}`; each {key} must be unique"));
        }
        seen.push(text);
    }
}

/// Reads a reference to a schema: a file of the folder or of a bundled contract, with an optional pointer into it. Adds
/// its span to `references`.
fn reference(value: &Value<'_>, references: &mut HashMap<String, Span>) -> Option<String> {
    let text = non_empty_string(value)?;
    references.insert(text.clone(), value.span.clone());
    Some(text)
}

fn events(value: &Value<'_>, references: &mut HashMap<String, Span>) -> Option<EventTypes> {
    let table = value.table("[events]", "a table: `type` and [events.schemas]")?;
    table.report_unknown_keys(&["type", "version", "unknown", "first", "last", "schemas"]);
    let parts = table.require("type", "the JSON pointer of the event type, such as \"/type\"");
    let parts = parts.and_then(|value| discriminator(&value));
    let schemas = table.require("schemas", "a table that maps event types to schemas");
    let schemas = schemas.and_then(|value| value.table("[events.schemas]", "a table of strings"))?;
    let mut types: Vec<(usize, String, String)> = schemas
        .entries
        .keys()
        .filter_map(|key| {
            let reference = reference(&schemas.get(key.get_ref())?, references)?;
            Some((key.span().start, key.get_ref().to_string(), reference))
        })
        .collect();
    types.sort();
    let schemas: Vec<_> = types.into_iter().map(|(_, name, reference)| (name, reference)).collect();
    let known = KnownTypes::from_names(schemas.iter().map(|(name, _)| name.clone()).collect());
    let (discriminator, subtype) = parts?;
    let bounds = |key: &str| table.get(key).and_then(|value| known.read(&value));
    Some(EventTypes {
        discriminator,
        subtype,
        version: table.get("version").and_then(|value| pointer(&value)),
        allow_unknown: table
            .require("unknown", "\"allow\" or \"reject\" for event types without a schema")
            .and_then(|value| value.choice(&[("allow", true), ("reject", false)]))
            .unwrap_or(true),
        first: bounds("first"),
        last: bounds("last"),
        schemas,
    })
}

/// Reads the pointer to the event type, and optionally the pointer to its subtype.
fn discriminator(value: &Value<'_>) -> Option<(Pointer, Option<Pointer>)> {
    const EXPECTED: &str = "one or two JSON pointers, such as [\"/type\", \"/subtype\"]";
    let pointers = collect_all(one_or_more(value, EXPECTED)?.iter().map(pointer))?;
    let mut pointers = pointers.into_iter();
    match (pointers.next(), pointers.next(), pointers.next()) {
        (Some(first), second, None) => Some((first, second)),
        _ => value.report(&format!("expected {EXPECTED}")),
    }
}

fn condition(
    table: &Table<'_>,
    types: &KnownTypes,
    references: &mut HashMap<String, Span>,
) -> Option<Condition> {
    table.report_unknown_keys(&[
        "name",
        "what",
        "exit",
        "stdout",
        "stderr",
        "stderr_schema",
        "some",
        "none",
        "declared",
        "finding",
    ]);
    let exit = table.require("exit", "the exit codes, such as [0]");
    let codes =
        exit.and_then(|value| collect_all(one_or_more(&value, "exit codes")?.iter().map(Value::exit_code)));
    let payload = table.get("stdout").and_then(|value| {
        let names = [Payload::Whole, Payload::Part, Payload::Nothing, Payload::Any];
        value.choice(&names.map(|payload| (payload.name(), payload)))
    });
    let read_patterns =
        |key: &str| table.get(key).and_then(|value| patterns(&value, types)).unwrap_or_default();
    let name = table.require("name", "a word").and_then(|value| non_empty_string(&value));
    let what = table.require("what", "a sentence").and_then(|value| non_empty_string(&value));
    let (some, none) = (read_patterns("some"), read_patterns("none"));
    if let (Some(Payload::Nothing | Payload::Any), Some(value)) = (payload, table.get("some")) {
        value.report::<()>("`some` requires data, but `stdout` does not; expected \"whole\" or \"part\"");
    }
    let stderr = table.get("stderr").and_then(|value| {
        let outputs = [ErrorOutput::Nothing, ErrorOutput::Text, ErrorOutput::Json];
        value.choice(&outputs.map(|output| (output.name(), output)))
    });
    let stderr_schema = table.get("stderr_schema");
    if let Some(value) = stderr_schema.as_ref().filter(|_| stderr != Some(ErrorOutput::Json)) {
        value.report::<()>("`stderr_schema` requires stderr = \"json\"");
    }
    let stderr_schema = stderr_schema.and_then(|value| reference(&value, references));
    Some(Condition {
        name: name?,
        what: what?,
        exit: codes?,
        stdout: payload.unwrap_or_default(),
        stderr,
        stderr_schema,
        some,
        none,
        declared: table.get("declared").and_then(|value| value.boolean()).unwrap_or(false),
        finding: table.get("finding").and_then(|value| non_empty_string(&value)),
    })
}

fn program(value: &Value<'_>) -> Option<ContractProgram> {
    let table = value.table("[program]", "a table: `name`, `prints`, `timeout` and `env`")?;
    table.report_unknown_keys(&["name", "prints", "timeout", "env"]);
    let names = table.require("name", "the name of the program").and_then(|value| {
        collect_all(one_or_more(&value, "names of programs")?.iter().map(non_empty_string))
    });
    let prints = table.get("prints").and_then(|value| non_empty_string(&value));
    let timeout = table.get("timeout").and_then(|value| value.seconds());
    let env = table.get("env").and_then(|value| value.variables()).unwrap_or_default();
    Some(ContractProgram { name: names?, prints, timeout: timeout.map(|timeout| timeout.as_secs()), env })
}

fn finding(table: &Table<'_>) -> Option<Finding> {
    table.report_unknown_keys(&["id", "what", "reference"]);
    let text = |key: &str| table.get(key).and_then(|value| non_empty_string(&value));
    let (id, reference) = (text("id"), text("reference"));
    let what = table.require("what", "a sentence").and_then(|value| non_empty_string(&value));
    Some(Finding { id, what: what?, reference })
}

/// Reports the value of the key `finding` of a rule or condition if no `[[finding]]` has this ID.
fn check_finding(value: &Value<'_>, findings: &[Finding]) {
    let Some(id) = value.inner.as_str() else { return };
    let ids = || findings.iter().filter_map(|finding| finding.id.as_deref());
    if !ids().any(|known| known == id) {
        let near = name_hint(id, ids());
        value.report::<()>(&format!("unknown finding `{id}`: no [[finding]] has this id; {near}"));
    }
}
