//! The format of `contracts/*/mapper.toml`, which maps the events of an agent to an outcome. The build script reads the
//! files as well, so an invalid one is an error of the build.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A mapper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MapperFile {
    /// Name of the program, and of the dialect.
    pub(super) program: String,
    /// Name of the agent in exports.
    pub(super) agent: String,
    /// Names of the formats: of a stream, and of a document or an array of events if it is another one.
    pub(super) formats: Many<String>,
    /// Members of an event that are its type, joined with `/`. Those that are no strings are left out.
    #[serde(rename = "type")]
    pub(super) kind: Many<Pointer>,
    /// Types of the events with which a stream can begin.
    pub(super) first: Many<String>,
    /// Patterns of the events of this agent. Other events are unknown.
    pub(super) is: Vec<Pattern>,
    /// Patterns of further events of this agent, by which it is not detected.
    #[serde(default)]
    pub(super) also: Vec<Pattern>,
    #[serde(default)]
    pub(super) session: Text,
    /// Times of an event. The first is the time of the steps and calls in it.
    #[serde(default)]
    pub(super) time: Many<Pointer>,
    /// Types of the events whose time is the end of the run; all types if it is empty.
    #[serde(default)]
    pub(super) end: Many<String>,
    /// What events mean. Of several rules that match an event, the first is applied. Events of this agent without a
    /// rule do not contribute to the outcome.
    #[serde(rename = "event")]
    pub(super) rules: Vec<Rule>,
}

/// What an event means, or an element of an array in an event.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rule {
    /// Types of the events: complete, or as far as a `/` or `.` in the type.
    pub(super) on: Many<String>,
    pub(super) when: Pattern,
    /// Elements of an event to which a part of a rule applies.
    pub(super) each: Option<Pointer>,
    #[serde(rename = "part")]
    pub(super) parts: Vec<Self>,

    pub(super) activity: Option<Activity>,
    pub(super) version: Text,
    pub(super) model: Text,
    pub(super) provider: Text,
    pub(super) session: Text,
    /// A failed request to the model is sent again.
    pub(super) retry: Option<Retry>,
    pub(super) warning: Text,

    /// A message of the user.
    pub(super) user: Text,
    pub(super) step: Option<Step>,
    /// ID of the step or message; by default, the number of the event.
    pub(super) id: Text,
    /// A complete text of the answer.
    pub(super) text: Text,
    /// The next piece of a text.
    pub(super) delta: Text,
    pub(super) reasoning: Text,
    /// The final answer of the run.
    pub(super) answer: Text,

    /// A tool call begins.
    pub(super) call: Option<Call>,
    /// A tool call ends.
    pub(super) result: Option<Call>,

    /// A request to the model, with its usage.
    pub(super) request: Option<UsageOf>,
    /// The usage of the run.
    pub(super) usage: Option<UsageOf>,
    /// Number of requests to the model in the run.
    pub(super) steps: Many<Pointer>,
    /// Duration of the run, in milliseconds.
    pub(super) duration: Many<Pointer>,
    /// The event is the only one of its run, and does not show the calls.
    pub(super) document: Option<Document>,

    /// Error of the run.
    pub(super) error: Option<Failure>,
    /// Error of the current answer. It ends with the next answer.
    pub(super) answer_error: Option<Failure>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Activity {
    Busy,
    Idle,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    /// An answer of the model begins.
    New,
    /// An answer begins if the calls of the current one have ended.
    AfterCalls,
    /// Another message of the same answer begins.
    Message,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Retry {
    pub(super) reason: Text,
    #[serde(default)]
    pub(super) attempt: Many<Pointer>,
}

/// The beginning or the end of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Call {
    pub(super) id: Text,
    pub(super) name: Text,
    /// The input: an object, or its text.
    pub(super) input: Option<Pointer>,
    /// The output: a text, or any value.
    pub(super) output: Many<Pointer>,
    /// Time of the beginning, if the event at the end contains it.
    pub(super) start: Option<Pointer>,
    /// The call failed if the event matches.
    pub(super) failed: Option<Pattern>,
    /// The call failed unless the event matches.
    pub(super) succeeded: Option<Pattern>,
    /// The file that the call changes; by default, that in the input of tools that are known to change files.
    pub(super) file: Option<ChangedFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangedFile {
    pub(super) when: Pattern,
    pub(super) path: Text,
    /// True if the file existed before.
    pub(super) existed: Pointer,
    pub(super) content: Text,
}

/// Tokens and cost. A pointer to several numbers stands for their sum.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UsageOf {
    /// The objects that contain the numbers; of several pointers, the first that exists counts.
    pub(super) at: Many<Pointer>,
    pub(super) input: Many<Pointer>,
    pub(super) output: Many<Pointer>,
    pub(super) reasoning: Many<Pointer>,
    pub(super) cache_read: Many<Pointer>,
    pub(super) cache_write: Many<Pointer>,
    pub(super) cost: Many<Pointer>,
    /// Sum of all tokens. If the counts exceed it, the output contains the reasoning.
    pub(super) total: Many<Pointer>,
    /// True if the input contains the tokens from and to the cache.
    pub(super) input_has_cache: bool,
    /// True if the output contains the reasoning.
    pub(super) output_has_reasoning: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Document {
    /// Number of tool calls.
    pub(super) calls: Many<Pointer>,
}

/// An error that events report.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Failure {
    /// Events that report the error.
    pub(super) when: Pattern,
    /// Events that report a success; an earlier error becomes a warning.
    pub(super) unless: Option<Pattern>,
    #[serde(rename = "type")]
    pub(super) kind: Text,
    pub(super) message: Text,
    pub(super) repeated: Repeated,
}

