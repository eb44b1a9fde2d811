//! Boards without a search: every text format and every refusal, units and peers, clashes and the
//! check of solutions, each against a plainer way to say the same.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "they are failed tests"
)]

mod common;

use std::fs;

use common::{
    boards::{any_board, any_format, any_solution, data, data_path},
    cases::{self, CaseVerdict},
};
use proptest::prelude::*;
use sudoku_solver::board::{
    Board,
    check::{Clash, clashes, has_clash, is_solution},
    text::{TEXT_BYTES_MAX, parse, parse_plain},
    units::{PEERS, UNITS_OF, Unit},
};

const LINE: &str =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

#[track_caller]
fn read(text: &str) -> Board {
    parse(text).unwrap_or_else(|malformed| panic!("{malformed}: {text}"))
}

/// `text` is refused with this reason, at this position with this character if it has one.
#[track_caller]
fn refused(text: &str, reason: &str, place: Option<(u32, char)>) {
    let malformed = parse(text).expect_err(text);
    assert_eq!(malformed.to_string(), reason);
    assert_eq!(malformed.position.zip(malformed.found), place, "{reason}");
    assert_eq!(malformed.position.is_some(), malformed.found.is_some());
}

fn rows() -> Vec<&'static str> {
    (0..9).map(|row| &LINE[9 * row..9 * row + 9]).collect()
}

#[test]
fn every_format_of_the_examples_is_the_same_board() {
    let board = read(&data("formats/one-line.txt"));
    let files: Vec<_> = fs::read_dir(data_path("formats"))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.len() >= 29);
    for file in files {
        let text = fs::read_to_string(file.path()).unwrap();
        assert_eq!(parse(&text), Ok(board), "{}", file.path().display());
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(parse(&windows), Ok(board), "CRLF {}", file.path().display());
        assert_eq!(
            parse(text.trim_end()),
            Ok(board),
            "no ending {}",
            file.path().display()
        );
    }
}

#[test]
fn blanks_may_be_mixed() {
    let mixed = LINE
        .replacen('.', "0", 3)
        .replacen('.', "x", 3)
        .replacen('.', "-", 3);
    assert_eq!(read(&mixed), read(LINE));
}

#[test]
fn nine_strokes_are_nine_blanks_and_others_are_a_frame() {
    let empty = ["---------"; 9].join("\n");
    assert_eq!(read(&empty), Board::EMPTY);
    let parted = rows()
        .chunks(3)
        .map(|band| band.join("\n"))
        .collect::<Vec<_>>();
    assert_eq!(read(&parted.join("\n-----------\n")), read(LINE));
    refused(
        &parted.join("\n---------\n"),
        "more cells at position 91, after a complete board: one board expected",
        Some((91, '.')),
    );
}

#[test]
fn a_complete_solution_may_follow_its_board_and_nothing_else() {
    let solution =
        "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
    assert_eq!(read(&format!("{LINE},{solution}")), read(LINE));
    let reason = "more cells at position 83, after a complete board: one board expected";
    refused(&format!("{LINE},{LINE}"), reason, Some((83, '5')));
    refused(&format!("{solution},{LINE}"), reason, Some((83, '5')));
    let other = solution
        .replace('5', "0")
        .replace('3', "5")
        .replace('0', "3");
    refused(&format!("{LINE} {other}"), reason, Some((83, '3')));
}

#[test]
fn notes_of_an_sdk_file_are_not_the_board() {
    let nine = rows().join("\n");
    assert_eq!(
        read(&format!("[Puzzle]\n{nine}\n[State]\n{nine}\n")),
        read(LINE)
    );
    assert_eq!(
        read(&format!("[State]\n{nine}\n[Puzzle]\n{nine}\n")),
        read(LINE)
    );
    assert_eq!(
        read(&format!("[Puzzle]\n{nine}\n[PencilMarks]\n12,,3,,,5\n")),
        read(LINE)
    );
}

