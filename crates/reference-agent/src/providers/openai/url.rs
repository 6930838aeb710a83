//! Validates the base URL of the server, and whether the API key may be sent to it.

use crate::failure::{Code, Failure, Result};
use std::net::IpAddr;
use ureq::http::Uri;

/// Returns the URL for chat completions, `BASE/chat/completions`, and validates the base URL.
///
/// # Errors
/// [`Code::InvalidBaseUrl`] unless `base` is an http or https URL with a host and without credentials, query or
/// fragment. [`Code::InsecureBaseUrl`] for plain http to another machine, unless `allow_insecure` is set.
pub(super) fn endpoint(base: &str, allow_insecure: bool) -> Result<String> {
    // The URL may contain a password, so the message does not quote it.
    let invalid = |what: &str| {
        let failure = Failure::new(Code::InvalidBaseUrl, format!("invalid base URL: {what}"));
        Err(failure.with_hint("use a URL such as https://host/v1"))
    };
    let Ok(uri) = base.parse::<Uri>() else { return invalid("it cannot be parsed") };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return invalid("it has no scheme or no host");
    };
    if !["http", "https"].contains(&scheme) {
        return invalid("its scheme is neither https nor http");
    }
    if authority.as_str().contains('@') {
        return invalid("it contains credentials");
    }
    if authority.host().is_empty() || authority.as_str().ends_with(':') {
        return invalid("it has no host or no port");
    }
    if uri.query().is_some() || base.contains('#') {
        return invalid("it has a query or a fragment");
    }
    if scheme == "http" && !allow_insecure && !is_loopback(authority.host()) {
        let message = format!("plain http to {} would send the key in the clear", authority.host());
        return Err(
            Failure::new(Code::InsecureBaseUrl, message).with_hint("use https, or --allow-insecure-http")
        );
    }
    Ok(format!("{}/chat/completions", base.trim_end_matches('/')))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{Code, endpoint};

    #[test]
    fn keys_are_sent_over_tls_or_to_this_machine_only() {
        for secure in
            ["https://a.example/v1", "http://127.0.0.1:8080/v1/", "http://localhost", "http://[::1]:1/x"]
        {
            assert!(endpoint(secure, false).unwrap().ends_with("/chat/completions"), "{secure}");
        }
        let insecure = [
            "http://a.example/v1",
            "http://198.51.100.1/v1",
            "http://127.0.0.1.example/",
            "http://localhost.example",
        ];
        for url in insecure {
            assert_eq!(endpoint(url, false).unwrap_err().code, Code::InsecureBaseUrl, "{url}");
            assert!(endpoint(url, true).is_ok(), "{url}");
        }
        let invalid = [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "https://user:pw@a.example/",
            "https://a.example/?x=1",
            "https://a.example/#x",
            "http://127.0.0.1:/",
            "https://a b/",
            "/v1",
        ];
        for url in invalid {
            assert_eq!(endpoint(url, true).unwrap_err().code, Code::InvalidBaseUrl, "{url}");
        }
    }
}
