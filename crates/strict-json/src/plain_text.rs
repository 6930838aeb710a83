//! Measures the plain text at the start of a string.

/// The number of bytes in front of the first quote, backslash or control character.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    match bytes.split_at_checked(BLOCK) {
        Some((block, rest)) => match plain_by_words(block) {
            BLOCK => BLOCK + plain_by_blocks(rest),
            ended => ended,
        },
        // Most strings are short.
        None => plain_by_words(bytes),
    }
}

/// So many bytes are looked at together, in vectors, in a long string.
const BLOCK: usize = 32;

#[inline(never)]
fn plain_by_blocks(bytes: &[u8]) -> usize {
    let is_end = |byte: &u8| u8::from(*byte == b'"') | u8::from(*byte == b'\\') | u8::from(*byte < 0x20);
    let is_plain = |block: &&[u8; BLOCK]| block.iter().fold(0, |found, byte| found | is_end(byte)) == 0;
    let length = bytes.as_chunks::<BLOCK>().0.iter().take_while(is_plain).count() * BLOCK;
    length + plain_by_words(&bytes[length..])
}

#[inline]
fn plain_by_words(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let length = plain_in_word(*word);
        if length < 8 {
            return index * 8 + length;
        }
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    words.len() * 8 + tail.iter().position(ends).unwrap_or(tail.len())
}

/// As [`plain`], of eight bytes at once.
#[inline(always)]
pub(super) fn plain_in_word(word: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The high bit of a byte is set where it is one of those. Borrows can set it wrongly, but only above the first
    // true one.
    let word = u64::from_le_bytes(word);
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let found = (quote.wrapping_sub(ONES) & !quote)
        | (backslash.wrapping_sub(ONES) & !backslash)
        | (word.wrapping_sub(ONES * 0x20) & !word);
    // Without any, 64 zeros.
    (found & (ONES << 7)).trailing_zeros() as usize / 8
}
