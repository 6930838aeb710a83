//! Decompresses gzip (RFC 1952) and Zstandard (RFC 8878), detected by their magic numbers. Input may consist of several
//! gzip members or Zstandard frames.

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fmt::Display;
use std::io::{self, Cursor, ErrorKind, Read};

/// A reader that returns decompressed bytes, with whether the input is compressed.
pub(super) struct Decompressed {
    pub reader: Box<dyn Read + Send>,
    pub compressed: bool,
}

/// Returns a reader that decompresses `input` if it is compressed, which its first bytes show. Waits for one byte only,
/// unless this byte can begin a magic number.
pub(super) fn decompressed(mut input: impl Read + Send + 'static) -> io::Result<Decompressed> {
    let mut head = Vec::new();
    (&mut input).take(1).read_to_end(&mut head)?;
    if matches!(head[..], [0x1f | 0x28 | 0x50..=0x5f]) {
        (&mut input).take(3).read_to_end(&mut head)?;
    }
    let is_gzip = matches!(head[..], [0x1f, 0x8b, ..]);
    // A data frame, or a skippable frame.
    let is_zstd = matches!(head[..], [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]);
    let input = Cursor::new(head).chain(input);
    let reader: Box<dyn Read + Send> = if is_gzip {
        Box::new(Gzip(MultiGzDecoder::new(input)))
    } else if is_zstd {
        Box::new(Zstd { input, decoder: FrameDecoder::new(), in_frame: false })
    } else {
        Box::new(input)
    };
    Ok(Decompressed { reader, compressed: is_gzip || is_zstd })
}

struct Gzip<R>(MultiGzDecoder<R>);

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                invalid("gzip", error)
            }
            _ => error,
        })
    }
}

struct Zstd<R> {
    input: R,
    decoder: FrameDecoder,
    /// Whether the decoder has begun a data frame that is not finished.
    in_frame: bool,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.next_frame()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.input, block)
                    .map_err(|error| invalid("Zstandard", error))?;
            }
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.in_frame = false;
            let (stated, computed) =
                (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
            if stated.is_some() && stated != computed {
                return Err(invalid("Zstandard", "the checksum does not match"));
            }
        }
    }
}

impl<R: Read> Zstd<R> {
    /// Begins the next data frame, and skips the skippable frames before it; returns false at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = Vec::new();
            if (&mut self.input).take(4).read_to_end(&mut magic)? == 0 {
                return Ok(false);
            }
            match self.decoder.init(Cursor::new(magic).chain(&mut self.input)) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.input).take(length), &mut io::sink())? < length {
                        return Err(invalid("Zstandard", "it ends within a skippable frame"));
                    }
                }
                Err(error) => return Err(invalid("Zstandard", error)),
            }
        }
    }
}

fn invalid(format: &str, why: impl Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("invalid {format} data: {why}"))
}
