//! `halfbyte isa`

use halfbyte::isa::docs::Set;

use super::io::print;
use super::{Done, Failure};

/// Prints the page of an instruction: its bits, its meaning, examples
#[derive(clap::Args)]
pub(super) struct Isa {
    /// The mnemonic; without one, the list of all
    mnemonic: Option<String>,
}

impl Isa {
    pub(super) fn run(self) -> Done {
        let Some(mnemonic) = self.mnemonic else {
            return print(Set::ALL.map(Set::index).join("\n").as_bytes());
        };
        // Video instructions are written in lower case, all others in upper.
        let names = [mnemonic.clone(), mnemonic.to_uppercase(), mnemonic.to_lowercase()];
        let page = |set: Set| names.iter().find_map(|name| set.page(name));
        let pages: Vec<String> = Set::ALL.into_iter().filter_map(page).collect();
        match pages.is_empty() {
            false => print(pages.join("\n").as_bytes()),
            true => Err(Failure::Call(format!("there is no instruction `{mnemonic}`; `halfbyte isa` lists all"))),
        }
    }
}
