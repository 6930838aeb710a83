//! The commands of an explored target, read from the help runs.

use super::extensions::file_extensions;
use super::settings::{Calls, ExploreSettings, FindRun};
use super::trial::Trial;
use crate::catalogue::DerivedKind;
use crate::config::{CallConfig, FormatFlag};
use crate::model::{
    CallGroup, CallOutcome, Case, ExploredOrigin, FoundCommand, OutputFormat, ProbeId, matches_pattern,
};
use crate::probe::{Probe, UNKNOWN_COMMAND};
use crate::run::{Observation, RunEnd, RunKey};
use crate::targets::{
    CliOption, CommandNode, CommandPage, CommandTree, HelpCall, HelpPage, Interface, LeafCommand, ParsedPage,
    TargetNames, TreeLimits, is_path,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Maximum number of words of an explored command.
const MAX_DEPTH: usize = 5;
/// Maximum number of help pages that are read.
const MAX_PAGES: usize = 500;
/// Maximum length of a help page that is read, and of all pages together, in bytes.
const MAX_PAGE_BYTES: u64 = 256 << 10;
const MAX_ALL_BYTES: usize = 8 << 20;
/// Maximum length of the page of a parent that stands for the missing page of a command, in bytes.
const MAX_SHARED_BYTES: usize = 64 << 10;

/// The commands of an explored target.
#[derive(Debug)]
pub(super) struct Tree {
    /// Commands without subcommands, in the order of the help pages.
    pub commands: Vec<ExploredCommand>,
    /// Commands with subcommands, each with its page.
    pub groups: Vec<(Vec<String>, CommandPage)>,
    /// What the pages show in the place of a command, such as a file, if anything.
    pub argument_for_command: Option<String>,
    /// The names by which the target is called in examples.
    pub names: TargetNames,
    /// Arguments of the call that prints the schema of the output.
    pub schema: Option<Vec<String>>,
    /// Runs that no probe has: of help pages for words that are no commands, and of the page without arguments.
    pub other_runs: Vec<RunKey>,
    /// The formats for which a help page lists a flag.
    pub listed_formats: BTreeSet<OutputFormat>,
    /// The words on all help pages, in lower case.
    pub words: BTreeSet<String>,
    /// Notes for the report.
    pub notes: Vec<String>,
}

/// A command without subcommands, with its help page.
#[derive(Debug)]
pub(super) struct ExploredCommand {
    pub leaf: LeafCommand,
    /// The page of the command; that of the nearest parent with a page, if it has none.
    pub page: CommandPage,
    /// Text of that page.
    pub text: String,
    /// Extensions of the files that the command probably reads, the most probable first.
    pub extensions: Vec<String>,
    pub found: FoundCommand,
}

impl ExploredCommand {
    /// Returns whether the command can be called.
    pub fn is_callable(&self) -> bool {
        self.found.not_called.is_none() && !self.found.is_unknown
    }

    /// Returns whether the page of the command mentions that it reads stdin.
    pub fn reads_stdin(&self) -> bool {
        let text = self.text.to_lowercase();
        text.contains("stdin") || text.contains("standard input")
    }
}

impl Tree {
    /// Reads the help pages of a target from its runs, or requests the runs. If the main page lists no commands, a call
    /// without arguments may.
    pub fn read<'r>(
        settings: &ExploreSettings<'_>,
        root: &'r Observation,
        find: &FindRun<'r>,
    ) -> ControlFlow<Calls, Self> {
        let mut needed = Calls::new();
        let mut pages: BTreeMap<Vec<String>, (RunKey, Option<&'r Observation>)> = BTreeMap::new();
        let limits = TreeLimits {
            depth: MAX_DEPTH,
            pages: MAX_PAGES,
            other_help_calls: vec![HelpCall::Flag("--help".to_owned()), HelpCall::Command],
        };
        let (mut text, mut read, mut without_arguments) = (page_bytes(root), 0, None);
        if Interface::parse(&text).commands.is_empty() {
            let call = Trial::new(0, CallGroup::Commands, Vec::new());
            let call = call.probe(call.name(), &[], false, &settings.workspace);
            let key = call.plain_run(OutputFormat::Text);
            let Some(seen) = find(&key) else { return ControlFlow::Break(vec![(call, OutputFormat::Text)]) };
            let page = seen.map(page_bytes).filter(|page| !Interface::parse(page).commands.is_empty());
            without_arguments = page.map(|page| (std::mem::replace(&mut text, page), key).1);
        }
        let tree = CommandTree::explore(&text, &limits, &mut |requests| {
            let calls: Vec<Probe> = requests.iter().map(|args| help_call(settings, args)).collect();
            let mut answers: Vec<Option<Vec<u8>>> = Vec::new();
            for (args, call) in requests.iter().zip(calls) {
                let key = call.plain_run(OutputFormat::Text);
                match find(&key) {
                    _ if read > MAX_ALL_BYTES || is_skipped(settings.skip, args) => answers.push(None),
                    None => needed.push((call, OutputFormat::Text)),
                    Some(seen) => {
                        let page = seen.filter(|seen| seen.end == RunEnd::Exited(0)).map(page_bytes);
                        read += page.as_ref().map_or(0, Vec::len);
                        answers.push(page);
                        pages.insert(args.clone(), (key, seen));
                    }
                }
            }
            // Fewer answers than requests end the reading until the missing runs are made.
            if needed.is_empty() { answers } else { Vec::new() }
        });
        // A call of a command that does not exist shows which of the listed words are no commands.
        let mut rejections = BTreeMap::new();
        for node in tree.nodes.iter().filter(|node| lists_commands(node)) {
            let args = [&node.words[..], &[UNKNOWN_COMMAND.to_owned(), "--help".to_owned()]].concat();
            let call = help_call(settings, &args);
            match find(&call.plain_run(OutputFormat::Text)) {
                None => needed.push((call, OutputFormat::Text)),
                Some(seen) => rejections.extend(seen.map(|seen| (node.words.clone(), seen))),
            }
        }
        if !needed.is_empty() {
            return ControlFlow::Break(needed);
        }
        let mut tree = Self::new(settings, root, tree, &pages, &rejections);
        let is_command = tree.commands.iter().any(|command| command.leaf.words.is_empty());
        tree.other_runs.extend(without_arguments.filter(|_| !is_command));
        ControlFlow::Continue(tree)
    }

    fn new(
        settings: &ExploreSettings<'_>,
        root: &Observation,
        mut tree: CommandTree,
        pages: &BTreeMap<Vec<String>, (RunKey, Option<&Observation>)>,
        rejections: &BTreeMap<Vec<String>, &Observation>,
    ) -> Self {
        let root_page = HelpPage::parse(&page_bytes(root));
        let listed = tree.help.commands.clone();
        let names =
            TargetNames::new(&root_page, &listed, root.argv.split_last().map_or(&[], |(_, argv)| argv));
        let parse = |bytes: &[u8], words: &[String]| {
            let path: Vec<&str> = words.iter().map(String::as_str).collect();
            CommandPage::new(&HelpPage::parse(bytes), &path, &names, &listed)
        };
        let unknown: BTreeMap<&[String], &RunKey> = pages
            .iter()
            .filter_map(|(args, (key, seen))| {
                let words = args.strip_suffix(&["--help".to_owned()][..])?;
                let (name, above) = words.split_last()?;
                let is_target = above.is_empty() && names.programs().contains(&**name);
                let rejection = rejections.get(above);
                let is_unknown = is_target
                    || seen.is_some_and(|seen| rejection.is_some_and(|other| ends_alike(seen, name, other)));
                is_unknown.then_some((words, key))
            })
            .collect();
        let is_known = |leaf: &LeafCommand| !unknown.contains_key(&leaf.words[..]);
        let argument_for_command = tree.help.positional_for_command.clone().or_else(|| {
            let pages = tree.nodes.iter().filter_map(|node| Some(parse(&node.page.as_ref()?.0, &node.words)));
            pages
                .flat_map(|page| page.examples)
                .find_map(|example| example.args.into_iter().next().filter(|word| is_path(word)))
        });
        if !tree.leaves.iter().any(is_known) {
            tree.leaves.push(tree.root_command());
        } else if argument_for_command.is_some() && tree.leaves.iter().all(|leaf| leaf.node != 0) {
            tree.leaves.insert(0, tree.root_command());
        }
        let commands = tree.leaves.iter().map(|leaf| {
            let own = tree.nodes[leaf.node].page.as_ref();
            let mut at = leaf.node;
            while let (None, Some(parent)) = (&tree.nodes[at].page, tree.nodes[at].parent) {
                at = parent;
            }
            let is_short = |page: &&ParsedPage| own.is_some() || page.0.len() <= MAX_SHARED_BYTES;
            let page = tree.nodes[at].page.as_ref().filter(is_short);
            let bytes = page.map_or(&[][..], |(bytes, _)| bytes);
            let options = own.map_or_else(Vec::new, |(_, page)| {
                page.options.iter().map(|option| option.names.clone()).collect()
            });
            let text = String::from_utf8_lossy(bytes).into_owned();
            ExploredCommand {
                page: parse(bytes, &leaf.words),
                extensions: file_extensions(
                    &names.programs(),
                    &format!("{} {text}", leaf.name()),
                    &settings.files,
                ),
                text,
                found: FoundCommand {
                    words: leaf.words.clone(),
                    options,
                    not_called: is_skipped(settings.skip, &leaf.words)
                        .then(|| "excluded by the configuration".to_owned()),
                    is_unknown: !is_known(leaf),
                },
                leaf: leaf.clone(),
            }
        });
        let commands: Vec<ExploredCommand> = commands.collect();
        let groups = tree.nodes.iter().filter(|node| lists_commands(node)).filter_map(|node| {
            let (bytes, _) = node.page.as_ref()?;
            Some((node.words.clone(), parse(bytes, &node.words)))
        });
        let rejected = rejections.values().map(|seen| &seen.key);
        let other_runs = unknown.values().copied().chain(rejected).cloned();
        Self {
            argument_for_command,
            groups: groups.collect(),
            schema: tree.schema,
            other_runs: other_runs.collect(),
            listed_formats: tree
                .nodes
                .iter()
                .filter_map(|node| node.page.as_ref())
                .flat_map(listed_formats)
                .chain(settings.documents.iter().flat_map(|text| formats_of_flags(text)))
                .collect(),
            words: tree.nodes.iter().filter_map(|node| node.page.as_ref()).flat_map(words).collect(),
            notes: tree.unread.into_iter().collect(),
            commands,
            names,
        }
    }

    /// Returns the index of the command that a call with these arguments reaches.
    pub fn command_of(&self, args: &[String]) -> Option<usize> {
        let is_flag = |arg: &&String| arg.starts_with('-');
        let words: Vec<&String> = args.iter().skip_while(is_flag).collect();
        let fits = |words_of: &[String]| {
            words.len() >= words_of.len() && words_of.iter().eq(words[..words_of.len()].iter().copied())
        };
        let indices = (0..self.commands.len()).filter(|at| fits(&self.commands[*at].leaf.words));
        indices.max_by_key(|at| self.commands[*at].leaf.words.len())
    }
}

/// Returns the call with these arguments that requests a help page.
fn help_call(settings: &ExploreSettings<'_>, args: &[String]) -> Probe {
    let words = args.strip_suffix(&["--help".to_owned()][..]);
    let id = match words {
        Some(words) => {
            ProbeId::Derived { kind: DerivedKind::CommandHelp, source: None, case: Case::words(words) }
        }
        None => ProbeId::Explored { explored: args.to_vec(), stdin: None },
    };
    let command = words.map(<[String]>::to_vec).unwrap_or_default();
    let mut call = CallConfig {
        args: args.to_vec(),
        workspace: Some(settings.workspace.clone()),
        ..CallConfig::default()
    };
    if words.is_none() {
        call.format_flags.insert(OutputFormat::Text, FormatFlag::Given(Vec::new()));
    }
    Probe {
        exit: words.map(|_| 0),
        explored: Some(ExploredOrigin {
            command,
            group: CallGroup::Commands,
            outcome: CallOutcome::NotMade,
            is_kept: true,
            only_reads: false,
            invalid: None,
            values: Vec::new(),
        }),
        ..super::trial::text_probe(id, args.join(" "), call)
    }
}

fn is_skipped(skip: &[String], words: &[String]) -> bool {
    let name = words.join(" ");
    skip.iter().any(|pattern| matches_pattern(pattern, &name))
}

/// Returns whether the help run of the command `name` was rejected like `rejection`, the help run of a command that
/// does not exist.
fn ends_alike(seen: &Observation, name: &str, rejection: &Observation) -> bool {
    let first_line = |seen: &Observation, name: &str| {
        let text = String::from_utf8_lossy(&page_bytes(seen)).replace(name, "");
        text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned)
    };
    matches!(seen.end, RunEnd::Exited(code) if code != 0)
        && seen.end == rejection.end
        && first_line(seen, name) == first_line(rejection, UNKNOWN_COMMAND)
}

