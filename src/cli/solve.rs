//! `solve`: boards from files or standard input, one answer a line.

mod input;
mod jsonl;
mod lines;
mod output;
mod progress;

use std::{io, path::PathBuf};

use clap::{Args, ValueEnum, value_parser};
use tokio::runtime::Handle;

use self::{input::Input, output::Output, progress::Progress};
use super::{Misconfigured, connect::ConnectArgs, local::LocalServer, security::SecurityArgs};
use crate::client::{Answers, BatchSettings, Client, Security};

/// Solve boards from files or standard input, one answer a line, in the order of the boards.
///
/// Boards may be 81 characters on a line, nine lines, framed grids, .sdk files and other usual
/// forms, gzip-compressed or not. Without --server the service is started inside this process:
/// nothing needs to be set up.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SolveArgs {
    /// Files of boards; "-", or none, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Let a running server solve; its URL or host:port
    #[arg(long, value_name = "URL", value_parser = server_url)]
    server: Option<String>,

    /// Stop at this many solutions of a board: 1 for any solution, 2 to prove that there is one
    /// only, up to 10,000 to list them [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    limit: Option<u32>,

    /// Give a board up as UNDECIDED after this many nodes of its search [default: the server's]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    node_limit: Option<u32>,

    /// How to print an answer
    #[arg(long, value_enum, default_value_t = Format::Lines)]
    output: Format,

    #[command(flatten)]
    connect: ConnectArgs,

    #[command(flatten)]
    security: SecurityArgs,
}

const AFTER_HELP: &str = "\
Exit status: 0 when every board got its answer, whatever it is; 1 when a file or the server
failed; 2 when the command line is wrong.

Examples:
  sudoku-solver solve boards.txt
  zcat boards.gz | sudoku-solver solve --output jsonl | jq .status
  sudoku-solver solve --limit 100 --server http://127.0.0.1:50051 one.sdk two.sdk";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// The grid of a board with one solution; else the board, its status, and why
    Lines,
    /// One JSON object a board
    Jsonl,
}

/// Solves everything there is to read.
pub(super) fn run(args: &SolveArgs) -> anyhow::Result<()> {
    let input = Input::find(&args.files)?;
    let runtime = super::runtime()?;
    let done = runtime.block_on(async {
        if let Some(url) = &args.server {
            let security = args.security.read(url)?;
            return solve(args, input, url, &security).await;
        }
        if let Some(flag) = args.security.flag() {
            let text = format!("{flag} needs --server, the server that it is for");
            return Err(Misconfigured(text).into());
        }
        let mut local = LocalServer::start().await?;
        let (url, security) = (local.url().to_owned(), Security::default());
        tokio::select! {
            done = solve(args, input, &url, &security) => done,
            failure = local.failure() => Err(failure),
        }
    });
    // A thread that still reads a terminal, or a server that still solves, must not hold the exit.
    runtime.shutdown_background();
    done
}

async fn solve(
    args: &SolveArgs,
    input: Input,
    url: &str,
    security: &Security,
) -> anyhow::Result<()> {
    let client = Client::connect_secured(url, args.connect.into(), security).await?;
    let settings = BatchSettings {
        solution_limit: args.limit,
        node_limit: args.node_limit,
        ..BatchSettings::default()
    };
    let (feed, answers) = client.solve_batch(settings).await?;
    let reader = input.feed_into(feed, Handle::current())?;
    let mut progress = Progress::new();
    if let Err(error) = print(args, answers, &mut progress).await {
        // Whoever read the answers wants no more of them, as in `solve ... | head`.
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        return if kind == Some(io::ErrorKind::BrokenPipe) {
            Ok(())
        } else {
            Err(error)
        };
    }
    progress.finish();
    // The answers have ended, so the reader has: it reads nothing after it has closed its feed.
    reader
        .join()
        .map_err(|_| anyhow::anyhow!("the thread that reads boards failed"))?
}

async fn print(
    args: &SolveArgs,
    mut answers: Answers,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let limit = args.limit.unwrap_or(2);
    let mut output = Output::new();
    while let Some(answer) = answers.next().await? {
        progress.count(&answer);
        match args.output {
            Format::Lines => lines::write(output.line(), &answer, limit),
            Format::Jsonl => jsonl::write(output.line(), &answer)?,
        }
        // Whoever feeds boards one at a time sees each answer as it comes.
        if answers.ready() == 0 || output.is_full() {
            progress.beside(|| output.flush())?;
        }
    }
    Ok(())
}

/// The URL of a server; `host:port` alone is understood as well.
pub(super) fn server_url(text: &str) -> Result<String, String> {
    let url = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let Some(("http" | "https", authority)) = url.split_once("://") else {
        return Err("a server's URL begins with http:// or https://".to_owned());
    };
    if authority.is_empty() || authority.contains(char::is_whitespace) {
        return Err("a server's URL looks like http://127.0.0.1:50051".to_owned());
    }
    Ok(url)
}
