//! Files of boards are cut into the texts of single boards, none lost, none joined.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
};

use common::boards::{any_board, any_format, data, data_path};
use proptest::prelude::*;
use sudoku_solver::board::{
    Board,
    text::{
        TEXT_BYTES_MAX,
        file::{BoardText, BoardTexts},
        parse,
    },
};

const LINE: &str =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// A file that cannot be read any further.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("pulled out"))
    }
}

fn texts_of(reader: impl BufRead) -> Vec<(u64, String)> {
    let mut texts = BoardTexts::new(reader);
    let mut all = Vec::new();
    while let Some(BoardText { line_number, text }) = texts.next_text().unwrap() {
        all.push((line_number, text.to_owned()));
    }
    all
}

/// The texts, whether the reader's buffer is large, or smaller than a line.
#[track_caller]
fn cut(file: &str) -> Vec<(u64, String)> {
    let texts = texts_of(file.as_bytes());
    assert_eq!(
        texts_of(BufReader::with_capacity(7, file.as_bytes())),
        texts
    );
    texts
}

#[track_caller]
fn check(file: &str, texts: &[(u64, &str)]) {
    let found = cut(file);
    let found: Vec<_> = found
        .iter()
        .map(|(line, text)| (*line, text.as_str()))
        .collect();
    assert_eq!(found, texts);
}

fn nine_lines() -> String {
    let rows: Vec<_> = (0..9).map(|row| &LINE[9 * row..9 * row + 9]).collect();
    rows.join("\n") + "\n"
}

#[test]
fn one_board_a_line() {
    check("", &[]);
    check("\n\n# only words\n", &[]);
    check(LINE, &[(1, LINE)]);
    check(
        &format!("\u{feff}{LINE}\r\n{LINE}\r\n"),
        &[(1, LINE), (2, LINE)],
    );
    check(
        &format!("# two\n\n{LINE}\n  # between\n\n{LINE}\n"),
        &[(3, LINE), (6, LINE)],
    );
    let commented = format!("{LINE}  easy");
    check(
        &format!("{commented}\n{LINE}\n"),
        &[(1, &commented), (2, LINE)],
    );
}

#[test]
fn a_line_that_is_no_board_is_a_text_among_lines() {
    let short = &LINE[1..];
    let row = &LINE[..9];
    let file = format!(
        "puzzle,rating\n12\n{LINE}\n{short}\nhello\n{row}\n{LINE}\n+--+\n[State]\n{LINE}\n!"
    );
    check(
        &file,
        &[
            (1, "puzzle,rating"),
            (2, "12"),
            (3, LINE),
            (4, short),
            (5, "hello"),
            (6, row),
            (7, LINE),
            (8, "+--+"),
            (9, "[State]"),
            (10, LINE),
            (11, "!"),
        ],
    );
    check("hello\n", &[(1, "hello")]);
}

#[test]
fn every_example_of_a_format_is_one_board() {
    let board = parse(&data("formats/one-line.txt")).unwrap();
    for file in fs::read_dir(data_path("formats")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for text in [text.replace('\n', "\r\n"), format!("{text}{text}"), text] {
            let boards: Vec<_> = cut(&text).iter().map(|(_, text)| parse(text)).collect();
            assert!(
                (1..=2).contains(&boards.len()),
                "{}: {boards:?}",
                path.display()
            );
            assert!(
                boards.iter().all(|read| *read == Ok(board)),
                "{}: {boards:?}",
                path.display()
            );
        }
    }
}

#[test]
fn grids_under_headings() {
    let easy: Vec<_> = cut(&data("easy.txt"))
        .into_iter()
        .map(|(_, text)| parse(&text))
        .collect();
    assert_eq!(easy.len(), 20);
    let grids: Vec<_> = cut(&data("grids.txt"));
    assert_eq!(
        grids.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
        [2, 12, 22]
    );
    assert_eq!(
        grids
            .iter()
            .map(|(_, text)| parse(text))
            .collect::<Vec<_>>(),
        easy[..3]
    );
}

#[test]
fn a_grid_with_a_wrong_row_is_one_text_and_the_next_is_whole() {
    let nine = nine_lines();
    let trimmed = nine.trim_end();
    for wrong in ["53..A....", "53..7..", "53..7......", "5 3. .7 .. .."] {
        let bad = nine.replacen("53..7....", wrong, 1);
        let file = format!("Grid 01\n{nine}Grid 02\n{bad}Grid 03\n{nine}");
        check(&file, &[(2, trimmed), (12, bad.trim_end()), (22, trimmed)]);
        check(
            &format!("{bad}\n{nine}"),
            &[(1, bad.trim_end()), (11, trimmed)],
        );
    }
}

#[test]
fn a_grid_that_lacks_rows_is_one_text_and_the_next_is_whole() {
    let nine = nine_lines();
    let trimmed = nine.trim_end();
    let eight = &nine[..79];
    check(&format!("{eight}\n\n{nine}"), &[(1, eight), (10, trimmed)]);
    check(
        &format!("Grid 01\n{eight}\nGrid 02\n{nine}"),
        &[(2, eight), (11, trimmed)],
    );
    check(
        &format!("{nine}{eight}\n{LINE}\n"),
        &[(1, trimmed), (10, eight), (18, LINE)],
    );
    check(eight, &[(1, eight)]);
}

