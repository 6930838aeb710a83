//! Explores the help pages of a target and its commands, down to the leaf commands.

use super::help::{Argument, Command, FormatArgs, HelpCall, HelpPage, Interface};
use agentnative_contract::counted;

/// Limits on the help pages that are read, and the ways to request them.
#[derive(Debug, Clone)]
pub struct TreeLimits {
    /// Maximum number of words of a command.
    pub depth: usize,
    /// Maximum number of help calls for the subcommands of a target.
    pub pages: usize,
    /// Ways to request a help page that are tried after the documented ones.
    pub other_help_calls: Vec<HelpCall>,
}

impl Default for TreeLimits {
    /// Returns the limits for a target that runs without confinement: an undocumented help call could do harm.
    fn default() -> Self {
        Self { depth: 4, pages: 300, other_help_calls: Vec::new() }
    }
}

/// Number of help calls that are tried first. If none returns a page, the commands of the target count as having no
/// help pages.
const MAX_TRIES: usize = 3;

/// A function that makes help calls. It receives the arguments of each call, and returns the output of each, or `None`
/// for a call without a help page. If no further calls can be made, it returns fewer results than calls.
pub type MakeHelpCalls<'a> = dyn FnMut(&[Vec<String>]) -> Vec<Option<Vec<u8>>> + 'a;

/// The bytes of a help page, and the interface that the page describes.
pub type ParsedPage = (Vec<u8>, Interface);

/// The commands of a target, as its help pages describe them.
#[derive(Debug, Default)]
pub struct CommandTree {
    /// Interface that the main help page of the target describes.
    pub help: Interface,
    /// The target itself and all its commands, each after its parent.
    pub nodes: Vec<CommandNode>,
    /// Commands without subcommands; if the target has no commands, the target itself.
    pub leaves: Vec<LeafCommand>,
    /// Arguments of the call that prints the JSON Schema of the output.
    pub schema: Option<Vec<String>>,
    /// Message about help pages that were not read; `None` if all were read.
    pub unread: Option<String>,
}

/// A command without subcommands, with its arguments and formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafCommand {
    /// Index of the command in [`CommandTree::nodes`].
    pub node: usize,
    /// Words of the command, such as `remote`, `add`; empty for the target itself.
    pub words: Vec<String>,
    /// Description of the command in the help.
    pub about: String,
    /// Required arguments, each with the number of words of the command that precede it in a call.
    pub required_args: Vec<(usize, Argument)>,
    /// Optional positional arguments.
    pub optional_args: Vec<Argument>,
    /// Format flags of the command; `None` if no help page names one.
    pub formats: Option<FormatArgs>,
    /// Position of the format flag, as the number of words of the command before it; `None` if it can be at the end.
    pub flag_position: Option<usize>,
    /// Whether the command has an option with the name of its parents' format flag but another meaning.
    pub format_flag_reused: bool,
}

impl LeafCommand {
    /// Returns the name of the command: its words, joined by spaces.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// Returns the arguments of a call of the command. The value of a required argument is its first allowed value or,
    /// if the help lists none, the result of `value`.
    pub fn args(&self, value: &dyn Fn(&Argument) -> String) -> Vec<String> {
        let mut args = Vec::new();
        for level in 0..=self.words.len() {
            args.extend(level.checked_sub(1).map(|at| self.words[at].clone()));
            if self.flag_position == Some(level) {
                args.push(crate::config::FORMAT_PLACEHOLDER.to_owned());
            }
            for (_, operand) in self.required_args.iter().filter(|(at, _)| *at == level) {
                args.extend(operand.option.clone());
                if !operand.name.is_empty() {
                    args.push(operand.choices.first().cloned().unwrap_or_else(|| value(operand)));
                }
            }
        }
        args
    }

    /// Returns the required arguments for which the help lists no allowed values; only the user knows a value.
    pub fn args_without_choices(&self) -> Vec<&Argument> {
        let open = |operand: &&Argument| operand.choices.is_empty() && !operand.name.is_empty();
        self.required_args.iter().map(|(_, operand)| operand).filter(open).collect()
    }
}

/// The target itself or a command, with its help page.
#[derive(Debug)]
pub struct CommandNode {
    /// Words of the command; empty for the target itself.
    pub words: Vec<String>,
    /// Description of the command in the list of its parent.
    pub about: String,
    /// Arguments in the list of its parent.
    listed: Vec<Argument>,
    /// Index of the parent; `None` for the target itself.
    pub parent: Option<usize>,
    /// The help page of the command; `None` if it has none of its own.
    pub page: Option<ParsedPage>,
}

