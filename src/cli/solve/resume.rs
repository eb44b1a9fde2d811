//! Files of answers that are continued: what of one is finished, whether it belongs to this input,
//! and where to go on.
//!
//! A file holds one line a board, in order, and nothing that differs between runs. So each line can
//! be held against its board, and the last lines against answers that are solved again: a file of
//! other boards, other options or another format is refused before a byte of it is touched.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use anyhow::{Context as _, bail, ensure};

use super::{Format, jsonl, lines};

/// The longest line that can be an answer: 10,000 solutions and what stands around them.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Finished answers that are solved again and compared.
const RECHECKED_MAX: usize = 1024;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Where a file's answers go on.
#[derive(Debug)]
pub(super) struct Resume {
    /// Holds each board against its line.
    pub(super) check: Check,
    /// Writes the answers, once the last of those that are there have been solved again.
    pub(super) tail: Tail,
    pub(super) from: Start,
}

/// The board that a run begins with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// Its place in the input. The boards before it are not sent.
    pub(super) first: u64,
    /// Boards that have an answer in the file.
    pub(super) finished: u64,
}

/// Opens a file for answers. One that is there already is continued, if that was asked for.
pub(super) fn open(path: &Path, resume: bool, format: Format) -> anyhow::Result<Resume> {
    let shown = path.display();
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let opened = if resume {
        options.create(true).truncate(false).open(path)
    } else {
        options.create_new(true).open(path)
    };
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{shown} is there already; --resume continues it")
        }
        opened => opened.with_context(|| format!("cannot write {shown}"))?,
    };
    if file.try_lock().is_err() {
        bail!("another run is writing {shown}");
    }
    let finished = Finished::scan(&file, format).with_context(|| format!("cannot read {shown}"))?;
    let again = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let name = shown.to_string();
    Ok(Resume {
        check: Check {
            name: name.clone(),
            lines: BufReader::with_capacity(READ_BYTES, again),
            format,
            next: 0,
            finished: finished.lines,
        },
        from: Start {
            first: finished.recheck_line,
            finished: finished.lines,
        },
        tail: Tail::new(name, file, finished, path)?,
    })
}

/// The answers of a file that count as finished.
#[derive(Debug)]
struct Finished {
    lines: u64,
    bytes: u64,
    /// The first line that is solved again, and where it begins.
    recheck_line: u64,
    recheck_byte: u64,
    /// What stands there if no line is finished: nothing shows yet that it was written by us.
    stranger: Vec<u8>,
}

impl Finished {
    /// Reads the file up to the first line that is torn, or that says its board is unanswered.
    fn scan(mut file: &File, format: Format) -> io::Result<Finished> {
        file.rewind()?;
        let mut reader = BufReader::with_capacity(READ_BYTES, file);
        let mut starts = VecDeque::with_capacity(RECHECKED_MAX);
        let (mut lines, mut bytes) = (0, 0);
        let mut line = Vec::new();
        while read_line(&mut reader, &mut line)? && !is_unanswered(&line, format) {
            if starts.len() == RECHECKED_MAX {
                starts.pop_front();
            }
            starts.push_back(bytes);
            bytes += line.len() as u64;
            lines += 1;
        }
        if lines > 0 || is_unanswered(&line, format) {
            line.clear();
        }
        Ok(Finished {
            stranger: line,
            lines,
            bytes,
            recheck_line: lines - starts.len() as u64,
            recheck_byte: starts.front().copied().unwrap_or(0),
        })
    }
}

/// Reads a line with its end; `false` if there is none, or none that was written to its end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', line)?;
    Ok(line.ends_with(b"\n"))
}

fn is_unanswered(line: &[u8], format: Format) -> bool {
    let mark: &[u8] = match format {
        Format::Lines => b" UNANSWERED ",
        Format::Jsonl => br#""status":"UNANSWERED""#,
    };
    line.windows(mark.len()).any(|part| part == mark)
}

