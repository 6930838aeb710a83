//! Parsing of help texts in the styles of common libraries and tools.
//!
//! The texts are short, and written for these tests in the layout of those tools.

use agentnative::model::OutputFormat;
use agentnative::targets::help::{CliOption, CommandPage, HelpPage, Interface, TargetNames};
use agentnative_contract::budget::{Budget, run_within};

fn names(text: &str) -> Vec<String> {
    Interface::parse(text.as_bytes()).commands.into_iter().map(|command| command.name).collect()
}

fn commands(text: &str) -> Vec<(String, String)> {
    Interface::parse(text.as_bytes()).commands.into_iter().map(|c| (c.name, c.about)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, about)| ((*name).to_owned(), (*about).to_owned())).collect()
}

fn json(text: &str) -> Option<String> {
    Interface::parse(text.as_bytes()).formats.json.map(|args| args.join(" "))
}

fn jsonl(text: &str) -> Option<String> {
    Interface::parse(text.as_bytes()).formats.jsonl.map(|args| args.join(" "))
}

const CLAP: &str = "\
Keeps notes

Usage: notes [OPTIONS] <COMMAND>

Commands:
  list     List the notes, the newest
           first and all of them
  show, s  Show one note
  help     Print this message or the help of the given subcommand(s)

Options:
      --output <FORMAT>  How to print [default: text] [possible values: text, json, jsonl]
  -v, --verbose...       More
  -h, --help             Print help
";

#[test]
fn commands_options_and_formats_of_clap_are_read() {
    let help = Interface::parse(CLAP.as_bytes());
    let expected = [
        ("list", "List the notes, the newest"),
        ("show", "Show one note"),
        ("help", "Print this message or the help of the given subcommand(s)"),
    ];
    assert_eq!(commands(CLAP), pairs(&expected));
    assert_eq!(help.option_names(), ["--output", "-v", "--verbose", "-h", "--help"]);
    assert_eq!(help.formats.json.unwrap(), ["--output", "json"]);
    assert_eq!(help.formats.jsonl.unwrap(), ["--output", "jsonl"]);
}

#[test]
fn nested_and_listed_commands_of_argparse_are_read() {
    let text = "\
usage: notes [-h] [--format {text,json}]
             {list,show} ...

positional arguments:
  {list,show}           what to do
    list                list the
                        notes
    show                show one

options:
  -h, --help            show this help message and exit
  --format {text,json}  how
";
    assert_eq!(commands(text), pairs(&[("list", "list the"), ("show", "show one")]));
    assert_eq!(json(text).unwrap(), "--format json");
    assert_eq!(jsonl(text), None);
    assert_eq!(Interface::parse(text.as_bytes()).option_names(), ["-h", "--help", "--format"]);

    let choices_only = "usage: notes [-h] {list,show} ...\n\noptions:\n  -h, --help  show\n";
    assert_eq!(names(choices_only), ["list", "show"]);
    let a_choice_that_is_no_command =
        "usage: sort [-h] {up,down}\n\npositional arguments:\n  file  what to sort\n";
    assert_eq!(names(a_choice_that_is_no_command), [""; 0]);
    let metavar = "usage: n [-h] ACTION ...\n\npositional arguments:\n  ACTION\n    list      list\n    show      show\n";
    assert_eq!(names(metavar), ["list", "show"]);
}

#[test]
fn commands_below_a_required_argument_of_argparse_are_read() {
    let text = "\
usage: borg [-V] [-h] [--log-json]
            <command> ...

options:
  -V, --version         show version number and exit

required arguments:
  <command>
    benchmark           benchmark command
    check               verify repository
";
    assert_eq!(names(text), ["benchmark", "check"]);
}

#[test]
fn commands_of_click_are_read() {
    let text = "\
Usage: notes [OPTIONS] COMMAND [ARGS]...

  Keeps notes. Commands are safe.

Options:
  --json  Print JSON.
  --help  Show this message and exit.

Commands:
  list     List the notes.
  sync-up  Send them.
";
    assert_eq!(names(text), ["list", "sync-up"]);
    assert_eq!(json(text).unwrap(), "--json");
}

