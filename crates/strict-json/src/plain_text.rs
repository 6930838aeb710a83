//! Finds the end of the plain text at the start of a string: the first quote, backslash or control character.

/// Returns the number of bytes before the first quote, backslash or control character.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    match bytes.split_at_checked(BLOCK) {
        Some((block, rest)) => match plain_length_by_words(block) {
            BLOCK => BLOCK + plain_length_by_blocks(rest),
            length => length,
        },
        // Most strings are short.
        None => plain_length_by_words(bytes),
    }
}

/// Number of bytes of a long string that are examined at once, in vector registers.
const BLOCK: usize = 32;

#[inline(never)]
fn plain_length_by_blocks(bytes: &[u8]) -> usize {
    let is_end = |byte: &u8| u8::from(*byte == b'"') | u8::from(*byte == b'\\') | u8::from(*byte < 0x20);
    let is_plain = |block: &&[u8; BLOCK]| block.iter().fold(0, |found, byte| found | is_end(byte)) == 0;
    let length = bytes.as_chunks::<BLOCK>().0.iter().take_while(is_plain).count() * BLOCK;
    length + plain_length_by_words(&bytes[length..])
}

#[inline]
fn plain_length_by_words(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let length = plain_length_in_word(*word);
        if length < 8 {
            return index * 8 + length;
        }
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    words.len() * 8 + tail.iter().position(ends).unwrap_or(tail.len())
}

/// Like [`plain_length`], but for exactly eight bytes at once; 8 if all of them are plain.
#[inline(always)]
pub(super) fn plain_length_in_word(word: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The high bit of a byte is set if the byte ends the plain text. Borrows can set it wrongly, but only above the
    // first correct one.
    let word = u64::from_le_bytes(word);
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let found = (quote.wrapping_sub(ONES) & !quote)
        | (backslash.wrapping_sub(ONES) & !backslash)
        | (word.wrapping_sub(ONES * 0x20) & !word);
    // If no bit is set, there are 64 trailing zeros.
    (found & (ONES << 7)).trailing_zeros() as usize / 8
}
