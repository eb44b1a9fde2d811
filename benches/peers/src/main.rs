//! Measures the batch engine of `sudoku-solver` against the crate `sudoku`, side by side.
//!
//! Every contestant gets boards already parsed and owes, for each, the number of solutions counted
//! to 2 and the grids of those. They take turns in short rounds on the same boards, so that whatever
//! else the machine does meets all of them alike. Time is CPU time of the one thread.

#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

mod contest;
mod contestants;
mod report;
mod sets;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use sudoku_solver::batch::Level;

use crate::{contest::Contest, contestants::Contestants, report::Row, sets::SETS};

/// Compare the batch engine with the crate `sudoku` 0.8 and with the single-board solver.
#[derive(Debug, Parser)]
struct Args {
    /// Sets to measure [default: all]
    #[arg(value_name = "SET")]
    sets: Vec<String>,

    /// Turns of each contestant; two walk through the largest sets once
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// One JSON object a set instead of a Markdown table
    #[arg(long)]
    json: bool,

    /// Vector instructions of the engine: portable, avx2 or avx512 [default: the best of this CPU]
    #[arg(long, value_name = "LEVEL")]
    cpu_level: Option<Level>,

    /// Where the sets are
    #[arg(long, value_name = "FOLDER", default_value = sets::FOLDER)]
    data: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let level = args.cpu_level.unwrap_or_else(Level::detect);
    let chosen = chosen(&args.sets)?;
    anyhow::ensure!(
        args.data.is_dir(),
        "the sets of boards are not there: {} is no folder; --data names another",
        args.data.display()
    );
    if !args.json {
        println!("{}", Row::heading(level));
    }
    for set in chosen {
        let boards = sets::read(&args.data, set)?;
        let size = boards.len();
        let boards = contest::repeated(&boards);
        let mut contestants =
            Contestants::new(level, &boards).with_context(|| format!("this CPU has no {level}"))?;
        let contest = Contest::hold(&mut contestants, args.rounds)
            .with_context(|| format!("the set {set}"))?;
        let row = Row::of(set, size, level, &contest);
        if args.json {
            println!("{}", serde_json::to_string(&row)?);
        } else {
            println!("{row}");
        }
    }
    Ok(())
}

/// The sets that were asked for.
fn chosen(names: &[String]) -> anyhow::Result<Vec<&str>> {
    if names.is_empty() {
        return Ok(SETS.to_vec());
    }
    for name in names {
        anyhow::ensure!(
            SETS.contains(&name.as_str()),
            "no set is called {name}; there are {}",
            SETS.join(", ")
        );
    }
    Ok(names.iter().map(String::as_str).collect())
}
