//! The checks of principle 6: conventional options, signals and use of terminals.

mod bare_environment;
mod color_flag;
mod completions;
mod global_flags;
mod locale;
mod no_color;
mod no_pager;
mod precedence;
mod read_only_home;
mod sigint;
mod sigterm;
mod stdin;
mod timeout;
mod width;
mod xdg;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P6NoColor, no_color::no_color),
    (CheckId::P6NoPager, no_pager::no_pager),
    (CheckId::P6Completions, completions::completions),
    (CheckId::P6GlobalFlags, global_flags::global_flags),
    (CheckId::P6BareEnvironment, bare_environment::bare_environment),
    (CheckId::P6Sigterm, sigterm::sigterm),
    (CheckId::P6Timeout, timeout::timeout),
    (CheckId::P6Sigint, sigint::sigint),
    (CheckId::P6Xdg, xdg::xdg),
    (CheckId::P6ColorFlag, color_flag::color_flag),
    (CheckId::P6Stdin, stdin::stdin),
    (CheckId::P6Width, width::width),
    (CheckId::P6Locale, locale::locale),
    (CheckId::P6ReadOnlyHome, read_only_home::read_only_home),
    (CheckId::P6Precedence, precedence::precedence),
];