#[test]
fn a_wrong_number_of_cells_is_refused() {
    refused("", "no board given: 81 cells expected", None);
    refused(" \r\n\t\n", "no board given: 81 cells expected", None);
    refused("\u{feff}", "no board given: 81 cells expected", None);
    refused("# nothing\n", "no board given: 81 cells expected", None);
    refused("5", "1 cell, 81 expected", None);
    refused(&LINE[..80], "80 cells, 81 expected", None);
    refused(&format!("{LINE}."), "82 cells, 81 expected", None);
    refused(&"-".repeat(80), "80 cells, 81 expected", None);
    refused(rows()[0], "9 cells, 81 expected", None);
    refused(
        &rows()[..8].join("\n"),
        "72 cells in 8 rows, 81 in 9 expected",
        None,
    );
    refused(&rows()[..8].join(" "), "72 cells, 81 expected", None);
    refused(
        &format!("# one\n{}\n", &LINE[1..]),
        "80 cells on line 2, 81 expected",
        None,
    );
    let mut short = rows();
    short[3] = &short[3][..8];
    refused(&short.join("\n"), "8 cells on line 4, 9 expected", None);
    // A board that lost a cell, with a hash and a rating around it.
    refused(
        &format!("000018373050 {}  1.2", &LINE[1..]),
        "80 cells, 81 expected",
        None,
    );
    refused(&format!("{} 5", &LINE[1..]), "80 cells, 81 expected", None);
}

#[test]
fn a_wrong_character_is_named_with_its_position() {
    let blanks = "is neither a digit nor a blank (one of . 0 _ - * x ?)";
    let wrong = format!("53A{}", &LINE[3..]);
    refused(
        &wrong,
        &format!("character 'A' at position 3 {blanks}"),
        Some((3, 'A')),
    );
    refused(
        &wrong.replace('A', "é"),
        &format!("character 'é' at position 3 {blanks}"),
        Some((3, 'é')),
    );
    refused(
        &format!("{LINE}\n!"),
        &format!("character '!' at position 83 {blanks}"),
        Some((83, '!')),
    );
    refused(
        "hello world",
        &format!("character 'h' at position 1 {blanks}"),
        Some((1, 'h')),
    );
    refused(
        "+---+",
        &format!("character '+' at position 1 {blanks}"),
        Some((1, '+')),
    );
    refused(
        &LINE.replace("79", "7\0"),
        &format!("character '\\0' at position 81 {blanks}"),
        Some((81, '\0')),
    );
    // Positions count characters, not bytes.
    let drawn = rows().join("│\n│").replace("419", "4§9");
    refused(
        &drawn,
        &format!("character '§' at position 89 {blanks}"),
        Some((89, '§')),
    );
    refused(
        &LINE.replacen('5', "５", 1),
        "character '５' at position 1 is a non-ASCII digit: 1 to 9 expected",
        Some((1, '５')),
    );
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let nine = rows().join("\n");
    let second = "after a complete board: one board expected";
    refused(
        &format!("{nine}\n\n{nine}"),
        &format!("more cells at position 92, {second}"),
        Some((92, '5')),
    );
    refused(
        &format!("{LINE}\n{LINE}"),
        &format!("more cells at position 83, {second}"),
        Some((83, '5')),
    );
    refused(
        &format!("{nine}\n|{}|", rows()[0]),
        &format!("more cells at position 92, {second}"),
        Some((92, '5')),
    );
    refused(
        &nine.replacen("\n4..", "\nGrid 02\n4..", 1),
        "text at position 41, beginning 'G', after 4 rows: 9 expected",
        Some((41, 'G')),
    );
    refused(
        &format!("{} {}", &LINE[..30], &LINE[30..]),
        "groups of cells of uneven length from position 32 on: expected together, or in groups of \
         1, 3 or 9",
        Some((32, '.')),
    );
    refused(
        &nine.replacen("53..", "53 ..", 1),
        "groups of cells of uneven length from position 4 on: expected together, or in groups of \
         1, 3 or 9",
        Some((4, '.')),
    );
}

#[test]
fn text_is_looked_at_up_to_its_limit() {
    let padded = |bytes: usize| format!("{LINE}{}", " ".repeat(bytes - LINE.len()));
    assert_eq!(read(&padded(TEXT_BYTES_MAX)), read(LINE));
    refused(
        &padded(TEXT_BYTES_MAX + 1),
        "4097 bytes of text, at most 4096 accepted",
        None,
    );
}

