//! Which pages of browsers may call, as a flag.

use clap::Args;

use crate::server::Origin;

/// Browsers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Browsers")]
pub struct WebArgs {
    /// Origin whose pages may call by gRPC-Web, as in `https://app.example`; or `*`, everyone's. Repeat it, or part them by commas [default: nobody's]
    #[arg(
        long = "web-origin",
        env = "SUDOKU_WEB_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub web_origins: Vec<Origin>,
}
