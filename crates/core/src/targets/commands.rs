//! The commands of a target, down to those without commands of their own, from the help pages of all of them.

use super::help::{Command, FormatArgs, HelpCall, HelpPage, Interface, Operand};
use agentnative_contract::counted;

/// Subcommands of subcommands are looked for so many levels down.
const DEPTH: usize = 4;
/// More help pages are not asked for.
const PAGES: usize = 300;
/// So many pages that are none: the target does not give help for its commands.
const TRIES: usize = 3;

/// Makes calls for help, with these arguments each: gives what each printed, or that it gave no page. There are
/// fewer answers where no further calls can be made.
pub type Ask<'a> = dyn FnMut(&[Vec<String>]) -> Vec<Option<Vec<u8>>> + 'a;

/// A page, and what it says.
type Page = (Vec<u8>, Interface);

/// What help pages say of a target's commands.
#[derive(Debug, Default)]
pub struct Commands {
    /// Its own page.
    pub help: Interface,
    /// The commands without commands of their own; the target itself where it has none.
    pub calls: Vec<Call>,
    /// The arguments that print the JSON Schema of its output.
    pub schema: Option<Vec<String>>,
    /// What was not read, for people.
    pub unread: Option<String>,
}

/// A command that can be called, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its words: `remote`, `add`; none for the target itself.
    pub words: Vec<String>,
    /// What the help says of it.
    pub about: String,
    /// What a call needs, with the number of words that stand in front of it.
    pub needs: Vec<(usize, Operand)>,
    /// The positional arguments that a call can have besides.
    pub takes: Vec<Operand>,
    /// How it is asked for formats; none where no page says so.
    pub formats: Option<FormatArgs>,
    /// The arguments of a format stand behind so many words of the command; none where they can stand at the end.
    pub format_place: Option<usize>,
    /// Its own page calls something else by the flag that asks for formats elsewhere.
    pub other_meaning: bool,
}

impl Call {
    /// Its words as one name.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// The arguments of a call, with `value` for each that is needed.
    pub fn args(&self, value: &dyn Fn(&Operand) -> String) -> Vec<String> {
        let mut args = Vec::new();
        for level in 0..=self.words.len() {
            args.extend(level.checked_sub(1).map(|at| self.words[at].clone()));
            if self.format_place == Some(level) {
                args.push(crate::config::FORMAT_PLACE.to_owned());
            }
            for (_, operand) in self.needs.iter().filter(|(at, _)| *at == level) {
                args.extend(operand.option.clone());
                if !operand.name.is_empty() {
                    args.push(operand.choices.first().cloned().unwrap_or_else(|| value(operand)));
                }
            }
        }
        args
    }

    /// What a call needs that only its user can know.
    pub fn open(&self) -> Vec<&Operand> {
        let open = |operand: &&Operand| operand.choices.is_empty() && !operand.name.is_empty();
        self.needs.iter().map(|(_, operand)| operand).filter(open).collect()
    }
}

/// A command while pages are read.
struct Node {
    words: Vec<String>,
    about: String,
    listed: Vec<Operand>,
    parent: Option<usize>,
    page: Option<Page>,
}

impl Node {
    /// The commands that its page lists.
    fn commands(&self) -> Vec<Command> {
        let page = self.page.as_ref().filter(|_| self.words.len() < DEPTH);
        let commands = page.map_or(&[][..], |(_, page)| &page.commands);
        commands.iter().filter(|command| !is_helper(&command.name)).cloned().collect()
    }
}

impl Commands {
    /// Reads the page of the target, and asks for those of its commands where it says how: `ask` gets the
    /// arguments of calls for help, and gives an answer for each.
    pub fn explore(page: &[u8], ask: &mut Ask<'_>) -> Self {
        let help = Interface::parse(page);
        let mut nodes = vec![Node {
            words: Vec::new(),
            about: String::new(),
            listed: Vec::new(),
            parent: None,
            page: Some((page.to_vec(), help.clone())),
        }];
        let mut asked = Asked { calls: help.nested.clone(), pages: 0, unread: None, ask };
        if help.nested.is_empty() && !help.commands.is_empty() {
            asked.unread = Some(
                "the help pages of its subcommands were not read: its help does not say how to ask for them"
                    .to_owned(),
            );
        }
        let mut calls = Vec::new();
        let mut level = 0..1;
        while !level.is_empty() {
            let (mut wanted, mut below) = (Vec::new(), Vec::new());
            for at in level.clone() {
                let commands = nodes[at].commands();
                if commands.is_empty() {
                    calls.push(call(&nodes, at));
                }
                let words =
                    |command: &Command| [&nodes[at].words[..], std::slice::from_ref(&command.name)].concat();
                wanted.extend(commands.iter().map(|command| (at, words(command))));
                below.extend(commands);
            }
            let pages = asked.of_level(&wanted, &nodes);
            for (((parent, words), command), page) in wanted.into_iter().zip(below).zip(pages) {
                let Command { about, operands: listed, .. } = command;
                nodes.push(Node { words, about, listed, parent: Some(parent), page });
            }
            level = level.end..nodes.len();
        }
        let schema = calls.iter().position(prints_schema).map(|at| calls.remove(at).words);
        Self { help, calls, schema, unread: asked.unread }
    }
}

/// Commands about the program itself.
fn is_helper(name: &str) -> bool {
    ["help", "version", "completion", "completions"].contains(&name)
}