impl CommandNode {
    /// Returns the subcommands that the page of the command lists, without those about the program itself, such as
    /// `help`.
    fn commands(&self, depth: usize) -> Vec<Command> {
        let page = self.page.as_ref().filter(|_| self.words.len() < depth);
        let commands = page.map_or(&[][..], |(_, page)| &page.commands);
        commands.iter().filter(|command| !is_meta_command(&command.name)).cloned().collect()
    }
}

impl CommandTree {
    /// Explores the commands of a target. `page` is its main help page. Reads the pages of the commands if the help
    /// documents how to request them; `ask` makes these help calls.
    pub fn explore(page: &[u8], limits: &TreeLimits, ask: &mut MakeHelpCalls<'_>) -> Self {
        let help = Interface::parse(page);
        let mut help_calls = help.help_calls.clone();
        help_calls
            .extend(limits.other_help_calls.iter().filter(|call| !help.help_calls.contains(call)).cloned());
        let mut nodes = vec![CommandNode {
            words: Vec::new(),
            about: String::new(),
            listed: Vec::new(),
            parent: None,
            page: Some((page.to_vec(), help.clone())),
        }];
        let has_help_call = !help_calls.is_empty();
        let mut pages = PageReader { help_calls, max: limits.pages, made: 0, unread: None, ask };
        if !has_help_call && !help.commands.is_empty() {
            pages.unread = Some(
                "the help pages of its subcommands were not read: its help does not document how to request them"
                    .to_owned(),
            );
        }
        let mut calls = Vec::new();
        let mut level = 0..1;
        while !level.is_empty() {
            let (mut requests, mut children) = (Vec::new(), Vec::new());
            for at in level.clone() {
                let commands = nodes[at].commands(limits.depth);
                if commands.is_empty() {
                    calls.push(call(&nodes, at));
                }
                let words =
                    |command: &Command| [&nodes[at].words[..], std::slice::from_ref(&command.name)].concat();
                requests.extend(commands.iter().map(|command| (at, words(command))));
                children.extend(commands);
            }
            let found = pages.read_level(&requests, &nodes);
            for (((parent, words), command), page) in requests.into_iter().zip(children).zip(found) {
                let Command { about, arguments: listed, .. } = command;
                nodes.push(CommandNode { words, about, listed, parent: Some(parent), page });
            }
            level = level.end..nodes.len();
        }
        let schema = calls.iter().position(prints_schema).map(|at| calls.remove(at).words);
        Self { help, leaves: calls, schema, unread: pages.unread, nodes }
    }

    /// Returns the target itself as a command, for a target whose help lists no commands that exist.
    pub fn root_command(&self) -> LeafCommand {
        call(&self.nodes, 0)
    }
}

fn is_meta_command(name: &str) -> bool {
    ["help", "version", "completion", "completions"].contains(&name)
}

/// Returns whether a command prints the schema of the output, judging by its name and description.
fn prints_schema(call: &LeafCommand) -> bool {
    let about = call.about.to_lowercase();
    call.words == ["schema"]
        && call.required_args.is_empty()
        && (about.contains("json schema") || about.contains("output"))
}

/// A request for the help page of a command: the index of its parent node, and the words of the command.
type PageRequest = (usize, Vec<String>);

/// Parses the output of a help call for a command; `None` if the output is the page of a parent command.
fn own_page(bytes: Vec<u8>, (parent, words): &PageRequest, nodes: &[CommandNode]) -> Option<ParsedPage> {
    let above = std::iter::successors(Some(*parent), |at| nodes[*at].parent);
    let pages: Vec<&ParsedPage> = above.filter_map(|at| nodes[at].page.as_ref()).collect();
    if pages.iter().any(|(other, _)| *other == bytes) {
        return None;
    }
    let path: Vec<&str> = words.iter().map(String::as_str).collect();
    let help = Interface::of_command(&HelpPage::parse(&bytes), &path);
    let same = |page: &&ParsedPage| !help.commands.is_empty() && page.1.commands == help.commands;
    (!pages.iter().any(same)).then_some((bytes, help))
}

/// Requests help pages, within the limits on their number and time.
struct PageReader<'a, 'b> {
    /// Ways to request a help page, the best first; empty when no more pages are requested.
    help_calls: Vec<HelpCall>,
    /// Maximum number of help calls.
    max: usize,
    made: usize,
    unread: Option<String>,
    ask: &'a mut MakeHelpCalls<'b>,
}

