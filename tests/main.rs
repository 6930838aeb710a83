//! Tests of the product through the public interfaces of its library and its program. Tests that depend on timing or
//! signals are in `system.rs`.

mod all_problems;
mod architecture;
mod attribution;
mod baseline;
#[path = "support/chunked_reader.rs"]
mod chunked_reader;
mod cli;
mod combined_runs;
mod common_options;
mod conditions;
mod config;
mod config_template;
mod configuration;
#[path = "../crates/contract/tests/contract/contract_examples.rs"]
#[expect(dead_code, reason = "the tests here use only some of its items")]
mod contract_examples;
mod contract_generated;
#[path = "support/corpus.rs"]
mod corpus;
mod documents;
mod examples;
mod exploration_coverage;
mod explore_fixtures;
mod explored;
mod file_cycles;
mod fixture_invariants;
mod fixtures;
mod frameworks;
mod help;
mod help_examples;
mod help_pages;
mod html;
mod identity;
mod interface_pages;
#[path = "support/python.rs"]
mod interpreter;
mod judging;
mod library;
mod lists;
mod machine_reports;
#[path = "../crates/contract/tests/contract/mutants.rs"]
mod mutants;
mod outcome;
mod output;
mod packages;
#[path = "support/playground.rs"]
mod playground;
mod principle4;
#[path = "support/programs.rs"]
mod programs;
mod project;
mod public_reports;
mod python;
mod render;
mod report;
#[path = "support/simulated_target.rs"]
mod simulated_target;
mod source;
mod target;
mod toolkit;
mod validate;
mod verdicts;
mod wording;
