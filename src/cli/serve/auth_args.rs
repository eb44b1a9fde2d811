//! Who may call the server, and what they may ask, as flags.

use std::{env, path::PathBuf};

use clap::{ArgAction, Args};

use crate::server::auth::{TOKENS_VARIABLE, TokenSource};

/// Who may call.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Callers")]
pub struct AuthArgs {
    /// File with the tokens that callers may have, one a line. Or `SUDOKU_TOKENS` holds them; never a flag
    #[arg(long, env = "SUDOKU_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Whether callers may ask for the contract, as grpcurl does
    #[arg(long, env = "SUDOKU_REFLECTION", value_name = "BOOL",
        default_value_t = true, action = ArgAction::Set)]
    pub reflection: bool,
}

impl AuthArgs {
    /// Where the tokens of the server come from, if it asks for any.
    pub(super) fn tokens(&self) -> Option<TokenSource> {
        let environment = env::var_os(TOKENS_VARIABLE).is_some();
        (environment || self.token_file.is_some()).then(|| TokenSource {
            file: self.token_file.clone(),
            environment,
        })
    }
}
