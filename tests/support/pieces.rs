//! Bytes that arrive as a pipe gives them.

use std::io::Read;

/// A reader that gives its bytes in pieces of the given sizes, over and over.
pub struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: std::iter::Cycle<std::slice::Iter<'a, usize>>,
}

impl<'a> Pieces<'a> {
    pub fn new(bytes: &'a [u8], sizes: &'a [usize]) -> Self {
        Self { bytes, sizes: sizes.iter().cycle() }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes.next().map_or(0, |size| *size).min(buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}
