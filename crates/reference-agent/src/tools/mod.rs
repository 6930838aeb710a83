//! The tools: their specification for the model, and running one.
//!
//! All but `run_command` work inside the workspace only: it is opened once, and each path is
//! resolved by the kernel beneath it, so neither `..`, nor a symbolic link, nor a race leads out.

mod calculate;
mod command;
mod edit;
mod files;
mod search;
mod specs;

pub use command::RunningCommand;

use super::clock::{millis, now_ms};
use super::event::{Event, ToolCode, ToolError, ToolOutput, ToolRecord, ToolStart};
use super::failure::{Code, Failure};
use super::model::{ToolCall, ToolSpec};
use super::options::{ApprovalMode, Options, Profile};
use agentnative_contract::Schema;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One tool.
struct Tool {
    name: &'static str,
    description: &'static str,
    /// The JSON Schemas of the arguments.
    properties: Value,
    /// The arguments that must be there.
    required: &'static [&'static str],
    /// The smallest profile that has it. Beyond the safe one, it changes something and needs approval.
    profile: Profile,
    run: fn(&Toolbox, &Map<String, Value>) -> ToolOutput,
}

impl Tool {
    /// The JSON Schema of all arguments.
    fn parameters(&self) -> Value {
        json!({
            "type": "object", "properties": self.properties, "required": self.required,
            "additionalProperties": false,
        })
    }
}

/// The names of the tools of a profile.
pub fn names(profile: Profile) -> Vec<&'static str> {
    let tools = specs::tools().into_iter().filter(|tool| tool.profile <= profile);
    tools.map(|tool| tool.name).collect()
}

/// Asks whether a tool that changes something may run: the tool and its arguments.
pub type Approve = Box<dyn FnMut(&str, &Map<String, Value>) -> bool + Send>;

/// The tools of a run.
pub struct Toolbox {
    tools: Vec<Tool>,
    dir: Dir,
    /// The workspace, absolute.
    root: PathBuf,
    profile: Profile,
    approval: ApprovalMode,
    running: RunningCommand,
}

impl Toolbox {
    /// Opens the workspace; a configuration failure when it is no folder that can be opened.
    pub fn open(options: &Options, running: RunningCommand) -> Result<Self, Failure> {
        let workspace = options.workspace();
        let failure = |error: std::io::Error| {
            let what = format!("cannot open the workspace {}", workspace.display());
            Failure::io(Code::AgentConfigError, &what, &error)
        };
        let root = workspace.canonicalize().map_err(failure)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failure)?;
        let (profile, approval) = (options.profile, options.approval_mode);
        Ok(Self { tools: specs::tools(), dir, root, profile, approval, running })
    }

    /// The tools of the profile, for the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let tools = self.tools.iter().filter(|tool| tool.profile <= self.profile);
        let spec = |tool: &Tool| {
            let Tool { name, description, .. } = *tool;
            ToolSpec { name, description, parameters: tool.parameters() }
        };
        tools.map(spec).collect()
    }

    /// Runs what the model asks for, and emits its start and its end. What a tool finds passes `hide`
    /// before anybody sees it.
    pub fn call(
        &self,
        call: &ToolCall,
        hide: &dyn Fn(&str) -> String,
        approve: &mut Approve,
        emit: &mut dyn FnMut(Event),
    ) -> ToolRecord {
        let parsed = arguments(&call.arguments);
        let clock = Instant::now();
        let start = ToolStart {
            id: call.id.clone(),
            tool: call.name.clone(),
            input: parsed.clone().unwrap_or_default(),
            raw: call.arguments.clone(),
            started: now_ms(),
        };
        emit(Event::ToolCall(start.clone()));
        let output = self.run(call, parsed, approve, emit);
        let mut record = start.finish(output, millis(clock.elapsed()));
        record.hide(hide);
        emit(Event::ToolResult(record.clone()));
        record
    }

    fn run(
        &self,
        call: &ToolCall,
        arguments: Result<Map<String, Value>, ToolError>,
        approve: &mut Approve,
        emit: &mut dyn FnMut(Event),
    ) -> ToolOutput {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            let message = format!("Unknown tool: {}", call.name);
            return Err(ToolError::new(ToolCode::Unknown, message));
        };
        let arguments = Value::Object(arguments?);
        let schema = Schema::compile(&tool.parameters()).map_err(|e| ToolError::execution(e.message))?;
        if let Some(violation) = schema.violations(&arguments).into_iter().next() {
            let place = if violation.pointer.is_empty() { "the arguments" } else { &violation.pointer };
            return Err(ToolError::args(format!("{place}: {}", violation.message)));
        }
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::args("the arguments are not a JSON object"));
        };
        if tool.profile > self.profile {
            let needed = super::options::value_name(tool.profile);
            return Err(ToolError::execution(format!("BLOCKED: {} needs --profile {needed}", tool.name)));
        }
        if tool.profile > Profile::Safe && self.approval != ApprovalMode::Auto {
            let granted = self.approval == ApprovalMode::Ask && approve(tool.name, &arguments);
            emit(Event::Permission { id: call.id.clone(), tool: call.name.clone(), granted });
            if !granted {
                let who = if self.approval == ApprovalMode::Ask {
                    "was not approved"
                } else {
                    "is disabled by approval mode 'never'"
                };
                return Err(ToolError::execution(format!("BLOCKED: {} {who}", tool.name)));
            }
        }
        (tool.run)(self, &arguments)
    }

    /// A path of the model's, relative to the workspace. An absolute one must lie in it.
    fn relative(&self, path: &str) -> Result<PathBuf, ToolError> {
        let path = Path::new(path);
        let inner = if path.is_absolute() {
            path.strip_prefix(&self.root)
                .map_err(|_| ToolError::execution(format!("{} is outside the workspace", path.display())))?
        } else {
            path
        };
        Ok(if inner.as_os_str().is_empty() { ".".into() } else { inner.to_owned() })
    }
}

/// The arguments as an object; none at all is an empty one.
fn arguments(raw: &str) -> Result<Map<String, Value>, ToolError> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ToolError::args("the arguments are not a JSON object")),
        Err(error) => Err(ToolError::args(format!("the arguments are not JSON: {error}"))),
    }
}

/// A string argument, which the schema demands.
fn string<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// An I/O error as one of the seven codes.
fn io_error(path: &str, error: &std::io::Error) -> ToolError {
    match error.kind() {
        std::io::ErrorKind::NotFound => ToolError::new(ToolCode::NotFound, format!("{path} does not exist")),
        std::io::ErrorKind::PermissionDenied => {
            ToolError::execution(format!("{path} is not allowed, or leads outside the workspace"))
        }
        _ => ToolError::execution(format!("{path}: {error}")),
    }
}

/// The result of a tool, from a literal object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
