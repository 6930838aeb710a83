//! `agentnative.toml` through the public interface: the configuration that is read, and the messages on invalid files.

use crate::configuration::as_json;
use agentnative::config::{
    CheckConfig, CommonOption, CommonOptions, Config, Contracts, Date, FormatFlag, FormatFlags, Isolation,
    ListConfig, ProbeConfig, Ready, ValidationContext, Workspace, insert_format_flag, schema,
};
use agentnative::model::{Level, OutputFormat, Stream, matches_pattern};
use agentnative::probe::{Probe, TargetProfile};
use agentnative_contract::error::{Error, ErrorKind};
use std::fs;
use std::path::Path;
use std::time::Duration;

const KNOWN: ValidationContext<'static> = ValidationContext {
    checks: &["p2-output-json", "p2-output-jsonl", "p2-error-json"],
    contracts: &["opencode-run", "agent-events"],
    today: Date { year: 2026, month: 11, day: 21 },
};

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, Path::new("conf/agentnative.toml"), &KNOWN)
}

/// Returns each problem of an invalid file as `line:column message`.
fn problems(text: &str) -> Vec<String> {
    let error = parse(text).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    issue_lines(&error)
}

fn issue_lines(error: &Error) -> Vec<String> {
    let place = |issue: &agentnative_contract::error::Issue| issue.place.clone().unwrap();
    error.issues.iter().map(|i| format!("{}:{} {}", place(i).line, place(i).column, i.message)).collect()
}

/// Returns the message of the only problem of a text, in which `|` marks the expected position.
fn problem(marked: &str) -> String {
    let mark = marked.find('|').unwrap();
    let before = &marked[..mark];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    let found = problems(&marked.replacen('|', "", 1));
    assert_eq!(found.len(), 1, "{marked}\n{found:#?}");
    let position = format!("{line}:{column} ");
    found[0].strip_prefix(&position).unwrap_or_else(|| panic!("not at {position}: {found:?}")).to_owned()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn given(words: &[&str]) -> FormatFlag {
    FormatFlag::Given(strings(words))
}

#[test]
fn an_empty_file_is_one_target_with_the_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.targets.len(), 1);
    let target = &config.targets[0];
    assert_eq!(
        (&target.name, &target.command, &target.conventions.schema),
        (&None, &None, &FormatFlag::Unspecified)
    );
    assert_eq!(target.conventions.formats.jsonl, given(&["--output", "jsonl"]));
    assert!(target.conventions.formats.assumed);
    assert_eq!((target.conventions.default_format, target.conventions.usage), (OutputFormat::Text, 2));
    assert_eq!(target.conventions.errors, Stream::Stderr);
    assert_eq!(target.conventions.exit_codes, [0, 1, 2, 77, 78]);
    assert_eq!((target.timeout, target.isolation), (Duration::from_secs(10), Isolation::Auto));
    assert!(config.probes.is_empty() && config.waivers.is_empty());
    assert!(config.root.is_absolute() && config.root.ends_with("conf"));
}

#[test]
fn a_file_with_every_kind_of_key_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("schemas/folder")).unwrap();
    fs::write(folder.path().join("schemas/list.schema.json"), "{}").unwrap();
    fs::write(folder.path().join("in.bin"), b"\xff\x00raw").unwrap();
    let path = folder.path().join("agentnative.toml");
    fs::write(
        &path,
        r#"
[target]
command = ["./target/debug/mycli", "--quiet"]
formats.json = ["--format", "json"]
formats.text = []
errors = "stdout"
schema = ["schema"]
output_modules = ["schemas", "./in.bin"]
exit_codes = [2, 0, 1, 77, 1]
unknown_command = false
lacks = []
env = { KEY = "value" }
pass_env = ["TOKEN_FILE"]
timeout = 2.5
isolation = "sandbox"

[[probe]]
name = "list"
args = ["list"]
exit = 0
contract = "schemas/list.schema.json"
list = { items = "/data/it~1ems", max = 1_000 }

[[probe]]
name = "events"
args = ["run", "{format}", "--", "hi"]
contract = { json = "schemas/list.schema.json", jsonl = "agent-events" }
formats = ["jsonl", "json"]
stream = true
stdin = { file = "in.bin" }
env = { A = "1" }
cwd = "schemas"
timeout = 5

[[probe]]
name = "bundled"
args = []
contract = "opencode-run"
stdin = "text"

[[probe]]
name = "folder"
args = []
contract = "schemas/folder"

[[probe]]
name = "signed-out"
args = ["whoami"]
exit = 77

[[probe]]
name = "findings"
args = ["lint"]
exit = 1
result = true

[[waiver]]
check = "p2-output-jsonl"
reason = "one document only; tracked in #12"
expires = 2026-11-21

[[waiver]]
check = "p2-error-json"
reason = "later"
"#,
    )
    .unwrap();
    let config = Config::load(&path, &KNOWN).unwrap();
    let target = &config.targets[0];
    assert_eq!(target.command, Some(strings(&["./target/debug/mycli", "--quiet"])));
    let formats = FormatFlags {
        text: given(&[]),
        json: given(&["--format", "json"]),
        jsonl: given(&["--format", "jsonl"]),
        assumed: false,
    };
    assert_eq!(target.conventions.formats, formats);
    assert_eq!(target.conventions.errors, Stream::Stdout);
    assert_eq!(target.conventions.schema, given(&["schema"]));
    assert_eq!(target.output_modules, ["schemas", "./in.bin"]);
    assert_eq!(target.conventions.exit_codes, [0, 1, 2, 77]);
    assert_eq!(target.unknown_command, Some(false));
    assert_eq!(target.env["KEY"], "value");
    assert_eq!(target.pass_env, ["TOKEN_FILE"]);
    assert_eq!((target.timeout, target.isolation), (Duration::from_millis(2500), Isolation::Landlock));

    let [list, events, bundled, in_folder, signed_out, findings] = &config.probes[..] else { panic!() };
    let schema = Some("schemas/list.schema.json".to_owned());
    assert_eq!(list.call.contract, Contracts { json: schema.clone(), jsonl: None });
    assert_eq!(list.formats, OutputFormat::ALL);
    assert_eq!(list.call.list, Some(ListConfig { items: "/data/it~1ems".to_owned(), max: Some(1000) }));
    assert_eq!((&events.call.list, &target.conventions.lacks), (&None, &Vec::new()));
    assert_eq!(events.call.contract, Contracts { json: schema, jsonl: Some("agent-events".to_owned()) });
    assert_eq!(events.formats, [OutputFormat::Json, OutputFormat::Jsonl]);
    assert!(events.call.stream && !list.call.stream);
    assert_eq!(events.call.stdin.as_deref(), Some(&b"\xff\x00raw"[..]));
    assert_eq!(events.call.env["A"], "1");
    assert_eq!(events.call.cwd, Some(folder.path().join("schemas")));
    assert_eq!(events.timeout, Some(Duration::from_secs(5)));
    let for_both_formats =
        |name: &str| Contracts { json: Some(name.to_owned()), jsonl: Some(name.to_owned()) };
    assert_eq!(bundled.call.contract, for_both_formats("opencode-run"));
    assert_eq!(bundled.call.stdin.as_deref(), Some(&b"text"[..]));
    assert_eq!(in_folder.call.contract, for_both_formats("schemas/folder"));
    assert_eq!((signed_out.exit, signed_out.call.result, &signed_out.call.stdin), (77, false, &None));
    assert_eq!((findings.exit, findings.call.result), (1, true));
    assert_eq!(config.probes_of(target).count(), 6);
    assert_eq!(config.waivers[0].expires.unwrap().to_string(), "2026-11-21");
    assert_eq!(config.waivers[1].expires, None);

    let serialized = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&serialized).unwrap(), config);
}

#[test]
fn several_targets_have_names_and_their_own_probes() {
    let config = parse(
        "[target.server]\ntimeout = 1\n[target.client]\nformats.json = ['-j']\n\
         [[probe]]\nname = 'a'\ntarget = 'client'\nargs = []\n[[probe]]\nname = 'b'\ntarget = 'server'\nargs = []\n",
    )
    .unwrap();
    let names: Vec<_> = config.targets.iter().map(|target| target.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["server", "client"]);
    assert_eq!(config.targets[1].conventions.formats.json, given(&["-j"]));
    let probe_names =
        |nth: usize| config.probes_of(&config.targets[nth]).map(|p| &*p.name).collect::<Vec<_>>();
    assert_eq!((probe_names(0), probe_names(1)), (vec!["b"], vec!["a"]));
}

