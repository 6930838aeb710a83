//! Tokens of JSON pointers (RFC 6901).

/// Escapes a key as a token of a pointer.
pub fn escape_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key that a token of a pointer stands for.
pub fn unescape_token(token: &str) -> String {
    // Almost no token has escapes.
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~") } else { token.to_owned() }
}
