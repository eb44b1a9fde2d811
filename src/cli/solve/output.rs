//! Standard output, written in blocks.

use std::io::{self, Write as _};

/// Lines of about this many bytes are written at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// Lines on their way to standard output.
#[derive(Debug, Default)]
pub(super) struct Output {
    pending: Vec<u8>,
}

impl Output {
    pub(super) fn new() -> Output {
        Output {
            pending: Vec::with_capacity(2 * BLOCK_BYTES),
        }
    }

    /// Where the next line is to be appended.
    pub(super) fn line(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Whether it is time to [`flush`](Output::flush).
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= BLOCK_BYTES
    }

    /// Writes out what was appended.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&self.pending)?;
        self.pending.clear();
        stdout.flush()
    }
}
