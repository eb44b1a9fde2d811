//! What one line of text is, by itself: the shared judgement of the parser and of files.

use super::parse_plain;
use crate::board::Board;

/// A line, read.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// Nothing on it.
    Blank,
    /// Begins with `#`.
    Comment,
    /// Part of a frame.
    Rule,
    /// Words above or below a board.
    Heading(Heading<'a>),
    /// Nine cells.
    Row([u8; 9]),
    /// All 81 cells, and maybe a comment.
    Board([u8; Board::CELLS]),
    /// None of these.
    Bad(Fault),
}

/// What is wrong with a line; places are bytes from its start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// A character that no board holds.
    Character { at: usize },
    /// Neither 9 nor 81 cells.
    CellCount { count: usize },
    /// 9 or 81 cells, but spaced as if something else was meant.
    UnevenGroups { at: usize },
    /// Another board after the first.
    SecondBoard { at: usize },
}

/// The words of a heading.
#[derive(Debug)]
pub(super) struct Heading<'a>(&'a str);

impl Heading<'_> {
    /// How many lines below are no board but a player's notes on that of an `.sdk` file.
    pub(super) fn notes_below(&self) -> usize {
        let name = self.0.trim_start_matches('[').trim_end_matches(']');
        let is_notes = self.0.starts_with('[')
            && (name.eq_ignore_ascii_case("state") || name.eq_ignore_ascii_case("pencilmarks"));
        if is_notes { 9 } else { 0 }
    }
}

/// A wrong line with more characters than this was meant as a whole board, else as a row.
pub(super) const ROW_LIKE_MAX: usize = 20;

/// In a record that lost a cell, the field with so many characters or more was meant as the board.
const BOARD_LIKE_MIN: usize = 60;

/// What `line` is. It may end in a line break.
pub(super) fn read(line: &str) -> Line<'_> {
    let line = line.trim_end();
    if let Some(board) = parse_plain(line.as_bytes()) {
        return Line::Board(*board.values());
    }
    let words = line.trim_start();
    if words.is_empty() {
        return Line::Blank;
    }
    let line = without_comment(line);
    if line.trim_start().is_empty() {
        return Line::Comment;
    }
    if fields(line).next().is_none() {
        return Line::Rule;
    }
    match read_cells(line) {
        Ok(cells) => cells,
        Err(_) if is_rule(line) => Line::Rule,
        Err(Fault::SecondBoard { at }) => Line::Bad(Fault::SecondBoard { at }),
        Err(_) if is_heading(words) => Line::Heading(Heading(words)),
        Err(fault) => Line::Bad(fault),
    }
}

/// What is wrong with a line that holds no board.
pub(super) fn fault_of(line: &str) -> Fault {
    let line = without_comment(line);
    let longest = fields(line)
        .max_by_key(|field| field.chars().count())
        .unwrap_or_default();
    let suspect = if longest.chars().count() >= BOARD_LIKE_MIN {
        longest
    } else {
        line
    };
    let offset = offset_in(line, suspect);
    match suspect
        .char_indices()
        .find(|&(_, c)| !is_separator(c) && cell_of(c).is_none())
    {
        Some((at, _)) => Fault::Character { at: offset + at },
        None => Fault::CellCount {
            count: suspect.chars().filter(|&c| !is_separator(c)).count(),
        },
    }
}

/// Whether a wrong line was meant as a row rather than as a whole board.
pub(super) fn is_row_like(line: &str) -> bool {
    without_comment(line)
        .chars()
        .filter(|&c| !is_separator(c))
        .count()
        <= ROW_LIKE_MAX
}

/// The byte of `text`, from `start` on, where the first field stands.
pub(super) fn first_cell(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    start + rest.find(|c| !is_separator(c)).unwrap_or(0)
}

