//! The table of all tools.

use super::workspace::AgentWorkspace;
use super::{calculate, command, edit, files, search};
use crate::modes::Profile;
use crate::tool_record::ToolOutput;
use serde_json::{Map, Value, json};

pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// JSON Schemas of the arguments, by the name of the argument.
    properties: Value,
    /// Names of the required arguments.
    required: &'static [&'static str],
    /// Smallest profile that includes the tool. Tools that are not in the profile `safe` change something and need
    /// approval.
    pub(super) profile: Profile,
    pub(super) run: fn(&AgentWorkspace, &Map<String, Value>) -> ToolOutput,
}

impl Tool {
    /// Returns the JSON Schema of the object with all arguments of the tool.
    pub(super) fn parameters(&self) -> Value {
        json!({
            "type": "object", "properties": self.properties, "required": self.required,
            "additionalProperties": false,
        })
    }
}

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: "list_files",
            description: "List a folder of the workspace.",
            properties: json!({
                "path": string_schema("Folder, relative to the workspace; the workspace itself by default."),
                "hidden": {"type": "boolean", "description": "Also list names that begin with a dot."},
            }),
            required: &[],
            profile: Profile::Safe,
            run: files::list,
        },
        Tool {
            name: "read_file",
            description: "Read a text file of the workspace.",
            properties: json!({"path": string_schema("File, relative to the workspace.")}),
            required: &["path"],
            profile: Profile::Safe,
            run: files::read,
        },
        Tool {
            name: "search",
            description: "Find the lines of text files that match a regular expression.",
            properties: json!({
                "pattern": string_schema("Regular expression (RE2 syntax)."),
                "path": string_schema("File or folder to search; the workspace by default."),
            }),
            required: &["pattern"],
            profile: Profile::Safe,
            run: search::run,
        },
        Tool {
            name: "calculate",
            description: "Calculate with + - * / % ^ and parentheses.",
            properties: json!({"expression": string_schema("Such as (2 + 3) * 4.")}),
            required: &["expression"],
            profile: Profile::Safe,
            run: calculate::run,
        },
        Tool {
            name: "write_file",
            description: "Write a text file of the workspace; creates missing folders and replaces an existing file.",
            properties: json!({
                "path": string_schema("File, relative to the workspace."),
                "content": {"type": "string", "description": "The complete text."},
            }),
            required: &["path", "content"],
            profile: Profile::Framework,
            run: edit::write,
        },
        Tool {
            name: "edit_file",
            description: "Replace a text that occurs exactly once in a file of the workspace.",
            properties: json!({
                "path": string_schema("File, relative to the workspace."),
                "old": string_schema("The text to be replaced."),
                "new": {"type": "string", "description": "The new text."},
            }),
            required: &["path", "old", "new"],
            profile: Profile::Framework,
            run: edit::edit,
        },
        Tool {
            name: "run_command",
            description: "Run a shell command in the workspace. The command can access files outside it.",
            properties: json!({
                "command": string_schema("Command line for `sh -c`."),
                "timeout": {
                    "type": "number", "exclusiveMinimum": 0, "maximum": command::MAX_TIMEOUT_SECONDS,
                    "description": "Time limit in seconds; 30 by default.",
                },
            }),
            required: &["command"],
            profile: Profile::Dev,
            run: command::run,
        },
    ]
}

/// Returns the names of all tools that a profile includes.
pub fn names(profile: Profile) -> Vec<&'static str> {
    let tools = tools().into_iter().filter(|tool| tool.profile <= profile);
    tools.map(|tool| tool.name).collect()
}

fn string_schema(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": description})
}