#[test]
fn the_contract_of_a_target_sets_what_its_table_does_not() {
    let codes = "contract = 'opencode-run'\n[[probe]]\nname = 'a'\nargs = []\nexit = 130\n";
    let target = parse(&format!("[target]\n{codes}")).unwrap().targets.remove(0);
    assert_eq!(target.contract.as_deref(), Some("opencode-run"));
    assert_eq!(target.conventions.formats.jsonl, given(&["--format", "json"]));
    assert_eq!(target.conventions.formats.json, given(&["--output", "json"]));
    assert_eq!(
        (target.conventions.errors, &*target.conventions.exit_codes),
        (Stream::Stdout, &[0, 1, 130, 143][..])
    );
    let settings = "formats.jsonl = ['-j']\nerrors = 'stderr'\nexit_codes = [0, 9, 130]\n";
    let target = parse(&format!("[target]\n{settings}{codes}")).unwrap().targets.remove(0);
    assert_eq!(target.conventions.formats.jsonl, given(&["-j"]));
    assert_eq!(
        (target.conventions.errors, &*target.conventions.exit_codes),
        (Stream::Stderr, &[0, 9, 130][..])
    );
}

#[test]
fn the_probes_of_the_only_named_target_need_not_name_it() {
    let config = parse("[target.one]\n[[probe]]\nname = 'a'\nargs = []\n").unwrap();
    assert_eq!(config.probes[0].target.as_deref(), Some("one"));
}

#[test]
fn tables_of_settings_are_not_targets() {
    let config = parse("[target.env]\nA = '1'\n[target.formats]\njson = ['--json']\n").unwrap();
    assert_eq!((config.targets.len(), &config.targets[0].name), (1, &None));
    assert_eq!(config.targets[0].conventions.formats.json, given(&["--json"]));
}

#[test]
fn the_other_formats_are_derived_from_one_with_its_name_in_its_arguments() {
    let (undeclared, lacking) = (FormatFlag::Unspecified, FormatFlag::Absent);
    let cases = [
        (
            "json = ['--format', 'json']",
            [given(&["--format", "text"]), given(&["--format", "json"]), given(&["--format", "jsonl"])],
        ),
        (
            "jsonl = ['-o=jsonl', '-q']",
            [given(&["-o=text", "-q"]), given(&["-o=json", "-q"]), given(&["-o=jsonl", "-q"])],
        ),
        // Text is the output without a flag; the flag of jsonl is not known.
        ("json = ['-j']", [given(&[]), given(&["-j"]), undeclared.clone()]),
        ("json = ['--json']", [given(&[]), given(&["--json"]), undeclared.clone()]),
        (
            "json = ['-j']\njsonl = ['--as', 'jsonl']",
            [given(&["--as", "text"]), given(&["-j"]), given(&["--as", "jsonl"])],
        ),
        (
            "json = ['--format', 'json']\njsonl = false",
            [given(&["--format", "text"]), given(&["--format", "json"]), lacking.clone()],
        ),
        // Neither `false` nor an empty array has an effect on the other formats.
        ("text = []\njsonl = false", [given(&[]), given(&["--output", "json"]), lacking.clone()]),
        ("text = false", [lacking.clone(), given(&["--output", "json"]), given(&["--output", "jsonl"])]),
    ];
    for (formats, [text, json, jsonl]) in cases {
        let config = parse(&format!("[target.formats]\n{formats}\n")).unwrap();
        let read = &config.targets[0].conventions.formats;
        assert_eq!((&read.text, &read.json, &read.jsonl), (&text, &json, &jsonl), "{formats}");
        let serialized = serde_json::to_string(read).unwrap();
        assert_eq!(&serde_json::from_str::<FormatFlags>(&serialized).unwrap(), read, "{serialized}");
    }
    let config = parse("[target]\nformats.text = false\n[[probe]]\nname = 'a'\nargs = []\n").unwrap();
    let target = &config.targets[0];
    assert_eq!(target.conventions.default_format, OutputFormat::Json, "the first format that exists");
    assert_eq!(
        config.probes[0].formats_for(target).collect::<Vec<_>>(),
        [OutputFormat::Json, OutputFormat::Jsonl]
    );
}

#[test]
fn a_probe_may_have_its_own_format_flags() {
    let config = parse(
        "[target]\nformats.json = ['--json']\ndefault_format = 'text'\n\
         [[probe]]\nname = 'a'\nargs = []\nformats = { json = ['--format', 'json'], text = false }\n\
         [[probe]]\nname = 'b'\nargs = []\nformats.jsonl = ['-l']\n[[probe]]\nname = 'c'\nargs = []\n",
    )
    .unwrap();
    use OutputFormat::{Json, Jsonl, Text};
    let formats_of = |nth: usize| config.probes[nth].formats_for(&config.targets[0]).collect::<Vec<_>>();
    // The target declares no flag for jsonl, so only the probe that has one runs in jsonl.
    assert_eq!(
        [formats_of(0), formats_of(1), formats_of(2)],
        [vec![Json], vec![Text, Json, Jsonl], vec![Text, Json]]
    );
    assert_eq!(config.probes[0].call.format_flags[&Json], given(&["--format", "json"]));
    assert_eq!(config.probes[0].call.format_flags[&Text], FormatFlag::Absent);
    assert_eq!(config.probes[1].call.format_flags.len(), 1);
}

#[test]
fn common_options_have_defaults_that_a_probe_may_replace() {
    let config = parse(
        "[target]\nflags.quiet = ['-q']\nflags.no_input = ['--batch', '--template={{.ID}}']\n\
         [[probe]]\nname = 'a'\nargs = []\nflags = { quiet = false, limit = ['--max={n}'] }\n",
    )
    .unwrap();
    let default = CommonOptions::default();
    assert_eq!(default.get(CommonOption::Quiet), &given(&["--quiet"]));
    assert_eq!(default.get(CommonOption::Limit), &given(&["--limit", "{n}"]));
    assert_eq!(default.get(CommonOption::NoInput), &FormatFlag::Unspecified);

    let flags = &config.targets[0].conventions.flags;
    assert_eq!(flags.get(CommonOption::Quiet), &given(&["-q"]));
    assert_eq!(flags.get(CommonOption::Limit), default.get(CommonOption::Limit));
    assert_eq!(flags.get(CommonOption::NoInput), &given(&["--batch", "--template={{.ID}}"]));

    let probe = Probe::declared(&config.probes[0], &config.targets[0]);
    let profile = TargetProfile::from_config(&config.targets[0]);
    assert_eq!(probe.common_option(CommonOption::Quiet, &profile), &FormatFlag::Absent);
    assert_eq!(probe.common_option(CommonOption::NoInput, &profile), flags.get(CommonOption::NoInput));
    let limit = probe.common_option(CommonOption::Limit, &profile).args().unwrap();
    assert_eq!(CommonOption::Limit.with_value(limit, "2"), ["--max=2"]);
}

#[test]
fn the_usage_exit_code_replaces_2() {
    let codes = |target: &str| {
        let target = parse(&format!("[target]\n{target}")).unwrap().targets.remove(0);
        (target.conventions.usage, target.conventions.exit_codes)
    };
    assert_eq!(codes("usage = 252"), (252, vec![0, 1, 77, 78, 252]));
    assert_eq!(codes("usage = 4\nexit_codes = [0, 4]"), (4, vec![0, 4]));
    assert_eq!(codes("usage = 1"), (1, vec![0, 1, 77, 78]));
    assert_eq!(codes("exit_codes = [0, 1]"), (2, vec![0, 1]));
}

#[test]
fn a_waiver_may_be_limited_to_a_probe_and_an_expired_waiver_is_kept() {
    let config = parse(
        "[[probe]]\nname = 'a'\nargs = []\n[[waiver]]\ncheck = 'p2-error-json'\nreason = 'x'\nprobe = 'a'\n\
         format = 'jsonl'\nexpires = 2026-11-20\n[[waiver]]\ncheck = 'p2-error-json'\nreason = 'y'\nprobe = '--help'\n",
    )
    .unwrap();
    let [narrow, for_derived_call] = &config.waivers[..] else { panic!() };
    assert_eq!((narrow.probe.as_deref(), narrow.format), (Some("a"), Some(OutputFormat::Jsonl)));
    assert!(narrow.expired && !for_derived_call.expired);
}

