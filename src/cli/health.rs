//! `sudoku-solver health`: whether a server takes calls, for probes that can only run a program.

use anyhow::{Context as _, bail};
use clap::Args;
use tokio::time;

use super::{connect::server_url, runtime, security::TlsArgs};
use crate::client::{Client, ConnectSettings};

/// Ask a server whether it takes calls, for probes of containers and scripts.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct HealthArgs {
    /// The server's URL or host:port
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:50051",
        value_parser = server_url
    )]
    server: String,

    /// Give up after this long
    #[arg(long, value_name = "TIME", default_value = "3s")]
    timeout: humantime::Duration,

    #[command(flatten)]
    tls: TlsArgs,
}

const AFTER_HELP: &str = "\
Exit status: 0 when it takes calls; 1 when it does not, as before it is ready and while it
drains, or cannot be asked; 2 when the command line is wrong.";

/// Asks once.
pub(super) fn run(args: &HealthArgs) -> anyhow::Result<()> {
    let url = args.server.as_str();
    let security = args.tls.read(&[url])?;
    let asked = async {
        let client = Client::connect_secured(url, ConnectSettings::default(), &security).await?;
        client.is_serving().await
    };
    let runtime = runtime()?;
    // The timer belongs to the runtime, and so is made within it.
    let answer = runtime.block_on(async { time::timeout(args.timeout.into(), asked).await });
    // A name that nobody resolves must not hold the exit.
    runtime.shutdown_background();
    let serving =
        answer.with_context(|| format!("{url} has not answered in {}", args.timeout))??;
    if !serving {
        bail!("{url} takes no calls: it is not ready yet, or shutting down");
    }
    super::print("serving\n")
}
