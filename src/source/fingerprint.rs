//! A hash of a check's rules, which says whether what was found is what they find now.

use crate::catalogue::SourceCheck;

/// Tells the rules of a check from others: what was found with those does not say what these would find.
pub fn fingerprint(check: &SourceCheck) -> u64 {
    let rules =
        check.languages.iter().flat_map(|(language, of)| of.rules.iter().map(move |rule| (language, rule)));
    let texts = rules.flat_map(|(language, rule)| {
        let of = rule.of.as_deref().unwrap_or_default();
        [language.name(), &rule.name, of, &rule.rule].into_iter().chain(rule.words.iter().map(String::as_str))
    });
    // FNV-1a: the same in each build.
    let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| text.bytes().chain([0]).fold(hash, byte))
}