#[test]
fn the_file_may_skip_checks_and_deny_warnings() {
    let check = |text: &str| parse(text).unwrap().check;
    assert_eq!(check(""), CheckConfig::default());
    let read =
        check("[check]\nskip = ['p2-*-jsonl', 'p2-error-json', '*json*']\ndeny = ['should', 'should']\n");
    assert_eq!(read.skip, ["p2-*-jsonl", "p2-error-json", "*json*"]);
    assert_eq!(read.deny, [Level::Should]);
}

#[test]
fn a_star_matches_any_part_of_an_id() {
    let id = "p2-output-json";
    for pattern in [
        id,
        "p2-*",
        "*",
        "p2-output-json*",
        "*-json",
        "p2*json",
        "p*-*-*n",
        "**",
        "*p2*put*",
        "p2-output-json**",
    ] {
        assert!(matches_pattern(pattern, id), "{pattern}");
    }
    for pattern in [
        "",
        "p2-output",
        "p2-*-jsonl",
        "*-jso",
        "2*",
        "p2-output-json-*",
        "p2-output*output-json",
        "*put*put*",
    ] {
        assert!(!matches_pattern(pattern, id), "{pattern}");
    }
}

#[test]
fn the_name_of_a_setting_cannot_be_the_name_of_a_target() {
    for setting in ["usage", "default_format", "env", "formats", "flags"] {
        assert_eq!(
            problem(&format!("[target.one]\n[target.|{setting}]\ncommand = ['x']\n")),
            format!(
                "`{setting}` is a setting of [target] and cannot be the name of a target; expected another name for [target.{setting}]"
            )
        );
    }
}

