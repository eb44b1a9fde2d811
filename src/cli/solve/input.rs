//! Where boards come from: files and standard input, compressed or not.

use std::{
    cell::RefCell,
    fs::{self, File},
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    rc::Rc,
    thread,
};

use anyhow::Context as _;
use tokio::runtime::Handle;

use super::resume::Check;
use crate::{
    board::text::file::BoardTexts,
    cli::{gzip, say},
    client::Feed,
};

/// Bytes that are read at once. What a read brings is sent before the next one, so this also is
/// about as much text as fills three messages.
const READ_BYTES: usize = 64 * 1024;

/// How far the input was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// The job ended before.
    InPart,
}

/// Files to read, one after the other.
#[derive(Debug)]
pub(super) struct Input {
    sources: Vec<Source>,
}

#[derive(Debug)]
enum Source {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// What the command line names. A file that is not there is an error now and not after an
    /// hour of solving the files before it.
    pub(super) fn find(files: &[PathBuf]) -> anyhow::Result<Input> {
        let stdin = Path::new("-");
        let mut sources = Vec::with_capacity(files.len().max(1));
        for file in files {
            if file == stdin {
                sources.push(Source::Stdin);
            } else {
                fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
                sources.push(Source::File(file.clone()));
            }
        }
        if files.is_empty() {
            sources.push(Source::Stdin);
        }
        Ok(Input { sources })
    }

    /// Reads everything on a thread of its own, as reads of files and terminals block. Its feed is
    /// closed when it ends, also by an error: what was read before that is still answered.
    ///
    /// A check sees every board; those before the one that is named with it are not sent.
    pub(super) fn feed_into(
        self,
        feed: Feed,
        runtime: Handle,
        check: Option<(Check, u64)>,
    ) -> io::Result<thread::JoinHandle<anyhow::Result<Extent>>> {
        let (check, skip) = check.unzip();
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let sink = Rc::new(RefCell::new(Sink {
                    feed,
                    runtime,
                    check,
                    skip: skip.unwrap_or(0),
                    mismatch: None,
                    closed: false,
                }));
                let read = self
                    .sources
                    .iter()
                    .try_for_each(|source| source.read_into(&sink));
                let mut sink = sink.borrow_mut();
                // If it fails, the sink knows.
                drop(sink.flush());
                if let Some(mismatch) = sink.mismatch.take() {
                    return Err(mismatch);
                }
                // An error that the end of the job caused is told by the outcomes, and better.
                if sink.closed {
                    return Ok(Extent::InPart);
                }
                read?;
                sink.check.as_ref().map_or(Ok(()), Check::end)?;
                Ok(Extent::Whole)
            })
    }
}

impl Source {
    fn read_into(&self, sink: &Rc<RefCell<Sink>>) -> anyhow::Result<()> {
        match self {
            Source::Stdin => {
                let stdin = io::stdin();
                if stdin.is_terminal() {
                    say("reading boards from the terminal; end with Ctrl-D");
                }
                read_boards(stdin.lock(), sink).context("cannot read standard input")
            }
            Source::File(path) => File::open(path)
                .and_then(|file| read_boards(file, sink))
                .with_context(|| format!("cannot read {}", path.display())),
        }
    }
}

fn read_boards(raw: impl io::Read, sink: &Rc<RefCell<Sink>>) -> io::Result<()> {
    let raw = FlushBeforeRead {
        raw,
        sink: Rc::clone(sink),
    };
    let mut texts = BoardTexts::new(gzip::decompress(raw, READ_BYTES)?);
    while let Some(board) = texts.next_text()? {
        sink.borrow_mut().push(board.text)?;
    }
    Ok(())
}

/// The feed, for a thread that may block.
struct Sink {
    feed: Feed,
    runtime: Handle,
    /// Knows the boards that have an answer already.
    check: Option<Check>,
    /// Boards that are not sent.
    skip: u64,
    /// What `check` found to be wrong.
    mismatch: Option<anyhow::Error>,
    /// The job takes no more boards.
    closed: bool,
}

impl Sink {
    fn push(&mut self, board: &str) -> io::Result<()> {
        if let Some(Err(mismatch)) = self.check.as_mut().map(|check| check.is_finished(board)) {
            self.mismatch = Some(mismatch);
            return Err(io::Error::other("the file of answers is another input's"));
        }
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if self.feed.push(board) {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.runtime.block_on(self.feed.flush()).map_err(|closed| {
            self.closed = true;
            io::Error::other(closed)
        })
    }
}

/// Sends what it has before it reads on: a board that someone types or a program pipes in is
/// answered at once, and does not wait until a message is full.
struct FlushBeforeRead<R> {
    raw: R,
    sink: Rc<RefCell<Sink>>,
}

impl<R: io::Read> io::Read for FlushBeforeRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sink.borrow_mut().flush()?;
        self.raw.read(buffer)
    }
}
