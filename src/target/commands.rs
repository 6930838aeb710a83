//! The commands of a target, down to those without commands of their own, from the help pages of all of them.

use super::help::{Help, HelpCall, Operand};
use std::collections::VecDeque;

/// Subcommands of subcommands are looked for so many levels down.
const DEPTH: usize = 4;
/// More help pages are not asked for.
const PAGES: usize = 100;
/// So many pages that are none: the target does not give help for its commands.
const TRIES: usize = 3;

/// What came of a call for help.
pub enum Answer {
    /// The page.
    Page(Vec<u8>),
    /// It gave no page.
    Nothing,
    /// No further calls can be made.
    OutOfTime,
}

/// What help pages say of a target's commands.
#[derive(Debug, Default)]
pub struct Commands {
    /// Its own page.
    pub help: Help,
    /// The commands without commands of their own; the target itself where it has none.
    pub calls: Vec<Call>,
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
    pub formats: Option<CallFormats>,
    /// Its own page calls something else by the flag that asks for formats elsewhere.
    pub other_meaning: bool,
}

/// How a command is asked for formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFormats {
    /// With these arguments, for text.
    pub text: Option<Vec<String>>,
    /// For a JSON document.
    pub json: Option<Vec<String>>,
    /// For JSON lines.
    pub jsonl: Option<Vec<String>>,
    /// JSON comes without a flag.
    pub json_by_default: bool,
    /// The arguments stand behind so many words of the command; none where they can stand at the end.
    pub place: Option<usize>,
}

impl CallFormats {
    /// What a help page says; none where it names no JSON format.
    pub(super) fn of(help: &Help) -> Option<Self> {
        (help.json.is_some() || help.jsonl.is_some()).then(|| Self {
            text: help.text.clone(),
            json: help.json.clone(),
            jsonl: help.jsonl.clone(),
            json_by_default: help.json_by_default,
            place: None,
        })
    }
}

impl Call {
    /// Its words as one name.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// The arguments of a call, with `value` for each that is needed.
    pub fn args(&self, value: &dyn Fn(&Operand) -> String) -> Vec<String> {
        let place = self.formats.as_ref().and_then(|formats| formats.place);
        let mut args = Vec::new();
        for level in 0..=self.words.len() {
            args.extend(level.checked_sub(1).map(|at| self.words[at].clone()));
            if place == Some(level) {
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
    page: Option<(Vec<u8>, Help)>,
}

impl Commands {
    /// Reads the page of the target, and asks for those of its commands where it says how: `ask` gets arguments
    /// that call for help.
    pub fn explore(page: &[u8], ask: &mut dyn FnMut(&[String]) -> Answer) -> Self {
        let help = Help::parse(page);
        let mut nodes = vec![Node {
            words: Vec::new(),
            about: String::new(),
            listed: Vec::new(),
            parent: None,
            page: Some((page.to_vec(), help.clone())),
        }];
        let mut asked = Asked { call: help.nested.clone(), pages: 0, without: 0, unread: None };
        if help.nested.is_none() && !help.commands.is_empty() {
            asked.unread = Some(
                "the help pages of its subcommands were not read: its help does not say how to ask for them"
                    .to_owned(),
            );
        }
        let mut queue = VecDeque::from([0]);
        let mut calls = Vec::new();
        while let Some(at) = queue.pop_front() {
            let words = nodes[at].words.clone();
            let commands: Vec<_> = match &nodes[at].page {
                Some((_, page)) if words.len() < DEPTH => {
                    page.commands.iter().filter(|command| !is_helper(&command.name)).cloned().collect()
                }
                _ => Vec::new(),
            };
            if commands.is_empty() {
                calls.push(call(&nodes, at));
            }
            for command in commands {
                let words: Vec<String> = words.iter().cloned().chain([command.name]).collect();
                let page = asked.page(&words, &nodes, at, ask);
                let listed = command.operands;
                nodes.push(Node { words, about: command.about, listed, parent: Some(at), page });
                queue.push_back(nodes.len() - 1);
            }
        }
        Self { help, calls, unread: asked.unread }
    }
}

/// Commands that tell of others.
fn is_helper(name: &str) -> bool {
    ["help", "completion", "completions"].contains(&name)
}

/// The pages that were asked for.
struct Asked {
    call: Option<HelpCall>,
    pages: usize,
    /// How many calls in a row gave none.
    without: usize,
    unread: Option<String>,
}

impl Asked {
    /// The page of a command below the node `parent`.
    fn page(
        &mut self,
        words: &[String],
        nodes: &[Node],
        parent: usize,
        ask: &mut dyn FnMut(&[String]) -> Answer,
    ) -> Option<(Vec<u8>, Help)> {
        let call = self.call.clone()?;
        self.pages += 1;
        let answer = if self.pages > PAGES { Answer::OutOfTime } else { ask(&call.args(words)) };
        let page = match answer {
            Answer::OutOfTime => {
                let read = self.pages - 1;
                self.unread = Some(format!("only the first {read} help pages of its subcommands were read"));
                self.call = None;
                return None;
            }
            Answer::Nothing => None,
            Answer::Page(bytes) => {
                let path: Vec<&str> = words.iter().map(String::as_str).collect();
                let help = Help::of_command(&bytes, &path);
                let mut above = Some(parent);
                let mut repeats = false;
                while let Some(at) = above {
                    let same = |page: &(Vec<u8>, Help)| {
                        page.0 == bytes || !help.commands.is_empty() && page.1.commands == help.commands
                    };
                    repeats |= nodes[at].page.as_ref().is_some_and(same);
                    above = nodes[at].parent;
                }
                (!repeats).then_some((bytes, help))
            }
        };
        self.without = if page.is_some() { 0 } else { self.without + 1 };
        if self.without == TRIES && self.pages == TRIES {
            self.call = None;
            self.unread = Some("its subcommands have no help pages of their own".to_owned());
        }
        page
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
        Some((_, page)) if !page.operands.is_empty() || node.listed.is_empty() => &page.operands,
        _ => &node.listed,
    };
    let own = own.iter().map(|operand| (node.words.len(), operand.clone()));
    let above = levels[1..].iter().rev().flat_map(|at| {
        let options = nodes[*at].page.iter().flat_map(|(_, page)| &page.operands);
        let options = options.filter(|operand| operand.option.is_some());
        options.map(|operand| (nodes[*at].words.len(), operand.clone()))
    });
    let (needs, takes): (Vec<_>, Vec<_>) = above.chain(own).partition(|(_, operand)| operand.required);
    let named = levels.iter().find_map(|at| {
        let (_, page) = nodes[*at].page.as_ref()?;
        Some((*at, CallFormats::of(page)?))
    });
    let is_above = named.as_ref().is_some_and(|(level, _)| *level != at);
    let formats = named.map(|(level, formats)| CallFormats {
        // A page that was not read may well have the flag.
        place: (is_above && node.page.is_some()).then_some(nodes[level].words.len()),
        ..formats
    });
    let flag = formats.as_ref().and_then(|formats| formats.json.as_ref().or(formats.jsonl.as_ref())?.first());
    let other_meaning = is_above
        && node.page.as_ref().is_some_and(|(_, page)| flag.is_some_and(|flag| page.flags.contains(flag)));
    Call {
        words: node.words.clone(),
        about: node.about.clone(),
        needs,
        takes: takes.into_iter().map(|(_, operand)| operand).collect(),
        formats: formats.filter(|_| !other_meaning),
        other_meaning,
    }
}
