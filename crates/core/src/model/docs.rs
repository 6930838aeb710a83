//! Where the documentation of checks, kinds of change and contracts is: a page of the site, or a command.

/// The address of the site, if there was one when this was built: `AGENTNATIVE_DOCS_URL=https://… cargo build`.
pub const DOCS_URL: Option<&str> = option_env!("AGENTNATIVE_DOCS_URL");

/// What a page of the site is about. Its address is that of the site, the folder and the name:
/// `<site>/checks/p2-output-json.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A check.
    Check,
    /// A kind of change.
    Change,
    /// A bundled contract.
    Contract,
}

impl Topic {
    /// The folder of its pages on the site.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Check => "checks",
            Self::Change => "changes",
            Self::Contract => "contracts",
        }
    }

    /// The page about `name` on the site; none where no address is known.
    pub fn page(self, site: Option<&str>, name: &str) -> Option<String> {
        let site = site.map(|site| site.trim().trim_end_matches('/')).filter(|site| !site.is_empty())?;
        Some(format!("{site}/{}/{name}.html", self.folder()))
    }

    /// The page about `name` on the site, else the command that explains it.
    pub fn docs(self, site: Option<&str>, name: &str) -> String {
        self.page(site, name).unwrap_or_else(|| match self {
            Self::Check | Self::Change => format!("agentnative explain {name}"),
            Self::Contract => format!("agentnative contract show {name}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Topic;

    #[test]
    fn docs_are_a_page_where_there_is_a_site() {
        for site in ["https://docs.example/an", "https://docs.example/an/"] {
            let page = |topic: Topic, name| topic.docs(Some(site), name);
            assert_eq!(page(Topic::Check, "p2-raw"), "https://docs.example/an/checks/p2-raw.html");
            assert_eq!(
                page(Topic::Change, "diff-key-removed"),
                "https://docs.example/an/changes/diff-key-removed.html"
            );
            assert_eq!(page(Topic::Contract, "p2-error"), "https://docs.example/an/contracts/p2-error.html");
        }
        for site in [None, Some(""), Some(" ")] {
            assert_eq!(Topic::Check.docs(site, "p2-raw"), "agentnative explain p2-raw");
            assert_eq!(Topic::Contract.docs(site, "p2-error"), "agentnative contract show p2-error");
            assert_eq!(Topic::Check.page(site, "p2-raw"), None);
        }
    }
}