#[test]
fn the_longest_command_of_cobra_is_followed_by_one_space() {
    let text = "\
Keeps notes

Usage:
  notes [command]

Available Commands:
  completion   Generate the script
  list         List the notes
  synchronise  Send them
  a-much-longer-one Do both
  another      Say so

Flags:
  -h, --help            help for notes
  -o, --output string   one of: (text, json)

Use \"notes [command] --help\" for more information about a command.
";
    // A single entry that is not aligned is skipped, because it could be prose.
    assert_eq!(names(text), ["completion", "list", "synchronise", "another"]);
    assert_eq!(json(text).unwrap(), "--output json");
    let aligned =
        "Commands:\n  synchronise Send them to all the others\n  list        List\n  show        Show\n";
    assert_eq!(names(aligned), ["synchronise", "list", "show"]);
}

#[test]
fn commands_in_several_groups_are_read() {
    let text = "\
Usage:  boxes [OPTIONS] COMMAND

Common Commands:
  run         Make one and start it
  ls          List them

Management Commands:
  net         Nets

Basic Commands (Beginner):
  net         Again
  get         Get one

Global Options:
  --config string      Where it is
";
    assert_eq!(names(text), ["run", "ls", "net", "get"]);
}

#[test]
fn commands_of_commander_are_read_without_their_aliases_and_arguments() {
    let text = "\
Usage: notes [options] [command]

Options:
  -V, --version           output the version number

Commands:
  add|a [options] <note>  add one
  list [filter...]        list them
";
    assert_eq!(commands(text), pairs(&[("add", "add one"), ("list", "list them")]));
}

#[test]
fn commands_in_groups_below_an_empty_heading_are_read() {
    let text = "Usage: ledger COMMAND\n\nCommands (and addons):\n\nData entry (these commands write):\n add     Add\n import  Import\n\n\
                Reports:\n balance (bal)  Print balances\n print          Print all\n\nOptions:\n --file FILE  Read this\n";
    assert_eq!(names(text), ["add", "import", "balance", "print"]);
}

#[test]
fn formats_that_options_describe_are_found() {
    let formats = |option: &str| {
        let help = Interface::parse(format!("Usage: demo [OPTIONS]\n\nOptions:\n  {option}\n").as_bytes());
        help.options.iter().flat_map(CliOption::described_formats).collect::<Vec<_>>()
    };
    let (json, jsonl) = (OutputFormat::Json, OutputFormat::Jsonl);
    assert_eq!(formats("--jsonUpgraded   Output upgraded dependencies in json."), [json]);
    assert_eq!(formats("--nl             Output newline-delimited JSON"), [json, jsonl]);
    assert_eq!(formats("-j, --dump-all   Quiet, but print JSON information for each video"), [json, jsonl]);
    assert_eq!(
        formats("--json[=<STYLE>]  Output JSON. With stream, prints each match as a separate JSON object"),
        [json, jsonl]
    );
    for option in ["--write-info   Write metadata to a .info.json file", "--input FILE  Read a JSON file"] {
        assert_eq!(formats(option), [], "{option}");
    }
}

#[test]
fn commands_in_groups_under_prose_are_read() {
    let text = "\
usage: vcs [-v | --version] [-C <path>] [--git-dir=<path>]
           <command> [<args>]

These are common vcs commands used in various situations:

start here (see also: vcs help start)
   clone     Copy a repository
   init      Make one

look around
   log       What happened

'vcs help -a' lists available subcommands and some
concepts.
";
    assert_eq!(names(text), ["clone", "init", "log"]);
    assert_eq!(Interface::parse(text.as_bytes()).option_names(), ["-v", "--version", "-C", "--git-dir"]);
}

#[test]
fn comma_separated_command_names_are_read() {
    let text = "\
pack <command>

Usage:

pack install        install all
pack test           run the tests

All commands:

    access, add-user, audit,
    view,
    whoami

Specify settings in the file:
    /home/.packrc
";
    assert_eq!(names(text), ["access", "add-user", "audit", "view", "whoami"]);
}

#[test]
fn commands_and_options_in_a_grammar_are_read() {
    let text = "\
Usage: net [ OPTIONS ] OBJECT { COMMAND | help }
where  OBJECT := { address | link |
                   route }
       OPTIONS := { -V[ersion] | -s[tatistics] |
                    -j[son] | -f[amily] { inet | inet6 } |
                    -4 }
";
    assert_eq!(names(text), ["address", "link", "route"]);
    assert_eq!(json(text).unwrap(), "-json");
}

