//! The reference agent, through its binary.

#[path = "../../../../tests/support/programs.rs"]
mod programs;
mod support;

mod attachments;
mod config;
mod contracts;
mod endings;
mod events;
mod key;
mod locks;
mod mutations;
mod openai;
mod options;
mod query;
mod readme;
mod serve;
mod server;
mod spoiled;
mod third_party;
mod tls;
mod tools;
mod workspace;
