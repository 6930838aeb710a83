//! The configuration that `agentnative init` generates from help pages.

use agentnative::config::{Config, Date, FormatFlag, ProbeConfig, ValidationContext};
use agentnative::model::OutputFormat;
use agentnative::targets::{CommandTree, ConfigTemplate, Effect, TreeLimits};
use agentnative_contract::error::Error;
use std::collections::BTreeMap;
use std::path::Path;

const KNOWN: ValidationContext<'static> = ValidationContext {
    checks: &["p2-output-jsonl"],
    contracts: &[],
    today: Date { year: 2026, month: 11, day: 21 },
};

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, Path::new("agentnative.toml"), &KNOWN)
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Reads help pages, which are given with the arguments that print them (none for the page of the target). Returns the
/// commands and all calls that were made.
fn explore(pages: &[(&str, &str)]) -> (CommandTree, Vec<String>) {
    let page = |args: &str| pages.iter().find(|(call, _)| *call == args).map(|(_, page)| page.as_bytes());
    let mut calls = Vec::new();
    let commands = CommandTree::explore(page("").unwrap(), &TreeLimits::default(), &mut |requested| {
        let answer = |args: &Vec<String>| {
            calls.push(args.join(" "));
            page(&args.join(" ")).map(<[u8]>::to_vec)
        };
        requested.iter().map(answer).collect()
    });
    (commands, calls)
}

fn generate(commands: &CommandTree, probes: &[ProbeConfig], exit_codes: &[(i32, &str)]) -> String {
    let exit_codes: BTreeMap<i32, String> =
        exit_codes.iter().map(|(code, about)| (*code, (*about).to_owned())).collect();
    let template = ConfigTemplate {
        name: "notes",
        command: None,
        commands,
        exit_codes: &exit_codes,
        probes,
        observed: &BTreeMap::new(),
        observed_usage: None,
    };
    template.text().unwrap()
}

/// Returns the configuration with all its suggestions uncommented.
fn with_suggestions(template: &str) -> String {
    let uncomment = |line: &str| match line.strip_prefix('#') {
        Some(code) if !code.is_empty() && !code.starts_with([' ', ':']) => format!("{code}\n"),
        _ => format!("{line}\n"),
    };
    template.lines().map(uncomment).collect()
}

/// Parses the generated configuration, unchanged and with all suggestions uncommented.
fn parse_generated(commands: &CommandTree, probes: &[ProbeConfig]) -> (Config, Config) {
    let text = generate(commands, probes, &[]);
    let all = with_suggestions(&text);
    (
        parse(&text).unwrap_or_else(|error| panic!("{error:#?}\n{text}")),
        parse(&all).unwrap_or_else(|error| panic!("{error:#?}\n{all}")),
    )
}

fn calls_of(config: &Config) -> Vec<String> {
    config.probes.iter().map(|probe| probe.call.args.join(" ")).collect()
}

#[test]
fn the_generated_configuration_is_valid_without_and_with_its_suggestions() {
    let helps = [
        "",
        "Commands:\n  push  Send \"them\" \\ all\n  list, l  List\n  get-all  Get\n  help  Help\n\nOptions:\n  --json  JSON\n",
        "Commands:\n  list  List\n\nOptions:\n  --output <F>  text, json or jsonl\n",
    ];
    for help in helps {
        let (commands, _) = explore(&[("", help)]);
        let command = strings(&["./target/debug/my cli", "it's \"x\"\n"]);
        for command in [None, Some(&command[..])] {
            let exit_codes = BTreeMap::new();
            let template = ConfigTemplate {
                name: "my\ncli\x1b[1m",
                command,
                commands: &commands,
                exit_codes: &exit_codes,
                probes: &[],
                observed: &BTreeMap::new(),
                observed_usage: None,
            };
            let text = template.text().unwrap();
            assert_eq!(text, template.text().unwrap());
            assert!(text.chars().all(|char| char == '\n' || !char.is_control()), "{text}");
            let config = parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            assert_eq!((config.targets.len(), config.probes.len(), config.waivers.len()), (1, 0, 0));
            assert_eq!(config.targets[0].command.is_some(), command.is_some());
            let all = with_suggestions(&text);
            let config = parse(&all).unwrap_or_else(|error| panic!("{error:#?}\n{all}"));
            assert!(config.probes.len() >= 4, "{all}");
            let next = template.next_steps("./notes");
            assert!(next[0].contains("\n  agentnative init --force --"), "{next:?}");
            assert_eq!(next.last().unwrap(), "run `agentnative check`");
        }
    }
    let many: String = (0..60).map(|n| format!("  cmd{n}  Does {n}\n")).collect();
    let (commands, _) = explore(&[("", &format!("Commands:\n{many}"))]);
    let text = generate(&commands, &[], &[]);
    assert_eq!(text.matches("#[[probe]]").count(), 43);
    assert!(text.contains("# … and 20 more commands"), "{text}");
}

