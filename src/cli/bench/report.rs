//! The figures of a file, for people and for programs.

use std::{
    io::{self, Write as _},
    path::Path,
};

use indicatif::HumanCount;
use serde::Serialize;

use super::{
    BenchArgs, Format, Tree,
    rounds::{Rounds, Spread},
};
use crate::{batch::Level, compression::Encoding};

/// All that was measured of a file.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) malformed: u64,
    pub(super) engine: Rounds,
    pub(super) tree: Tree,
    pub(super) single: Rounds,
    pub(super) rpc: Rounds,
}

/// One line of JSON. Figures are those of the round in the middle unless `best` says otherwise.
#[derive(Debug, Serialize)]
struct Figures {
    file: String,
    boards: usize,
    malformed: u64,
    undecided: u64,
    cpu_level: &'static str,
    solution_limit: u32,
    message_boards: u32,
    compression: Option<&'static str>,
    engine_boards_per_second: f64,
    engine_boards_per_second_best: f64,
    engine_cpu_nanos_per_board: Option<f64>,
    nodes_per_board: f64,
    guesses_per_board: f64,
    no_guess_share: f64,
    single_boards_per_second: f64,
    single_boards_per_second_best: f64,
    rpc_boards_per_second: f64,
    rpc_boards_per_second_best: f64,
    rpc_server_cpu_nanos_per_board: Option<f64>,
    rpc_server_cpu_beyond_engine_nanos_per_board: Option<f64>,
    rpc_server_cpu_beyond_engine_nanos_per_board_best: Option<f64>,
}

impl Figures {
    fn of(file: &Path, measured: &Measured, args: &BenchArgs, level: Level) -> Figures {
        let Measured {
            malformed,
            engine,
            tree,
            single,
            rpc,
        } = measured;
        let engine_rate = engine.per_second();
        let single_rate = single.per_second();
        let rpc_rate = rpc.per_second();
        let beyond = rpc.cpu_nanos_beyond(engine);
        let median = |nanos: Option<Spread>| nanos.map(|nanos| round(nanos.median, 1));
        Figures {
            file: file.display().to_string(),
            boards: engine.boards(),
            malformed: *malformed,
            undecided: tree.undecided,
            cpu_level: level.name(),
            solution_limit: args.limit,
            message_boards: args.message_boards,
            compression: args.connect.compression.map(Encoding::name),
            engine_boards_per_second: round(engine_rate.median, 0),
            engine_boards_per_second_best: round(engine_rate.best, 0),
            engine_cpu_nanos_per_board: median(engine.cpu_nanos_per_board()),
            nodes_per_board: round(tree.share_of_boards(tree.nodes), 4),
            guesses_per_board: round(tree.share_of_boards(tree.guesses), 4),
            no_guess_share: round(tree.share_of_boards(tree.without_guess), 4),
            single_boards_per_second: round(single_rate.median, 0),
            single_boards_per_second_best: round(single_rate.best, 0),
            rpc_boards_per_second: round(rpc_rate.median, 0),
            rpc_boards_per_second_best: round(rpc_rate.best, 0),
            rpc_server_cpu_nanos_per_board: median(rpc.cpu_nanos_per_board()),
            rpc_server_cpu_beyond_engine_nanos_per_board: median(beyond),
            rpc_server_cpu_beyond_engine_nanos_per_board_best: beyond
                .map(|nanos| round(nanos.best, 1)),
        }
    }

    fn row(&self, name: &str, width: usize) -> String {
        format!(
            "{name:width$} {:>9} |{:>11}{:>11}{:>10}{:>9.2}{:>9.2}{:>9.1}% |{:>11}{:>11} |{:>11}{:>11}{:>10}{:>10}",
            self.boards,
            whole(self.engine_boards_per_second),
            whole(self.engine_boards_per_second_best),
            nanos(self.engine_cpu_nanos_per_board),
            self.nodes_per_board,
            self.guesses_per_board,
            100.0 * self.no_guess_share,
            whole(self.single_boards_per_second),
            whole(self.single_boards_per_second_best),
            whole(self.rpc_boards_per_second),
            whole(self.rpc_boards_per_second_best),
            nanos(self.rpc_server_cpu_nanos_per_board),
            nanos(self.rpc_server_cpu_beyond_engine_nanos_per_board),
        )
    }
}

impl Tree {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn share_of_boards(&self, count: u64) -> f64 {
        count as f64 / self.boards.max(1) as f64
    }
}

/// Prints each file when it is measured.
pub(super) struct Printer<'a> {
    args: &'a BenchArgs,
    level: Level,
    name_width: usize,
}

const LEGEND: &str = "  \
  engine  the batch engine alone on one core
  single  the single-board solver alone on one core
  rpc     SolveBatch over one connection, from text to text

  board/s   boards a second, the median of all rounds; best: the best round
  ns CPU    CPU time a board in ns, the median of all rounds; under rpc the server's alone
  beyond    how much of it is beyond the engine's own in the same round; the median of that
  nodes     nodes of the search tree a board; guesses: a board, at least (exact but for boards
            whose search --limit cut short); no guess: boards solved without one
";

impl<'a> Printer<'a> {
    pub(super) fn begin(args: &'a BenchArgs, level: Level) -> io::Result<Printer<'a>> {
        let widths = args.files.iter().map(|file| name(file).chars().count());
        let printer = Printer {
            args,
            level,
            name_width: widths.max().unwrap_or(0).max(4),
        };
        if matches!(args.output, Format::Table) {
            printer.heading()?;
        }
        Ok(printer)
    }

    fn heading(&self) -> io::Result<()> {
        let server = match &self.args.server {
            None => "a server in a process of its own, on this machine",
            Some(url) => url,
        };
        let compressed = match self.args.connect.compression {
            None => String::new(),
            Some(encoding) => format!(" compressed by {}", encoding.name()),
        };
        let width = self.name_width;
        let mut stdout = io::stdout().lock();
        writeln!(
            stdout,
            "cpu level {}, solution limit {}, {} boards a message{compressed}, {server}\n\n{LEGEND}",
            self.level, self.args.limit, self.args.message_boards
        )?;
        writeln!(
            stdout,
            "{:width$} {:>9} |{:>11}{:>50} |{:>11}{:>11} |{:>11}",
            "", "", "engine", "", "single", "", "rpc"
        )?;
        writeln!(
            stdout,
            "{:width$} {:>9} |{:>11}{:>11}{:>10}{:>9}{:>9}{:>10} |{:>11}{:>11} |{:>11}{:>11}{:>10}{:>10}",
            "file",
            "boards",
            "board/s",
            "best",
            "ns CPU",
            "nodes",
            "guesses",
            "no guess",
            "board/s",
            "best",
            "board/s",
            "best",
            "ns CPU",
            "beyond"
        )?;
        stdout.flush()
    }

    pub(super) fn print(&mut self, file: &Path, measured: &Measured) -> anyhow::Result<()> {
        let figures = Figures::of(file, measured, self.args, self.level);
        let line = match self.args.output {
            Format::Json => serde_json::to_string(&figures)?,
            Format::Table => figures.row(&name(file), self.name_width),
        };
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}")?;
        stdout.flush()?;
        Ok(())
    }
}

/// The name of a file without its folder.
fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

fn whole(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rounded rate, never below 0"
    )]
    HumanCount(value as u64).to_string()
}

fn nanos(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |nanos| format!("{nanos:.0}"))
}
