//! Mapper of Qwen Code, which has the format of Claude Code.

use super::Dialect;
use super::claude::{ClaudeVariant, detects, map_event};
use super::state::{CachedTokens, MapFn, Mapper, failure_reason};

pub(super) const MAPPER: Mapper = Mapper {
    dialect: Dialect::Qwen,
    agent: "qwen-code",
    cached_tokens: CachedTokens::InInput,
    map: MapFn::Values {
        detects: |event| detects(event, "/qwen_code_version"),
        // The stream does not report the provider.
        map_event: |state, event| {
            map_event(
                state,
                event,
                &ClaudeVariant { version: "/qwen_code_version", provider: None, has_final_usage: true },
            )
        },
    },
    failure_reason,
};
