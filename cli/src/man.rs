//! `halfbyte man`

use std::fs::create_dir_all;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::{Man as Page, generate_to};

use super::io::print;
use super::output::mention;
use super::{Cli, Done, Failure};

/// Prints the manual page, or writes those of all commands to a folder
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Man {
    /// The folder for halfbyte.1, halfbyte-check.1 and so on; it is made if there is none
    folder: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte man | man -l -
  halfbyte man ~/.local/share/man/man1 && man halfbyte-check";

impl Man {
    pub(super) fn run(self) -> Done {
        // A page of the help would say nothing of its own.
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            Page::new(command).render(&mut page).map_err(Failure::input)?;
            return print(&page);
        };
        let unwritten = |error: std::io::Error| Failure::Call(format!("{}: {error}", folder.display()));
        create_dir_all(&folder).map_err(unwritten)?;
        generate_to(command, &folder).map_err(unwritten)?;
        mention(&format!("written to {}", folder.display()));
        Ok(())
    }
}
