//! Formats besides text, json and jsonl: `--raw`, CSV, TSV, YAML.

use crate::context::{CheckContext, RunView};
use crate::verdict::Judgement;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{OutputFormat, Stream};
use agentnative_core::probe::Probe;

/// Judges `p2-raw`: `--raw` prints bare values for other tools.
pub fn judge_raw_output(context: &CheckContext) -> Judgement {
    judge_offered(context, DerivedKind::Raw, DerivedKind::IgnoredFlag, "the target has no `--raw`")
}

/// Judges `p2-more-formats`: CSV, TSV or YAML are offered in addition to text, json and jsonl.
pub fn judge_more_formats(context: &CheckContext) -> Judgement {
    let none = "the target offers no format other than text, json and jsonl";
    judge_offered(context, DerivedKind::MoreFormats, DerivedKind::InvalidFormat, none)
}

/// Passes if the target accepts a derived call of `kind`, such as one with `--raw`, but no call of the kind `wrong`,
/// such as one with an unknown flag. If it accepts both, the target accepts anything and proves nothing. `none` is the
/// reason if no call of `kind` is accepted.
fn judge_offered(context: &CheckContext, kind: DerivedKind, wrong: DerivedKind, none: &str) -> Judgement {
    let fits = |probe: &&Probe| accepted_run(context, probe).is_some_and(|run| is_in_requested_format(&run));
    let Some(found) = context.derived_probes(kind).find(fits) else {
        return Judgement::NotApplicable(none.into());
    };
    match context.derived_probes(wrong).find_map(|probe| accepted_run(context, probe)) {
        None => Judgement::Pass(format!("offered: {}", found.name)),
        Some(wrong) => Judgement::NotApplicable(format!(
            "{} is accepted, but so is {}: there is no evidence that the target supports it",
            found.name, wrong.probe.name
        )),
    }
}

/// Returns the run of a derived probe if it has the exit code of the declared probe that it is derived from.
fn accepted_run<'a>(context: &'a CheckContext<'a>, probe: &'a Probe) -> Option<RunView<'a>> {
    let expected = context.source_of(probe)?.exit?;
    context.plain_run(probe, OutputFormat::Text).filter(|run| run.exit() == Some(expected))
}

/// True if the output of a run has the format that its call requests: CSV, TSV or YAML. For `--raw`, any output is
/// sufficient.
fn is_in_requested_format(run: &RunView) -> bool {
    let Some(lines) = run.lines(Stream::Stdout).filter(|lines| !lines.is_empty()) else { return false };
    let format_name = run.probe.name.rsplit(' ').next().unwrap_or_default().trim_end_matches('\'');
    match format_name {
        "csv" => !is_json(run) && is_table(&lines.join("\n"), ','),
        "tsv" => !is_json(run) && is_table(&lines.join("\n"), '\t'),
        "yaml" => !is_text(run, &lines),
        _ => true,
    }
}

fn is_json(run: &RunView) -> bool {
    let formats = [OutputFormat::Json, OutputFormat::Jsonl];
    let bytes = run.bytes(Stream::Stdout);
    formats
        .into_iter()
        .any(|format| run.context.scans.scan(bytes, format).first_structural_problem().is_none())
}

/// True if `lines` are the same as the text output of the call without the requested format.
fn is_text(run: &RunView, lines: &[String]) -> bool {
    let source = run.context.source_of(run.probe);
    let text = source.and_then(|source| run.context.plain_run(source, OutputFormat::Text));
    text.and_then(|text| text.lines(Stream::Stdout)).is_some_and(|text| text == lines)
}

/// True if all rows of `text` have the same number of fields. Quoted fields as in RFC 4180 may contain separators.
fn is_table(text: &str, separator: char) -> bool {
    let (mut rows, mut fields, mut quoted) = (Vec::new(), 1, false);
    for char in text.chars() {
        match char {
            '"' => quoted = !quoted,
            '\n' if !quoted => rows.push(std::mem::replace(&mut fields, 1)),
            _ if char == separator && !quoted => fields += 1,
            _ => {}
        }
    }
    rows.push(fields);
    !quoted && rows.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::is_table;

    #[test]
    fn all_rows_have_the_same_number_of_fields() {
        for (text, separator) in [
            ("id,name\n1,alpha", ','),
            ("a,b\n\"x, \"\"y\"\"\n\",2", ','),
            ("id\n1", ','),
            ("a\tb\n1\t2,3", '\t'),
        ] {
            assert!(is_table(text, separator), "{text}");
        }
        for text in ["id,name\n1", "a,b\n\"x,2", "Name, age and so on\nalpha"] {
            assert!(!is_table(text, ','), "{text}");
        }
    }
}
