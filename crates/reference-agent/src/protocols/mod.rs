//! The protocols in which a run is written to standard output: a file and a row of [`PROTOCOLS`] each.

mod agent_js;
mod claude_stream;
mod codex_exec;
mod dexter_flat;
mod dexter_nested;
mod opencode_events;
mod opencode_run;
pub(super) mod own;
mod protocol;
mod table;

pub use protocol::{Encoder, EncoderSettings, Protocol};

use agentnative_output::{OutputFormat, asked_format, asked_values};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;

/// All protocols, in the order of the help.
const PROTOCOLS: [&Protocol; 8] = [
    &own::PROTOCOL,
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
        &own::PROTOCOL
    }
}

/// The protocol of this name.
fn find(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.into_iter().find(|protocol| protocol.contract == Some(name))
}

/// Reads the value of `--contract`.
pub fn parser() -> impl TypedValueParser<Value = &'static Protocol> {
    let value = |protocol: &Protocol| Some(PossibleValue::new(protocol.contract?));
    let values = PossibleValuesParser::new(PROTOCOLS.into_iter().filter_map(value));
    // Other names do not come so far.
    values.map(|name| find(&name).unwrap_or_default())
}

/// The exit codes of the protocols that have their own, for the help.
pub fn exit_codes() -> String {
    let own = PROTOCOLS.into_iter().filter(|protocol| !protocol.exit_codes.is_empty());
    let lines = own
        .map(|protocol| format!("\n  {:15}{}", protocol.contract.unwrap_or_default(), protocol.exit_codes));
    lines.collect()
}

/// The protocol and the format that arguments ask for which could not be parsed as a whole: an error is
/// written in them. A protocol that is not known counts as none.
pub fn requested(args: &[OsString]) -> (&'static Protocol, OutputFormat) {
    let protocol = asked_values(args, "--contract").next().and_then(find).unwrap_or_default();
    (protocol, protocol.format.unwrap_or_else(|| asked_format(args)))
}
