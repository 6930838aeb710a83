//! Tests of the reference agent through its program.

#[path = "../../../../tests/support/programs.rs"]
mod programs;
mod support;

mod api_key;
mod attachments;
mod config;
mod contract_violations;
mod contracts;
mod events;
mod locks;
mod mock_server;
mod mutations;
mod openai;
mod options;
mod outcomes;
mod query;
mod readme;
mod serve;
mod third_party;
mod tls;
mod tools;
mod workspace;
