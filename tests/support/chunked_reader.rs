//! A reader that returns its bytes in small chunks, like a pipe.

use std::io::Read;

/// A reader that returns chunks of the given sizes, repeated cyclically.
pub struct ChunkedReader<'a> {
    bytes: &'a [u8],
    sizes: std::iter::Cycle<std::slice::Iter<'a, usize>>,
}

impl<'a> ChunkedReader<'a> {
    pub fn new(bytes: &'a [u8], sizes: &'a [usize]) -> Self {
        Self { bytes, sizes: sizes.iter().cycle() }
    }
}

impl Read for ChunkedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes.next().map_or(0, |size| *size).min(buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}
