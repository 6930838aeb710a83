//! What the server plays: chosen by a marker in the prompt, such as `[[tool]]`.

/// A scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scene {
    Text,
    Empty,
    Tool,
    Two,
    Write,
    Loop,
    UnknownTool,
    Slow,
    Cut,
    /// The provider fails with this status.
    Error(u16),
}

/// The scenes by their markers, and what they are.
const SCENES: [(&str, Scene, &str); 9] = [
    ("text", Scene::Text, "an answer"),
    ("empty", Scene::Empty, "an answer without text"),
    ("tool", Scene::Tool, "a tool call, then an answer"),
    ("two", Scene::Two, "two tool calls at once, then an answer"),
    ("write", Scene::Write, "a call of a tool that writes a file, then an answer"),
    ("loop", Scene::Loop, "tool calls without end"),
    ("unknown-tool", Scene::UnknownTool, "a call of a tool that does not exist, then an answer"),
    ("slow", Scene::Slow, "an answer of which the second half takes 30 seconds"),
    ("cut", Scene::Cut, "an answer of which the second half never comes"),
];

/// The scenes, for the help.
pub(super) fn help() -> String {
    let scenes = SCENES.iter().map(|(marker, _, what)| format!("  {:16} {what}\n", format!("[[{marker}]]")));
    let error =
        format!("  {:16} an error of the provider with this HTTP status, from 400 to 599", "[[error-429]]");
    scenes.chain([error]).collect()
}

impl Scene {
    /// The scene of the last marker in a text.
    pub fn of(text: &str) -> Option<Self> {
        let markers = text.split("[[").skip(1).filter_map(|rest| Some(rest.split_once("]]")?.0));
        markers.filter_map(Self::named).last()
    }

    fn named(marker: &str) -> Option<Self> {
        let status = marker.strip_prefix("error-").and_then(|status| status.parse().ok());
        let error = status.filter(|status| (400..600).contains(status)).map(Self::Error);
        error.or_else(|| SCENES.iter().find(|(name, ..)| *name == marker).map(|(_, scene, _)| *scene))
    }

    /// Its marker.
    pub fn name(self) -> String {
        let named = SCENES.iter().find(|(_, scene, _)| *scene == self);
        match (self, named) {
            (Self::Error(status), _) => format!("error-{status}"),
            (_, named) => named.map_or("text", |(name, ..)| name).to_owned(),
        }
    }
}
