//! The output protocols, the formats in which the agent reports a run. Each protocol has a file in this folder and a
//! row in [`PROTOCOLS`].

mod agent_js;
mod claude_stream;
mod codex_exec;
mod csv;
mod dexter_flat;
mod dexter_nested;
pub(super) mod native;
mod opencode_events;
mod opencode_run;
mod protocol;

pub use protocol::{Encoder, EncoderSettings, Protocol};

use agentnative_output::{OutputFormat, option_values, requested_format};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;

/// All protocols, in the order in which the help lists them.
const PROTOCOLS: [&Protocol; 8] = [
    &native::PROTOCOL,
    &dexter_flat::PROTOCOL,
    &dexter_nested::PROTOCOL,
    &agent_js::PROTOCOL,
    &opencode_events::PROTOCOL,
    &opencode_run::PROTOCOL,
    &codex_exec::PROTOCOL,
    &claude_stream::PROTOCOL,
];

impl Default for &Protocol {
    fn default() -> Self {
        &native::PROTOCOL
    }
}

fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.into_iter().find(|protocol| protocol.contract == Some(name))
}

/// Returns the parser of the value of `--contract`, which accepts the names of the protocols.
pub fn contract_parser() -> impl TypedValueParser<Value = &'static Protocol> {
    let value = |protocol: &Protocol| Some(PossibleValue::new(protocol.contract?));
    let values = PossibleValuesParser::new(PROTOCOLS.into_iter().filter_map(value));
    // The name is always found, because the other parser accepts no others.
    values.map(|name| find(&name).unwrap_or_default())
}

/// Returns the text of the help about protocols with their own exit codes.
pub fn exit_codes() -> String {
    let documented = PROTOCOLS.into_iter().filter(|protocol| !protocol.exit_codes.is_empty());
    let lines = documented
        .map(|protocol| format!("\n  {:15}{}", protocol.contract.unwrap_or_default(), protocol.exit_codes));
    lines.collect()
}

/// Finds the protocol and the format that invalid arguments request, so that the error is reported in them. An unknown
/// protocol is ignored.
pub fn requested(args: &[OsString]) -> (&'static Protocol, OutputFormat) {
    let protocol = option_values(args, "--contract").next().and_then(find).unwrap_or_default();
    (protocol, protocol.format.unwrap_or_else(|| requested_format(args)))
}
