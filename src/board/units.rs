//! Rows, columns, boxes and peers: computed, and asserted when the crate is compiled.

/// One of the 27 units; the number is 0 to 8, boxes row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// A row, from the top.
    Row(u8),
    /// A column, from the left.
    Column(u8),
    /// A box, row by row.
    Box(u8),
}