#[test]
fn other_separators_and_headings_of_commands_are_recognized() {
    assert_eq!(
        commands("Most used commands:\n  list - list them\n  full-list - all of them\n"),
        pairs(&[("list", "list them"), ("full-list", "all of them")])
    );
    assert_eq!(commands("COMMANDS\n  list: list them\n\nFLAGS\n  --x  y\n"), pairs(&[("list", "list them")]));
    assert_eq!(
        names("The commands are:\n\n\tbug         report one\n\ttest        run them\n"),
        ["bug", "test"]
    );
    assert_eq!(
        names("Unit Commands:\n  list [PATTERN...]     List\n  stop UNIT...          Stop\n"),
        ["list", "stop"]
    );
    assert_eq!(names("Subcommands:\n  list\n  show\n"), ["list", "show"]);
}

#[test]
fn escape_sequences_and_overstriking_are_ignored() {
    let text = "\x1b[1;4mCommands:\x1b[0m\r\n  \x1b[1mlist\x1b[0m  List them\r\n  \x1b]8;;http://x\x1b\\show\x1b]8;;\x07  Show\r\n";
    assert_eq!(commands(text), pairs(&[("list", "List them"), ("show", "Show")]));
    assert_eq!(
        names("C\x08CO\x08OM\x08MM\x08MA\x08AN\x08ND\x08DS\x08S\n    l\x08li\x08is\x08st\x08t  List\n"),
        ["list"]
    );
}

#[test]
fn tools_without_commands_have_none() {
    let filter = "\
Usage:\tjp [options] <filter> [file...]

jp applies the given filter to its inputs. For more advanced
commands see the manual.

Some of the options include:
  -c               compact instead of pretty-printed output;
  -n               no input;
  --tab            use tabs;

Command options:
  --x  y

Examples of commands:
  jp . file        print it
";
    assert_eq!(names(filter), [""; 0]);
    assert_eq!(Interface::parse(filter.as_bytes()).option_names(), ["-c", "-n", "--tab", "--x"]);
    for text in ["", "\n\n", "error: unknown option", "{\"a\": 1}", "Commands:", "{", "usage: {", "usage: {a"]
    {
        assert_eq!(Interface::parse(text.as_bytes()).commands.len(), 0, "{text}");
    }
}

#[test]
fn prose_under_a_heading_is_not_a_command() {
    let text =
        "Commands:\n  Run with care, and only when you are sure.\n  list  List\n  and that is all of it\n";
    assert_eq!(names(text), ["list"]);
}

#[test]
fn the_format_flag_for_json_is_read() {
    let cases = [
        ("  -J, --json  use JSON output format\n", Some("--json")),
        ("  -o, --output <FILE>  Write to a file\n      --json           JSON\n", Some("--json")),
        ("  --json <data>  Send this\n", None),
        ("  --json fields  Print these\n", None),
        ("  --json-cols  Print columns with JSON as JSON\n", None),
        ("  --log-json  Print a JSON object per line of the log\n", None),
        ("  -o, --output='':\n        One of: (json, yaml)\n", Some("--output json")),
        (
            "  --format string   Print with a template:\n                    'json': as JSON\n",
            Some("--format json"),
        ),
        (
            "  --message-format <FMT>  [possible values: human,\n                          json]\n",
            Some("--message-format json"),
        ),
        ("  -j   print JSON\n", Some("-j")),
        ("  -j, --jobs <N>  how many\n", None),
        ("  -a|--all\n    All\n\n  --json\n    Whether to print JSON\n", Some("--json")),
        ("[-a|--all] [--json] [-l|--long]\n", Some("--json")),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text).as_deref(), expected, "{text}");
    }
    assert_eq!(jsonl("  --json-lines  a line each\n").unwrap(), "--json-lines");
    assert_eq!(jsonl("  --format F  text, json or stream-json\n").unwrap(), "--format stream-json");
    assert_eq!(jsonl("  --json  JSON\n"), None);
}

#[test]
fn any_bytes_are_parsed_without_a_panic() {
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    Interface::parse(&all);
    Interface::parse(&b"\x1b[".repeat(10_000));
    Interface::parse(&b"Commands:\n{a,b} := {\n".repeat(10_000));
    Interface::parse(b"usage: \xc4\xb0 {a\xff} ...");
    Interface::parse("Commands:\n  \u{e9}\u{e9}\u{e9} x\n  ab  cd\n  \u{e9}b c\n".as_bytes());
}

