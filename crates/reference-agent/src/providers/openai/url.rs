//! Where the server is, and whether it may be told the key.

use crate::failure::{Code, Failure, Result};
use std::net::IpAddr;
use ureq::http::Uri;

/// The address of the chat completions under a base URL.
///
/// # Errors
/// [`Code::InvalidBaseUrl`] for what is no http or https URL with a host and without credentials,
/// query or fragment; [`Code::InsecureBaseUrl`] for plain http to another machine, unless allowed.
pub(super) fn endpoint(base: &str, insecure: bool) -> Result<String> {
    // The URL may hold a password, so it is not repeated.
    let invalid = |what: &str| {
        let failure = Failure::new(Code::InvalidBaseUrl, format!("invalid base URL: {what}"));
        Err(failure.hint("use a URL such as https://host/v1"))
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
    if scheme == "http" && !insecure && !is_loopback(authority.host()) {
        let message = format!("plain http to {} would send the key in the clear", authority.host());
        return Err(Failure::new(Code::InsecureBaseUrl, message).hint("use https, or --allow-insecure-http"));
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
    fn keys_go_over_tls_or_stay_on_this_machine() {
        for good in
            ["https://a.example/v1", "http://127.0.0.1:8080/v1/", "http://localhost", "http://[::1]:1/x"]
        {
            assert!(endpoint(good, false).unwrap().ends_with("/chat/completions"), "{good}");
        }
        let insecure = [
            "http://a.example/v1",
            "http://198.51.100.1/v1",
            "http://127.0.0.1.example/",
            "http://localhost.example",
        ];
        for bad in insecure {
            assert_eq!(endpoint(bad, false).unwrap_err().code, Code::InsecureBaseUrl, "{bad}");
            assert!(endpoint(bad, true).is_ok(), "{bad}");
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
        for bad in invalid {
            assert_eq!(endpoint(bad, true).unwrap_err().code, Code::InvalidBaseUrl, "{bad}");
        }
    }
}
