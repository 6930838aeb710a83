//! The reference of the configuration describes what the parser accepts; the page, the schema and the `explain` pages
//! are generated from it.

use crate::programs::program;
use agentnative::config::{Config, ConfigKey, Date, ValidationContext, find_keys, keys, schema};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

/// Converts TOML to JSON as editors do to validate it: dates are strings.
pub fn as_json(value: toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(elements) => elements.into_iter().map(as_json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, as_json(value))).collect(),
        toml::Value::Float(float) if !float.is_finite() => Value::Null,
        other => serde_json::to_value(other).unwrap(),
    }
}

/// Creates a folder with the files that the examples name.
fn example_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["fixture.toml", "schemas/list.schema.json", "schemas/record.schema.json", "tests/input.txt"]
    {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }
    for path in ["src/output", "tests/shop"] {
        fs::create_dir_all(folder.path().join(path)).unwrap();
    }
    folder
}

fn parse(text: &str, folder: &Path) -> Result<Config, String> {
    let checks: Vec<&str> = agentnative::catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::bundled_names().collect();
    let today = Date { year: 2026, month: 11, day: 21 };
    let known = ValidationContext { checks: &checks, contracts: &contracts, today };
    Config::parse(text, &folder.join("agentnative.toml"), &known)
        .map_err(|error| error.issues.iter().map(|issue| format!("{issue}\n")).collect())
}

/// Returns the examples of the required keys in the table of `key`, except for those that `text` sets.
fn required(key: &ConfigKey, text: &str) -> String {
    let siblings = keys().iter().filter(|other| other.required && other.parent() == Some(key.section()));
    let lines =
        siblings.flat_map(|other| other.example.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let is_set = |line: &String| {
        let name = line.split([' ', '.']).next().unwrap();
        text.lines().any(|assignment| assignment.split([' ', '.']).next() == Some(name))
    };
    lines.filter(|line| !is_set(line)).map(|line| format!("{line}\n")).collect()
}

/// Returns a file with `text` and all required keys in the table of `key`.
fn file_with(key: &ConfigKey, text: &str) -> String {
    let name = if key.name() == "target" && key.parent().is_some() {
        "[target.server]\n[target.client]\n"
    } else {
        ""
    };
    format!("{name}{}\n{}{text}\n", key.header(), required(key, text))
}

fn inner_keys() -> impl Iterator<Item = &'static ConfigKey> {
    keys().iter().filter(|key| key.parent().is_some())
}

/// Returns the path of a key below its table, such as `formats.json`.
fn path_in_table(key: &ConfigKey) -> &str {
    key.path.split_once('.').unwrap().1
}

#[test]
fn the_example_of_each_key_is_accepted_by_parser_and_schema() {
    let (folder, validator) = (example_folder(), validator());
    for key in keys() {
        let text = match key.parent() {
            None => key.example.clone(),
            Some(_) => file_with(key, key.example.split_once('\n').unwrap().1),
        };
        let config =
            parse(&text, folder.path()).unwrap_or_else(|error| panic!("{}: {error}{text}", key.path));
        let without = match key.parent() {
            None => String::new(),
            Some(_) => text
                .lines()
                .filter(|line| !line.starts_with(path_in_table(key)))
                .collect::<Vec<_>>()
                .join("\n"),
        };
        if !key.required {
            assert_ne!(Ok(config), parse(&without, folder.path()), "{} changes nothing", key.path);
        }
        let instance = as_json(toml::from_str(&text).unwrap());
        assert!(validator.is_valid(&instance), "{}: {:?}", key.path, validator.validate(&instance));
    }
}

#[test]
fn a_key_at_its_default_changes_nothing() {
    let folder = example_folder();
    for key in inner_keys() {
        let Some(default) = &key.default else { continue };
        let text = format!("{} = {}", path_in_table(key), toml::Value::try_from(default).unwrap());
        let with_default = parse(&file_with(key, &text), folder.path()).unwrap();
        assert_eq!(with_default, parse(&file_with(key, ""), folder.path()).unwrap(), "{text}");
    }
}

