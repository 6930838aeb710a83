//! The product: its library and its program, through their public faces. What needs the machine to itself
//! is in `system.rs`.

mod architecture;
mod at_once;
mod baseline;
mod cli;
mod combined_runs;
mod common_options;
mod conditions;
mod config;
mod configuration;
#[path = "../crates/contract/tests/contract/contract_examples.rs"]
#[expect(dead_code, reason = "the tests here need a part of it")]
mod contract_examples;
mod contract_generated;
#[path = "support/corpus.rs"]
mod corpus;
mod documents;
mod examples;
mod excuses;
mod file_cycles;
mod fixtures;
mod fixtures_shape;
mod frameworks;
mod help;
mod help_examples;
mod help_pages;
mod html;
mod identity;
#[path = "support/python.rs"]
mod interpreter;
mod judging;
mod library;
mod lists;
mod machine_reports;
#[path = "support/made_up.rs"]
mod made_up;
#[path = "../crates/contract/tests/contract/mutants.rs"]
mod mutants;
mod outcome;
mod output;
mod packages;
#[path = "support/pieces.rs"]
mod pieces;
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
mod skeleton;
mod source;
mod target;
mod toolkit;
mod validate;
mod verdicts;
