//! Two plain counters of solutions, to judge everything else by. Neither knows any rule but "once a
//! row, once a column, once a box", and they share nothing with the product but `Board`.

use sudoku_solver::board::Board;

/// The classic: empty cells in reading order, digits ascending. Takes minutes on some boards.
pub(crate) fn in_reading_order(board: &Board, limit: usize) -> Vec<Board> {
    search(board, limit, |_, values| {
        values.iter().position(|&value| value == 0)
    })
}

/// The same, but always with the cell that has fewest candidates.
pub(crate) fn fewest_candidates_first(board: &Board, limit: usize) -> Vec<Board> {
    search(board, limit, |tables, values| {
        let empty = (0..81).filter(|&cell| values[cell] == 0);
        empty.min_by_key(|&cell| tables.free(cell).count_ones())
    })
}

/// Which digits are used, a bit each, in every row, column and box.
struct Tables {
    rows: [u16; 9],
    columns: [u16; 9],
    boxes: [u16; 9],
}

impl Tables {
    fn free(&self, cell: usize) -> u16 {
        let (row, column) = (cell / 9, cell % 9);
        let used = self.rows[row] | self.columns[column] | self.boxes[row / 3 * 3 + column / 3];
        !used & 0b11_1111_1110
    }

    /// Puts a digit into the tables, or takes it out again.
    fn flip(&mut self, cell: usize, digit: u8) {
        let (row, column) = (cell / 9, cell % 9);
        self.rows[row] ^= 1 << digit;
        self.columns[column] ^= 1 << digit;
        self.boxes[row / 3 * 3 + column / 3] ^= 1 << digit;
    }
}

type Choose = fn(&Tables, &[u8; 81]) -> Option<usize>;

fn search(board: &Board, limit: usize, choose: Choose) -> Vec<Board> {
    let mut values = *board.values();
    let mut tables = Tables {
        rows: [0; 9],
        columns: [0; 9],
        boxes: [0; 9],
    };
    let mut found = Vec::new();
    for (cell, &digit) in values.iter().enumerate().filter(|(_, digit)| **digit != 0) {
        if tables.free(cell) & 1 << digit == 0 {
            return found;
        }
        tables.flip(cell, digit);
    }
    fill(&mut tables, &mut values, limit, choose, &mut found);
    found
}

fn fill(
    tables: &mut Tables,
    values: &mut [u8; 81],
    limit: usize,
    choose: Choose,
    found: &mut Vec<Board>,
) {
    let Some(cell) = choose(tables, values) else {
        found.extend(Board::new(*values));
        return;
    };
    for digit in (1..=9)
        .filter(|digit| tables.free(cell) & 1 << digit != 0)
        .collect::<Vec<_>>()
    {
        if found.len() == limit {
            return;
        }
        values[cell] = digit;
        tables.flip(cell, digit);
        fill(tables, values, limit, choose, found);
        tables.flip(cell, digit);
        values[cell] = 0;
    }
}