/// Exceptions are conditions that only the parser can check: files, names elsewhere in the file, calendar dates.
#[test]
fn the_parser_and_the_schema_accept_the_same_values() {
    let (folder, validator) = (example_folder(), validator());
    let values = [
        "true",
        "false",
        "0",
        "1",
        "2",
        "-1",
        "255",
        "256",
        "65535",
        "65536",
        "86400",
        "86401",
        "1000000",
        "1000001",
        "1.5",
        "-0.5",
        "inf",
        "''",
        "' '",
        "'text'",
        "'yaml'",
        "'stderr'",
        "'none'",
        "'auto'",
        "'should'",
        "'p2-output-json'",
        "'p2-*'",
        "'{port}'",
        "'./schemas/list.schema.json'",
        "'opencode-run'",
        "'no-such-contract'",
        "'8 GiB'",
        "'512MiB'",
        "'0 GiB'",
        "'1.5 GiB'",
        "'1000000 KiB'",
        "' 8 GiB'",
        "'8 GB'",
        "'fixture.toml'",
        "'tests/shop'",
        "'/a~1b/0'",
        "'/a~2'",
        "'server'",
        "'--help'",
        "\"a\\nb\"",
        "\"a\\u0000b\"",
        "2099-12-31",
        "'2099-12-31'",
        "2099-12-31T00:00:00Z",
        "12:00:00",
        "[]",
        "['']",
        "['a', '']",
        "[1]",
        "[1, 256]",
        "['text']",
        "['json', 'jsonl']",
        "['lists']",
        "['lists', 'network']",
        "['{format}', '{format}']",
        "['should', 'should']",
        "['must']",
        "[\"a\\u0000\"]",
        "['p2-output-json', 'p2-*']",
        "['p9-*']",
        "['a=b']",
        "['-n', '{n}']",
        "['-n={n}']",
        "['{n}{n}']",
        "['{n}', '{n}']",
        "['{n}', '{N}', '{{.n}}']",
        "['{n}', '{count}']",
        "['src/output']",
        "[[]]",
        "[['init'], ['add', 'x']]",
        "[['']]",
        "['-t', '{seconds}']",
        "['--token-file', '{file}']",
        "['--token-stdin']",
        "{ after = 'working' }",
        "{ after = ' ' }",
        "{ env = 'TOKEN' }",
        "{ env = 'a=b' }",
        "{ env = 'TOKEN', file = ['{file}'], stdin = ['-'] }",
        "{ env = 'TOKEN', file = ['-'] }",
        "{ args = ['--check'], exit = 1 }",
        "{ args = false }",
        "{ exit = 1 }",
        "{}",
        "{ a = 'b' }",
        "{ a = 1 }",
        "{ 'a=b' = 'c' }",
        "{ a = \"b\\u0000\" }",
        "{ file = 'tests/input.txt' }",
        "{ file = 1 }",
        "{ json = 'opencode-run' }",
        "{ json = ['-j'] }",
        "{ json = false, jsonl = ['-l'] }",
        "{ json = true }",
        "{ text = false, json = false, jsonl = false }",
        "{ items = '/data' }",
        "{ items = '', max = 5 }",
        "{ items = '/data', max = 0 }",
        "{ items = '/data', min = 1 }",
        "{ max = 5 }",
        "{ port = 1 }",
        "{ port = 1, line = 'x' }",
        "{ port = '{port}' }",
        "{ line = 'x' }",
        "{ 'x.toml' = 'fixture.toml' }",
        "[{}]",
        "[{ a = 1 }]",
    ];
    let mut wrong = Vec::new();
    let mut occurred = BTreeSet::new();
    for key in keys() {
        for value in values {
            let text = match key.parent() {
                None => format!("{} = {value}\n", key.path),
                Some(_) => file_with(key, &format!("{} = {value}", path_in_table(key))),
            };
            let parsed = parse(&text, folder.path());
            let valid = validator.is_valid(&as_json(toml::from_str(&text).unwrap()));
            if let Err(error) = &parsed
                && valid
                && let Some(message) = NOT_IN_SCHEMA.iter().find(|message| error.contains(**message))
            {
                occurred.insert(*message);
                continue;
            }
            if parsed.is_ok() != valid {
                wrong.push(format!("{} = {value}: schema {valid}, parser {parsed:?}", key.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(occurred, BTreeSet::from(NOT_IN_SCHEMA), "each exception occurs");
}

/// Parts of messages about conditions that the schema cannot express.
const NOT_IN_SCHEMA: [&str; 10] = [
    "but the target has no `secret`",
    "is a date or time",
    "no such folder",
    "is not a folder",
    "unknown target",
    "unknown probe",
    "is not in `exit_codes` of the target",
    "cannot read",
    "no check matches",
    "is outside the folder of this file",
];

#[test]
fn every_configuration_in_the_repository_is_valid() {
    let validator = validator();
    let walk = walkdir::WalkDir::new(root()).into_iter();
    let is_wanted = |name: &str| !["target", ".git"].contains(&name);
    let walk =
        walk.filter_entry(|entry| entry.depth() != 1 || is_wanted(&entry.file_name().to_string_lossy()));
    let is_configuration = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let is_example = path.parent().is_some_and(|folder| folder == root().join("examples"));
        name.ends_with(".toml") && (is_example || name.starts_with("agentnative"))
    };
    let files: Vec<PathBuf> = walk
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file() && is_configuration(path))
        .collect();
    assert!(files.len() > 100, "{files:?}");
    for file in files {
        let instance = as_json(toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap());
        assert!(validator.is_valid(&instance), "{}: {:?}", file.display(), validator.validate(&instance));
    }
}

const BEGIN: &str = "<!-- keys: written by tests/configuration.rs -->\n";
const END: &str = "<!-- /keys -->";

#[test]
fn the_reference_page_is_up_to_date() {
    let mut text = String::new();
    for key in keys() {
        let level = if key.parent().is_none() { "##" } else { "###" };
        let name = if key.parent().is_none() { key.header() } else { &key.path };
        let presence = key.presence().map(|presence| format!("; {presence}")).unwrap_or_default();
        let (kind, about, example) = (&key.kind, &key.about, &key.example);
        text +=
            &format!("\n{level} `{name}`\n\nType: {kind}{presence}.\n\n{about}\n\n```toml\n{example}\n```\n");
    }
    text += "\n";
    let path = root().join("docs/configuration.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(path, format!("{before}{BEGIN}{text}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(written, text, "UPDATE=1 cargo test --test product configuration writes it");
}

/// That part describes manifests, errors and editors.
#[test]
fn the_hand_written_part_of_the_page_is_correct() {
    let page = fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    let block = |start: &str| {
        let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("{start}"));
        rest.split_once("```").unwrap().0.to_owned()
    };
    let manifests = [("Cargo.toml", "```toml\n# Cargo.toml\n"), ("package.json", "```json\n")];
    for (name, start) in manifests {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), block(start)).unwrap();
        let config = agentnative::check::load_config(&folder.path().join(name)).unwrap();
        assert_eq!(config.probes[0].name, "list", "{name}");
    }
    let text = "[target]\nexit_code = [0]\n\n[[probe]]\nname = 'a'\nargs = []\nexit = '1'\n";
    let error = parse(text, Path::new("")).unwrap_err();
    let shown: String = error.lines().map(|line| format!("  {line}\n")).collect();
    assert_eq!(block("```text\nerror: agentnative.toml has 2 errors\n"), shown);
    assert_eq!(fs::read_to_string(root().join("agentnative.toml")).unwrap().lines().next(), Some(HEADER));
}

/// First line of the configuration of this repository.
const HEADER: &str = "#:schema ./schemas/agentnative-config.schema.json";

fn agentnative(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program("agentnative")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_schema_is_printed() {
    let (code, out, _) = agentnative(&["schema", "config"]);
    let printed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &printed), (Some(0), &schema()));
    let timeout = &printed["$defs"]["target"]["properties"]["timeout"];
    let about = &find_keys("target.timeout").unwrap()[0].about;
    assert_eq!((&timeout["default"], &timeout["description"]), (&json!(10), &json!(about)));
    let (_, out, _) = agentnative(&["schema", "config", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["data"], printed);
}

#[test]
fn keys_are_explained() {
    let names = |query: &str| {
        let found = find_keys(query).unwrap();
        found.iter().map(|key| key.path.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(names("target.timeout"), ["target.timeout"]);
    assert_eq!(
        names("timeout"),
        ["target.flags.timeout", "target.timeout", "probe.flags.timeout", "probe.timeout"]
    );
    assert_eq!(names("isolation"), ["target.isolation"]);
    assert_eq!(names("ready.port"), ["service.ready.port"]);
    assert_eq!(names("[[waiver]]")[..2], ["waiver", "waiver.check"]);
    assert_eq!(names("check"), ["check", "check.skip", "check.deny", "check.edition"]);
    assert_eq!(names("stdin"), ["target.secret.stdin", "probe.stdin", "probe.stdin.file"]);

    let (code, out, _) = agentnative(&["explain", "config", "target.timeout"]);
    let about = &find_keys("target.timeout").unwrap()[0].about;
    let first = about.split_once('.').unwrap().0;
    assert_eq!(code, Some(0));
    for part in ["target.timeout\n", "default: `10`", first, "    [target]\n    timeout = 30\n"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (code, out, _) = agentnative(&["explain", "config"]);
    assert_eq!(code, Some(0));
    for key in keys() {
        assert!(out.contains(path_in_table_or_header(key)), "{}: {out}", key.path);
    }
    let (_, out, _) = agentnative(&["explain", "config", "timeout", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&document["command"], document["data"].as_array().unwrap().len()), (&json!("explain"), 4));
    let key: ConfigKey = serde_json::from_value(document["data"][1].clone()).unwrap();
    assert_eq!((&*key.path, key.default), ("target.timeout", Some(json!(10))));
    let (_, out, _) = agentnative(&["explain", "config", "timeout", "--jsonl"]);
    assert_eq!(out.lines().count(), 4);
    for (query, hint) in [
        ("timout", "did you mean `timeout`?"),
        ("target.tiemout", "did you mean `target.timeout`?"),
        ("", "explain config"),
    ] {
        let (code, out, err) = agentnative(&["explain", "config", query]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains("unknown configuration key") && err.contains(hint), "{err}");
    }
    let (code, _, err) = agentnative(&["explain", "p2-output-json", "timeout"]);
    assert_eq!(code, Some(2), "{err}");
}

fn path_in_table_or_header(key: &ConfigKey) -> &str {
    if key.parent().is_none() { key.header() } else { path_in_table(key) }
}
