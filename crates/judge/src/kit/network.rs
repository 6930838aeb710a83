//! Requests that nobody answers.

use crate::context::CheckContext;
use crate::undeclared::Undeclared;
use crate::verdict::Judgement;
use agentnative_core::config::Feature;

/// Words in the names of commands that use the network.
const NETWORK: [&str; 9] =
    ["clone", "deploy", "download", "fetch", "publish", "pull", "push", "sync", "upload"];

/// What is said where no probe sends a request that nobody answers.
pub fn no_request(context: &CheckContext) -> Judgement {
    let undeclared = Undeclared {
        feature: Feature::Network,
        words: &NETWORK,
        no_probe: "no probe has `{stalled}`",
        declare: "one that sends a request to this address",
        lacking: "the target uses no network",
        does: "uses the network by its name",
    };
    undeclared.judgement(context)
}