/// argparse: nested subparsers, and an option of the program that is accepted only before its commands.
const ARGPARSE: [(&str, &str); 6] = [
    (
        "",
        "usage: notes.py [-h] [--output {text,json}] --db DB {list,show,remote} ...

positional arguments:
  {list,show,remote}
    list                list the notes
    show                show one note
    remote              other machines

options:
  -h, --help            show this help message and exit
  --output {text,json}  how to print
  --db DB               which notes
",
    ),
    ("list --help", "usage: notes.py list [-h] [filter ...]\n\npositional arguments:\n  filter\n"),
    (
        "show --help",
        "usage: notes.py show [-h] --as NAME [--tag TAG] {short,long} id [page]\n\npositional arguments:\n  {short,long}\n  id\n  page\n",
    ),
    (
        "remote --help",
        "usage: notes.py remote [-h] {add,ls} ...\n\npositional arguments:\n  {add,ls}\n    add       add one\n    ls        list them\n",
    ),
    ("remote add --help", "usage: notes.py remote add [-h] name url\n"),
    ("remote ls --help", "usage: notes.py remote ls [-h]\n"),
];

#[test]
fn argparse_pages_describe_nested_commands_arguments_and_the_position_of_global_options() {
    let (commands, calls) = explore(&ARGPARSE);
    let expected_calls =
        ["list", "show", "remote", "remote add", "remote ls"].map(|words| format!("{words} --help"));
    assert_eq!(calls, expected_calls);
    let (active, all) = parse_generated(&commands, &[]);
    assert!(active.probes.is_empty());
    let formats = &active.targets[0].conventions.formats;
    let flag = |args: &[&str]| FormatFlag::Given(strings(args));
    assert_eq!(formats.json, flag(&["--output", "json"]));
    assert_eq!(
        formats.jsonl,
        flag(&["--output", "jsonl"]),
        "a required format, even if the help does not list it"
    );
    assert_eq!(formats.text, flag(&["--output", "text"]));
    let suggested = &calls_of(&all)[..4];
    assert_eq!(
        suggested,
        [
            "{format} --db <DB> list",
            "{format} --db <DB> show --as <NAME> short <id>",
            "{format} --db <DB> remote ls",
            "{format} --db <DB> remote add <name> <url>",
        ]
    );
    // A declared probe is not suggested again.
    let probe = ProbeConfig::from_flag("--db x.db remote ls").unwrap();
    let (active, all) = parse_generated(&commands, &[probe]);
    assert_eq!(calls_of(&active), ["--db x.db remote ls"]);
    assert!(!calls_of(&all).contains(&"{format} --db <DB> remote ls".to_owned()));
}

