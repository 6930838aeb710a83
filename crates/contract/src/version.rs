//! The versions of a contract, and the choice of the version that fits a program.

use schemars::JsonSchema;
use semver::{Version, VersionReq};
use serde::Serialize;

/// A version of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContractVersion {
    /// Name of this version, which follows the `@` in `NAME@VERSION`: a version number of the program.
    pub version: String,
    /// Range of the program versions to which this version applies, such as `>=0.42, <0.44`.
    pub range: String,
    /// Name of the program that has these versions, if the contract describes several programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Changes since the previous version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
}

impl ContractVersion {
    fn includes(&self, found: &Version) -> bool {
        VersionReq::parse(&self.range).is_ok_and(|range| range.matches(found))
    }

    /// Returns whether this is a version of `program`.
    pub(super) fn is_of(&self, program: &str) -> bool {
        self.program.as_ref().is_none_or(|described| described == program)
    }

    /// Returns whether the program version `found` is later than the one that names this version.
    fn precedes(&self, found: &Version) -> bool {
        VersionReq::parse(&format!(">{}", self.version)).is_ok_and(|range| range.matches(found))
    }
}

/// The version of a contract that is chosen for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionChoice<'c> {
    /// The chosen version of the contract.
    pub version: &'c ContractVersion,
    /// Whether the range of this version includes the version of the program; otherwise this is the nearest version.
    pub fits: bool,
    /// Whether the version of the program is newer than all versions of the contract, each of which is named after the
    /// last version of the program that was checked against it.
    pub is_newer: bool,
}

/// Returns the first version number of two or three parts in a text such as the output of `--version`. A suffix that
/// marks a pre-release is ignored.
pub fn find_version(text: &str) -> Option<Version> {
    let numbers = |word: &str| {
        let mut parts = word.split('.').map(str::parse::<u64>);
        let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
        Some(Version::new(major, minor, parts.next().and_then(Result::ok).unwrap_or(0)))
    };
    text.split(|character: char| !character.is_ascii_digit() && character != '.').find_map(numbers)
}

/// Returns the version of the contract whose range includes the version `found` of `program`. If no range
/// includes it, returns the nearest earlier version, or else the oldest. `None` for `program` stands for any of the
/// contract's programs.
pub(super) fn choose<'c>(
    versions: &'c [ContractVersion],
    program: Option<&str>,
    found: &Version,
) -> Option<VersionChoice<'c>> {
    let is_of_program = |version: &&ContractVersion| program.is_none_or(|program| version.is_of(program));
    let versions = || versions.iter().filter(is_of_program);
    let is_newer = versions().all(|version| version.precedes(found));
    if let Some(version) = versions().find(|version| version.includes(found)) {
        return Some(VersionChoice { version, fits: true, is_newer });
    }
    let mut numbered: Vec<_> =
        versions().filter_map(|version| Some((find_version(&version.version)?, version))).collect();
    numbered.sort_by(|one, other| one.0.cmp(&other.0));
    let before = numbered.iter().rev().find(|(number, _)| number <= found);
    let (_, version) = before.or(numbered.first())?;
    Some(VersionChoice { version, fits: false, is_newer })
}
