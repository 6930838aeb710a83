//! Where the documentation of checks, kinds of change and contracts is: a page of the site, or a command.

/// URL of the documentation site, set at build time: `AGENTNATIVE_DOCS_URL=https://… cargo build`.
pub const DOCS_URL: Option<&str> = option_env!("AGENTNATIVE_DOCS_URL");

/// The subject of a page of the documentation site. The URL of the page is `<site>/<folder>/<name>.html`, such as
/// `<site>/checks/p2-output-json.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A check.
    Check,
    /// A kind of change between two versions of a contract or of an interface.
    Change,
    /// A bundled contract.
    Contract,
}

impl Topic {
    /// Returns the folder of the site with the pages about this subject.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Check => "checks",
            Self::Change => "changes",
            Self::Contract => "contracts",
        }
    }

    /// Returns the URL of the page about `name`. `site` is the URL of the documentation site; without one, the result
    /// is `None`.
    pub fn url(self, site: Option<&str>, name: &str) -> Option<String> {
        let site = site.map(|site| site.trim().trim_end_matches('/')).filter(|site| !site.is_empty())?;
        Some(format!("{site}/{}/{name}.html", self.folder()))
    }

    /// Returns the URL of the page about `name` or, if `site` is missing, the command that prints the same text.
    pub fn url_or_command(self, site: Option<&str>, name: &str) -> String {
        self.url(site, name).unwrap_or_else(|| match self {
            Self::Check | Self::Change => format!("agentnative explain {name}"),
            Self::Contract => format!("agentnative contract show {name}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Topic;

    #[test]
    fn docs_is_a_url_if_there_is_a_site_and_else_a_command() {
        for site in ["https://docs.example/an", "https://docs.example/an/"] {
            let page = |topic: Topic, name| topic.url_or_command(Some(site), name);
            assert_eq!(page(Topic::Check, "p2-raw"), "https://docs.example/an/checks/p2-raw.html");
            assert_eq!(
                page(Topic::Change, "diff-key-removed"),
                "https://docs.example/an/changes/diff-key-removed.html"
            );
            assert_eq!(page(Topic::Contract, "p2-error"), "https://docs.example/an/contracts/p2-error.html");
        }
        for site in [None, Some(""), Some(" ")] {
            assert_eq!(Topic::Check.url_or_command(site, "p2-raw"), "agentnative explain p2-raw");
            assert_eq!(
                Topic::Contract.url_or_command(site, "p2-error"),
                "agentnative contract show p2-error"
            );
            assert_eq!(Topic::Check.url(site, "p2-raw"), None);
        }
    }
}