/// Holds the boards of the input against the finished lines, one after the other.
#[derive(Debug)]
pub(super) struct Check {
    name: String,
    lines: BufReader<File>,
    format: Format,
    /// The place of the next board.
    next: u64,
    finished: u64,
}

impl Check {
    /// Whether the next board of the input has its answer in the file.
    pub(super) fn is_finished(&mut self, board: &str) -> anyhow::Result<bool> {
        if self.next == self.finished {
            return Ok(false);
        }
        self.next += 1;
        let (name, number) = (&self.name, self.next);
        let mut line = Vec::new();
        let read = read_line(&mut self.lines, &mut line);
        ensure!(
            read.with_context(|| format!("cannot read {name}"))?,
            "{name} was changed meanwhile"
        );
        let belongs = str::from_utf8(&line).is_ok_and(|line| match self.format {
            Format::Lines => lines::answers(line.trim_end(), board),
            Format::Jsonl => jsonl::answers(line, number - 1, board),
        });
        ensure!(
            belongs,
            "{name} does not belong to this input: its line {number} is no answer to board {number}, \
             {}, in this format",
            lines::shown(board)
        );
        Ok(true)
    }

    /// The input is at its end.
    pub(super) fn end(&self) -> anyhow::Result<()> {
        let Check {
            name,
            next,
            finished,
            ..
        } = self;
        ensure!(
            next == finished,
            "{name} does not belong to this input: it has {finished} answers to {next} boards"
        );
        Ok(())
    }
}

/// The end of a file of answers.
#[derive(Debug)]
pub(super) struct Tail {
    name: String,
    file: File,
    /// Where the finished lines end. Cut there once all of them were checked.
    end: u64,
    /// Finished lines that answers are compared with before any is written.
    recheck: io::Take<BufReader<File>>,
    /// What must be the beginning of the first answer, or nothing.
    stranger: Vec<u8>,
    cut: bool,
}

impl Tail {
    fn new(name: String, file: File, finished: Finished, path: &Path) -> anyhow::Result<Tail> {
        let mut again = File::open(path)?;
        again.seek(SeekFrom::Start(finished.recheck_byte))?;
        let left = finished.bytes - finished.recheck_byte;
        Ok(Tail {
            name,
            file,
            end: finished.bytes,
            recheck: BufReader::with_capacity(READ_BYTES, again).take(left),
            stranger: finished.stranger,
            cut: false,
        })
    }

    /// Compares the answers with those that are there, or writes them.
    pub(super) fn write(&mut self, answers: &[u8]) -> anyhow::Result<()> {
        let known = usize::try_from(self.recheck.limit()).unwrap_or(usize::MAX);
        let (known, new) = answers.split_at(known.min(answers.len()));
        let mut there = vec![0; known.len()];
        self.recheck
            .read_exact(&mut there)
            .with_context(|| format!("cannot read {}", self.name))?;
        ensure!(
            there == known,
            "{} does not belong to these options: its last answers were solved again and differ",
            self.name
        );
        if !new.is_empty() {
            self.cut(new)?;
            let written = self.file.write_all(new);
            written.with_context(|| format!("cannot write {}", self.name))?;
        }
        Ok(())
    }

    /// Every answer is written: sees them onto the disk.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        if self.recheck.limit() == 0 {
            self.cut(&[])?;
        }
        let synced = self.file.sync_all();
        synced.with_context(|| format!("cannot write {}", self.name))
    }

    /// Cuts off a torn line, and all after the first board that was unanswered.
    fn cut(&mut self, answers: &[u8]) -> anyhow::Result<()> {
        if !self.cut {
            self.cut = true;
            ensure!(
                answers.starts_with(&self.stranger),
                "{} is no file of answers to this input; nothing of it was touched",
                self.name
            );
            self.file
                .set_len(self.end)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.end)))
                .with_context(|| format!("cannot write {}", self.name))?;
        }
        Ok(())
    }
}
