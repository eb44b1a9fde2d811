//! Files that may be gzip-compressed, told by how they begin.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// How a gzip file begins.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The plain bytes of `raw`, which is read `block_bytes` at a time.
pub(super) fn decompress<'a>(
    mut raw: impl Read + 'a,
    block_bytes: usize,
) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut head = Vec::new();
    raw.by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    let compressed = head == MAGIC;
    let whole = BufReader::with_capacity(block_bytes, Cursor::new(head).chain(raw));
    Ok(if compressed {
        Box::new(BufReader::with_capacity(
            block_bytes,
            MultiGzDecoder::new(whole),
        ))
    } else {
        Box::new(whole)
    })
}
