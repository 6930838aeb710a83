//! Finds the name that an unknown word was probably meant to be.

/// Returns the name in `names` that is most similar to `word`, with at most one edit per three characters; `None` if
/// there is none.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_found() {
        let names = ["exit", "exit_codes", "env", "args"];
        assert_eq!(nearest("exti", names), Some("exit"));
        assert_eq!(nearest("exit-code", names), Some("exit_codes"));
        assert_eq!(nearest("arg", names), Some("args"));
        assert_eq!(nearest("é", names), None);
        assert_eq!(nearest("description", names), None);
        assert_eq!(nearest("", names), None);
    }
}