#[test]
fn a_free_positional_in_the_usage_is_found_in_each_style() {
    let commands = "Commands:\n  list  List\n  add   Add\n";
    let free_word_of =
        |usage: &str| Interface::parse(format!("{usage}\n\n{commands}").as_bytes()).positional_for_command;
    let cases = [
        // commander
        ("Usage: claude [options] [command] [prompt]", Some("[prompt]")),
        ("Usage: notes [options] [command]", None),
        ("Usage: notes [options] <file>", Some("<file>")),
        // clap
        ("Usage: codex [OPTIONS] [PROMPT]\n       codex [OPTIONS] <COMMAND> [ARGS]", Some("[PROMPT]")),
        ("Usage: notes [OPTIONS] <COMMAND>", None),
        ("Usage: notes [OPTIONS] [COMMAND]", None),
        ("Usage: notes [OPTIONS] [PATH]... [COMMAND]", Some("[PATH]...")),
        (
            "Usage: notes [+toolchain] [OPTIONS] [COMMAND]\n       notes [OPTIONS] -Zscript <FILE> [ARGS]...",
            None,
        ),
        ("Usage: notes [OPTIONS] [ARGS]...", Some("[ARGS]...")),
        // click
        ("Usage: notes [OPTIONS] COMMAND [ARGS]...", None),
        ("Usage: notes [OPTIONS] NAME COMMAND [ARGS]...", Some("NAME")),
        ("Usage: notes [OPTIONS] COMMAND1 [ARGS]... [COMMAND2 [ARGS]...]...", Some("COMMAND1")),
        ("Usage: python -m notes [OPTIONS] COMMAND [ARGS]...", None),
        // argparse
        ("usage: notes [-h] [--format {text,json}]\n             {list,add} ...", None),
        ("usage: notes [-h] [--size SIZE] ACTION ...", None),
        ("usage: notes [-h] [--size SIZE] file {list,add} ...", Some("file")),
        ("usage: notes [-h]\n             [file ...]", Some("[file ...]")),
        // cobra
        ("Usage:\n  notes [flags]\n  notes [command]", None),
        ("Usage:\n  notes [query] [flags]\n  notes [command]", Some("[query]")),
        ("USAGE\n  gh <command> <subcommand> [flags]", None),
        // git, go, pip, iproute2, coreutils
        (
            "usage: git [-v | --version] [-C <path>] [-c <name>=<value>]\n           [--exec-path[=<path>]] <command> [<args>]",
            None,
        ),
        ("Usage:\n\n\tgo <command> [arguments]", None),
        ("Usage:   \n  pip <command> [options]", None),
        ("Usage: net [ OPTIONS ] OBJECT { COMMAND | help }", None),
        ("Usage: cat [OPTION]... [FILE]...", Some("[FILE]...")),
        ("Usage: tool list\n  or:  tool WORD", Some("WORD")),
        ("Usage: tool list [FILE]\n       tool add <NAME>", None),
        ("Usage: tool <command|prompt>", Some("<command|prompt>")),
        ("no usage at all", None),
    ];
    for (usage, expected) in cases {
        assert_eq!(free_word_of(usage).as_deref(), expected, "{usage}");
    }
}

#[test]
fn the_program_name_before_each_command_of_yargs_is_skipped() {
    let text = "\
Commands:
  opencode completion          generate a completion script
  opencode acp                 start a server
  opencode [project]           start the interface  [default]
  opencode run [message..]     run with a message

Positionals:
  project  path to start in                        [string]
";
    let help = Interface::parse(text.as_bytes());
    assert_eq!(names(text), ["completion", "acp", "run"]);
    assert_eq!(help.positional_for_command.as_deref(), Some("[project]"));
    let without = text.replace("opencode [project]           start", "opencode serve [port]        start");
    assert_eq!(Interface::parse(without.as_bytes()).positional_for_command, None);
    let usage = format!("opencode <command> [options]\n\n{without}");
    assert_eq!(Interface::parse(usage.as_bytes()).positional_for_command, None);
}

#[test]
fn options_directly_below_the_usage_are_not_a_part_of_it() {
    let text = "\
usage: tree [-acd] [-L level] [--sort[=]<name>]
\t[--help] [--] [directory ...]
  ------- Listing options -------
  -a            All files are listed.
  -d            List directories only.
";
    let help = Interface::parse(text.as_bytes());
    assert!(help.arguments.iter().all(|argument| !argument.required), "{:?}", help.arguments);
}

