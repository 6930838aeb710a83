//! Tokens of JSON pointers (RFC 6901).

/// Escapes a key as a token of an RFC 6901 pointer: the key `a/b` becomes `a~1b`.
pub fn escape_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key that a token of an RFC 6901 pointer stands for: `a/b` for the token `a~1b`.
pub fn unescape_token(token: &str) -> String {
    // Almost no token has escapes.
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~") } else { token.to_owned() }
}