#[test]
fn each_problem_has_its_position_and_the_expectation() {
    let probe = "[[probe]]\nname = 'a'\nargs = []\n";
    let cases = [
        ("|targets = {}".to_owned(), "unknown key `targets` in the file; did you mean `target`?"),
        (
            "target = |[]".to_owned(),
            "`target` is an array; expected a table: [target], or one [target.NAME] per target",
        ),
        (
            "[target]\n|exit_code = [0]".to_owned(),
            "unknown key `exit_code` in [target]; did you mean `exit_codes`?",
        ),
        (
            "[target]\ncommand = |'x'".to_owned(),
            "`command` is 'x'; expected an array of strings, one per argument, not empty, such as command = [\"./target/debug/mycli\"]",
        ),
        (
            "[target]\ncommand = ['é', |1]".to_owned(),
            "element 2 of `command` is 1; expected a string without NUL",
        ),
        (
            "[target]\ncommand = |[]".to_owned(),
            "`command` is []; expected an array of strings, one per argument, not empty, such as command = [\"./target/debug/mycli\"]",
        ),
        (
            "[target]\nformats.|jsonx = []".to_owned(),
            "unknown key `jsonx` in `formats`; did you mean `json`?",
        ),
        (
            "[target]\nflags = |'-q'".to_owned(),
            "`flags` is a string; expected a table, such as flags.quiet = [\"-q\"]",
        ),
        (
            "[target]\nflags.|silent = ['-q']".to_owned(),
            "unknown key `silent` in `flags`; expected `quiet`, `limit`, `no_input`, `no_pager`, `dry_run`, `confirm`, `timeout`, `verbose`",
        ),
        (
            "[target]\nflags.quiet = |true".to_owned(),
            "`quiet` is true; expected an array of strings without placeholders, not empty, or `false`, such as flags.quiet = [\"--silent\"]",
        ),
        (
            "[target]\nflags.quiet = |[]".to_owned(),
            "`quiet` is []; expected an array of strings without placeholders, not empty, or `false`, such as flags.quiet = [\"--silent\"]",
        ),
        (
            "[target]\nflags.quiet = |['--log={n}']".to_owned(),
            "`quiet` is ['--log={n}']; expected an array of strings without placeholders, not empty, or `false`, such as flags.quiet = [\"--silent\"]",
        ),
        (
            "[target]\nflags.no_input = |['{format}']".to_owned(),
            "`no_input` is ['{format}']; expected an array of strings without placeholders, not empty, or `false`, such as flags.no_input = [\"--no-input\"]",
        ),
        (
            "[target]\nflags.limit = |['--limit', '{count}', '{n}']".to_owned(),
            "`limit` is ['--limit', '{count}', '{n}']; expected an array of strings, one of which contains `{n}` and no other placeholder, or `false`, such as flags.limit = [\"--max={n}\"]",
        ),
        (
            format!("{probe}flags.limit = |['--limit']"),
            "`limit` is ['--limit']; expected an array of strings, one of which contains `{n}` and no other placeholder, or `false`, such as flags.limit = [\"-n\", \"{n}\"]",
        ),
        (
            format!("{probe}flags.limit = |['-n', '{{n}}', '{{n}}']"),
            "`limit` is ['-n', '{n}', '{n}']; expected an array of strings, one of which contains `{n}` and no other placeholder, or `false`, such as flags.limit = [\"-n\", \"{n}\"]",
        ),
        (
            format!("{probe}flags.limit = |['{{n}}..{{n}}']"),
            "`limit` is ['{n}..{n}']; expected an array of strings, one of which contains `{n}` and no other placeholder, or `false`, such as flags.limit = [\"-n\", \"{n}\"]",
        ),
        (
            "[target]\nerrors = |'stdin'".to_owned(),
            "`errors` is 'stdin'; expected `\"stderr\"` or `\"stdout\"`",
        ),
        (
            "[target]\nisolation = |true".to_owned(),
            "`isolation` is true; expected `\"none\"`, `\"landlock\"`, `\"auto\"` or `\"require\"`",
        ),
        (
            "[target]\nexit_codes = [0, |256]".to_owned(),
            "element 2 of `exit_codes` is 256; expected an exit code from 0 to 255",
        ),
        (
            "[target]\nexit_codes = |[]".to_owned(),
            "`exit_codes` is []; expected an array of exit codes from 0 to 255, not empty, such as exit_codes = [0, 1, 2]",
        ),
        ("[target]\nenv.A = |1".to_owned(), "`A` is 1; expected a string without NUL"),
        (
            "[target]\nenv.|'A=B' = '1'".to_owned(),
            "\"A=B\" is not a valid key of env; expected a variable name (not empty, without `=` and NUL)",
        ),
        (
            "[target]\npass_env = [|'']".to_owned(),
            "element 1 of `pass_env` is ''; expected a variable name (not empty, without `=` and NUL)",
        ),
        (
            "[target]\ntimeout = |0".to_owned(),
            "`timeout` is 0; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\ntimeout = |-1.5".to_owned(),
            "`timeout` is -1.5; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\ntimeout = |inf".to_owned(),
            "`timeout` is inf; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\ntimeout = |nan".to_owned(),
            "`timeout` is nan; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\ntimeout = |86401".to_owned(),
            "`timeout` is 86401; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\ntimeout = |'5s'".to_owned(),
            "`timeout` is '5s'; expected a number of seconds above 0, at most 86400",
        ),
        (
            "[target]\n|timeout = 5\n[target.one]\n".to_owned(),
            "`timeout` is a setting of [target], but the file also declares [target.one]; expected either [target] or only named targets",
        ),
        (
            "[probe]|\n".replace("[probe]|", "|[probe]"),
            "`probe` is a table; expected an array of tables, such as [[probe]]",
        ),
        (
            "|[[probe]]\nargs = []".to_owned(),
            "[[probe]] has no `name`; expected a string, not empty, such as name = \"list\"",
        ),
        (
            "|[[probe]]\nname = 'a'".to_owned(),
            "[[probe]] has no `args`; expected an array of strings, one per argument, with `\"{format}\"` at most once, such as args = [\"{format}\", \"list\"]",
        ),
        (
            "[[probe]]\nname = |' '\nargs = []".to_owned(),
            "`name` is ' '; expected a string, not empty, such as name = \"list\"",
        ),
        (
            "[[probe]]\nname = 'a'\nargs = [\"x\", |\"a\\u0000\"]".to_owned(),
            "element 2 of `args` is \"a\\u0000\"; expected a string without NUL",
        ),
        (
            "[[probe]]\nname = 'a'\nargs = |['{format}', 'x', '{format}']".to_owned(),
            "`args` is ['{format}', 'x', '{format}']; expected an array of strings, one per argument, with `\"{format}\"` at most once, such as args = [\"{format}\", \"list\"]",
        ),
        (
            format!("{probe}[[probe]]\nargs = []\nname = |'a'"),
            "duplicate probe `a`; expected a unique name (the first is in line 2)",
        ),
        (format!("{probe}|exti = 1"), "unknown key `exti` in [[probe]]; did you mean `exit`?"),
        (format!("{probe}exit = |-1"), "`exit` is -1; expected an exit code from 0 to 255"),
        (
            format!("{probe}exit = |3"),
            "exit code 3 is not in `exit_codes` of the target (0, 1, 2, 77, 78); expected one of them, or 3 in `exit_codes`",
        ),
        (
            format!("[target]\nexit_codes = [1]\n|{probe}"),
            "exit code 0 is not in `exit_codes` of the target (1); expected one of them, or 0 in `exit_codes`",
        ),
        (
            format!("{probe}formats = ['json', |'yaml']"),
            "element 2 of `formats` is 'yaml'; expected `\"text\"`, `\"json\"` or `\"jsonl\"`",
        ),
        (
            format!("{probe}formats = |[]"),
            "`formats` is []; expected an array of `\"text\"`, `\"json\"`, `\"jsonl\"`, not empty, or a table, such as formats = [\"text\", \"json\"]",
        ),
        (format!("{probe}exit = 1\nresult = |1"), "`result` is 1; expected `true` or `false`"),
        (
            format!("{probe}exit = 1\nremedy = |[]"),
            "`remedy` is []; expected an array of strings, not empty, each with a word, such as remedy = [\"mycli login\", \"MYCLI_TOKEN\"]",
        ),
        (
            format!("{probe}exit = 1\nremedy = ['x', |' ']"),
            "element 2 of `remedy` is ' '; expected a string with a word",
        ),
        (
            format!("{probe}remedy = |['x']"),
            "`remedy` requires a call that fails, but the probe succeeds; expected `exit` with the code of its failure",
        ),
        (
            format!("{probe}exit = 1\nresult = true\nremedy = |['x']"),
            "`remedy` requires a call that fails, but the probe succeeds; expected `exit` with the code of its failure",
        ),
        (format!("{probe}stream = |1"), "`stream` is 1; expected `true` or `false`"),
        (
            format!("{probe}stdin = |1"),
            "`stdin` is 1; expected a string, or a table, such as stdin = \"one\\ntwo\\n\"",
        ),
        (
            format!("{probe}stdin = |{{}}"),
            "`stdin` has no `file`; expected a string, such as stdin.file = \"tests/input.txt\"",
        ),
        (
            format!("{probe}contract = |'opencode-runs'"),
            "unknown contract `opencode-runs`; did you mean `opencode-run`? (a path contains a `/` or ends in .json)",
        ),
        (
            "[target]\ncontract = |'opencode-runs'".to_owned(),
            "unknown contract `opencode-runs`; did you mean `opencode-run`? (a path contains a `/` or ends in .json)",
        ),
        ("[target]\ncontract = |'agent-events'".to_owned(), "unknown contract `agent-events`"),
        (
            format!("[target]\ncontract = 'opencode-run'\n{probe}contract = |'opencode-run'"),
            "duplicate contract: the target already has `opencode-run`; expected `contract` in the target or in the probe",
        ),
        (
            format!("[target]\ncontract = 'opencode-run'\n{probe}exit = |2"),
            "exit code 2 is not in `exit_codes` of the target (0, 1, 130, 143); expected one of them, or 2 in `exit_codes`",
        ),
        (
            "[target]\nbuild = |'make'".to_owned(),
            "`build` is 'make'; expected an array of strings, one per argument, not empty, such as build = [\"cargo\", \"build\"]",
        ),
        (
            "|[[service]]\nready = { line = 'x' }".to_owned(),
            "[[service]] has no `command`; expected an array of strings, one per argument, not empty, such as command = [\"./mock-server\", \"--port\", \"{port}\"]",
        ),
        (
            "|[[service]]\ncommand = ['x']".to_owned(),
            "[[service]] has no `ready`; expected a table, such as ready = { port = \"{port}\" }",
        ),
        (
            "[[service]]\ncommand = ['x']\nready = |{ port = 1, line = 'x' }".to_owned(),
            "`ready` requires either `port` or `line`; expected `ready = { port = \"{port}\" }`, or `ready = { line = \"…\" }` for a line of its output",
        ),
        (
            "[[service]]\ncommand = ['x']\nready = { port = |0 }".to_owned(),
            "`port` is 0; expected an integer from 1 to 65535, or `\"{port}\"` for a free port",
        ),
        (
            "[[service]]\ncommand = ['x']\nready = { port = |'8080' }".to_owned(),
            "`port` is '8080'; expected an integer from 1 to 65535, or `\"{port}\"` for a free port",
        ),
        (
            "[[service]]\ncommand = ['x']\nready = { line = |'' }".to_owned(),
            "`line` is ''; expected a string of one line, not empty, such as ready.line = \"listening\"",
        ),
        (
            "[target.b]\n[target.a]\n|[[service]]\ncommand = ['x']\nready = { line = 'x' }".to_owned(),
            "[[service]] has no `target`, but the file declares several targets; expected target = \"b\" or \"a\"",
        ),
        (format!("{probe}contract = |{{}}"), "`contract` is empty; expected `json`, `jsonl` or both"),
        (
            format!("{probe}contract = {{ json = 'agent-events', |text = 'x' }}"),
            "unknown key `text` in `contract`; expected `json`, `jsonl`",
        ),
        (
            format!("{probe}target = |'x'"),
            "unknown target `x`; the file's only target has no name: omit `target`, or rename its table to [target.x]",
        ),
        (format!("[target.one]\n{probe}target = |'onne'"), "unknown target `onne`; did you mean `one`?"),
        (
            format!("[target.one]\n{probe}target = |1"),
            "`target` is 1; expected a string, such as target = \"server\"",
        ),
        (
            format!("[target.b]\n[target.a]\n|{probe}"),
            "[[probe]] has no `target`, but the file declares several targets; expected target = \"b\" or \"a\"",
        ),
        (
            "[[waiver]]\ncheck = |'p2-output-jsn'\nreason = 'x'".to_owned(),
            "unknown check `p2-output-jsn`; did you mean `p2-output-json`?",
        ),
        (
            "[[waiver]]\ncheck = |'p9'\nreason = 'x'".to_owned(),
            "unknown check `p9`; list all checks with `agentnative list`",
        ),
        (
            "|[[waiver]]\ncheck = 'p2-error-json'".to_owned(),
            "[[waiver]] has no `reason`; expected a string, not empty, such as reason = \"prints one document only; tracked in #12\"",
        ),
        (
            "[[waiver]]\ncheck = 'p2-error-json'\nreason = |'  '".to_owned(),
            "`reason` is '  '; expected a string, not empty, such as reason = \"prints one document only; tracked in #12\"",
        ),
        ("check = |1".to_owned(), "`check` is an integer; expected a table, such as [check]"),
        ("[check]\n|skips = []".to_owned(), "unknown key `skips` in [check]; did you mean `skip`?"),
        (
            "[check]\nskip = |'p2-error-json'".to_owned(),
            "`skip` is 'p2-error-json'; expected an array of check IDs, or patterns with `*`, such as skip = [\"p2-json-interop\", \"p2-src-*\"]",
        ),
        (
            "[check]\nskip = [|'p2-output-jsn']".to_owned(),
            "unknown check `p2-output-jsn`; did you mean `p2-output-json`?",
        ),
        (
            "[check]\nskip = ['p2-output*', |'p9-*']".to_owned(),
            "no check matches `p9-*`; did you mean `p2-*`?",
        ),
        (
            "[check]\nskip = [|'p2-ouput-*']".to_owned(),
            "no check matches `p2-ouput-*`; did you mean `p2-output-*`?",
        ),
        (
            "[check]\nskip = [|'*-yaml']".to_owned(),
            "no check matches `*-yaml`; list all checks with `agentnative list`",
        ),
        ("[check]\ndeny = [|'must']".to_owned(), "element 1 of `deny` is 'must'; expected `\"should\"`"),
        (
            "[target]\nformats.json = |true".to_owned(),
            "`json` is true; expected an array of strings, or `false`, such as formats.json = [\"--format\", \"json\"]",
        ),
        (
            "[target]\nformats = |{ text = false, json = false, jsonl = false }".to_owned(),
            "all formats are `false`; expected at least one format",
        ),
        (
            "[target]\nformats.json = false\ndefault_format = |'json'".to_owned(),
            "`default_format` is \"json\", but formats.json is `false`; expected a format of the target",
        ),
        (
            "[target]\ndefault_format = |'yaml'".to_owned(),
            "`default_format` is 'yaml'; expected `\"text\"`, `\"json\"` or `\"jsonl\"`",
        ),
        (
            "[target]\nusage = |256".to_owned(),
            "`usage` is 256; expected an exit code from 1 to 255 (0 means success)",
        ),
        (
            "[target]\nusage = |0".to_owned(),
            "`usage` is 0; expected an exit code from 1 to 255 (0 means success)",
        ),
        (
            "[target]\nusage = |64\nexit_codes = [0, 2]".to_owned(),
            "`usage` is 64, which is not in `exit_codes`; expected the same exit code in both",
        ),
        (
            "[target]\nlacks = ['lists', |'pager']".to_owned(),
            "element 2 of `lacks` is 'pager'; expected `\"changes\"`, `\"lists\"`, `\"login\"`, `\"long-running\"`, `\"network\"` or `\"secret\"`",
        ),
        (
            format!("{probe}changes = |true"),
            "`changes` requires a workspace; expected `workspace` with a folder to copy, or `true` for an empty one",
        ),
        (
            format!("{probe}destructive = |true"),
            "`destructive` requires a workspace; expected `workspace` with a folder to copy, or `true` for an empty one",
        ),
        (
            format!("{probe}workspace = true\nchanges = |false\ndestructive = true"),
            "`changes` is false and `destructive` is true; expected only one of the two",
        ),
        (
            format!("{probe}|schema = ['schema']"),
            "unknown key `schema` in [[probe]]; `schema` is a key of [target]",
        ),
        (
            "[target]\n|stdin = 'x'\n".to_owned(),
            "unknown key `stdin` in [target]; `stdin` is a key of [[probe]]",
        ),
        (
            format!("{probe}workspace = true\nidempotent = |true"),
            "`idempotent` is true, but the probe declares no change; expected `changes = true` or `destructive = true` as well",
        ),
        (
            format!("{probe}workspace = true\nexit = 1\nchanges = true\nidempotent = |true"),
            "`idempotent` is true and `exit` is 1; expected a call that exits with 0",
        ),
        (format!("{probe}setup = |[['init']]"), "`setup` requires a workspace; expected `workspace` as well"),
        (
            format!("{probe}workspace = true\nsetup = [|[]]"),
            "element 1 of `setup` is []; expected an array of strings, one per argument, not empty",
        ),
        (
            format!("{probe}flags.dry_run.args = |true"),
            "`args` is true; expected an array of strings without placeholders, not empty, or `false`, such as flags.dry_run.args = [\"--check\"]",
        ),
        (
            format!("{probe}flags.dry_run = |{{ exit = 1 }}"),
            "`dry_run` has no `args`; expected an array of strings without placeholders, not empty, or `false`, such as flags.dry_run.args = [\"--check\"]",
        ),
        (
            "[target]\nlacks = ['network']\n|[[probe]]\nname = 'a'\nargs = ['{stalled}']".to_owned(),
            "the target has `lacks = [\"network\"]`, but this probe sends a request to {stalled}; expected only one of the two",
        ),
        (
            "[target]\nflags.timeout = |['--timeout']".to_owned(),
            "`timeout` is ['--timeout']; expected an array of strings, one of which contains `{seconds}` and no other placeholder, or `false`, such as flags.timeout = [\"--max-time\", \"{seconds}\"]",
        ),
        (
            format!("|{probe}secret = true"),
            "the probe has `secret = true`, but the target has no `secret`; expected `secret.env` in the table of the target",
        ),
        (
            format!("[target]\nsecret.env = 'TOKEN'\n|{probe}secret = true"),
            "the probe has `secret = true`, but TOKEN is not set; expected it in `env` of the probe or the target, or in `pass_env`",
        ),
        (
            format!(
                "[target]\nlacks = ['secret']\nsecret.env = 'TOKEN'\n|{probe}secret = true\nenv.TOKEN = 'x'"
            ),
            "the target has `lacks = [\"secret\"]`, but this probe has `secret = true`; expected only one of the two",
        ),
        (
            "[target]\nsecret = |{ file = ['--token-file', '{file}'] }".to_owned(),
            "`secret` has no `env`; expected a variable name, such as secret.env = \"MYCLI_TOKEN\"",
        ),
        (
            "[target]\nsecret.env = 'TOKEN'\nsecret.file = |['--token-file']".to_owned(),
            "`file` is ['--token-file']; expected an array of strings, one of which contains `{file}` and no other placeholder, such as secret.file = [\"--token-file\", \"{file}\"]",
        ),
        (
            format!("{probe}interrupt = |{{ after = 'working' }}"),
            "`interrupt` requires a workspace; expected `workspace` with a folder to copy, or `true` for an empty one",
        ),
        (
            format!("{probe}workspace = true\ninterrupt.after = |' '"),
            "`after` is ' '; expected a string, not empty, such as interrupt.after = \"exporting\"",
        ),
        (
            format!("{probe}flags.confirm = |['--force={{n}}']"),
            "`confirm` is ['--force={n}']; expected an array of strings without placeholders, not empty, or `false`, such as flags.confirm = [\"--force\"]",
        ),
        (
            format!("[target]\nlacks = ['changes']\n|{probe}workspace = true\nchanges = true"),
            "the target has `lacks = [\"changes\"]`, but this probe changes something; expected only one of the two",
        ),
        (
            format!("{probe}list = |'/data'"),
            "`list` is a string; expected a table, such as list = { items = \"/data/items\", max = 100 }",
        ),
        (
            format!("{probe}list = |{{ max = 1 }}"),
            "`list` has no `items`; expected a JSON pointer, or `\"\"`, such as list.items = \"/data/items\"",
        ),
        (
            format!("{probe}list.items = |'data'"),
            "`items` is 'data'; expected a JSON pointer, or `\"\"`, such as list.items = \"/data/items\"",
        ),
        (
            format!("{probe}list = {{ items = '', max = |0 }}"),
            "`max` is 0; expected an integer from 1 to 1000000",
        ),
        (
            format!("{probe}list = {{ items = '', max = |'5' }}"),
            "`max` is '5'; expected an integer from 1 to 1000000",
        ),
        (
            format!("[target]\nlacks = ['lists']\n{probe}list = |{{ items = '' }}"),
            "the target has `lacks = [\"lists\"]`, but this probe prints a list; expected only one of the two",
        ),
        (
            format!("{probe}exit = 1\nlist = |{{ items = '' }}"),
            "`list` requires exit code 0, but the probe has `exit = 1`; expected a call that exits with 0",
        ),
        (
            format!("{probe}formats = ['text']\nlist = |{{ items = '' }}"),
            "`list` requires the format `json`, but the probe does not run in it; expected \"json\" in `formats`",
        ),
        (
            format!("{probe}formats = {{ |yaml = [] }}"),
            "unknown key `yaml` in `formats`; expected `text`, `json`, `jsonl`",
        ),
        (
            format!("[target]\nformats.jsonl = false\n{probe}formats = |['json', 'jsonl']"),
            "`formats` contains jsonl, which the target does not have; expected formats of the target",
        ),
        (
            format!("{probe}[[waiver]]\ncheck = 'p2-error-json'\nreason = 'x'\nprobe = |'aa'"),
            "unknown probe `aa`; did you mean `a`?",
        ),
        (
            "[[waiver]]\ncheck = 'p2-error-json'\nreason = 'x'\nformat = |'yaml'".to_owned(),
            "`format` is 'yaml'; expected `\"text\"`, `\"json\"` or `\"jsonl\"`",
        ),
        (
            "[[waiver]]\ncheck = 'p2-error-json'\nreason = 'x'\nexpires = |'2027-3-1'".to_owned(),
            "`expires` is '2027-3-1'; expected a date: YYYY-MM-DD",
        ),
        (
            "[[waiver]]\ncheck = 'p2-error-json'\nreason = 'x'\nexpires = |2027-03-01T00:00:00Z".to_owned(),
            "`expires` is a date or time; expected a date: YYYY-MM-DD",
        ),
    ];
    // The schema rejects these files too, except for problems that depend on the whole file or on the system.
    const NOT_IN_SCHEMA: [&str; 21] = [
        "duplicate probe",
        "unknown target",
        "unknown probe",
        "declares several targets; expected target",
        "is not in `exit_codes` of the target",
        "duplicate contract: the target already has",
        "which the target does not have",
        "which is not in `exit_codes`",
        "but formats.json is `false`",
        "is a setting of [target]",
        "no check matches",
        "but this probe prints a list",
        "but this probe changes something",
        "but this probe sends a request",
        "but the target has no `secret`",
        "but TOKEN is not set",
        "a probe with `secret = true` succeeds",
        "but this probe has `secret = true`",
        "`list` requires exit code 0",
        "`list` requires the format `json`",
        "`expires` is no date",
    ];
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    for (marked, expected) in cases {
        assert_eq!(problem(&marked), expected, "{marked}");
        let instance = as_json(toml::from_str(&marked.replacen('|', "", 1)).unwrap());
        let is_not_in_schema = NOT_IN_SCHEMA.iter().any(|what| expected.contains(what));
        assert!(is_not_in_schema || !schema.is_valid(&instance), "the schema accepts {marked}");
    }
}

