//! What the checks of several principles share. The principles import this, and never each other.

mod calls;
mod changed;
mod differences;
mod error_object;
mod escapes;
mod exits;
mod network;
mod option_place;
mod pages;
mod scene;
mod waiting;

pub use calls::{Examples, Wrong};
pub use changed::{Changed, is_folder, is_unsteady, listed, reading};
pub use differences::{Difference, difference, differences, ends_early, some_of};
pub use error_object::{
    Misplaced, SILENT, error_object, is_repeated, lacking_keys, misplaced, repeats, unusable,
};
pub use escapes::moves_cursor;
pub use exits::{NO_FAILURE, declare_failure, declare_success, display_exit, exit_check, is_plain_call};
pub use network::no_request;
pub use option_place::taken_elsewhere;
pub use pages::{Pages, Printed, names, of_commands, of_kind, own_page, printed, root};
pub use scene::{lacking, scene};
pub use waiting::{shows_pages, waiting};