/// Returns the formats for which a page lists a flag.
fn listed_formats((bytes, page): &ParsedPage) -> Vec<OutputFormat> {
    let other_json = page.has_option("--json") && page.formats.jsonl.is_none();
    let has_json = page.formats.json.is_some() || page.formats.json_by_default || other_json;
    let json = has_json.then_some(OutputFormat::Json);
    let listed = json.into_iter().chain(page.formats.jsonl.as_ref().map(|_| OutputFormat::Jsonl));
    let described = page.options.iter().flat_map(CliOption::described_formats);
    listed.chain(described).chain(formats_of_flags(&String::from_utf8_lossy(bytes))).collect()
}

/// Returns the formats that flags anywhere in a text select by their names, such as `--ojson` in an example.
fn formats_of_flags(text: &str) -> Vec<OutputFormat> {
    const OTHER_PARTS: [&str; 5] = ["as", "format", "out", "output", "to"];
    let words = text.split(|char: char| !char.is_alphanumeric() && char != '-');
    let format = |flag: &str| {
        let mut parts = flag.trim_start_matches('-').split('-').filter(|part| !OTHER_PARTS.contains(part));
        let format = match parts.next()? {
            "json" | "ojson" => OutputFormat::Json,
            "jsonl" | "ojsonl" | "ndjson" => OutputFormat::Jsonl,
            _ => return None,
        };
        parts.next().is_none().then_some(format)
    };
    words.filter(|word| word.starts_with('-')).filter_map(format).collect()
}

/// Returns the words on a page, in lower case.
fn words((bytes, _): &ParsedPage) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    text.split(|char: char| !char.is_alphanumeric()).map(str::to_owned).collect()
}

/// Returns whether the page of a command lists subcommands.
fn lists_commands(node: &CommandNode) -> bool {
    node.page.as_ref().is_some_and(|(_, interface)| !interface.commands.is_empty())
}

/// Returns the page that a help run printed.
fn page_bytes(seen: &Observation) -> Vec<u8> {
    seen.help_page(MAX_PAGE_BYTES)
}
