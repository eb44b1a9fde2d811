//! What the tests share.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a failed unwrap is a failed test")]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test file uses its own part of this"
)]

pub mod boards;
pub mod server;
