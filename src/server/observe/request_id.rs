//! The name of a call, by which its caller and the logs of both sides find it again.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

/// Where it stands, in requests and in answers.
pub(in crate::server) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Characters of a name that is taken from a caller; a longer one is replaced.
const CHARACTERS_MAX: usize = 128;

/// The caller's name for a call, or one made here.
pub(super) fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sent = headers.get(HEADER).filter(|id| is_sane(id.as_bytes()));
    let mut id = sent.cloned().unwrap_or_else(made);
    // It is another for every call: kept in the tables of HTTP/2 it would push out what is worth keeping.
    id.set_sensitive(true);
    id
}

/// Whether a name can stand in a log without being taken for something else.
fn is_sane(id: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte);
    (1..=CHARACTERS_MAX).contains(&id.len()) && id.iter().all(is_plain)
}

/// A name that no other call has: numbers from one that is random for this process.
fn made() -> HeaderValue {
    // The keys of hash maps are random: no generator is needed for one number.
    static NEXT: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(0)));
    // Not a text with parts: to format one cost more than anything else that is done for a call here.
    HeaderValue::from(NEXT.fetch_add(1, Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sent: &[u8]) -> HeaderValue {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(sent).unwrap());
        request_id(&headers)
    }

    #[test]
    fn sane_names_are_kept_and_others_replaced() {
        let longest = [b'x'; CHARACTERS_MAX];
        for sane in [b"a".as_slice(), b"8f14-e45f/1:2", &longest] {
            assert_eq!(of(sane).as_bytes(), sane);
        }
        let longer = [b'x'; CHARACTERS_MAX + 1];
        for bad in [b"".as_slice(), b"a b", b"a\"b", b"a\tb", b"\xe4", &longer] {
            let made = of(bad);
            assert_ne!(made.as_bytes(), bad);
            assert!(made.as_bytes().iter().all(u8::is_ascii_digit), "{made:?}");
        }
    }

    #[test]
    fn no_two_are_the_same() {
        let mut ids: Vec<_> = (0..1000).map(|_| made()).collect();
        ids.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        ids.dedup();
        assert_eq!(ids.len(), 1000);
    }
}