#[test]
fn plain_text_is_digits_and_dots_alone() {
    let board = read(LINE);
    assert_eq!(parse_plain(LINE.as_bytes()), Some(board));
    assert_eq!(parse_plain(LINE.replace('.', "0").as_bytes()), Some(board));
    for byte in u8::MIN..=u8::MAX {
        for cell in [0, 40, 80] {
            let mut text = LINE.as_bytes().to_vec();
            text[cell] = byte;
            let value = match byte {
                b'.' => Some(0),
                b'0'..=b'9' => Some(byte - b'0'),
                _ => None,
            };
            assert_eq!(parse_plain(&text).map(|board| board.values()[cell]), value);
        }
    }
    assert_eq!(parse_plain(&LINE.as_bytes()[1..]), None);
    assert_eq!(parse_plain(format!("{LINE}\n").as_bytes()), None);
}

#[test]
fn units_and_peers_are_those_of_the_rules() {
    assert_eq!(Unit::Row(2).to_string(), "row 3");
    assert_eq!(Unit::Column(4).to_string(), "column 5");
    assert_eq!(Unit::Box(8).to_string(), "box 9");
    assert_eq!(Unit::Row(1).cells(), &[9, 10, 11, 12, 13, 14, 15, 16, 17]);
    assert_eq!(
        Unit::Column(8).cells(),
        &[8, 17, 26, 35, 44, 53, 62, 71, 80]
    );
    assert_eq!(Unit::Box(5).cells(), &[33, 34, 35, 42, 43, 44, 51, 52, 53]);
    assert_eq!(UNITS_OF[43], [Unit::Row(4), Unit::Column(7), Unit::Box(5)]);
    for cell in 0..81_u8 {
        let units = Unit::ALL
            .into_iter()
            .filter(|unit| unit.cells().contains(&cell));
        assert_eq!(units.collect::<Vec<_>>(), UNITS_OF[usize::from(cell)]);
        let shares = |&other: &u8| {
            other != cell
                && UNITS_OF[usize::from(cell)]
                    .iter()
                    .any(|unit| unit.cells().contains(&other))
        };
        assert_eq!(
            (0..81).filter(shares).collect::<Vec<_>>(),
            PEERS[usize::from(cell)]
        );
    }
}

#[test]
fn a_clash_names_unit_digit_and_cells() {
    let board = read(&format!("11{}", ".".repeat(79)));
    let cells = vec![0, 1];
    assert_eq!(
        clashes(&board),
        [
            Clash {
                unit: Unit::Row(0),
                digit: 1,
                cells: cells.clone()
            },
            Clash {
                unit: Unit::Box(0),
                digit: 1,
                cells
            },
        ]
    );
    assert!(clashes(&Board::EMPTY).is_empty() && !has_clash(&Board::EMPTY));
    let nines = Board::new([9; 81]).unwrap();
    assert!(has_clash(&nines));
    assert_eq!(clashes(&nines).len(), 27);
}

#[test]
fn the_cases_are_read_and_their_clashes_found() {
    for case in cases::load() {
        let parsed = parse(&case.input);
        if let Some(kind) = &case.expected.parse_error {
            assert_eq!(case.expected.verdict, CaseVerdict::ParseError);
            let reason = match kind.as_str() {
                "length 80" => "80 cells, 81 expected",
                "character A at cell 3" => "character 'A' at position 3 is neither",
                "non-ASCII digit" => "character '１' at position 1 is a non-ASCII digit",
                "empty" => "no board given",
                other => panic!("{}: unknown parse error {other}", case.id),
            };
            let malformed = parsed.expect_err(&case.id);
            assert!(
                malformed.reason.starts_with(reason),
                "{}: {malformed}",
                case.id
            );
            continue;
        }
        let board = parsed.unwrap_or_else(|malformed| panic!("{}: {malformed}", case.id));
        let conflicts: Vec<_> = clashes(&board)
            .iter()
            .map(|clash| format!("{} digit {}", clash.unit, clash.digit).replace("column", "col"))
            .collect();
        assert_eq!(conflicts, case.expected.conflicts, "{}", case.id);
        assert_eq!(
            has_clash(&board),
            case.expected.verdict == CaseVerdict::Invalid
        );
        if let Some(givens) = case.expected.clues {
            let found = board.values().iter().filter(|&&value| value != 0).count();
            assert_eq!(found, givens, "{}", case.id);
        }
        if let Some(solution) = &case.expected.solution {
            assert!(is_solution(&board, &read(solution)), "{}", case.id);
        }
    }
}

