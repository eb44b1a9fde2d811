//! Files of boards: cut into the texts of single boards, in flat memory whatever their size.
//!
//! Each text goes to the parser as it is, so that a wrong board is answered with what is wrong
//! with it. The cutting follows these rules, line by line:
//!
//! * Blank lines, and lines that begin with `#`, are skipped. A byte order mark at the start and
//!   CRLF endings are understood.
//! * A line that holds 81 cells, in any way the parser reads, is a text.
//! * Nine lines of nine cells are a text, together with the frame lines among them. A row with a
//!   wrong cell or a wrong number of cells counts as a row, so that the grid stays whole and is
//!   refused as one. Blank lines may part all three bands; anywhere else a blank line ends the
//!   grid, as do a heading and a one-line board. Where grids follow each other with nothing
//!   between them, a missing row cannot be told: headings or blank lines make files safe.
//! * Headings above and below grids, and the frame around them, belong to no text; nor do the
//!   nine lines that follow `[State]` or `[PencilMarks]` after a grid.
//! * Among one-line boards every other line is a text too: a line that is no board must get its
//!   answer. Above the first board of a file, headings and rows wait for it (up to
//!   [`TEXT_BYTES_MAX`]) and it shows which of the two kinds of file it is; later the last board
//!   tells. In a file of one-line boards nine consecutive rows are still a grid.
//! * A line longer than [`TEXT_BYTES_MAX`] is a text by itself. It is not kept in memory beyond
//!   that; what is left is still too long for the parser.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read},
};

use super::{
    BYTE_ORDER_MARK, TEXT_BYTES_MAX,
    line::{self, Line},
    parse_plain,
};
use crate::board::Board;

/// The text of one board in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardText<'a> {
    /// The line it starts on, from 1.
    pub line_number: u64,
    /// The text, without the last line break.
    pub text: &'a str,
}

/// Cuts a file into the texts of its boards.
///
/// ```
/// use sudoku_solver::board::text::file::BoardTexts;
///
/// let mut texts = BoardTexts::new("# two lines\n12345\n\n67890\n".as_bytes());
/// while let Some(board) = texts.next_text()? {
///     println!("line {}: {}", board.line_number, board.text);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BoardTexts<R> {
    reader: R,
    line: Vec<u8>,
    cutter: Cutter,
}

impl<R: BufRead> BoardTexts<R> {
    /// Reads from the start of a file.
    pub fn new(reader: R) -> Self {
        BoardTexts {
            reader,
            line: Vec::new(),
            cutter: Cutter::default(),
        }
    }

    /// The next board's text, or `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// What the reader returns.
    pub fn next_text(&mut self) -> io::Result<Option<BoardText<'_>>> {
        while self.cutter.ready.is_empty() {
            if self.take_plain_line()? {
                break;
            }
            if !self.read_line()? {
                self.cutter.give_up();
                break;
            }
            // Bytes that are not UTF-8 become a character that no board holds.
            self.cutter.take(&String::from_utf8_lossy(&self.line));
        }
        Ok(self.cutter.ready.pop())
    }

    /// The fast path: a board of 81 plain characters on a line that the reader has in its buffer.
    fn take_plain_line(&mut self) -> io::Result<bool> {
        if !self.cutter.is_between_boards() {
            return Ok(false);
        }
        let buffer = self.reader.fill_buf()?;
        let Some((text, rest)) = buffer.split_at_checked(Board::CELLS) else {
            return Ok(false);
        };
        let ending = if rest.starts_with(b"\r\n") { 2 } else { 1 };
        if !rest[ending - 1..].starts_with(b"\n") || parse_plain(text).is_none() {
            return Ok(false);
        }
        let Ok(text) = std::str::from_utf8(text) else {
            return Ok(false);
        };
        self.cutter.take_plain(text);
        self.reader.consume(Board::CELLS + ending);
        Ok(true)
    }

    /// Reads one line, without its ending; of an overlong one no more than shows that it is.
    fn read_line(&mut self) -> io::Result<bool> {
        const KEPT: usize = TEXT_BYTES_MAX + 2;
        self.line.clear();
        let kept = self
            .reader
            .by_ref()
            .take(KEPT as u64)
            .read_until(b'\n', &mut self.line)?;
        if self.line.ends_with(b"\n") {
            self.line.pop();
        } else if kept == KEPT {
            self.reader.skip_until(b'\n')?;
        }
        if self.line.ends_with(b"\r") {
            self.line.pop();
        }
        Ok(kept > 0)
    }
}

/// Decides which lines make a text.
#[derive(Debug, Default)]
struct Cutter {
    line_number: u64,
    layout: Layout,
    /// How many of the next lines are notes on the grid above.
    notes: usize,
    held: Held,
    ready: Ready,
}

/// How the boards of a file stand in it, by the last one met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    #[default]
    Unknown,
    Lines,
    Grids,
}

impl Cutter {
    /// Whether nothing above bears on what the next line is.
    fn is_between_boards(&self) -> bool {
        self.held.is_empty() && self.notes == 0
    }

    fn take_plain(&mut self, line: &str) {
        self.line_number += 1;
        self.layout = Layout::Lines;
        self.ready.push(self.line_number, line);
    }

    fn take(&mut self, line: &str) {
        self.line_number += 1;
        let line = if self.line_number == 1 {
            line.trim_start_matches(BYTE_ORDER_MARK)
        } else {
            line
        };
        if line.len() > TEXT_BYTES_MAX {
            self.take_overlong(line);
        } else {
            self.take_any(line);
        }
    }

