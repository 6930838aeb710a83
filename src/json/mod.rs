//! Strict reader of JSON bytes.