/// What becomes of an error after another one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Repeated {
    /// It replaces the earlier error.
    #[default]
    Replaces,
    Ignored,
    /// It becomes a warning, also after the end of the run.
    Warning,
}

/// Pointers and what their values have to be.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(pub(super) BTreeMap<Pointer, Test>);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Test {
    OneOf(Many<Scalar>),
    Present(Present),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Present {
    /// `true` if a value other than null has to be present, `false` if it has to be missing.
    pub(super) present: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Scalar {
    Boolean(bool),
    Number(f64),
    String(String),
}

/// A text in an event: of several sources, the first that exists and is not empty.
pub(super) type Text = Many<Source>;

#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) enum Source {
    /// The value at a pointer.
    Pointer(Pointer),
    /// The key of the only member of an object, written as a pointer that ends with `/#`.
    OnlyKey(Pointer),
    /// A value inside of a constant text, written as `{/pointer}`. Without the value, the source does not exist.
    Template {
        before: String,
        value: Pointer,
        after: String,
    },
    Constant(String),
}

impl From<String> for Source {
    fn from(text: String) -> Self {
        if let Some(object) = text.strip_suffix("/#") {
            return Self::OnlyKey(object.to_owned().into());
        }
        let template = text.split_once("{/").and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
        match template {
            Some((before, (pointer, after))) => Self::Template {
                before: before.to_owned(),
                value: format!("/{pointer}").into(),
                after: after.to_owned(),
            },
            None if text.starts_with('/') => Self::Pointer(text.into()),
            None => Self::Constant(text),
        }
    }
}

/// A JSON pointer, as its keys. `*` stands for each element of an array and each member of an object.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "String")]
pub(super) struct Pointer(pub(super) Vec<String>);

impl From<String> for Pointer {
    fn from(pointer: String) -> Self {
        Self(pointer.split('/').skip(1).map(str::to_owned).collect())
    }
}

/// One value, or an array of values.
#[derive(Debug, Deserialize)]
#[serde(from = "OneOrMany<T>")]
pub(super) struct Many<T>(pub(super) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> From<OneOrMany<T>> for Many<T> {
    fn from(values: OneOrMany<T>) -> Self {
        match values {
            OneOrMany::One(value) => Self(vec![value]),
            OneOrMany::Many(values) => Self(values),
        }
    }
}