fn read_cells(line: &str) -> Result<Line<'static>, Fault> {
    if let Some(board) = board_field(line)? {
        return Ok(Line::Board(board));
    }
    let mut cells = [0; Board::CELLS];
    let mut count = 0;
    let mut group = None;
    let mut uneven = None;
    for field in fields(line) {
        if *group.get_or_insert(field.len()) != field.len() {
            uneven.get_or_insert(offset_in(line, field));
        }
        for character in field.chars() {
            let cell = cell_of(character).ok_or_else(|| fault_of(line))?;
            if let Some(place) = cells.get_mut(count) {
                *place = cell;
            }
            count += 1;
        }
    }
    match (count, uneven) {
        (9 | 81, Some(at)) => Err(match fault_of(line) {
            // A board that lost a cell and has a rating of one digit behind it.
            fault @ Fault::CellCount { count: of_longest } if of_longest != count => fault,
            _ => Fault::UnevenGroups { at },
        }),
        (81, None) => Ok(Line::Board(cells)),
        (9, None) => Ok(Line::Row(cells[..9].try_into().unwrap_or_default())),
        _ => Err(fault_of(line)),
    }
}

/// The first field that is a whole board. Another one is taken for the solution beside it if it
/// is complete and keeps every given, else for a second board.
fn board_field(line: &str) -> Result<Option<[u8; Board::CELLS]>, Fault> {
    let mut boards = fields(line).filter_map(|field| Some((field, whole_board(field)?)));
    let Some((_, board)) = boards.next() else {
        return Ok(None);
    };
    for (field, other) in boards {
        let solves = board
            .iter()
            .zip(&other)
            .all(|(&given, &value)| value != 0 && [0, value].contains(&given));
        if !solves {
            return Err(Fault::SecondBoard {
                at: offset_in(line, field),
            });
        }
    }
    Ok(Some(board))
}

fn whole_board(field: &str) -> Option<[u8; Board::CELLS]> {
    let mut cells = [0; Board::CELLS];
    let place = |(cell, character): (&mut u8, char)| cell_of(character).map(|value| *cell = value);
    if field.len() == Board::CELLS {
        cells.iter_mut().zip(field.chars()).try_for_each(place)?;
        return Some(cells);
    }
    // Nine rows of digits joined by dots.
    let joined = field.len() == Board::CELLS + 8
        && field.bytes().enumerate().all(|(i, byte)| {
            if i % 10 == 9 {
                byte == b'.'
            } else {
                byte.is_ascii_digit()
            }
        });
    let digits = field.chars().filter(|&c| c != '.');
    joined.then(|| cells.iter_mut().zip(digits).try_for_each(place))??;
    Some(cells)
}

fn cell_of(character: char) -> Option<u8> {
    match character {
        '1'..='9' => character
            .to_digit(10)
            .and_then(|digit| u8::try_from(digit).ok()),
        '.' | '0' | '_' | '-' | '*' | 'x' | 'X' | '?' => Some(0),
        _ => None,
    }
}

/// What may stand between cells: white space, punctuation of records, bars of frames.
fn is_separator(character: char) -> bool {
    matches!(
        character,
        ',' | ';' | ':' | '|' | '"' | '\u{2500}'..='\u{257f}'
    ) || character.is_whitespace()
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_separator).filter(|field| !field.is_empty())
}

/// Where `part`, a slice of `line`, begins in it.
fn offset_in(line: &str, part: &str) -> usize {
    part.as_ptr()
        .addr()
        .saturating_sub(line.as_ptr().addr())
        .min(line.len())
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default()
}

/// Frame characters only, with a `+` or three strokes in a row: dots alone are cells.
fn is_rule(line: &str) -> bool {
    let framing = |c: char| is_separator(c) || "+-=*_.'`".contains(c);
    line.chars().all(framing)
        && ["+", "---", "===", "___"]
            .iter()
            .any(|mark| line.contains(mark))
}

/// A bracket, or a word of two letters or more; `xx` would be two blanks.
fn is_heading(words: &str) -> bool {
    let letters = || words.chars().take_while(|c| c.is_alphabetic());
    words.starts_with('[') || letters().count() >= 2 && !letters().all(|c| c == 'x' || c == 'X')
}
