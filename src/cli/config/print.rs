//! The settings in force, as a file that could be read again.

use std::env;

use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource};

use super::{CONFIG, file::File, is_setting};
use crate::server::auth::TOKENS_VARIABLE;

/// Every setting of a command, its meaning, its value, and where the value comes from.
pub(super) fn settings(command: &Command, found: &ArgMatches, file: Option<&File>) -> String {
    let mut text =
        "# What `sudoku-solver serve` runs with, and where each setting comes from.\n".to_owned();
    if let Some(file) = file {
        let by = match found.value_source(CONFIG) {
            Some(ValueSource::EnvVariable) => "environment SUDOKU_CONFIG",
            _ => "flag",
        };
        line(
            &mut text,
            &format!("# The file is {} ({by}).", file.path().display()),
        );
    }
    let mut heading = None;
    for arg in command.get_arguments() {
        let Some(key) = arg.get_long().filter(|_| is_setting(arg.get_id().as_str())) else {
            continue;
        };
        if arg.get_help_heading() != heading {
            heading = arg.get_help_heading();
            line(
                &mut text,
                &format!("\n# == {} ==", heading.unwrap_or_default()),
            );
        }
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        line(&mut text, &format!("\n# {help}"));
        line(&mut text, &setting(arg, key, found, file));
    }
    let tokens = match env::var_os(TOKENS_VARIABLE) {
        Some(_) => "is set, and not shown",
        None => "is not set",
    };
    line(
        &mut text,
        &format!("\n# {TOKENS_VARIABLE} of the environment {tokens}; tokens have no key."),
    );
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn setting(arg: &Arg, key: &str, found: &ArgMatches, file: Option<&File>) -> String {
    let id = arg.get_id().as_str();
    let Some(values) = found.get_raw(id) else {
        return format!("# {key} is not set");
    };
    let source = match found.value_source(id) {
        Some(ValueSource::CommandLine) => format!("flag --{key}"),
        Some(ValueSource::EnvVariable) => {
            let name = arg.get_env().unwrap_or_default().to_string_lossy();
            format!("environment {name}")
        }
        _ => match file.and_then(|file| file.line_of(id)) {
            Some(line) => format!("file, line {line}"),
            None => "default".to_owned(),
        },
    };
    // What clap does not show in its help is a secret.
    if arg.is_hide_env_values_set() {
        return format!("# {key} is set, and not shown ({source})");
    }
    let mut values = values.map(|value| toml(&value.to_string_lossy()));
    let value = if matches!(arg.get_action(), ArgAction::Append) {
        format!("[{}]", values.collect::<Vec<_>>().join(", "))
    } else {
        values.next().unwrap_or_default()
    };
    format!("{key} = {value} # {source}")
}

/// A value as it stands in a file: bare where it is a number or a truth, else a text in quotes.
fn toml(value: &str) -> String {
    let plain = |number: i64| number.to_string() == value;
    if ["true", "false"].contains(&value) || value.parse().is_ok_and(plain) {
        value.to_owned()
    } else {
        toml::Value::from(value).to_string()
    }
}
