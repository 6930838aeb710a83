//! Removes the boxes that typer and rich draw around the sections of a help page.

/// Returns the text of a help page without boxes. The title of a box becomes a heading, and its rows become lines such
/// as other libraries print.
pub(super) fn without_boxes(text: &str) -> String {
    let mut unboxed = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let words = line.trim();
        if let Some(title) = box_title(words) {
            inside = true;
            unboxed.push_str(&title);
        } else if inside && is_bottom(words) {
            inside = false;
        } else if let Some(row) = words.strip_prefix(['│', '|']).filter(|_| inside) {
            unboxed.push_str(&joined_columns(row.strip_suffix(['│', '|']).unwrap_or(row).trim_end()));
        } else {
            inside = false;
            unboxed.push_str(line);
        }
        unboxed.push('\n');
    }
    unboxed
}

/// Returns the title of a box, with a colon, if a line is the top of the box: `Commands:` for `╭─ Commands ───╮` or
/// `+- Commands ---+`. Empty for a box without a title; `None` for any other line.
fn box_title(words: &str) -> Option<String> {
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

/// Joins the columns of a table row about an option: `--json -j TEXT About` becomes `--json, -j TEXT About`. Removes
/// the `*` that marks a required option.
fn joined_columns(row: &str) -> String {
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

/// Returns whether a cell of a table is the placeholder of a value: `TEXT`, `INTEGER RANGE`, `[low|high]`,
/// `<int range> [x>=1]`.
fn is_value_name(cell: &str) -> bool {
    let capitals = cell.chars().any(char::is_uppercase) && !cell.chars().any(char::is_lowercase);
    let is_set = cell.starts_with('[') && cell.ends_with(']') && cell.contains('|');
    capitals || is_set || cell.starts_with('<') && cell.ends_with(['>', ']'])
}