/// Whether a command prints the schema of the output, by its name and its description.
fn prints_schema(call: &Call) -> bool {
    let about = call.about.to_lowercase();
    call.words == ["schema"]
        && call.needs.is_empty()
        && (about.contains("json schema") || about.contains("output"))
}

/// A command whose page is asked for: the node above it, and its words.
type Wanted = (usize, Vec<String>);

/// The page of a command; none where it is that of a command above it.
fn own_page(bytes: Vec<u8>, (parent, words): &Wanted, nodes: &[Node]) -> Option<Page> {
    let path: Vec<&str> = words.iter().map(String::as_str).collect();
    let help = Interface::of_command(&HelpPage::read(&bytes), &path);
    let mut above = Some(*parent);
    while let Some(at) = above {
        let same =
            |page: &Page| page.0 == bytes || !help.commands.is_empty() && page.1.commands == help.commands;
        if nodes[at].page.as_ref().is_some_and(same) {
            return None;
        }
        above = nodes[at].parent;
    }
    Some((bytes, help))
}

/// The pages that were asked for.
struct Asked<'a, 'b> {
    /// How they can be asked for, the best way first; none where no more are.
    calls: Vec<HelpCall>,
    pages: usize,
    unread: Option<String>,
    ask: &'a mut Ask<'b>,
}

impl Asked<'_, '_> {
    /// The pages of commands that are on one level.
    fn of_level(&mut self, wanted: &[Wanted], nodes: &[Node]) -> Vec<Option<Page>> {
        // The first few tell whether there are any.
        let few = if self.pages == 0 { wanted.len().min(TRIES) } else { 0 };
        let none = |pages: &[Option<Page>]| pages.iter().all(Option::is_none);
        let mut pages = self.read(&wanted[..few], nodes);
        while few > 0 && none(&pages) && self.calls.len() > 1 {
            self.calls.remove(0);
            pages = self.read(&wanted[..few], nodes);
        }
        if few == TRIES && none(&pages) && !self.calls.is_empty() {
            self.calls.clear();
            self.unread = Some("its subcommands have no help pages of their own".to_owned());
        }
        pages.append(&mut self.read(&wanted[few..], nodes));
        pages
    }

    fn read(&mut self, wanted: &[Wanted], nodes: &[Node]) -> Vec<Option<Page>> {
        let mut pages = Vec::new();
        if let (Some(call), false) = (self.calls.first(), wanted.is_empty()) {
            let allowed = &wanted[..wanted.len().min(PAGES - self.pages)];
            let calls: Vec<Vec<String>> = allowed.iter().map(|(_, words)| call.args(words)).collect();
            let answers = (self.ask)(&calls);
            self.pages += answers.len();
            let left = wanted.len() - answers.len();
            if left > 0 {
                let why = if self.pages == PAGES { "there are too many" } else { "it took too long" };
                let commands = counted(left, "command");
                self.unread = Some(format!("the help pages of {commands} were not read: {why}"));
                self.calls.clear();
            }
            let own = |(bytes, wanted): (Option<Vec<u8>>, &Wanted)| own_page(bytes?, wanted, nodes);
            pages.extend(answers.into_iter().zip(wanted).map(own));
        }
        pages.resize_with(wanted.len(), || None);
        pages
    }
}

/// The call of a command without commands of its own.
fn call(nodes: &[Node], at: usize) -> Call {
    let node = &nodes[at];
    let mut levels = vec![at];
    while let Some(parent) = levels.last().and_then(|at| nodes[*at].parent) {
        levels.push(parent);
    }
    let own = match &node.page {
        Some((_, page)) if !page.operands.is_empty() || node.listed.is_empty() => page.operands.clone(),
        None if node.listed.is_empty() => Operand::in_description(&node.about).into_iter().collect(),
        _ => node.listed.clone(),
    };
    let own = own.into_iter().map(|operand| (node.words.len(), operand));
    let above = levels[1..].iter().rev().flat_map(|at| {
        let options = nodes[*at].page.iter().flat_map(|(_, page)| &page.operands);
        let options = options.filter(|operand| operand.option.is_some());
        options.map(|operand| (nodes[*at].words.len(), operand.clone()))
    });
    let (needs, takes): (Vec<_>, Vec<_>) = above.chain(own).partition(|(_, operand)| operand.required);
    let named = levels.iter().find_map(|at| {
        let (_, page) = nodes[*at].page.as_ref()?;
        page.formats.ask_for_json().then(|| (*at, page.formats.clone()))
    });
    let is_above = named.as_ref().is_some_and(|(level, _)| *level != at);
    // A page that was not read may well have the flag.
    let level = named.as_ref().map(|(level, _)| *level).filter(|_| is_above && node.page.is_some());
    let formats = named.map(|(_, formats)| formats);
    let flag = formats.as_ref().and_then(|formats| formats.json.as_ref().or(formats.jsonl.as_ref())?.first());
    let other_meaning = is_above
        && node.page.as_ref().is_some_and(|(_, page)| flag.is_some_and(|flag| page.has_option(flag)));
    Call {
        words: node.words.clone(),
        about: node.about.clone(),
        needs,
        takes: takes.into_iter().map(|(_, operand)| operand).collect(),
        formats: formats.filter(|_| !other_meaning),
        format_place: level.filter(|_| !other_meaning).map(|level| nodes[level].words.len()),
        other_meaning,
    }
}