    fn take_any(&mut self, line: &str) {
        let in_grids = self.layout == Layout::Grids;
        match line::read(line) {
            Line::Heading(heading) => {
                if self.held.rows > 0 {
                    self.give_up();
                }
                if in_grids {
                    self.notes = heading.notes_below();
                } else {
                    self.hold(line, Kind::Other);
                }
            }
            Line::Board(_) => {
                self.notes = 0;
                self.push_line(line);
                self.layout = Layout::Lines;
            }
            Line::Comment => {}
            Line::Blank => self.take_blank(),
            _ if self.notes > 0 => self.notes -= 1,
            Line::Rule if in_grids && self.held.rows == 0 => {}
            Line::Rule => self.hold(line, Kind::Other),
            Line::Row(_) => self.hold(line, Kind::Row),
            Line::Bad(_) if self.layout != Layout::Lines && line::is_row_like(line) => {
                self.hold(line, Kind::Row);
            }
            Line::Bad(_) => self.push_line(line),
        }
    }

    fn take_blank(&mut self) {
        match (self.held.rows, self.held.first_gap) {
            (0, _) => {}
            (3, _) => self.held.first_gap = Some(self.held.starts.len()),
            (6, Some(_)) => self.held.has_second_gap = true,
            _ => self.give_up(),
        }
    }

    fn take_overlong(&mut self, line: &str) {
        if !line.trim_start().starts_with('#') {
            self.push_line(line);
        }
    }

    /// A line that was meant as a whole board, after what is held above it.
    fn push_line(&mut self, line: &str) {
        if self.layout == Layout::Unknown {
            self.give_up_lines();
        } else {
            self.give_up();
        }
        self.ready.push(self.line_number, line);
    }

    fn hold(&mut self, line: &str, kind: Kind) {
        if kind == Kind::Row && self.held.rows == 6 {
            self.part_at_lone_gap();
        }
        self.held.push(self.line_number, line, kind);
        if self.held.rows == 9 {
            let (line_number, grid) = self.held.grid();
            self.ready.push(line_number, grid);
            self.held.clear();
            self.layout = Layout::Grids;
        } else if self.held.text.len() > TEXT_BYTES_MAX {
            self.give_up();
        }
    }

    /// A gap after the third row and none after the sixth: the third row was the last of its grid.
    fn part_at_lone_gap(&mut self) {
        let Some(gap) = self.held.first_gap.filter(|_| !self.held.has_second_gap) else {
            return;
        };
        let below = std::mem::take(&mut self.held);
        for (kind, line_number, line) in below.lines().take(gap) {
            self.held.push(line_number, line, kind);
        }
        self.give_up();
        for (kind, line_number, line) in below.lines().skip(gap) {
            self.held.push(line_number, line, kind);
        }
    }

    /// What is held will not become a whole grid: it is a grid that lacks rows, or just lines.
    fn give_up(&mut self) {
        if self.layout == Layout::Lines || self.held.rows == 0 {
            self.give_up_lines();
        } else {
            let (line_number, grid) = self.held.grid();
            self.ready.push(line_number, grid);
            self.held.clear();
        }
    }

    fn give_up_lines(&mut self) {
        for (_, line_number, line) in self.held.lines() {
            self.ready.push(line_number, line);
        }
        self.held.clear();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Row,
    Other,
}

/// Lines that may become a grid: at most [`TEXT_BYTES_MAX`] and one line.
#[derive(Debug, Default)]
struct Held {
    text: String,
    /// Each line: its kind, its number, and the byte of `text` where it starts.
    starts: Vec<(Kind, u64, usize)>,
    rows: usize,
    /// Which of the lines follows a blank line after the third row.
    first_gap: Option<usize>,
    /// Whether a blank line followed the sixth row too.
    has_second_gap: bool,
}

impl Held {
    fn push(&mut self, line_number: u64, line: &str, kind: Kind) {
        self.rows += usize::from(kind == Kind::Row);
        self.starts.push((kind, line_number, self.text.len()));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
        self.rows = 0;
        self.first_gap = None;
        self.has_second_gap = false;
    }

    /// From the first row on, with its line number: what stands above is no part of the board.
    fn grid(&self) -> (u64, &str) {
        let first_row = self.starts.iter().find(|&&(kind, ..)| kind == Kind::Row);
        let (line_number, start) = first_row.map_or((0, 0), |&(_, number, start)| (number, start));
        (line_number, self.text[start..].trim_end_matches('\n'))
    }

    fn lines(&self) -> impl Iterator<Item = (Kind, u64, &str)> {
        let lines = self.starts.iter().zip(self.text.lines());
        lines.map(|(&(kind, line_number, _), line)| (kind, line_number, line))
    }
}

/// Texts that were cut and not yet asked for.
#[derive(Debug, Default)]
struct Ready {
    text: String,
    /// The line number of each and where it ends in `text`.
    ends: VecDeque<(u64, usize)>,
    start: usize,
}

impl Ready {
    fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn push(&mut self, line_number: u64, text: &str) {
        if self.ends.is_empty() {
            self.text.clear();
            self.start = 0;
        }
        self.text.push_str(text);
        self.ends.push_back((line_number, self.text.len()));
    }

    fn pop(&mut self) -> Option<BoardText<'_>> {
        let (line_number, end) = self.ends.pop_front()?;
        let start = std::mem::replace(&mut self.start, end);
        Some(BoardText {
            line_number,
            text: &self.text[start..end],
        })
    }
}
