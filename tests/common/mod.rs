//! What several test files share.
#![allow(
    dead_code,
    reason = "each test file is a crate of its own and uses a part"
)]

pub(crate) mod boards;
pub(crate) mod cases;
pub(crate) mod oracle;
pub(crate) mod sample;
