//! `p6-color-flag`: the help lists an option that controls colour.

use crate::context::CheckContext;
use crate::kit::Pages;
use crate::verdict::Judgement;

const NAMES: [&str; 2] = ["--color", "--colour"];

/// Judges `p6-color-flag`: a help page lists an option that controls colour.
pub fn color_flag(context: &CheckContext) -> Judgement {
    let Ok(pages) = Pages::read(context) else {
        return Judgement::NotApplicable("no help page was read".to_owned());
    };
    let listed = |name: &&str| pages.all().any(|page| page.page.interface.has_option(name));
    match NAMES.into_iter().find(listed) {
        Some(name) => Judgement::Pass(format!("the help lists `{name}`")),
        None => Judgement::NotApplicable(format!("no help page lists `{}`", NAMES[0])),
    }
}
