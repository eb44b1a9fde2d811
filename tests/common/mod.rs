//! What several test files share.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file is a crate of its own and uses a part"
)]

pub(crate) mod batch;
pub(crate) mod boards;
pub(crate) mod cases;
pub(crate) mod oracle;
pub(crate) mod raw;
pub(crate) mod sample;
pub(crate) mod server;
pub(crate) mod texts;
pub(crate) mod wire;
