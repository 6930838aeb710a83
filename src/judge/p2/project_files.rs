//! The checks of the files around the target: documented exit codes, the schema in the repository.

use crate::catalogue::Derived;
use crate::judge::context::CheckContext;
use crate::judge::verdict::{Finding, Judgement, Reason};
use crate::model::{BlockedBy, CheckId, Evidence, OutputFormat, Stream, Variant};
use crate::source::{Document, Project};
use agentnative_contract::Schema;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read as _;
use strict_json::{escape_token, sanitize};

/// How many lines after a mention of exit codes may tell what they mean, where no heading ends them.
const WINDOW: usize = 40;
/// More schemas than this are counted, not compared one by one.
const MANY: usize = 3;
/// More of a help is not read, in bytes.
const MAX_HELP: u64 = 1 << 20;
/// The longest excerpt, in characters.
const EXCERPT: usize = 120;

/// All that these verdicts may rest on.
pub struct ProjectFiles<'a> {
    /// The files of the project; none when there is no project.
    pub project: Option<&'a Project>,
    /// The help of the target.
    pub help: Option<Help<'a>>,
    /// The exit codes that the target has.
    pub exit_codes: &'a [i32],
    /// The schema that the target prints; none when it prints none or none that could be read.
    pub printed: Option<Value>,
}

/// What a target said of itself.
pub struct Help<'a> {
    /// Name of the probe.
    pub probe: &'a str,
    /// Where it was printed.
    pub stream: Stream,
    /// What it says.
    pub text: String,
}

impl<'a> ProjectFiles<'a> {
    pub(super) fn of(context: &'a CheckContext<'a>) -> Self {
        let help = context.derived(Derived::Help).find_map(|probe| {
            let run = context.plain(probe, OutputFormat::Text)?;
            run.exit()?;
            let empty = run.observation.stdout.bytes.is_empty();
            let stream = if empty { Stream::Stderr } else { Stream::Stdout };
            let mut text = Vec::new();
            run.bytes(stream).reader().take(MAX_HELP).read_to_end(&mut text).ok()?;
            Some(Help { probe: &probe.name, stream, text: sanitize::lossless(&text).into_owned() })
        });
        let printed = context.derived(Derived::Schema).find_map(|probe| {
            let run = context.plain(probe, OutputFormat::Json)?;
            if run.exit() == Some(0) { run.value(Stream::Stdout) } else { None }
        });
        Self { project: context.project.ok(), help, exit_codes: &context.promises.exit_codes, printed }
    }
}

/// A text, and how to point into it.
struct Text<'a> {
    text: &'a str,
    source: Evidence,
}

impl<'a> Text<'a> {
    fn of(document: &'a Document) -> Self {
        Self {
            text: &document.text,
            source: Evidence { file: Some(document.file.clone()), ..Evidence::default() },
        }
    }

    fn at(&self, line: usize, detail: String) -> Evidence {
        let text = self.text.lines().nth(line).unwrap_or_default();
        let (excerpt, caret) = sanitize::excerpt(text, text.len() - text.trim_start().len(), EXCERPT);
        Evidence {
            line: Some(line as u64 + 1),
            column: Some(text.chars().take_while(|c| c.is_whitespace()).count() as u64 + 1),
            excerpt: Some(excerpt),
            caret: Some(caret),
            detail,
            ..self.source.clone()
        }
    }

    fn name(&self) -> &str {
        self.source.file.as_deref().unwrap_or("the help")
    }
}

impl ProjectFiles<'_> {
    /// `p2-exit-documented`
    pub fn exit_documented(&self) -> Judgement {
        let readmes = self.project.map_or(&[][..], |project| &project.readmes);
        let help = self.help.as_ref().map(|help| Text {
            text: &help.text,
            source: Evidence {
                probe: Some(help.probe.to_owned()),
                format: Some(OutputFormat::Text),
                variant: Some(Variant::Plain),
                stream: Some(help.stream),
                ..Evidence::default()
            },
        });
        let texts: Vec<Text<'_>> = help.into_iter().chain(readmes.iter().map(Text::of)).collect();
        let mut named = BTreeSet::new();
        let mut first = None;
        for text in &texts {
            for (line, codes) in documented(text.text, self.exit_codes) {
                if !codes.is_empty() {
                    first = first.or(Some((text, line)));
                }
                named.extend(codes);
            }
        }
        let missing: Vec<String> =
            self.exit_codes.iter().filter(|code| !named.contains(*code)).map(i32::to_string).collect();
        if missing.is_empty() {
            return Judgement::Pass(first.map_or_else(
                || "the target has no exit codes to document".to_owned(),
                |(text, line)| format!("documented in {}, line {}", text.name(), line + 1),
            ));
        }
        if self.help.is_none() {
            return Judgement::unverified(format!(
                "the README files do not tell the meaning of exit code {}, and the help was not seen",
                missing.join(", ")
            ));
        }
        if self.project.is_none() {
            return Judgement::unverified(format!(
                "the help does not tell the meaning of exit code {}; a README was not looked for, since no \
             project was named",
                missing.join(", ")
            ));
        }
        let what = format!("neither help nor README tells the meaning of exit code {}", missing.join(", "));
        let evidence = match (first, texts.last()) {
            (Some((text, line)), _) => text.at(line, what),
            (None, Some(text)) => Evidence { detail: what, ..text.source.clone() },
            (None, None) => Evidence { detail: what, ..Evidence::default() },
        };
        Judgement::Broken(vec![Finding::new("undocumented", evidence)])
    }
}