#[test]
fn missing_files_are_problems_with_the_expected_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agentnative.toml");
    let text =
        "[[probe]]\nname = 'a'\nargs = []\ncontract = './no.json'\nstdin = { file = 'no.txt' }\ncwd = 'no'\n";
    let error = Config::parse(text, &path, &KNOWN).unwrap_err();
    let root = folder.path().display();
    let cause = "No such file or directory (os error 2)";
    assert_eq!(
        issue_lines(&error),
        [
            format!(
                "4:12 cannot read `./no.json`: {cause}; expected a contract folder or a schema file at {root}/./no.json"
            ),
            format!("5:18 cannot read `no.txt`: {cause}; expected a file at {root}/no.txt"),
            format!("6:7 no such folder: `no`; expected it at {root}/no"),
        ]
    );
    assert_eq!(error.issues[0].place.as_ref().unwrap().file, path);
}

#[test]
fn the_environment_of_runs_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("shop/sub")).unwrap();
    fs::write(folder.path().join("shop/item"), "").unwrap();
    std::os::unix::fs::symlink("../item", folder.path().join("shop/sub/link")).unwrap();
    fs::write(folder.path().join("a.json"), "{}").unwrap();
    let text = r#"
[target]
build = ["make", "-s"]
home = { ".a/settings.json" = "a.json", "b" = "./a.json" }
[[probe]]
name = "copy"
args = []
workspace = "shop"
[[probe]]
name = "empty"
args = ["{port}"]
workspace = true
[[service]]
command = ["./server", "{port}"]
ready = { port = "{port}" }
env = { URL = "http://127.0.0.1:{port}" }
[[service]]
command = ["server"]
ready = { port = 8080 }
[[service]]
command = ["server"]
ready = { line = "listening" }
"#;
    let path = folder.path().join("agentnative.toml");
    let several = Config::parse(text, &path, &KNOWN).unwrap_err();
    let message = "9:1 the probe uses {port}, but 3 services run with it; expected the port in the `env` of the service";
    assert_eq!(issue_lines(&several), [message]);
    let config = Config::parse(&text.replace(r#"["{port}"]"#, "[]"), &path, &KNOWN).unwrap();
    let target = &config.targets[0];
    assert_eq!(target.build, Some(strings(&["make", "-s"])));
    let file = folder.path().join("a.json");
    assert_eq!(target.home[".a/settings.json"], file);
    assert_eq!(target.home["b"].canonicalize().unwrap(), file.canonicalize().unwrap());
    let workspaces: Vec<_> =
        config.probes.iter().map(|probe| probe.call.workspace.clone().unwrap()).collect();
    assert_eq!(workspaces, [Workspace::Copy(folder.path().join("shop")), Workspace::Empty]);
    let ready: Vec<_> = config.services_of(target).map(|service| service.ready.clone()).collect();
    assert_eq!(ready, [Ready::Port(None), Ready::Port(Some(8080)), Ready::Line("listening".to_owned())]);
    assert_eq!(config.services[0].env["URL"], "http://127.0.0.1:{port}");

    let serialized = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&serialized).unwrap(), config);
}

