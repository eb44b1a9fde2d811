//! Boards as people have them: the one parser of the API and of files.
//!
//! A board is 81 cells row by row: digits `1` to `9`, and a blank as any of `. 0 _ - * x X ?`,
//! also mixed, since each of them means a blank wherever it stands for a cell. [`parse`] reads
//! one board from a text; [`file::BoardTexts`] cuts a file of any size into such texts. Around
//! the cells there may be what programs write there:
//!
//! | form | example |
//! |---|---|
//! | one line | `53..7....6..195...` and so on; after a space, comma, tab, `:` or `#` the rest is a comment |
//! | a record | `0000183b305c 0507030600070008...  1.2`: the first field of 81 cells is the board; a field with its complete solution may follow |
//! | groups on one line | rows, boxes' rows or cells apart by spaces, commas, semicolons or tabs |
//! | rows joined by dots | `080000005.000835410.90340...`: 89 characters, zeros for blanks |
//! | nine lines | of nine cells each, together or in even groups; blank lines between them |
//! | a framed grid | bars, also box-drawing ones, around groups; lines such as `+---+---+---+` or `*-----------*` |
//! | `.sdk` | `#` lines, `[Puzzle]`; nine lines after `[State]` or `[PencilMarks]` are not the board |
//! | headings, trailers | lines that begin with a word, such as `Grid 01` |
//!
//! A line of nine `-` is nine blanks, a line of any other number is part of a frame. What could
//! be read in two ways is refused with a reason: a second board, a tenth row, groups of uneven
//! length (as of a board that lost a cell before its rating), text between the rows.

pub mod file;
mod line;
mod malformed;

pub use malformed::MalformedBoard;

use self::line::Line;
use super::Board;

/// The longest text that is looked at: many times the most generous frame with its headings.
pub const TEXT_BYTES_MAX: usize = 4096;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads one board.
///
/// ```
/// use sudoku_solver::board::text::parse;
///
/// let line = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
/// assert_eq!(parse(line)?.to_string(), line);
/// assert_eq!(parse(&line[1..]).unwrap_err().to_string(), "80 cells, 81 expected");
/// # Ok::<(), sudoku_solver::board::text::MalformedBoard>(())
/// ```
///
/// # Errors
///
/// Text that is not one board, or could be read as more than one.
#[inline]
pub fn parse(text: &str) -> Result<Board, MalformedBoard> {
    match parse_plain(text.as_bytes()) {
        Some(board) => Ok(board),
        None => parse_lines(text),
    }
}

/// Reads 81 digits, with `.` or `0` for blanks and nothing around them; `None` for anything else.
///
/// The path of boards by the million: one pass without branches, in vector lanes as wide as the
/// caller has enabled (hence `inline(always)`).
#[inline(always)]
pub fn parse_plain(text: &[u8]) -> Option<Board> {
    let text: &[u8; Board::CELLS] = text.try_into().ok()?;
    let values = text.map(|byte| {
        if byte == b'.' {
            0
        } else {
            byte.wrapping_sub(b'0')
        }
    });
    let highest = values.iter().fold(0, |highest, &value| value.max(highest));
    (highest <= 9).then_some(Board(values))
}

#[inline(never)]
fn parse_lines(text: &str) -> Result<Board, MalformedBoard> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(MalformedBoard::too_long(text));
    }
    let mut gathered = Gathered::default();
    let mut first_words = None;
    let mut notes = 0;
    let mut start = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
    for line in text[start..].split('\n') {
        match line::read(line) {
            Line::Heading(heading) => {
                gathered.check_not_inside(text, start)?;
                first_words.get_or_insert((start, line));
                notes = heading.notes_below();
            }
            Line::Blank | Line::Comment => {}
            _ if notes > 0 => notes -= 1,
            Line::Rule => {
                first_words.get_or_insert((start, line));
            }
            Line::Row(cells) => gathered.add(&cells, text, start)?,
            Line::Board(cells) => gathered.add(&cells, text, start)?,
            Line::Bad(fault) => return Err(MalformedBoard::of(fault, text, start)),
        }
        start += line.len() + 1;
    }
    match (gathered.filled / 9, first_words) {
        (9, _) => Ok(Board(gathered.cells)),
        (0, None) => Err(MalformedBoard::none_given()),
        // Words or strokes alone were meant as a board: say what is wrong with them.
        (0, Some((start, line))) => Err(MalformedBoard::of(line::fault_of(line), text, start)),
        (rows, _) => Err(MalformedBoard::too_few_rows(rows)),
    }
}

/// The cells met so far, whole rows.
struct Gathered {
    cells: [u8; Board::CELLS],
    filled: usize,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered {
            cells: [0; Board::CELLS],
            filled: 0,
        }
    }
}

impl Gathered {
    fn add(&mut self, cells: &[u8], text: &str, start: usize) -> Result<(), MalformedBoard> {
        let end = self.filled + cells.len();
        let Some(place) = self.cells.get_mut(self.filled..end) else {
            return Err(MalformedBoard::second_board(
                text,
                line::first_cell(text, start),
            ));
        };
        place.copy_from_slice(cells);
        self.filled = end;
        Ok(())
    }

    fn check_not_inside(&self, text: &str, start: usize) -> Result<(), MalformedBoard> {
        if self.filled == 0 || self.filled == Board::CELLS {
            return Ok(());
        }
        Err(MalformedBoard::interrupted(
            text,
            line::first_cell(text, start),
            self.filled / 9,
        ))
    }
}
