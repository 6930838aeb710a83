//! The boxes that typer and rich draw around the sections of a help page.

/// Returns the text without boxes, line by line: the title of a box becomes a heading, and its rows become lines as
/// other libraries print them.
pub(super) fn removed(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let words = line.trim();
        if let Some(title) = top(words) {
            inside = true;
            plain.push_str(&title);
        } else if inside && is_bottom(words) {
            inside = false;
        } else if let Some(row) = words.strip_prefix(['│', '|']).filter(|_| inside) {
            plain.push_str(&unboxed(row.strip_suffix(['│', '|']).unwrap_or(row).trim_end()));
        } else {
            inside = false;
            plain.push_str(line);
        }
        plain.push('\n');
    }
    plain
}

/// Returns the title with a colon if a line is the top of a box: `╭─ Commands ───╮`, or `+- Commands ---+` where the
/// output is ASCII. The title of a box without one is empty.
fn top(words: &str) -> Option<String> {
    let edge = words.strip_prefix(['╭', '┌', '+'])?.strip_suffix(['╮', '┐', '+'])?;
    let title = edge.trim_matches(['─', '-']);
    let is_edge = edge.starts_with(['─', '-']) && edge.ends_with(['─', '-']);
    let is_title = title.is_empty() || title.starts_with(' ') && title.ends_with(' ');
    let title = title.trim();
    (is_edge && is_title).then(|| if title.is_empty() { String::new() } else { format!("{title}:") })
}

fn is_bottom(words: &str) -> bool {
    words.starts_with(['╰', '└', '+']) && words.chars().all(|char| "╰╯└┘─-+".contains(char))
}

/// Returns a row with the names of an option and its value in one column: `--json  -j  TEXT  About` becomes
/// `--json, -j TEXT  About`. The `*` of a required one is left out.
fn unboxed(row: &str) -> String {
    let content = row.trim_start();
    let indent = row.len() - content.len();
    let content = content.strip_prefix("* ").map_or(content, str::trim_start);
    let mut cells = content.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).peekable();
    let mut head = Vec::new();
    while let Some(names) = cells.next_if(|cell| cell.starts_with('-') && *cell != "-") {
        head.push(names);
    }
    if head.is_empty() {
        return format!("{}{content}", " ".repeat(indent));
    }
    let mut line = " ".repeat(indent) + &head.join(", ");
    if let Some(value) = cells.next_if(|cell| is_value_name(cell)).filter(|cell| *cell != "<bool>") {
        line.extend([" ", value]);
    }
    cells.for_each(|cell| line.extend(["  ", cell]));
    line
}

/// Whether a cell stands for the value of an option: `TEXT`, `INTEGER RANGE`, `[low|high]`, `<int range> [x>=1]`.
fn is_value_name(cell: &str) -> bool {
    let capitals = cell.chars().any(char::is_uppercase) && !cell.chars().any(char::is_lowercase);
    let is_set = cell.starts_with('[') && cell.ends_with(']') && cell.contains('|');
    capitals || is_set || cell.starts_with('<') && cell.ends_with(['>', ']'])
}
