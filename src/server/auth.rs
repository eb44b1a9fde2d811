//! Who may call: bearer tokens, checked once a call, before anything of its body is read.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use hyper::http::{HeaderMap, header::AUTHORIZATION};
use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};
use subtle::{Choice, ConstantTimeEq as _};

use super::reload::{self, Files, Live, Unreadable};
use crate::{limits, service::failure::Failure};

/// The environment variable with tokens, apart by commas or white space.
pub const TOKENS_VARIABLE: &str = "SUDOKU_TOKENS";

/// Whoever asks whether the server lives has no token: probes of orchestrators cannot send one.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// Lets calls in, or not. The default lets all in.
#[derive(Clone, Debug, Default)]
pub struct Access(Option<Live<Tokens>>);

impl Access {
    /// Lets in whoever has one of the tokens.
    pub fn by_token(tokens: Live<Tokens>) -> Self {
        Access(Some(tokens))
    }

    /// Whether a call needs a token.
    pub fn needs_token(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(tokens) = &self.0 else {
            return Ok(());
        };
        if path.starts_with(HEALTH) {
            return Ok(());
        }
        let token = bearer(headers).ok_or(Failure::TokenMissing)?;
        if tokens.now().know(token) {
            Ok(())
        } else {
            Err(Failure::TokenWrong)
        }
    }
}

/// What follows `Bearer` in the header of a call.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, token) = headers
        .get(AUTHORIZATION)?
        .as_bytes()
        .split_at_checked(SCHEME.len())?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then(|| token.trim_ascii())
}

/// The tokens of a server. It keeps their digests only, so they can be neither logged nor found in its
/// memory, and all of them have the same length.
pub struct Tokens(Vec<Digest>);

type Digest = [u8; SHA256_OUTPUT_LEN];

impl Tokens {
    fn know(&self, token: &[u8]) -> bool {
        let token = digest(token);
        // All of them, whichever it is.
        let known = self.0.iter().fold(Choice::from(0), |known, other| {
            known | other.as_slice().ct_eq(&token)
        });
        known.into()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.0.len())
    }
}

fn digest(token: &[u8]) -> Digest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest::digest(&SHA256, token).as_ref());
    bytes
}

/// Where tokens come from: a file, the environment, or both.
#[derive(Clone, Debug)]
pub struct TokenSource {
    /// A file with one token a line; lines that begin with `#` are none.
    pub file: Option<PathBuf>,
    /// Whether [`TOKENS_VARIABLE`] holds some.
    pub environment: bool,
}

/// What is wrong with tokens. It never holds one.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// One of them cannot be sent in a header.
    #[error("{place}: a token is made of letters, digits and signs of ASCII, without spaces")]
    Malformed {
        /// The file and the line, or the variable.
        place: String,
    },
    /// There is none.
    #[error("{place} holds no token")]
    Missing {
        /// The file, or the variable.
        place: String,
    },
    /// There are more than a call should be compared with.
    #[error("there are {0} tokens; at most {max} are taken", max = limits::TOKENS_MAX)]
    Many(usize),
}

impl Files for TokenSource {
    type Value = Tokens;
    type Error = TokenError;

    const NAME: &'static str = "tokens";

    fn paths(&self) -> Vec<&Path> {
        self.file.as_deref().into_iter().collect()
    }

    fn read(&self) -> Result<Tokens, TokenError> {
        let mut digests = Vec::new();
        if let Some(path) = &self.file {
            let text = reload::read(path)?;
            digests.extend(from_lines(path, &text)?);
        }
        if self.environment {
            digests.extend(from_environment()?);
        }
        if digests.len() > limits::TOKENS_MAX {
            return Err(TokenError::Many(digests.len()));
        }
        Ok(Tokens(digests))
    }
}

fn from_lines(path: &Path, text: &[u8]) -> Result<Vec<Digest>, TokenError> {
    let digests: Vec<Digest> = token_lines(text)
        .map(|(line, token)| {
            let place = || format!("{}, line {line}", path.display());
            checked(token, place)
        })
        .collect::<Result<_, _>>()?;
    if digests.is_empty() {
        let place = path.display().to_string();
        return Err(TokenError::Missing { place });
    }
    Ok(digests)
}

/// The tokens of a file, and their lines, from 1.
pub(crate) fn token_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .zip(1..)
        .filter(|(line, _)| !line.is_empty() && !line.starts_with(b"#"))
        .map(|(token, number)| (number, token))
}

fn from_environment() -> Result<Vec<Digest>, TokenError> {
    let place = || TOKENS_VARIABLE.to_owned();
    let tokens = env::var_os(TOKENS_VARIABLE).unwrap_or_default();
    let digests: Vec<Digest> = tokens
        .as_encoded_bytes()
        .split(|byte| *byte == b',' || byte.is_ascii_whitespace())
        .filter(|token| !token.is_empty())
        .map(|token| checked(token, place))
        .collect::<Result<_, _>>()?;
    if digests.is_empty() {
        return Err(TokenError::Missing { place: place() });
    }
    Ok(digests)
}

fn checked(token: &[u8], place: impl Fn() -> String) -> Result<Digest, TokenError> {
    if token.iter().all(u8::is_ascii_graphic) {
        Ok(digest(token))
    } else {
        Err(TokenError::Malformed { place: place() })
    }
}
