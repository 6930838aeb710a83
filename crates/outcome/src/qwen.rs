//! Mapper of Qwen Code, which has the format of Claude Code.

use super::Dialect;
use super::claude::{ClaudeVariant, detects, map_event};
use super::json::{at, nonempty, text};
use super::state::{MapFn, Mapper, failure_reason};

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Qwen,
    program: "qwen",
    agent: "qwen-code",
    formats: ["stream-json", "json"],
    map: MapFn::Values {
        is_head: |kind| kind == "system",
        detects: |event| {
            let is_message = text(event, "/type") == Some("assistant") && at(event, "/uuid").is_some();
            detects(event, "/qwen_code_version")
                || is_message && nonempty(event, "/message/id") == text(event, "/uuid")
        },
        // The stream does not report the provider.
        map_event: |state, event| {
            map_event(
                state,
                event,
                &ClaudeVariant {
                    version: "/qwen_code_version",
                    provider: None,
                    has_final_usage: true,
                    has_cached_input: true,
                },
            )
        },
    },
    failure_reason,
};
