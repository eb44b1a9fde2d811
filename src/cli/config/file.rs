//! A TOML file of settings: flat, its keys the names of flags.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, Command, builder::Resettable};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{is_setting, one_line};
use crate::{cli::Misconfigured, server::reload};

/// The settings of a file, all of them good by themselves.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    settings: Vec<Setting>,
}

#[derive(Debug)]
struct Setting {
    /// clap's name of the flag.
    id: String,
    values: Vec<String>,
    line: usize,
}

impl File {
    /// Reads a file for `command`.
    pub(super) fn read(path: &Path, command: &Command) -> Result<File, Misconfigured> {
        let name = path.display();
        let text = text(path)?;
        let wrong = |at: usize, what: &str| {
            let line = line(&text, at);
            Misconfigured(format!("{name}, line {line}: {what}"))
        };
        let table = DeTable::parse(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, error.message())
        })?;
        let settings = table
            .get_ref()
            .iter()
            .map(|(key, value)| {
                let at = key.span().start;
                let key = key.get_ref().as_ref();
                let (id, values) = setting(command, key, value)
                    .map_err(|what| wrong(at, &format!("{key}: {what}")))?;
                let line = line(&text, at);
                Ok(Setting { id, values, line })
            })
            .collect::<Result<_, _>>()?;
        Ok(File {
            path: path.to_owned(),
            settings,
        })
    }

    /// The command, with what the file says as its defaults.
    pub(super) fn as_defaults(&self, command: Command) -> Command {
        self.settings.iter().fold(command, |command, setting| {
            command.mut_arg(&setting.id, |arg| {
                arg.default_values(setting.values.clone())
            })
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The line that sets the flag of this id.
    pub(super) fn line_of(&self, id: &str) -> Option<usize> {
        let setting = self.settings.iter().find(|setting| setting.id == id)?;
        Some(setting.line)
    }
}

fn text(path: &Path) -> Result<String, Misconfigured> {
    let wrong = |cause: &dyn Display| {
        Misconfigured(format!(
            "cannot read the settings {}: {cause}",
            path.display()
        ))
    };
    let bytes = reload::read(path).map_err(|error| wrong(&error.cause))?;
    String::from_utf8(bytes).map_err(|error| wrong(&error.utf8_error()))
}

fn line(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// The flag of a key, and the values that it is given.
fn setting(
    command: &Command,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> Result<(String, Vec<String>), String> {
    let named = |name: &str| {
        let mut settings = command.get_arguments();
        settings.find(|arg| arg.get_long() == Some(name) && is_setting(arg.get_id().as_str()))
    };
    let Some(arg) = named(key) else {
        let dashes = key.replace('_', "-");
        return Err(match named(&dashes) {
            Some(_) => format!("no such setting; it is called {dashes}"),
            None => "no such setting; `serve --help` lists all, as flags".to_owned(),
        });
    };
    let values = values(arg, value.get_ref())?;
    check(arg, &values)?;
    Ok((arg.get_id().to_string(), values))
}

/// A value as a flag would have it.
fn values(arg: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let many = matches!(arg.get_action(), ArgAction::Append);
    match value {
        DeValue::Array(array) if many => array.iter().map(|one| scalar(one.get_ref())).collect(),
        one => Ok(vec![scalar(one)?]),
    }
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Boolean(yes) => Ok(yes.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        other => Err(format!(
            "a text, a whole number, true or false is expected; found {}",
            other.type_str()
        )),
    }
}

/// Has clap read the values as if they came by the flag.
fn check(arg: &Arg, values: &[String]) -> Result<(), String> {
    if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse) {
        let known = |value: &String| ["true", "false"].contains(&value.as_str());
        let wrong = || "true or false is expected".to_owned();
        return values.iter().all(known).then_some(()).ok_or_else(wrong);
    }
    // Alone: whether it goes with others is seen when all are there.
    let alone = arg
        .clone()
        .env(Resettable::Reset)
        .requires(Resettable::Reset)
        .conflicts_with(Resettable::Reset);
    let name = arg.get_long().unwrap_or_default();
    let given = values.iter().map(|value| format!("--{name}={value}"));
    Command::new("file")
        .no_binary_name(true)
        .disable_help_flag(true)
        .arg(alone)
        .try_get_matches_from(given)
        .map(drop)
        .map_err(|error| {
            let said = one_line(&error);
            said.strip_prefix("error: ").unwrap_or(&said).to_owned()
        })
}