#[test]
fn a_workspace_is_limited_in_size_and_to_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let make = |path: &str| fs::create_dir_all(at(path)).unwrap();
    let link = |to: &Path, path: &str| std::os::unix::fs::symlink(to, at(path)).unwrap();
    for path in ["many", "large", "out", "absolute", "dangling", "odd", "back/sub"] {
        make(path);
    }
    (0..=2000).for_each(|n| fs::write(at(&format!("many/{n}")), "").unwrap());
    fs::File::create(at("large/file")).unwrap().set_len((64 << 20) + 1).unwrap();
    link(Path::new("../many"), "out/link");
    link(&at("absolute"), "absolute/link");
    link(Path::new("nothing"), "dangling/link");
    link(outside.path(), "elsewhere");
    link(Path::new(".."), "back/sub/up");
    link(Path::new("sub/up/../many"), "back/link");
    fs::write(at("file"), "").unwrap();
    std::os::unix::net::UnixListener::bind(at("odd/socket")).unwrap();
    let problem = |value: &str| {
        let text = format!("[[probe]]\nname = 'a'\nargs = []\nworkspace = {value}\n");
        let error = Config::parse(&text, &at("agentnative.toml"), &KNOWN).unwrap_err();
        let [line] = &issue_lines(&error)[..] else { panic!("{error:?}") };
        line.strip_prefix("4:13 ").unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    for (name, reason) in [
        ("many", "it contains more than 2,000 files"),
        ("large", "it contains more than 64 MiB"),
        ("out", "the link link is broken or points outside the folder"),
        ("absolute", "the link link is broken or points outside the folder"),
        ("dangling", "the link link is broken or points outside the folder"),
        ("back", "the link link is broken or points outside the folder"),
        ("odd", "odd/socket is neither a file nor a folder"),
    ] {
        let reason = reason.strip_prefix("odd/").unwrap_or(reason);
        let message = problem(&format!("'{name}'"));
        assert!(
            message.starts_with(&format!("`{name}` cannot be copied for each run: {reason}; expected ")),
            "{message}"
        );
    }
    let expected =
        "; expected the path of a folder below the folder of this file, or `true` for an empty workspace";
    for (value, message) in [
        ("'../x'", "\"../x\" is outside the folder of this file"),
        ("'/etc'", "\"/etc\" is outside the folder of this file"),
        ("''", "\"\" is outside the folder of this file"),
        ("'elsewhere'", "`elsewhere` is outside the folder of this file"),
        ("'file'", "`file` is not a folder"),
        ("'no'", "cannot read `no`: No such file or directory (os error 2)"),
    ] {
        assert_eq!(problem(value), format!("{message}{expected}"));
    }
    assert_eq!(
        problem("false"),
        "`workspace` is false; expected a path of a folder below the configuration file, or `true` for an empty one, \
         such as workspace = \"tests/shop\""
    );
    let with_cwd = "[[probe]]\nname = 'a'\nargs = []\ncwd = 'many'\nworkspace = true\n";
    let error = Config::parse(with_cwd, &at("agentnative.toml"), &KNOWN).unwrap_err();
    assert_eq!(
        issue_lines(&error),
        ["5:13 `workspace` and `cwd` cannot be combined: a run starts in its workspace"]
    );
}

