//! Code that the checks of several principles share. The principles import this module, and never each other.

mod absent;
mod calls;
mod changed;
mod differences;
mod error_object;
mod escapes;
mod exits;
mod flag_position;
mod network;
mod pages;
mod scenario;
mod variables;
mod waiting;

pub use absent::{absent_feature, absent_format};
pub use calls::{ExampleValidator, InvalidCall};
pub use changed::{RunChanges, is_folder, is_result, reading_probes, recorded_changes, varies_between_runs};
pub use differences::{Difference, difference, differences, ends_early, list_first};
pub use error_object::{
    Misplaced, SILENCE_HINT, error_object, find_invalid_stdout, is_repeated, lacking_keys, not_a_failure,
    stderr_repeats_stdout,
};
pub use escapes::moves_cursor;
pub use exits::{
    NO_FAILURE, declare_failure, declare_success, display_exit, exit_check, fails_anyway, is_invalid_usage,
};
pub use flag_position::accepted_elsewhere;
pub use network::judge_without_stalled_probe;
pub use pages::{
    Pages, PrintedPage, command_help_runs, help_run, prints_own_page, requires_argument, runs_of_kind,
    stdout_start, target_names,
};
pub use scenario::{lacking, scenario_run};
pub use variables::{
    SwitchRuns, are_equal_by_file, fail_at_difference, has_same_output, judge_variables, variable_run,
    without_config_file,
};
pub use waiting::{judge_hang, looks_like_question, shows_pages};
