//! Boards to test with: at random, and printed in every format.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{fs, path::PathBuf};

use proptest::{prelude::*, sample::select};
use sudoku_solver::board::Board;

/// The text of a file in `tests/data`.
pub(crate) fn data(name: &str) -> String {
    fs::read_to_string(data_path(name)).unwrap()
}

/// Where a file of `tests/data` is.
pub(crate) fn data_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// A board of any values; most have clashes.
pub(crate) fn any_board() -> impl Strategy<Value = Board> {
    let value = prop_oneof![2 => Just(0), 1 => 1..=9_u8];
    proptest::collection::vec(value, Board::CELLS)
        .prop_map(|values| Board::new(values.try_into().unwrap()).unwrap())
}

/// A full grid without clashes.
pub(crate) fn any_solution() -> impl Strategy<Value = Board> {
    let digits = Just([1, 2, 3, 4, 5, 6, 7, 8, 9_u8]).prop_shuffle();
    let order = || {
        let threes = || Just([0, 1, 2_usize]).prop_shuffle();
        (threes(), [threes(), threes(), threes()]).prop_map(|(outer, inner)| -> Vec<usize> {
            outer
                .iter()
                .flat_map(|&o| inner[o].map(|i| 3 * o + i))
                .collect()
        })
    };
    (digits, order(), order()).prop_map(|(digits, rows, columns)| {
        let cells = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (row, column)));
        let values: Vec<u8> = cells
            .map(|(row, column)| digits[(3 * row + row / 3 + column) % 9])
            .collect();
        Board::new(values.try_into().unwrap()).unwrap()
    })
}

/// How to print a board.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    OneLine,
    Commented,
    Record,
    JoinedByDots,
    /// Groups of this many cells, this between them, all on one line.
    Groups(usize, char),
    /// The same, a row on a line.
    Lines(usize, char),
    BandsApart,
    Framed,
    FramedWide,
    FramedStars,
    Drawn,
    Sdk,
    Headed,
}

/// Any format, with any sign for a blank.
pub(crate) fn any_format() -> impl Strategy<Value = (Format, char)> {
    use Format::*;
    let groups = (select(vec![1, 3, 9]), select(vec![' ', ',', '\t', ';']));
    let format = prop_oneof![
        5 => select(vec![
            OneLine, Commented, Record, JoinedByDots, BandsApart, Framed, FramedWide, FramedStars,
            Drawn, Sdk, Headed,
        ]),
        1 => groups.clone().prop_map(|(cells, between)| Groups(cells, between)),
        1 => groups.prop_map(|(cells, between)| Lines(cells, between)),
    ];
    (format, select(vec!['.', '0', '_', '-', '*', 'x', 'X', '?']))
}

impl Format {
    /// Whether the board is on one line.
    pub(crate) fn is_line(self) -> bool {
        use Format::*;
        matches!(
            self,
            OneLine | Commented | Record | JoinedByDots | Groups(..)
        )
    }

    /// The board in this format, ending in a line break.
    pub(crate) fn print(self, board: &Board, blank: char) -> String {
        let line = board.to_string().replace('.', &blank.to_string());
        let lines = |group, between: &str| -> Vec<String> {
            groups(&line, 9)
                .iter()
                .map(|row| groups(row, group).join(between))
                .collect()
        };
        let framed = |[top, middle, bottom]: [&str; 3], between: &str, bar: &str| {
            let rows: Vec<String> = lines(3, bar)
                .iter()
                .map(|row| format!("{bar}{row}{bar}"))
                .collect();
            let rows: Vec<String> = rows.iter().map(|row| spread(row, between)).collect();
            let bands: Vec<String> = rows.chunks(3).map(|band| band.join("\n")).collect();
            format!(
                "{top}\n{}\n{bottom}\n",
                bands.join(&format!("\n{middle}\n"))
            )
        };
        match self {
            Format::OneLine => line + "\n",
            Format::Commented => line + " # 4.2\n",
            Format::Record => format!("000018373050 {line}  1.2\n"),
            Format::JoinedByDots => {
                groups(&board.to_string().replace('.', "0"), 9).join(".") + "\n"
            }
            Format::Groups(cells, between) => {
                groups(&line, cells).join(&between.to_string()) + "\n"
            }
            Format::Lines(cells, between) => lines(cells, &between.to_string()).join("\n") + "\n",
            Format::BandsApart => {
                let rows = lines(3, " ");
                rows.chunks(3)
                    .map(|band| band.join("\n"))
                    .collect::<Vec<_>>()
                    .join("\n\n")
                    + "\n"
            }
            Format::Framed => framed(["+---+---+---+"; 3], "", "|"),
            Format::FramedWide => framed(["+-------+-------+-------+"; 3], " ", "|"),
            Format::FramedStars => {
                framed(["*-----------*", "|---+---+---|", "*-----------*"], "", "|")
                    + " Some Program\n  Version 4.2n\n"
            }
            Format::Drawn => framed(["┌───┬───┬───┐", "├───┼───┼───┤", "└───┴───┴───┘"], "", "│"),
            Format::Sdk => {
                let rows = lines(9, "").join("\n");
                format!("#A nobody 2.1\n#C 9\n[Puzzle]\n{rows}\n[State]\n{rows}\n")
            }
            Format::Headed => format!("Grid 01\n{}\n", lines(9, "").join("\n")),
        }
    }
}

fn groups(line: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    characters
        .chunks(size)
        .map(|group| group.iter().collect())
        .collect()
}

fn spread(row: &str, between: &str) -> String {
    row.chars()
        .map(|c| c.to_string())
        .collect::<Vec<_>>()
        .join(between)
}