#[test]
fn pages_of_other_libraries_describe_the_same_command() {
    let clap = [
        (
            "",
            "Usage: notes [OPTIONS] <COMMAND>\n\nCommands:\n  show  Show one\n  help  Print this message or the help of the given subcommand(s)\n\nOptions:\n  -h, --help  Print help\n",
        ),
        (
            "show --help",
            "Show one\n\nUsage: notes show [OPTIONS] --as <NAME> <ID> [PAGE]...\n\nOptions:\n      --format <FORMAT>\n          Possible values:\n          - plain:  For people\n          - json:   One document\n          - ndjson: One object per line\n\n          [default: json]\n",
        ),
    ];
    let commander = [
        (
            "",
            "Usage: notes [options] [command]\n\nOptions:\n  --json                 print JSON\n  -h, --help             display help for command\n\nCommands:\n  show [options] <id>    show one\n  help [command]         display help for command\n",
        ),
        (
            "show --help",
            "Usage: notes show [options] <id> [page]\n\nOptions:\n  -h, --help  display help for command\n",
        ),
    ];
    let cobra = [
        (
            "",
            "Usage:\n  notes [command]\n\nAvailable Commands:\n  show        Show one\n\nFlags:\n  -h, --help            help for notes\n  -o, --output string   one of: text|json|jsonl\n\nUse \"notes [command] --help\" for more information about a command.\n",
        ),
        (
            "show --help",
            "Show one\n\nUsage:\n  notes show ID [flags]\n\nGlobal Flags:\n  -o, --output string   one of: text|json|jsonl\n",
        ),
    ];
    let click = [
        (
            "",
            "Usage: notes [OPTIONS] COMMAND [ARGS]...\n\nOptions:\n  --help  Show this message and exit.\n\nCommands:\n  show  Show one.\n",
        ),
        (
            "show --help",
            "Usage: notes show [OPTIONS] ID\n\nOptions:\n  --as TEXT  Name  [required]\n  --json     Print one JSON object per line.\n  --help     Show this message and exit.\n",
        ),
    ];
    let go = [
        (
            "",
            "usage: notes <command> [arguments]\n\nThe commands are:\n\n\tshow        show one\n\nUse \"notes help <command>\" for more information about a command.\n",
        ),
        ("help show", "usage: notes show [-json] id\n\nThe -json flag prints JSON.\n"),
    ];
    let flag = |args: &[&str]| FormatFlag::Given(strings(args));
    let flag_with_value = |name: &str, value: &str| flag(&[name, value]);
    let cases = [
        (
            "clap",
            &clap[..],
            "show --as <NAME> <ID>",
            [
                flag_with_value("--format", "plain"),
                flag_with_value("--format", "json"),
                flag_with_value("--format", "ndjson"),
            ],
        ),
        ("commander", &commander, "{format} show <id>", [flag(&[]), flag(&["--json"]), flag(&["--jsonl"])]),
        (
            "cobra",
            &cobra,
            "show <ID>",
            [
                flag_with_value("--output", "text"),
                flag_with_value("--output", "json"),
                flag_with_value("--output", "jsonl"),
            ],
        ),
        ("click", &click, "show <ID> --as <as>", [flag(&[]), FormatFlag::Absent, flag(&["--json"])]),
        ("go", &go, "show <id>", [flag(&[]), flag(&["-json"]), flag(&["-jsonl"])]),
    ];
    for (library, pages, call, [text, json, jsonl]) in cases {
        let (commands, calls) = explore(pages);
        assert_eq!(calls, [pages[1].0], "{library}");
        let (active, all) = parse_generated(&commands, &[]);
        assert_eq!(calls_of(&all)[0], call, "{library}");
        let formats = &active.targets[0].conventions.formats;
        assert_eq!([&formats.text, &formats.json, &formats.jsonl], [&text, &json, &jsonl], "{library}");
        let by_default = if library == "clap" { OutputFormat::Json } else { OutputFormat::Text };
        assert_eq!(active.targets[0].conventions.default_format, by_default, "{library}");
    }
}

