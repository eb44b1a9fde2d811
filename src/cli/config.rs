//! Where the settings of `serve` come from: a flag, else the environment, else a file, else the default.
//!
//! The flags are defined once. A file only gives other defaults to them, so that each value is read and
//! refused by the same code wherever it stands, and a new flag is a new key of the file by itself.

mod file;
mod print;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{
    ArgMatches, CommandFactory as _, FromArgMatches as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use self::file::File;
use super::{Cli, say};

const SERVE: &str = "serve";
const CONFIG: &str = "config";
const PRINT_CONFIG: &str = "print_config";

/// What a command line asks for.
#[derive(Debug)]
pub(super) enum Parsed {
    Run(Box<Cli>),
    /// A text, and nothing else.
    Print(String),
}

/// Reads a command line, and the file of settings that it names.
pub(super) fn parse(args: &[OsString]) -> anyhow::Result<Parsed> {
    let mut matches = Cli::command().try_get_matches_from(args)?;
    if let Some(found) = matches.subcommand_matches(SERVE) {
        let command = Cli::command();
        let serve = command.find_subcommand(SERVE).cloned().unwrap_or_default();
        let file = found
            .get_one::<PathBuf>(CONFIG)
            .map(|path| File::read(path, &serve))
            .transpose()?;
        if let Some(file) = &file {
            let command = command.mut_subcommand(SERVE, |serve| file.as_defaults(serve));
            matches = command.try_get_matches_from(args)?;
        }
        if let Some(found) = asked_to_print(&matches) {
            return Ok(Parsed::Print(print::settings(&serve, found, file.as_ref())));
        }
    }
    Ok(Parsed::Run(Box::new(Cli::from_arg_matches(&matches)?)))
}

fn asked_to_print(matches: &ArgMatches) -> Option<&ArgMatches> {
    let serve = matches.subcommand_matches(SERVE)?;
    serve.get_flag(PRINT_CONFIG).then_some(serve)
}

/// Whether an argument is a setting that a file may hold, by its id.
fn is_setting(id: &str) -> bool {
    ![CONFIG, PRINT_CONFIG, "help", "version"].contains(&id)
}

/// Says what is wrong with a command line, or the help that it asked for.
pub(super) fn usage(error: &clap::Error, args: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let variable = variable(error, args);
            let from = variable.map_or(String::new(), |name| format!(" (from {name})"));
            say(&format!("{}{from}", one_line(error)));
        }
        // A reader that is gone needs no help.
        _ => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What clap says of a value, without its hint on --help.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said = text.split("\n\n").next().unwrap_or_default();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The environment variable that a wrong value comes from. clap names only the flag, which nobody gave.
fn variable(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let ContextValue::String(named) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let flag = named.split([' ', '=']).next()?;
    let given = |arg: &OsString| arg.to_string_lossy().split('=').next() == Some(flag);
    if args.iter().any(given) {
        return None;
    }
    // Whichever command was asked for comes first, whose arguments come after it.
    let command = Cli::command();
    let asked = args.iter().find_map(|arg| command.find_subcommand(arg))?;
    let arg = asked
        .get_arguments()
        .find(|arg| arg.get_long() == flag.strip_prefix("--"))?;
    Some(arg.get_env()?.to_string_lossy().into_owned())
}
