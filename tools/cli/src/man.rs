//! `halfbyte man`

use std::fs::create_dir_all;
use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_mangen::{Man as Page, generate_to};

use super::io::print;
use super::output::mention;
use super::{Cli, Done, Failure, names};

/// Prints the man page of the program or of a command, or writes all man pages to a folder
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Man {
    /// Command; if omitted, the man page of the program is printed
    #[arg(conflicts_with = "folder")]
    command: Option<String>,

    /// Folder for halfbyte.1, halfbyte-check.1 and so on; created if missing
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte man | man -l -
  halfbyte man check | man -l -
  halfbyte man -o ~/.local/share/man/man1 && man halfbyte-check";

impl Man {
    pub(super) fn run(self) -> Done {
        // The `help` command gets no man page.
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let Some(folder) = self.folder else {
            let page = match &self.command {
                Some(name) => Page::new(page_of(&command, name)?),
                None => Page::new(command),
            };
            let mut text = Vec::new();
            page.render(&mut text).map_err(Failure::input)?;
            return print(&text);
        };
        let unwritten = |error: std::io::Error| Failure::Call(format!("{}: {error}", folder.display()));
        create_dir_all(&folder).map_err(unwritten)?;
        generate_to(command, &folder).map_err(unwritten)?;
        mention(&format!("written to {}", folder.display()));
        Ok(())
    }
}

/// Returns the command with the given name. Fails if there is no such command.
fn page_of(program: &Command, name: &str) -> Result<Command, Failure> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let names = program.get_subcommands().map(Command::get_name);
        Failure::Call(format!("there is no command `{name}`{}", names::suggestion_and_names(name, "", names)))
    })
}
