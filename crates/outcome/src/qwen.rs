//! What Qwen Code prints: the form of Claude Code.

use super::Dialect;
use super::claude::{Form, begins, take};
use super::state::{Cache, EventStream, Events, unfinished};

pub(super) const STREAM: EventStream = EventStream {
    dialect: Dialect::Qwen,
    agent: "qwen-code",
    cache: Cache::Within,
    events: Events::Values {
        begins: |event| begins(event, "/qwen_code_version"),
        // Whose model it is, the stream does not say.
        take: |state, event| {
            take(state, event, &Form { version: "/qwen_code_version", provider: None, usage: true })
        },
    },
    unfinished,
};