#[test]
fn cases_in_other_formats_are_the_same_board() {
    let cases = cases::load();
    let board = |id: &str| {
        cases
            .iter()
            .find(|case| case.id == id)
            .map(|case| parse(&case.input))
    };
    for (id, same) in [
        ("FMT-02", "FMT-01"),
        ("FMT-03", "FMT-01"),
        ("FMT-05", "FMT-01"),
        ("FMT-07", "FMT-01"),
        ("FMT-08", "FMT-01"),
        ("FMT-12", "FMT-11"),
    ] {
        assert_eq!(board(id), board(same), "{id}");
    }
}

/// Clashes by comparing every pair of cells.
fn has_clash_by_pairs(board: &Board) -> bool {
    let cells = || {
        board
            .values()
            .iter()
            .enumerate()
            .filter(|&(_, &value)| value != 0)
    };
    cells().any(|(a, value)| {
        cells().any(|(b, other)| {
            let in_one_box = a / 27 == b / 27 && a % 9 / 3 == b % 9 / 3;
            a != b && value == other && (a / 9 == b / 9 || a % 9 == b % 9 || in_one_box)
        })
    })
}

/// The same grid with each given kept where `keep` says so.
fn thinned(solution: &Board, keep: &[bool]) -> Board {
    let mut values = *solution.values();
    for (value, &keep) in values.iter_mut().zip(keep) {
        *value *= u8::from(keep);
    }
    Board::new(values).unwrap()
}

fn with_cell(board: &Board, cell: usize, value: u8) -> Board {
    let mut values = *board.values();
    values[cell] = value;
    Board::new(values).unwrap()
}

proptest! {
    #[test]
    fn printing_and_reading_gives_the_same_board(board in any_board(), (format, blank) in any_format()) {
        prop_assert_eq!(parse(&format.print(&board, blank)), Ok(board));
    }

    #[test]
    fn any_text_is_answered(text in r"(?s).{0,300}") {
        let _ = parse(&text);
    }

    #[test]
    fn texts_near_a_board_are_answered(text in "[-+|.:*#x0-9a\u{2500}é\u{feff}\\[ \t\r\n]{0,200}") {
        if let Err(malformed) = parse(&text) {
            let position = malformed.position.map(|position| position as usize - 1);
            prop_assert_eq!(position.and_then(|at| text.chars().nth(at)), malformed.found);
        }
    }

    #[test]
    fn clashes_are_those_of_pairs(
        solution in any_solution(),
        keep in proptest::collection::vec(any::<bool>(), 81),
        cell in 0..81_usize,
        value in 0..=9_u8,
    ) {
        let board = with_cell(&thinned(&solution, &keep), cell, value);
        prop_assert_eq!(has_clash(&board), has_clash_by_pairs(&board));
        prop_assert_eq!(clashes(&board).is_empty(), !has_clash_by_pairs(&board));
        for clash in clashes(&board) {
            let holders: Vec<u8> = clash.unit.cells().iter().copied()
                .filter(|&cell| board.values()[usize::from(cell)] == clash.digit).collect();
            prop_assert!(holders.len() > 1);
            prop_assert_eq!(holders, clash.cells);
        }
    }

    #[test]
    fn clashes_of_any_board_are_those_of_pairs(board in any_board()) {
        prop_assert_eq!(has_clash(&board), has_clash_by_pairs(&board));
        prop_assert_eq!(clashes(&board).is_empty(), !has_clash_by_pairs(&board));
    }

    #[test]
    fn a_solution_is_complete_keeps_the_givens_and_has_no_clash(
        solution in any_solution(),
        keep in proptest::collection::vec(any::<bool>(), 81),
        cell in 0..81_usize,
        value in 0..=9_u8,
    ) {
        let board = thinned(&solution, &keep);
        prop_assert!(is_solution(&board, &solution));
        let changed = with_cell(&solution, cell, value);
        prop_assert_eq!(is_solution(&board, &changed), changed == solution);
        let given = with_cell(&board, cell, value);
        let keeps = value == 0 || value == solution.values()[cell];
        prop_assert_eq!(is_solution(&given, &solution), keeps);
    }

    /// Exchanging two digits in one row keeps the row and breaks two columns; and so on.
    #[test]
    fn two_cells_exchanged_are_noticed(solution in any_solution(), a in 0..81_usize, b in 0..81_usize) {
        let (at_a, at_b) = (solution.values()[a], solution.values()[b]);
        let exchanged = with_cell(&with_cell(&solution, a, at_b), b, at_a);
        prop_assert_eq!(is_solution(&Board::EMPTY, &exchanged), at_a == at_b);
    }
}
