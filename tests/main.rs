//! The product: its library and its program, through their public faces. What needs the machine to itself
//! is in `system.rs`.

mod architecture;
mod cli;
mod config;
mod contract_generated;
mod examples;
mod fixtures;
mod fixtures_shape;
mod help;
mod outcome;
mod output;
mod project;
mod readme;
mod render;
mod skeleton;
mod source;
mod support;
mod target;
mod validate;
mod verdicts;