#[test]
fn files_of_the_home_are_in_it_and_come_from_below_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out")).unwrap();
    let text = "[target.home]\n'../x' = 'f'\n'/x' = 'f'\n'' = 'f'\n'.' = 'f'\na = '../f'\nb = 'out'\nc = 'no'\nd = '.'\ne = 1\n'./g' = 'f'\n'g/h' = 'f'\n";
    let error = Config::parse(text, &folder.path().join("agentnative.toml"), &KNOWN).unwrap_err();
    let no_path = |name: &str| {
        format!("{name:?} is not a file path in the home folder; expected a relative path without `..`")
    };
    let expected = "expected the path of a file below the folder of this file";
    let mut found = issue_lines(&error);
    found.sort_by_key(|line| line.split(':').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(
        found,
        [
            format!("2:1 {}", no_path("../x")),
            format!("3:1 {}", no_path("/x")),
            format!("4:1 {}", no_path("")),
            format!("5:1 {}", no_path(".")),
            format!("6:5 \"../f\" is outside the folder of this file; {expected}"),
            format!("7:5 `out` is outside the folder of this file; {expected}"),
            format!("8:5 cannot read `no`: No such file or directory (os error 2); {expected}"),
            format!("9:5 {}/. is not a file; {expected}", folder.path().display()),
            "10:5 `e` is 1; expected a path of a file below the configuration file".to_owned(),
            "12:1 \"g/h\" and \"g\" cannot both be files; expected one of them".to_owned(),
        ]
    );
}

#[test]
fn all_problems_are_reported_together_in_the_order_of_the_file() {
    let text = "[[waiver]]\ncheck = 'nope'\nexpires = 20200101\n[[probe]]\nexit = 'x'\nzzz = 1\n\
                [target]\ntimeout = 'é'\nexit_codes = [0, 'a', 300]\n";
    let positions: Vec<String> =
        problems(text).iter().map(|f| f.split_once(' ').unwrap().0.to_owned()).collect();
    assert_eq!(positions, ["1:1", "2:9", "3:11", "4:1", "4:1", "5:8", "6:1", "8:11", "9:18", "9:23"]);
    let error = parse(text).unwrap_err();
    assert_eq!(error.message, "conf/agentnative.toml has 10 errors");
    assert_eq!(error.kind.exit_code(), 78);
}

#[test]
fn all_syntax_errors_are_reported_together_and_without_other_problems() {
    let found = problems("[target]\nérrors = 'x'\ntimeout = \nzzz = 1\nzzz = 2\n");
    assert!(found.len() >= 3, "{found:#?}");
    assert!(found[0].starts_with("2:1 "), "{found:#?}");
    assert!(found.iter().any(|problem| problem.starts_with("5:1 duplicate key")), "{found:#?}");
    assert!(!found.iter().any(|problem| problem.contains("unknown key")), "{found:#?}");
}

#[test]
fn an_unclosed_bracket_is_one_error_at_the_bracket() {
    let text =
        "[target]\ncommand = ['./cli'\nexit_codes = [0, 1]\n\n[[probe]]\nname = 'x'\nargs = ['list']\n";
    assert_eq!(problems(text), ["2:11 unclosed array, expected `]`"]);
}

#[test]
fn a_misspelt_dotted_key_is_reported_with_a_suggestion() {
    let unknown =
        |position: &str| [format!("{position} unknown key `format` in [target]; did you mean `formats`?")];
    for (text, position) in [
        ("[target]\ncommand = ['./cli']\nformat.json = ['--x']\n", "3:1"),
        ("[target]\nformat.json = ['--x']\n", "2:1"),
        ("[target.format]\njson = ['--x']\n", "1:9"),
    ] {
        assert_eq!(problems(text), unknown(position), "{text}");
    }
    // A target may have a name that is similar to a setting.
    assert!(parse("[target.format]\ncommand = ['./cli']\n").is_ok());
}

#[test]
fn bytes_that_are_not_utf8_have_a_position() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agentnative.toml");
    fs::write(&path, b"[target]\n# \xc3\xa9 \xff\n").unwrap();
    let error = Config::load(&path, &KNOWN).unwrap_err();
    assert_eq!(issue_lines(&error), ["2:5 invalid UTF-8; expected TOML in UTF-8"]);
}

#[test]
fn a_missing_file_is_a_configuration_error() {
    let error = Config::load(Path::new("/nonexistent/agentnative.toml"), &KNOWN).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    assert!(error.message.starts_with("cannot read /nonexistent/agentnative.toml: "), "{error}");
}

#[test]
fn the_nearest_file_up_to_the_root_of_the_repository_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let make = |path: &str| fs::create_dir_all(folder.path().join(path)).unwrap();
    let at = |path: &str| folder.path().join(path);
    make("repo/.git");
    make("repo/a/b/c");
    fs::write(at("agentnative.toml"), "").unwrap();
    fs::write(at("repo/a/b/c/tool"), "").unwrap();
    let found = |start: &str| Config::discover(&at(start), &KNOWN).unwrap().map(|config| config.path);
    assert_eq!(found("repo/a/b/c"), None, "a file outside of the repository is not read");
    fs::write(at("repo/agentnative.toml"), "").unwrap();
    assert_eq!(found("repo/a/b/c"), Some(at("repo/agentnative.toml")));
    assert_eq!(found("repo"), Some(at("repo/agentnative.toml")));
    fs::write(at("repo/a/b/agentnative.toml"), "").unwrap();
    assert_eq!(found("repo/a/b/c/tool"), Some(at("repo/a/b/agentnative.toml")));
    assert_eq!(found("repo/a/b"), Some(at("repo/a/b/agentnative.toml")));
    assert_eq!(found("repo/a"), Some(at("repo/agentnative.toml")));
    fs::write(at("repo/a/b/agentnative.toml"), "x = 1").unwrap();
    assert!(Config::discover(&at("repo/a/b"), &KNOWN).is_err());
}

/// The three manifests with the same configuration: name, text, and the position of the value of `usage`.
const MANIFESTS: [(&str, &str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = 'x'\n[package.metadata.agentnative.target]\ntimeout = 3\nusage = 64\n\
         [[package.metadata.agentnative.waiver]]\ncheck = 'p2-error-json'\nreason = 'r'\nexpires = 2099-12-31\n",
        "5:9",
    ),
    (
        "pyproject.toml",
        "[project]\nname = 'x'\n[tool.agentnative]\ntarget.timeout = 3\ntarget.usage = 64\n\
         [[tool.agentnative.waiver]]\ncheck = 'p2-error-json'\nreason = 'r'\nexpires = 2099-12-31\n",
        "5:16",
    ),
    (
        "package.json",
        "{\n \"name\": \"x\", \"private\": null,\n \"agentnative\": {\"target\": {\"timeout\": 3,\n \"usage\": 64},\n\
         \"waiver\": [{\"check\": \"p2-error-json\", \"reason\": \"r\", \"expires\": \"2099-12-31\"}]}\n}\n",
        "4:11",
    ),
];

#[test]
fn a_manifest_may_contain_the_configuration() {
    let plain = parse(
        "[target]\ntimeout = 3\nusage = 64\n[[waiver]]\ncheck = 'p2-error-json'\nreason = 'r'\nexpires = 2099-12-31\n",
    )
    .unwrap();
    for (name, text, position) in MANIFESTS {
        let path = Path::new("conf").join(name);
        let read = Config::parse(text, &path, &KNOWN).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(read, Config { path: path.clone(), ..plain.clone() });
        let wrong = text.replace("64", "256").replace("'r'", "''").replace("\"r\"", "\" \"");
        let error = Config::parse(&wrong, &path, &KNOWN).unwrap_err();
        let found = issue_lines(&error);
        assert_eq!(
            found[0],
            format!("{position} `usage` is 256; expected an exit code from 1 to 255 (0 means success)")
        );
        assert!(found[1].contains("; expected a string, not empty, such as reason = "), "{found:?}");
        assert_eq!(error.issues[0].place.as_ref().unwrap().file, path);
        let unknown = text.replace("timeout", "tiemout").replace("waiver", "waivers");
        let found = issue_lines(&Config::parse(&unknown, &path, &KNOWN).unwrap_err());
        assert!(
            found.iter().any(|problem| problem.ends_with("in [target]; did you mean `timeout`?")),
            "{found:?}"
        );
        let table = match name {
            "Cargo.toml" => "[package.metadata.agentnative]",
            "pyproject.toml" => "[tool.agentnative]",
            _ => "`agentnative`",
        };
        let waivers = format!("unknown key `waivers` in {table}; did you mean `waiver`?");
        assert!(found.iter().any(|problem| problem.ends_with(&waivers)), "{found:?}");
        let without = text.replace("agentnative", "other");
        let error = Config::parse(&without, &path, &KNOWN).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        assert!(
            error.message.starts_with(&format!("{} contains no configuration", path.display())),
            "{error}"
        );
    }
}