#[test]
fn the_program_name_in_calls_with_options_is_not_a_command() {
    let text = "\
COMMON COMMANDS

  tsc
  Compiles the current project (tsconfig.json in the working directory.)

  tsc app.ts util.ts
  Ignoring tsconfig.json, compiles the specified files with default compiler options.

  tsc -b
  Build a composite project in the working directory.

  tsc --noEmit
  tsc --target esnext
  Compiles the current project, with additional settings.
";
    assert_eq!(names(text), Vec::<String>::new());
}

#[test]
fn a_wrapped_line_of_yargs_does_not_hide_the_program_name() {
    let text = "\
Commands:
  spec stats [api]              show statistics
  spec generate <descriptionPa  generate a descr
  th>                           iption
  spec lint [apis...]           lint
";
    assert_eq!(names(text), ["stats", "generate", "lint"]);
}

#[test]
fn groups_without_the_word_command_are_read_if_the_usage_shows_a_command() {
    let page = "\
Version 1.0.0
Usage: pack [command] [flags]

Manage your dependencies:
      add                  Installs a package and any packages that
                           it depends on
   i, install              Installs all dependencies
      unlink               Removes a link

Other:
   c, config               Manages the configuration

Options:
  -r, --recursive          Runs in each project
";
    assert_eq!(names(page), ["add", "install", "unlink", "config"]);
    assert_eq!(names(&page.replace("pack [command]", "pack <file>")), Vec::<String>::new());
}

#[test]
fn a_word_before_dots_is_a_command_only_if_the_page_lists_commands() {
    let arguments = |page: &str| {
        let page = Interface::parse(page.as_bytes());
        page.arguments.iter().map(|argument| (argument.name.clone(), argument.required)).collect::<Vec<_>>()
    };
    assert_eq!(arguments("Usage: black [OPTIONS] SRC ...\n"), [("SRC".to_owned(), true)]);
    assert_eq!(
        arguments("Usage: lint [options] [file/dir/glob ...]\n"),
        [("file/dir/glob".to_owned(), false)]
    );
    let kinds = Interface::parse(b"Usage: lint [options] [files|directories|globs...]\n");
    assert_eq!(kinds.arguments[0].choices, Vec::<String>::new());
    let commands = "usage: notes [-h] action ...\n\npositional arguments:\n  {add,list}\n    add   Adds\n";
    assert_eq!(arguments(commands), []);
}

/// Help is untrusted: its length and nesting are chosen by the target.
#[test]
fn nested_groups_are_read_to_a_limited_depth() {
    let deep = format!("Usage: tool list {}\n", "(".repeat(1 << 20));
    assert_eq!(Interface::of_command(&HelpPage::parse(deep.as_bytes()), &["list"]).arguments, []);
    let nested =
        Interface::of_command(&HelpPage::parse(b"Usage: tool list (((<file> | -) ...) <more>)\n"), &["list"]);
    assert_eq!(nested.arguments.iter().map(|operand| operand.name.as_str()).collect::<Vec<_>>(), ["file"]);
}

#[test]
fn a_page_of_maximum_length_is_parsed_within_one_budget_step() {
    let lines = |line: &dyn Fn(usize) -> String| (0..1 << 20 >> 3).map(line).collect::<String>();
    for page in [
        "Usage: tool ".to_owned() + &"{".repeat(1 << 20) + "} ...",
        "OBJECT := {".repeat(1 << 17),
        "Commands:\n".to_owned() + &lines(&|nth| format!(" {}  a\n", "x".repeat(nth % 50))),
        "Usage: tool ".to_owned() + &lines(&|nth| format!("-a{nth} ")),
        lines(&|nth| format!("usage: {nth}\n")) + &lines(&|nth| format!("$ {nth}\n")),
        "Usage: tool\n".to_owned() + &"  a\n".repeat(1 << 18),
        "Usage: tool ".to_owned() + &"(- ".repeat(1 << 18),
        "Usage: tool ".to_owned() + &"a ".repeat(1 << 19) + "\n" + &"  --b  [required]\n".repeat(1 << 15),
    ] {
        let start = page[..40].to_owned();
        let parse = move || {
            let page = HelpPage::parse(page.as_bytes());
            let names = TargetNames::new(&page, &[], &["tool".to_owned()]);
            CommandPage::new(&page, &["list"], &names, &[]);
        };
        assert_eq!(run_within(Budget::STEP, parse), Ok(()), "{start}");
    }
}
