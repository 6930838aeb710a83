//! Requests to a server that never responds.

use crate::context::CheckContext;
use crate::undeclared::UndeclaredFeature;
use crate::verdict::Judgement;
use agentnative_core::config::Feature;

/// Words in the names of commands that use the network.
const NETWORK: [&str; 9] =
    ["clone", "deploy", "download", "fetch", "publish", "pull", "push", "sync", "upload"];

/// Judges a target without a probe that sends a request to a server that never responds.
pub fn judge_without_stalled_probe(context: &CheckContext) -> Judgement {
    let undeclared = UndeclaredFeature {
        feature: Feature::Network,
        words: &NETWORK,
        no_probe: "no probe has `{stalled}`",
        declare: "one that sends a request to this address",
        lacking: "the target uses no network",
        does: "seems to use the network",
    };
    undeclared.judgement(context)
}
