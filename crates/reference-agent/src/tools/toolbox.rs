//! Runs the tool calls that a model requests.

use super::objects::parse_arguments;
use super::specs::{self, Tool};
use super::workspace::AgentWorkspace;
use crate::clock::{millis, now_ms};
use crate::event::AgentEvent;
use crate::model::{ToolCall, ToolSpec};
use crate::modes::{ApprovalMode, Profile, value_name};
use crate::tool_record::{ToolCode, ToolError, ToolOutput, ToolRecord, ToolStart};
use agentnative_contract::Schema;
use serde_json::{Map, Value};
use std::time::Instant;

/// Callback that decides whether a tool that changes something may run. It receives the name of the tool and the
/// arguments.
pub type Approve = Box<dyn FnMut(&str, &Map<String, Value>) -> bool + Send>;

/// The tools that are available in a run, with their workspace and approval mode.
pub struct Toolbox {
    tools: Vec<Tool>,
    workspace: AgentWorkspace,
    profile: Profile,
    approval: ApprovalMode,
}

impl Toolbox {
    pub fn new(workspace: AgentWorkspace, profile: Profile, approval: ApprovalMode) -> Self {
        Self { tools: specs::tools(), workspace, profile, approval }
    }

    /// Returns the descriptions of the tools in the selected profile, for the model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let tools = self.tools.iter().filter(|tool| tool.profile <= self.profile);
        let spec = |tool: &Tool| {
            let Tool { name, description, .. } = *tool;
            ToolSpec { name, description, parameters: tool.parameters() }
        };
        tools.map(spec).collect()
    }

    /// Runs a tool call, and emits an event for its start and one for its result. `redact` removes secrets from the
    /// result.
    pub fn call(
        &self,
        call: &ToolCall,
        redact: &dyn Fn(&str) -> String,
        approve: &mut Approve,
        emit: &mut dyn FnMut(AgentEvent),
    ) -> ToolRecord {
        let parsed = parse_arguments(&call.arguments);
        let clock = Instant::now();
        let start = ToolStart {
            id: call.id.clone(),
            tool: call.name.clone(),
            input: parsed.clone().unwrap_or_default(),
            raw: call.arguments.clone(),
            started: now_ms(),
        };
        emit(AgentEvent::ToolCall(start.clone()));
        let output = self.run(call, parsed, approve, emit);
        let mut record = start.finish(output, millis(clock.elapsed()));
        record.redact(redact);
        emit(AgentEvent::ToolResult(record.clone()));
        record
    }

    fn run(
        &self,
        call: &ToolCall,
        arguments: Result<Map<String, Value>, ToolError>,
        approve: &mut Approve,
        emit: &mut dyn FnMut(AgentEvent),
    ) -> ToolOutput {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            let message = format!("Unknown tool: {}", call.name);
            return Err(ToolError::new(ToolCode::Unknown, message));
        };
        let arguments = Value::Object(arguments?);
        let schema =
            Schema::compile(&tool.parameters()).map_err(|e| ToolError::execution_error(e.message))?;
        if let Some(violation) = schema.violations(&arguments).into_iter().next() {
            let location = if violation.pointer.is_empty() { "the arguments" } else { &violation.pointer };
            return Err(ToolError::invalid_arguments(format!("{location}: {}", violation.message)));
        }
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::invalid_arguments("the arguments are not a JSON object"));
        };
        if tool.profile > self.profile {
            let needed = value_name(tool.profile);
            return Err(ToolError::execution_error(format!(
                "BLOCKED: {} needs --profile {needed}",
                tool.name
            )));
        }
        if tool.profile > Profile::Safe && self.approval != ApprovalMode::Auto {
            let granted = self.approval == ApprovalMode::Ask && approve(tool.name, &arguments);
            emit(AgentEvent::Permission { id: call.id.clone(), tool: call.name.clone(), granted });
            if !granted {
                let reason = if self.approval == ApprovalMode::Ask {
                    "was not approved"
                } else {
                    "is disabled by approval mode 'never'"
                };
                return Err(ToolError::execution_error(format!("BLOCKED: {} {reason}", tool.name)));
            }
        }
        (tool.run)(&self.workspace, &arguments)
    }
}