/// The lines (from 0) that speak of exit codes, each with those of `codes` whose meaning is told there or
/// in the lines that belong to it.
fn documented<'a>(text: &'a str, codes: &'a [i32]) -> impl Iterator<Item = (usize, BTreeSet<i32>)> + 'a {
    let lines: Vec<&str> = text.lines().collect();
    let mentions: Vec<usize> = (0..lines.len()).filter(|line| speaks_of_exit_codes(lines[*line])).collect();
    mentions.into_iter().map(move |line| {
        let rest = lines[line + 1..].iter().take(WINDOW).take_while(|line| !is_heading(line));
        let around = std::iter::once(&lines[line]).chain(rest);
        let found = around.flat_map(|line| codes.iter().copied().filter(|code| tells(line, *code)));
        (line, found.collect())
    })
}

fn speaks_of_exit_codes(line: &str) -> bool {
    let line = line.to_lowercase();
    let exit = line.contains("exit") || line.contains("return code") || line.contains("status code");
    exit && ["code", "status", "value", "exits with"].iter().any(|word| line.contains(word))
}

/// A heading of Markdown or reStructuredText, or of a help text: a line at the margin that ends in a colon.
fn is_heading(line: &str) -> bool {
    let rule = line.len() > 2 && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'));
    let title = line.ends_with(':') && line.starts_with(|c: char| c.is_alphabetic()) && line.len() < 40;
    line.starts_with('#') || rule || title
}

/// Whether a line names the code and has words for it.
fn tells(line: &str, code: i32) -> bool {
    let tokens: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty()).collect();
    let named = tokens.iter().any(|token| token.parse() == Ok(code));
    let is_word = |token: &&&str| {
        let common = [
            "exit", "exits", "code", "codes", "status", "value", "with", "the", "is", "and", "or", "returns",
        ];
        token.chars().count() > 1
            && token.chars().all(char::is_alphabetic)
            && !common.contains(&token.to_lowercase().as_str())
    };
    named && tokens.iter().any(|token| is_word(&token))
}

impl ProjectFiles<'_> {
    /// `p2-schema-file`
    pub fn schema_file(&self) -> Judgement {
        let Some(project) = self.project else {
            return Judgement::NotApplicable("there is no project around the target".to_owned());
        };
        let finding = |kind: &str, file: &str, detail: String| {
            Finding::new(kind, Evidence { file: Some(file.to_owned()), detail, ..Evidence::default() })
        };
        let mut valid = Vec::new();
        let mut wrong = Vec::new();
        for Document { file, text } in &project.schemas {
            let schema: Result<Value, String> = serde_json::from_str(text).map_err(|error| error.to_string());
            match schema
                .and_then(|schema| Schema::compile(&schema).map(|_| schema).map_err(|error| error.message))
            {
                Ok(schema) => valid.push((file, schema)),
                Err(error) => {
                    wrong.push(finding("invalid", file, format!("it is no valid JSON Schema: {error}")))
                }
            }
        }
        let same =
            self.printed.as_ref().and_then(|printed| valid.iter().find(|(_, schema)| schema == printed));
        match (same, self.printed.as_ref()) {
            (Some((file, _)), _) => Judgement::Pass(format!("{file} is the schema that is printed")),
            _ if !wrong.is_empty() => Judgement::Broken(wrong),
            _ if valid.is_empty() => Judgement::Broken(vec![finding(
                "missing",
                ".",
                "no JSON Schema was found in the repository".to_owned(),
            )]),
            (None, None) => {
                let schemas = match &valid[..] {
                    [(file, _)] => format!("{file} is a valid JSON Schema"),
                    several => format!("{} valid JSON Schemas are in the repository", several.len()),
                };
                let cause = CheckId::P2SchemaPrint;
                Judgement::unverified(Reason {
                    message: format!(
                        "{schemas}; what the target prints is not known: declare `schema` under [target], or see {cause}"
                    ),
                    blocked_by: Some(BlockedBy { id: cause, probe: None, format: None }),
                })
            }
            (None, Some(_)) if valid.len() > MANY => Judgement::Broken(vec![finding(
                "differs",
                ".",
                format!(
                    "none of the {} JSON Schemas in the repository is the one that is printed",
                    valid.len()
                ),
            )]),
            (None, Some(printed)) => {
                let differ = valid.iter().map(|(file, schema)| {
                    let place = difference(schema, printed, String::new()).unwrap_or_default();
                    let place =
                        if place.is_empty() { "at the root".to_owned() } else { format!("at {place}") };
                    finding(
                        "differs",
                        file,
                        format!("it is not the schema that is printed: they differ {place}"),
                    )
                });
                Judgement::Broken(differ.collect())
            }
        }
    }
}

/// The pointer of the first place where two documents differ.
fn difference(a: &Value, b: &Value, at: String) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let at = format!("{at}/{}", escape_token(key));
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => difference(a, b, at),
                    _ => Some(at),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(index, (a, b))| difference(a, b, format!("{at}/{index}")))
        }
        _ => (a != b).then_some(at),
    }
}
