//! How the server answers: a marker in the prompt, such as `[[tool]]`, selects a behaviour.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behavior {
    Text,
    Empty,
    Reasoning,
    NoUsage,
    Tool,
    TwoTools,
    Write,
    Subagent,
    ToolLoop,
    UnknownTool,
    Slow,
    Truncated,
    /// The server returns an error with this HTTP status.
    Error(u16),
}

/// All behaviours except errors, each with its marker in the prompt and its description in the help.
const BEHAVIORS: [(&str, Behavior, &str); 12] = [
    ("text", Behavior::Text, "an answer"),
    ("empty", Behavior::Empty, "an answer without text"),
    ("reasoning", Behavior::Reasoning, "reasoning, then an answer"),
    ("no-usage", Behavior::NoUsage, "an answer that counts 0 tokens"),
    ("tool", Behavior::Tool, "a tool call, then an answer"),
    ("two", Behavior::TwoTools, "two parallel tool calls, then an answer"),
    ("write", Behavior::Write, "a call of a tool that writes a file, then an answer"),
    ("subagent", Behavior::Subagent, "a call of a tool that starts a subagent, then an answer"),
    ("loop", Behavior::ToolLoop, "tool calls without end"),
    ("unknown-tool", Behavior::UnknownTool, "a call of a tool that does not exist, then an answer"),
    ("slow", Behavior::Slow, "an answer with a second half that takes 30 seconds"),
    ("cut", Behavior::Truncated, "an answer with a second half that never arrives"),
];

/// Returns the text of the help that lists all markers.
pub(super) fn help() -> String {
    let lines = BEHAVIORS
        .iter()
        .map(|(marker, _, description)| format!("  {:16} {description}\n", format!("[[{marker}]]")));
    let error =
        format!("  {:16} an error of the provider with this HTTP status, from 400 to 599", "[[error-429]]");
    lines.chain([error]).collect()
}

impl Behavior {
    /// Returns the behaviour that the last known marker in a prompt selects, such as `[[tool]]`. `None` without a
    /// marker.
    pub fn from_prompt(text: &str) -> Option<Self> {
        let markers = text.split("[[").skip(1).filter_map(|rest| Some(rest.split_once("]]")?.0));
        markers.filter_map(Self::from_marker).last()
    }

    fn from_marker(marker: &str) -> Option<Self> {
        let status = marker.strip_prefix("error-").and_then(|status| status.parse().ok());
        let error = status.filter(|status| (400..600).contains(status)).map(Self::Error);
        error
            .or_else(|| BEHAVIORS.iter().find(|(name, ..)| *name == marker).map(|(_, behavior, _)| *behavior))
    }

    /// Returns the marker of the behaviour without brackets, such as `tool` or `error-429`.
    pub fn marker(self) -> String {
        let entry = BEHAVIORS.iter().find(|(_, behavior, _)| *behavior == self);
        match (self, entry) {
            (Self::Error(status), _) => format!("error-{status}"),
            (_, entry) => entry.map_or("text", |(marker, ..)| marker).to_owned(),
        }
    }
}
