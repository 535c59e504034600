//! `halfbyte completions`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::io::print;
use super::{Cli, Done};

/// Prints the completion script of a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Completions {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte completions bash > ~/.local/share/bash-completion/completions/halfbyte
  halfbyte completions zsh > ~/.zfunc/_halfbyte
  halfbyte completions fish > ~/.config/fish/completions/halfbyte.fish
  halfbyte completions powershell >> $PROFILE";

impl Completions {
    pub(super) fn run(self) -> Done {
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "halfbyte", &mut script);
        print(&script)
    }
}
