//! The table of tools.

use super::{Tool, calculate, command, edit, files, search};
use crate::options::Profile;
use serde_json::{Value, json};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "list_files",
        description: "List a folder of the workspace.",
        parameters: || {
            object(
                json!({
                    "path": string("Folder, relative to the workspace; the workspace itself by default."),
                    "hidden": {"type": "boolean", "description": "Also names that begin with a dot."},
                }),
                &[],
            )
        },
        profile: Profile::Safe,
        changes: false,
        run: files::list,
    },
    Tool {
        name: "read_file",
        description: "Read a text file of the workspace.",
        parameters: || object(json!({"path": string("File, relative to the workspace.")}), &["path"]),
        profile: Profile::Safe,
        changes: false,
        run: files::read,
    },
    Tool {
        name: "search",
        description: "Find the lines of text files that match a regular expression.",
        parameters: || {
            object(
                json!({
                    "pattern": string("Regular expression (RE2 syntax)."),
                    "path": string("File or folder to look in; the workspace by default."),
                }),
                &["pattern"],
            )
        },
        profile: Profile::Safe,
        changes: false,
        run: search::run,
    },
    Tool {
        name: "calculate",
        description: "Calculate with + - * / % ^ and parentheses.",
        parameters: || object(json!({"expression": string("Such as (2 + 3) * 4.")}), &["expression"]),
        profile: Profile::Safe,
        changes: false,
        run: calculate::run,
    },
    Tool {
        name: "write_file",
        description: "Write a text file of the workspace, with its folders; an old one is replaced.",
        parameters: || {
            object(
                json!({
                    "path": string("File, relative to the workspace."),
                    "content": {"type": "string", "description": "The whole text."},
                }),
                &["path", "content"],
            )
        },
        profile: Profile::Framework,
        changes: true,
        run: edit::write,
    },
    Tool {
        name: "edit_file",
        description: "Replace a text that stands exactly once in a file of the workspace.",
        parameters: || {
            object(
                json!({
                    "path": string("File, relative to the workspace."),
                    "old": string("The text to be replaced."),
                    "new": {"type": "string", "description": "The text in its place."},
                }),
                &["path", "old", "new"],
            )
        },
        profile: Profile::Framework,
        changes: true,
        run: edit::edit,
    },
    Tool {
        name: "run_command",
        description: "Run a shell command in the workspace. It is not confined to it.",
        parameters: || {
            object(
                json!({
                    "command": string("What `sh -c` gets."),
                    "timeout": {
                        "type": "number", "exclusiveMinimum": 0, "maximum": command::MAX_SECONDS,
                        "description": "Seconds until it is ended; 30 by default.",
                    },
                }),
                &["command"],
            )
        },
        profile: Profile::Dev,
        changes: true,
        run: command::run,
    },
];

fn string(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": description})
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