#[test]
fn help_is_called_only_as_documented_and_within_limits() {
    // The page does not document `COMMAND --help`, so such a call could run the command.
    let undocumented = "Usage: tool <command>\n\nCommands:\n  list  List\n  wipe  Remove all\n\nOptions:\n  -h, --help  Show help\n";
    let (commands, calls) = explore(&[("", undocumented), ("wipe --help", "removed")]);
    assert_eq!((calls.len(), commands.leaves.len()), (0, 2));
    assert!(
        generate(&commands, &[], &[]).contains("# Note: the help pages of its subcommands were not read")
    );
    // A help flag that prints the help of any command documents the call; one of its own command does not.
    for (flag, calls_expected) in [
        ("  -help  Show this help output, or the help for a specified subcommand.", "list -help, wipe -help"),
        ("  -h, --help  Show help for command", "list --help, wipe --help"),
        ("  -h, --help  Show the help of the command", ""),
    ] {
        let page = undocumented.replace("  -h, --help  Show help", flag);
        let (_, calls) = explore(&[("", &page), ("list -help", "Lists"), ("list --help", "Lists")]);
        assert_eq!(calls.join(", "), calls_expected, "{flag}");
    }
    // A page that repeats the one of the target does not count; after three of them no more are requested.
    let documented = format!("{undocumented}\nRun 'tool COMMAND --help' for more.\n  x1 x\n")
        .replace("  wipe", "  one  1\n  two  2\n  three  3\n  wipe");
    let repeated: Vec<(&str, &str)> =
        ["", "list --help", "one --help", "two --help", "three --help", "wipe --help"]
            .map(|call| (call, documented.as_str()))
            .to_vec();
    let (commands, calls) = explore(&repeated);
    assert_eq!((calls.len(), commands.leaves.len()), (3, 5));
    // Recursive commands and large numbers of commands are limited.
    let deep = "Usage: tool COMMAND\n\nCommands:\n  a  A\n\nRun 'tool COMMAND --help' for more.\n";
    let mut count = 0;
    let commands = CommandTree::explore(deep.as_bytes(), &TreeLimits::default(), &mut |requested| {
        let mut page = |_: &Vec<String>| {
            count += 1;
            Some(format!("{deep}\nCommands:\n  b{count}  B\n").into_bytes())
        };
        requested.iter().map(&mut page).collect()
    });
    assert!(count <= 100 && commands.leaves.iter().all(|call| call.words.len() <= 4), "{count}");
    let commands = CommandTree::explore(deep.as_bytes(), &TreeLimits::default(), &mut |_| Vec::new());
    let unread = "the help pages of 1 command were not read: the time limit was exceeded";
    assert_eq!(commands.unread.as_deref(), Some(unread));
    let many: String = (0..400).map(|n| format!("  c{n}  C\n")).collect();
    let many = deep.replace("  a  A\n", &many);
    let commands = CommandTree::explore(many.as_bytes(), &TreeLimits::default(), &mut |requested| {
        requested.iter().map(|_| Some(b"A page".to_vec())).collect()
    });
    let unread = "the help pages of 100 commands were not read: there are too many";
    assert_eq!((commands.unread.as_deref(), commands.leaves.len()), (Some(unread), 400));
}

#[test]
fn exit_codes_in_the_help_are_those_of_the_target() {
    let (commands, _) = explore(&[("", "Commands:\n  list  List\n")]);
    let text = generate(
        &commands,
        &[],
        &[(0, "success"), (1, "error"), (64, "usage error"), (70, "no network"), (130, "interrupted")],
    );
    let config = parse(&text).unwrap();
    assert_eq!(
        (&config.targets[0].conventions.exit_codes[..], config.targets[0].conventions.usage),
        (&[0, 1, 64, 70, 130][..], 64)
    );
    let all = parse(&with_suggestions(&text)).unwrap();
    let exits: Vec<i32> = all.probes.iter().map(|probe| probe.exit).collect();
    assert_eq!(exits, [0, 1, 70], "{text}");
    assert!(text.contains("# 70: no network"), "{text}");
    // A probe may have an exit code that the help does not list.
    let text = generate(&commands, &[ProbeConfig::from_flag("3:list").unwrap()], &[]);
    assert_eq!(parse(&text).unwrap().targets[0].conventions.exit_codes, [0, 1, 2, 3, 77, 78]);
}

#[test]
fn a_command_with_other_formats_than_most_has_its_own_formats() {
    let pages = [
        (
            "",
            "Usage: notes COMMAND\n\nCommands:\n  a  A\n  b  B\n  c  C\n\nOptions:\n  --output FORMAT  text or json\n\nRun 'notes COMMAND --help' for more.\n",
        ),
        ("a --help", "Usage: notes a\n"),
        ("b --help", "Usage: notes b\n\nOptions:\n  --json  as JSON\n"),
        ("c --help", "Usage: notes c\n\nOptions:\n  --output FILE  where to write\n"),
    ];
    let (commands, _) = explore(&pages);
    let (_, all) = parse_generated(&commands, &[]);
    let probe = |name: &str| all.probes.iter().find(|probe| probe.name == name).unwrap();
    assert_eq!(probe("a").call.args, ["{format}", "a"]);
    assert_eq!(probe("b").call.format_flags[&OutputFormat::Json], FormatFlag::Given(strings(&["--json"])));
    assert_eq!(probe("c").formats, [OutputFormat::Text], "its --output is a file");
}

