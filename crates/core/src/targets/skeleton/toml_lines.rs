//! Lines of a TOML file with comments.

pub(super) fn section(text: &mut String, lines: &[&str]) {
    if !text.is_empty() {
        text.push('\n');
    }
    for words in lines {
        line(text, &format!("# {words}"));
    }
}

pub(super) fn line(text: &mut String, words: &str) {
    text.push_str(words);
    text.push('\n');
}

pub(super) fn string(text: &str) -> String {
    toml::Value::String(text.replace(char::is_control, " ")).to_string()
}

pub(super) fn array(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| string(word)).collect();
    format!("[{}]", words.join(", "))
}

/// Words of a stranger for a comment: one line without control characters, not too long.
pub(super) fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(100).collect();
    text.trim().to_owned()
}