#[test]
fn blank_lines_part_all_three_bands_or_none() {
    let nine = nine_lines();
    let trimmed = nine.trim_end();
    let three = &nine[..29];
    let apart = format!("{three}\n\n{}\n{}", &nine[30..60], &nine[60..]);
    check(&format!("{apart}\n{apart}"), &[(1, trimmed), (13, trimmed)]);
    // Grids that lost their last six rows, or their last three, before a whole one.
    check(&format!("{three}\n\n{nine}"), &[(1, three), (5, trimmed)]);
    check(
        &format!("{nine}\n{three}\n\n{nine}"),
        &[(1, trimmed), (11, three), (15, trimmed)],
    );
    check(
        &format!("{}\n{nine}", &nine[..60]),
        &[(1, &nine[..59]), (8, trimmed)],
    );
}

#[test]
fn what_waits_for_the_first_board_is_bounded() {
    for line in ["heading\n", "+---+\n"] {
        let endless = line.repeat(TEXT_BYTES_MAX);
        let mut texts = BoardTexts::new(BufReader::new(endless.as_bytes().chain(Failing)));
        for number in 1..=100 {
            let text = texts.next_text().unwrap().unwrap();
            assert_eq!((text.line_number, text.text), (number, line.trim_end()));
        }
    }
}

#[test]
fn a_line_over_the_limit_is_one_text_and_is_refused() {
    for bytes in [
        TEXT_BYTES_MAX - 1,
        TEXT_BYTES_MAX,
        TEXT_BYTES_MAX + 1,
        TEXT_BYTES_MAX + 2,
        100_000,
    ] {
        for end in ["\n", "\r\n"] {
            let long = format!("{LINE} {}", "a".repeat(bytes - LINE.len() - 1));
            let texts = cut(&format!("{LINE}{end}{long}{end}# {long}{end}{LINE}"));
            assert_eq!(
                texts.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
                [1, 2, 4]
            );
            assert_eq!(
                parse(&texts[1].1).is_ok(),
                bytes <= TEXT_BYTES_MAX,
                "{bytes}"
            );
            assert!(texts[1].1.len() <= TEXT_BYTES_MAX + 2);
            assert!(texts[2].1 == LINE);
        }
    }
}

#[test]
fn a_file_without_line_breaks_is_read_in_flat_memory() {
    let endless = BufReader::new(io::repeat(b'7').take(1 << 28));
    let texts = texts_of(endless);
    assert_eq!(texts.len(), 1);
    assert!(parse(&texts[0].1).is_err());
    let headings = BufReader::new(
        io::repeat(b'a')
            .take(1000)
            .chain(io::repeat(b'\n').take(1 << 20)),
    );
    assert_eq!(texts_of(headings).len(), 1);
}

#[test]
fn bytes_that_are_not_utf8_are_a_wrong_board() {
    let mut file = format!("{LINE}\n{LINE}\n{LINE}\n").into_bytes();
    file[100] = 0xff;
    let texts = texts_of(&file[..]);
    assert_eq!(texts.len(), 3);
    let malformed = parse(&texts[1].1).unwrap_err();
    assert_eq!(
        (malformed.position, malformed.found),
        (Some(19), Some('\u{fffd}'))
    );
}

#[test]
fn what_the_reader_fails_with_is_passed_on() {
    let line = format!("{LINE}\n");
    let mut texts = BoardTexts::new(BufReader::new(line.as_bytes().chain(Failing)));
    assert!(texts.next_text().unwrap().is_some());
    assert_eq!(texts.next_text().unwrap_err().to_string(), "pulled out");
}

fn any_junk() -> impl Strategy<Value = String> {
    prop_oneof![
        "[^\\p{Cc}#]{0,60}",
        "[-+|.*x0-9a-c :]{1,12}",
        "[.0-9]{75,90}"
    ]
}

proptest! {
    #[test]
    fn boards_in_any_format_are_cut_and_read_as_they_were(
        boards in proptest::collection::vec((any_board(), any_format(), 0..4_usize), 0..6),
        crlf in any::<bool>(),
        mark in any::<bool>(),
    ) {
        let mut file = String::new();
        for (board, (format, blank), between) in &boards {
            file += &format.print(board, *blank);
            file += ["", "\n", "\n\n", "# next\n"][*between];
        }
        if crlf {
            file = file.replace('\n', "\r\n");
        }
        if mark {
            file.insert(0, '\u{feff}');
        }
        let expected: Vec<_> = boards.iter().map(|(board, ..)| Ok(*board)).collect();
        let found: Vec<_> = cut(&file).iter().map(|(_, text)| parse(text)).collect();
        prop_assert_eq!(found, expected);
    }

    /// After a first board on a line, each line gets an answer, in order.
    #[test]
    fn no_line_is_lost_among_lines(lines in proptest::collection::vec(
        prop_oneof![any_board().prop_map(|board| board.to_string()), any_junk()], 0..8,
    )) {
        let file = format!("{LINE}\n{}", lines.join("\n"));
        let mut expected = vec![LINE];
        expected.extend(lines.iter().map(String::as_str).filter(|line| !line.trim().is_empty()));
        let found: Vec<_> = cut(&file).into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_are_cut(file in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for (line, text) in texts_of(&file[..]) {
            let lines = file.split(|&byte| byte == b'\n').count();
            prop_assert!(line >= 1 && line <= lines as u64);
            let _: Result<Board, _> = parse(&text);
        }
    }

    #[test]
    fn any_lines_near_boards_are_cut(file in "([-+|.:*#x0-9a\\[ ]{0,12}\r?\n){0,60}") {
        let mut last = 0;
        for (line, text) in cut(&file) {
            prop_assert!(line > last && !text.is_empty());
            last = line;
            let _: Result<Board, _> = parse(&text);
        }
    }
}