#[test]
fn help_of_a_subcommand_is_requested_in_the_next_way_if_the_first_prints_no_page() {
    let root = "Usage: tool <command>\n\nCommands:\n  list  List\n  wipe  Wipe\n\nSee 'tool <command> --help', or 'tool help <command>'.\n";
    let (commands, calls) = explore(&[("", root), ("help list", "Usage: tool list <where>\n")]);
    assert_eq!(calls, ["list --help", "wipe --help", "help list", "help wipe"]);
    assert_eq!(commands.leaves[0].usage_required(), "list <where>");
    // The second way is used only if the page documents it.
    let (_, calls) = explore(&[("", &root.replace(", or 'tool help <command>'", ""))]);
    assert_eq!(calls, ["list --help", "wipe --help"]);
}

#[test]
fn the_effect_of_a_command_is_derived_from_its_name_and_description() {
    let entries = [
        ("hosts", "List hosts", Effect::Reads),
        ("whoami", "", Effect::Reads),
        ("overview", "Shows the state of all hosts", Effect::Reads),
        ("branch", "List, create, or delete branches", Effect::Unknown),
        ("config", "Get and set options", Effect::Unknown),
        ("events", "Show events as they come, continuously", Effect::Unknown),
        ("hosts-and-more", "", Effect::Unknown),
        ("status", "Set the status", Effect::Changes),
        ("update", "List what can be updated", Effect::Changes),
        ("delete-all", "", Effect::Changes),
        ("account", "Sign in", Effect::Changes),
    ];
    let lines: String = entries.iter().map(|(name, about, _)| format!("  {name}   {about}\n")).collect();
    let (commands, _) = explore(&[("", &format!("Commands:\n{lines}"))]);
    for (call, (name, about, effect)) in commands.leaves.iter().zip(entries) {
        assert_eq!((&*call.name(), call.effect()), (name, effect), "{about}");
    }
    let text = generate(&commands, &[], &[]);
    let titles = [
        "read-only by name and description:",
        "the help does not state whether these are read-only:",
        "these may change something:",
    ];
    let positions = titles.map(|title| text.find(title).unwrap_or_else(|| panic!("{title}: {text}")));
    assert!(positions.is_sorted());
}

#[test]
fn the_arguments_of_a_command_without_a_page_are_derived_from_its_description() {
    for (about, call) in [
        ("Show the status of a host", "x <host>"),
        ("Show one note.", "x <note>"),
        ("Print a summary of all", "x"),
        ("Show all modules in a working directory", "x"),
        ("Show the path of a saved plan", "x"),
        ("List hosts", "x"),
        ("Show a", "x"),
    ] {
        let (commands, _) = explore(&[("", &format!("Commands:\n  x   {about}\n  y   Y\n"))]);
        assert_eq!(commands.leaves[0].usage_required(), call, "{about}");
    }
}

#[test]
fn the_next_step_is_a_command_with_all_calls_that_only_read() {
    let pages = [
        (
            "",
            "Usage: notes COMMAND\n\nCommands:\n  list   List\n  show   Show\n  tags ls   x\n  fold   Folds\n  wipe   Remove all\n\nRun 'notes COMMAND --help' for more.\n",
        ),
        ("list --help", "Usage: notes list\n"),
        ("show --help", "Usage: notes show <id>\n"),
        ("wipe --help", "Usage: notes wipe\n"),
    ];
    let (commands, _) = explore(&pages);
    let exit_codes = BTreeMap::new();
    let observed = BTreeMap::new();
    let template = |probes| ConfigTemplate {
        name: "notes",
        command: None,
        commands: &commands,
        exit_codes: &exit_codes,
        probes,
        observed: &observed,
        observed_usage: None,
    };
    let probes = [ProbeConfig::from_flag("list").unwrap()];
    assert_eq!(
        template(&[]).next_steps("./my-notes"),
        [
            "declare the calls that are safe to run up to 40 times:\n  agentnative init --force --safe list --probe \"show <id>\" ./my-notes\nreplace `<id>` with a value that exists",
            "add those of these commands that are read-only: `tags` and `fold`",
            "omit commands that may change something, or declare them with `workspace` and `changes = true`: `wipe`",
            "add a probe for each of the exit codes 1, 77 and 78, such as `--probe \"1:show <id that does not exist>\"`, or remove the code from `exit_codes`",
            "run `agentnative check`",
        ]
    );
    assert_eq!(template(&probes).next_steps("./my-notes").len(), 2);
}
