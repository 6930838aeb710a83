//! The reference of the configuration: it is what the reading accepts, and the page, the schema and the
//! `explain` pages are made from it.

use crate::programs::program;
use agentnative::config::{Config, Date, Key, Known, find_keys, keys, schema};
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

/// TOML as editors hold it against a schema: dates are strings.
pub fn as_json(value: toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(elements) => elements.into_iter().map(as_json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, as_json(value))).collect(),
        toml::Value::Float(float) if !float.is_finite() => Value::Null,
        other => serde_json::to_value(other).unwrap(),
    }
}

/// A folder with the files that the examples name.
fn folder() -> tempfile::TempDir {
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

fn read(text: &str, folder: &Path) -> Result<Config, String> {
    let checks: Vec<&str> = agentnative::catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::names().collect();
    let today = Date { year: 2026, month: 11, day: 21 };
    let known = Known { checks: &checks, contracts: &contracts, today };
    Config::parse(text, &folder.join("agentnative.toml"), &known)
        .map_err(|error| error.issues.iter().map(|issue| format!("{issue}\n")).collect())
}

/// The examples of the keys that the table of a key must have, without those that `text` sets.
fn required(key: &Key, text: &str) -> String {
    let beside = keys().iter().filter(|other| other.required && other.parent() == Some(key.section()));
    let lines = beside.flat_map(|other| other.example.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let sets = |line: &String| {
        let name = line.split([' ', '.']).next().unwrap();
        text.lines().any(|set| set.split([' ', '.']).next() == Some(name))
    };
    lines.filter(|line| !sets(line)).map(|line| format!("{line}\n")).collect()
}

/// A file with this text in the table of a key, and all that the table must have.
fn file(key: &Key, text: &str) -> String {
    let name = if key.name() == "target" && key.parent().is_some() {
        "[target.server]\n[target.client]\n"
    } else {
        ""
    };
    format!("{name}{}\n{}{text}\n", key.header(), required(key, text))
}

fn inner_keys() -> impl Iterator<Item = &'static Key> {
    keys().iter().filter(|key| key.parent().is_some())
}

/// The key from its table on: `formats.json`.
fn from_table(key: &Key) -> &str {
    key.path.split_once('.').unwrap().1
}

#[test]
fn the_example_of_each_key_is_read_and_is_valid() {
    let (folder, validator) = (folder(), validator());
    for key in keys() {
        let text = match key.parent() {
            None => key.example.clone(),
            Some(_) => file(key, key.example.split_once('\n').unwrap().1),
        };
        let config = read(&text, folder.path()).unwrap_or_else(|error| panic!("{}: {error}{text}", key.path));
        let without = match key.parent() {
            None => String::new(),
            Some(_) => {
                text.lines().filter(|line| !line.starts_with(from_table(key))).collect::<Vec<_>>().join("\n")
            }
        };
        if !key.required {
            assert_ne!(Ok(config), read(&without, folder.path()), "{} changes nothing", key.path);
        }
        let instance = as_json(toml::from_str(&text).unwrap());
        assert!(validator.is_valid(&instance), "{}: {:?}", key.path, validator.validate(&instance));
    }
}

#[test]
fn a_key_at_its_default_changes_nothing() {
    let folder = folder();
    for key in inner_keys() {
        let Some(default) = &key.default else { continue };
        let text = format!("{} = {}", from_table(key), toml::Value::try_from(default).unwrap());
        let with = read(&file(key, &text), folder.path()).unwrap();
        assert_eq!(with, read(&file(key, ""), folder.path()).unwrap(), "{text}");
    }
}

/// What the reading accepts for a key and what the schema accepts are the same, but for what only the reading
/// can know: files, names in the rest of the file, and that a day is in the calendar.
#[test]
fn the_reading_and_the_schema_accept_the_same_values() {
    let (folder, validator) = (folder(), validator());
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
    let mut met = BTreeSet::new();
    for key in keys() {
        for value in values {
            let text = match key.parent() {
                None => format!("{} = {value}\n", key.path),
                Some(_) => file(key, &format!("{} = {value}", from_table(key))),
            };
            let reading = read(&text, folder.path());
            let valid = validator.is_valid(&as_json(toml::from_str(&text).unwrap()));
            if let Err(error) = &reading
                && valid
                && let Some(what) = BEYOND.iter().find(|what| error.contains(**what))
            {
                met.insert(*what);
                continue;
            }
            if reading.is_ok() != valid {
                wrong.push(format!("{} = {value}: schema {valid}, reading {reading:?}", key.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(met, BTreeSet::from(BEYOND), "each of them occurs");
}

/// What only the reading can know.
const BEYOND: [&str; 10] = [
    "and the target has no `secret`",
    "is a date or time",
    "no such folder",
    "is not a folder",
    "unknown target",
    "unknown probe",
    "is not among the target's exit codes",
    "cannot read",
    "no check matches",
    "is not below this file",
];

#[test]
fn every_configuration_in_the_repository_is_valid() {
    let validator = validator();
    let walk = walkdir::WalkDir::new(root()).into_iter();
    let wanted = |name: &str| !["target", ".git"].contains(&name);
    let walk = walk.filter_entry(|entry| entry.depth() != 1 || wanted(&entry.file_name().to_string_lossy()));
    let is_one = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let example = path.parent().is_some_and(|folder| folder == root().join("examples"));
        name.ends_with(".toml") && (example || name.starts_with("agentnative"))
    };
    let files: Vec<PathBuf> =
        walk.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file() && is_one(path)).collect();
    assert!(files.len() > 100, "{files:?}");
    for file in files {
        let instance = as_json(toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap());
        assert!(validator.is_valid(&instance), "{}: {:?}", file.display(), validator.validate(&instance));
    }
}

const BEGIN: &str = "<!-- keys: written by tests/configuration.rs -->\n";
const END: &str = "<!-- /keys -->";

#[test]
fn the_page_of_the_reference_is_fresh() {
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

/// What the page says by hand of manifests, errors and editors.
#[test]
fn the_hand_written_part_of_the_page_is_true() {
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
    let error = read(text, Path::new("")).unwrap_err();
    let shown: String = error.lines().map(|line| format!("  {line}\n")).collect();
    assert_eq!(block("```\nerror: agentnative.toml has 2 errors\n"), shown);
    assert_eq!(fs::read_to_string(root().join("agentnative.toml")).unwrap().lines().next(), Some(HEADER));
}

/// The first line of our own configuration.
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
        assert!(out.contains(from_table_or_header(key)), "{}: {out}", key.path);
    }
    let (_, out, _) = agentnative(&["explain", "config", "timeout", "--json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&document["command"], document["data"].as_array().unwrap().len()), (&json!("explain"), 4));
    let key: Key = serde_json::from_value(document["data"][1].clone()).unwrap();
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
        assert!(err.contains("there is no configuration key") && err.contains(hint), "{err}");
    }
    let (code, _, err) = agentnative(&["explain", "p2-output-json", "timeout"]);
    assert_eq!(code, Some(2), "{err}");
}

fn from_table_or_header(key: &Key) -> &str {
    if key.parent().is_none() { key.header() } else { from_table(key) }
}