impl PageReader<'_, '_> {
    /// Reads the help pages of the commands on one level of the tree. The result has an element for each request;
    /// `None` stands for a command without a page of its own.
    fn read_level(&mut self, requests: &[PageRequest], nodes: &[CommandNode]) -> Vec<Option<ParsedPage>> {
        // The first calls show whether commands have pages, and which form of the help call works.
        let trials = if self.made == 0 { requests.len().min(MAX_TRIES) } else { 0 };
        let none = |pages: &[Option<ParsedPage>]| pages.iter().all(Option::is_none);
        let mut pages = self.read(&requests[..trials], nodes);
        while trials > 0 && none(&pages) && self.help_calls.len() > 1 {
            self.help_calls.remove(0);
            pages = self.read(&requests[..trials], nodes);
        }
        if trials == MAX_TRIES && none(&pages) && !self.help_calls.is_empty() {
            self.help_calls.clear();
            self.unread = Some("its subcommands have no help pages".to_owned());
        }
        pages.append(&mut self.read(&requests[trials..], nodes));
        pages
    }

    fn read(&mut self, requests: &[PageRequest], nodes: &[CommandNode]) -> Vec<Option<ParsedPage>> {
        let mut pages = Vec::new();
        if let (Some(call), false) = (self.help_calls.first(), requests.is_empty()) {
            let allowed = &requests[..requests.len().min(self.max - self.made)];
            let calls: Vec<Vec<String>> = allowed.iter().map(|(_, words)| call.args(words)).collect();
            let answers = (self.ask)(&calls);
            self.made += answers.len();
            let left = requests.len() - answers.len();
            if left > 0 {
                let why =
                    if self.made == self.max { "there are too many" } else { "the time limit was exceeded" };
                let commands = counted(left, "command");
                self.unread = Some(format!("the help pages of {commands} were not read: {why}"));
                self.help_calls.clear();
            }
            let own = |(bytes, request): (Option<Vec<u8>>, &PageRequest)| own_page(bytes?, request, nodes);
            pages.extend(answers.into_iter().zip(requests).map(own));
        }
        pages.resize_with(requests.len(), || None);
        pages
    }
}

fn call(nodes: &[CommandNode], at: usize) -> LeafCommand {
    let node = &nodes[at];
    let mut lineage = vec![at];
    while let Some(parent) = lineage.last().and_then(|at| nodes[*at].parent) {
        lineage.push(parent);
    }
    let own = match &node.page {
        Some((_, page)) if !page.arguments.is_empty() || node.listed.is_empty() => page.arguments.clone(),
        None if node.listed.is_empty() => Argument::in_description(&node.about).into_iter().collect(),
        _ => node.listed.clone(),
    };
    let own = own.into_iter().map(|operand| (node.words.len(), operand));
    let inherited = lineage[1..].iter().rev().flat_map(|at| {
        let options = nodes[*at].page.iter().flat_map(|(_, page)| &page.arguments);
        let options = options.filter(|operand| operand.option.is_some());
        options.map(|operand| (nodes[*at].words.len(), operand.clone()))
    });
    let (required_args, optional_args): (Vec<_>, Vec<_>) =
        inherited.chain(own).partition(|(_, operand)| operand.required);
    let format_source = lineage.iter().find_map(|at| {
        let (_, page) = nodes[*at].page.as_ref()?;
        page.formats.have_json().then(|| (*at, page.formats.clone()))
    });
    let is_above = format_source.as_ref().is_some_and(|(level, _)| *level != at);
    // A command whose page was not read may accept the flag itself.
    let level = format_source.as_ref().map(|(level, _)| *level).filter(|_| is_above && node.page.is_some());
    let formats = format_source.map(|(_, formats)| formats);
    let flag = formats.as_ref().and_then(|formats| formats.json.as_ref().or(formats.jsonl.as_ref())?.first());
    let format_flag_reused = is_above
        && node.page.as_ref().is_some_and(|(_, page)| flag.is_some_and(|flag| page.has_option(flag)));
    LeafCommand {
        node: at,
        words: node.words.clone(),
        about: node.about.clone(),
        required_args,
        optional_args: optional_args.into_iter().map(|(_, operand)| operand).collect(),
        formats: formats.filter(|_| !format_flag_reused),
        flag_position: level.filter(|_| !format_flag_reused).map(|level| nodes[level].words.len()),
        format_flag_reused,
    }
}