#[test]
fn json_that_toml_cannot_represent_is_a_problem() {
    let problems = |text: &str| {
        let error = Config::parse(text, Path::new("package.json"), &KNOWN).unwrap_err();
        issue_lines(&error)
    };
    let null = r#"{"agentnative": {"target": {"timeout": null, "env": {"A": "é", "B": 1}}}}"#;
    assert_eq!(problems(null), ["1:40 `null` is not allowed here; remove the key"]);
    assert_eq!(problems(r#"{"agentnative": null}"#), ["1:17 `null` is not allowed here; remove the key"]);
    assert_eq!(problems(r#"{"agentnative": [1]}"#), ["1:17 `agentnative` is an array; expected a table"]);
    assert_eq!(problems(r#"{"agentnative": {"target": {"usage": 2.5}}}"#).len(), 1);
    let twice = problems(r#"{"agentnative": {"target": {}, "target": {}}}"#);
    assert!(twice.len() == 1 && twice[0].starts_with("1:32 "), "{twice:?}");
    let broken = problems("{\"agentnative\": {\"target\": {}\n");
    assert!(broken.len() == 1 && broken[0].starts_with("2:1 "), "{broken:?}");
    for deep in ["[", "{\"a\":"] {
        assert_eq!(problems(&format!("{{\"agentnative\": {}", deep.repeat(200_000))).len(), 1);
    }
    // A syntax error elsewhere in a file without a configuration is not reported.
    let other =
        Config::parse("{\"x\": {\"agentnative\": {}}, ", Path::new("package.json"), &KNOWN).unwrap_err();
    assert!(other.issues.is_empty() && other.message.contains("contains no configuration"), "{other:?}");
    let numbers = r#"{"agentnative": {"target": {"timeout": 1.5E1, "exit_codes": [0, 1, 2]}}}"#;
    let config = Config::parse(numbers, Path::new("package.json"), &KNOWN).unwrap();
    assert_eq!(config.targets[0].timeout, Duration::from_secs(15));
}

#[test]
fn manifests_are_found_like_the_file_and_two_in_a_folder_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("repo/.git")).unwrap();
    fs::create_dir_all(at("repo/a/b")).unwrap();
    let found =
        |start: &str| Config::discover(&at(start), &KNOWN).map(|config| config.map(|config| config.path));
    for (name, text, _) in MANIFESTS {
        fs::write(at("repo").join(name), text).unwrap();
        // Manifests without a configuration and invalid manifests are skipped.
        fs::write(at("repo/a/Cargo.toml"), "[package]\nname = 'y'\n").unwrap();
        fs::write(at("repo/a/package.json"), "{\"name\": ").unwrap();
        fs::write(at("repo/a/pyproject.toml"), "[tool\n").unwrap();
        assert_eq!(found("repo/a/b").unwrap(), Some(at("repo").join(name)));
        fs::write(at("repo/a/agentnative.toml"), "").unwrap();
        assert_eq!(found("repo/a/b").unwrap(), Some(at("repo/a/agentnative.toml")), "the nearest file");
        fs::remove_file(at("repo/a/agentnative.toml")).unwrap();
        fs::remove_file(at("repo").join(name)).unwrap();
    }
    fs::write(at("repo/agentnative.toml"), "").unwrap();
    for (name, text, _) in MANIFESTS {
        fs::write(at("repo").join(name), text).unwrap();
    }
    let error = found("repo/a/b").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Config);
    assert_eq!(
        error.message,
        "4 configurations in one folder: agentnative.toml, package.metadata.agentnative in Cargo.toml, \
         tool.agentnative in pyproject.toml, agentnative in package.json"
    );
    let places: Vec<String> =
        error.issues.iter().map(|issue| issue.place.as_ref().unwrap().to_string()).collect();
    let path_of = |name: &str| at("repo").join(name).display().to_string();
    assert_eq!(places[0], path_of("agentnative.toml"));
    assert_eq!(places[3], format!("{}:3:17", path_of("package.json")));
    // An invalid configuration counts too.
    fs::write(at("repo/Cargo.toml"), "[package.metadata.agentnative]\nx = \n").unwrap();
    fs::remove_file(at("repo/package.json")).unwrap();
    fs::remove_file(at("repo/pyproject.toml")).unwrap();
    assert!(found("repo").unwrap_err().message.starts_with("2 configurations"));
    fs::remove_file(at("repo/agentnative.toml")).unwrap();
    assert!(found("repo").unwrap_err().message.ends_with("Cargo.toml has an error"));
    // A file that is named is the only one that is read.
    fs::write(at("repo/Cargo.toml"), MANIFESTS[0].1).unwrap();
    fs::write(at("repo/agentnative.toml"), "").unwrap();
    assert_eq!(Config::load(&at("repo/Cargo.toml"), &KNOWN).unwrap().targets[0].conventions.usage, 64);
}

#[test]
fn a_probe_option_declares_a_probe() {
    let probe = ProbeConfig::from_flag("77:whoami --as 'a b'").unwrap();
    assert_eq!((probe.exit, &*probe.name), (77, "whoami --as 'a b'"));
    assert_eq!(probe.call.args, ["whoami", "--as", "a b"]);
    let probe = ProbeConfig::from_flag("get ns:name").unwrap();
    assert_eq!((probe.exit, probe.call.args), (0, strings(&["get", "ns:name"])));
    assert_eq!(ProbeConfig::from_flag("2:").unwrap().call.args, Vec::<String>::new());
    assert_eq!(ProbeConfig::from_flag("$HOME;`x`").unwrap().call.args, ["$HOME;`x`"]);
    assert_eq!(ProbeConfig::from_flag("show #12 \"a # b\"").unwrap().call.args, ["show", "#12", "a # b"]);
    for wrong in ["256:x", "list 'open", "a\0b"] {
        assert_eq!(ProbeConfig::from_flag(wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
    }
    let twice = ProbeConfig::from_flags(&strings(&["list", "1:list"])).unwrap_err();
    assert_eq!(twice.kind, ErrorKind::Usage);
    assert_eq!(ProbeConfig::from_flags(&strings(&["list", "1:get"])).unwrap().len(), 2);
}

#[test]
fn the_format_flag_is_inserted_at_its_position() {
    let format_flag = strings(&["-o", "json"]);
    let cases = [
        (&["list"][..], &["list", "-o", "json"][..]),
        (&[], &["-o", "json"]),
        (&["exec", "--", "ls", "--"], &["exec", "-o", "json", "--", "ls", "--"]),
        (&["{format}", "list"], &["-o", "json", "list"]),
        (&["exec", "--", "x", "{format}"], &["exec", "--", "x", "-o", "json"]),
    ];
    for (args, expected) in cases {
        assert_eq!(insert_format_flag(&strings(args), &format_flag), expected);
    }
    assert_eq!(insert_format_flag(&strings(&["a", "{format}", "b"]), &[]), ["a", "b"]);
    let formats = FormatFlags::default();
    assert_eq!(
        insert_format_flag(&strings(&["list"]), formats.args(OutputFormat::Jsonl).unwrap()),
        ["list", "--output", "jsonl"]
    );
}

#[test]
fn an_invalid_file_never_causes_a_panic_and_its_problems_have_valid_positions() {
    let text = "[target]\ncommand = [\"é\"]\nenv = { A = \"1\" }\n[[probe]]\nname = 'a'\nargs = ['x']\nexit = 77\n\
                [[waiver]]\ncheck = \"p2-error-json\"\nreason = 'r'\nexpires = 2027-03-01\n";
    assert!(parse(text).is_ok());
    for (at, char) in text.char_indices() {
        for replacement in ["", "]", "=", "\"", "\u{0}", "\n", "é"] {
            let broken = format!("{}{replacement}{}", &text[..at], &text[at + char.len_utf8()..]);
            let Err(error) = parse(&broken) else { continue };
            for issue in error.issues {
                let place = issue.place.unwrap();
                let line = broken.split('\n').nth(place.line - 1).unwrap();
                assert!((1..=line.chars().count() + 1).contains(&place.column), "{broken}\n{place}");
            }
        }
    }
}

#[test]
fn nesting_depth_is_limited() {
    for open in ["[", "{a="] {
        assert!(parse(&format!("a = {}", open.repeat(200_000))).is_err());
    }
    assert!(parse(&format!("[{}a]", "a.".repeat(5_000))).is_err());
}
