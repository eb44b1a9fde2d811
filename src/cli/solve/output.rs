//! Standard output or a file of answers, written in blocks.

use std::io::{self, Write as _};

use super::resume::Tail;

/// Lines of about this many bytes are written at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// Lines on their way out.
#[derive(Debug)]
pub(super) struct Output {
    pending: Vec<u8>,
    /// The file, if it is not standard output.
    file: Option<Tail>,
}

impl Output {
    pub(super) fn new(file: Option<Tail>) -> Output {
        Output {
            pending: Vec::with_capacity(2 * BLOCK_BYTES),
            file,
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
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            file.write(&self.pending)?;
        } else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&self.pending)?;
            stdout.flush()?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Writes out what is left.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        self.flush()?;
        match &mut self.file {
            Some(file) => file.finish(),
            None => Ok(()),
        }
    }
}
