//! `halfbyte isa`

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use halfbyte::isa::docs::Set;
use halfbyte::isa::ptx::docs as ptx;

use super::io::print;
use super::names::closest_name;
use super::output::mention;
use super::{Done, Failure};

/// Prints the manual page of an instruction: encoding, meaning, examples
///
/// Upper and lower case are equal, and modifiers may follow: `hfma2`, `HADD2.F32` and `fma.rn.f16x2` are found.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Isa {
    /// Mnemonic; lists all instructions if omitted
    #[arg(conflicts_with = "folder")]
    mnemonic: Option<String>,
    /// Search only this instruction set
    #[arg(long, value_enum)]
    target: Option<Instructions>,

    /// Write the pages of all instructions to this folder, a folder for each instruction set; created if missing
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte isa
  halfbyte isa HFMA2
  halfbyte isa fma.rn.f16x2
  halfbyte isa --target vp1
  halfbyte isa vadd --target vp1
  halfbyte isa -o pages";

/// An instruction set with manual pages.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Instructions {
    /// Model of a 128-bit GPU ISA
    Halu,
    /// Video vector processor of NVIDIA's NV41 to G80
    Vp1,
    /// PTX
    Ptx,
}

impl Instructions {
    const ALL: [Instructions; 3] = [Instructions::Halu, Instructions::Vp1, Instructions::Ptx];

    fn name(self) -> &'static str {
        match self {
            Instructions::Halu => "halu",
            Instructions::Vp1 => "vp1",
            Instructions::Ptx => "ptx",
        }
    }

    fn mnemonics(self) -> Vec<&'static str> {
        match self {
            Instructions::Halu => Set::Halu.mnemonics(),
            Instructions::Vp1 => Set::Vp1.mnemonics(),
            Instructions::Ptx => ptx::mnemonics(),
        }
    }

    fn index(self) -> String {
        match self {
            Instructions::Halu => Set::Halu.index(),
            Instructions::Vp1 => Set::Vp1.index(),
            Instructions::Ptx => ptx::index(),
        }
    }

    /// Returns the manual page of an instruction. Upper and lower case are equal, and modifiers are ignored: for
    /// `fma.rn.f16x2`, the method returns the page of `fma`.
    fn page(self, written: &str) -> Option<String> {
        let mnemonic = self.mnemonics().into_iter().filter(|name| {
            let rest = written
                .get(name.len()..)
                .filter(|_| written.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        // Some mnemonics contain a dot, so the longest mnemonic that matches is chosen.
        let mnemonic = mnemonic.max_by_key(|name| name.len())?;
        match self {
            Instructions::Halu => Set::Halu.page(mnemonic),
            Instructions::Vp1 => Set::Vp1.page(mnemonic),
            Instructions::Ptx => ptx::page(mnemonic),
        }
    }
}

impl Instructions {
    /// Writes the manual pages of an instruction set to a folder: an index, and one page for each mnemonic.
    fn write_pages(self, folder: &Path) -> Done {
        let unwritten = |error: std::io::Error| Failure::Call(format!("{}: {error}", folder.display()));
        create_dir_all(folder).map_err(unwritten)?;
        write(folder.join("README.md"), self.index()).map_err(unwritten)?;
        for mnemonic in self.mnemonics() {
            let page = self.page(mnemonic).unwrap_or_default();
            write(folder.join(format!("{mnemonic}.md")), page).map_err(unwritten)?;
        }
        Ok(())
    }
}

impl Isa {
    pub(super) fn run(self) -> Done {
        let chosen = |of: &Instructions| self.target.is_none_or(|target| target == *of);
        let sets: Vec<Instructions> = Instructions::ALL.into_iter().filter(chosen).collect();
        if let Some(folder) = &self.folder {
            sets.iter().try_for_each(|set| set.write_pages(&folder.join(set.name())))?;
            mention(&format!("written to {}", folder.display()));
            return Ok(());
        }
        let Some(written) = &self.mnemonic else {
            let lists: Vec<String> = sets.into_iter().map(Instructions::index).collect();
            return print(lists.join("\n").as_bytes());
        };
        let pages: Vec<String> = sets.iter().filter_map(|set| set.page(written)).collect();
        match pages.is_empty() {
            false => print(pages.join("\n").as_bytes()),
            true => Err(Failure::Call(self.unknown(written))),
        }
    }

    /// Returns the message for an unknown mnemonic. The message suggests a similar mnemonic,
    /// preferably from the requested instruction set.
    fn unknown(&self, written: &str) -> String {
        let here = self.target.map_or(String::new(), |target| format!(" of {}", target.name()));
        let there = Instructions::ALL.into_iter().filter(|set| Some(*set) != self.target);
        let others = || there.clone().filter(|set| self.target.is_some() && set.page(written).is_some());
        if let Some(other) = others().next() {
            let other = other.name();
            return format!(
                "unknown instruction `{written}`{here}; {other} has it: halfbyte isa {written} --target {other}"
            );
        }
        let mnemonic = written.split('.').next().unwrap_or(written);
        let mine = self.target.and_then(|target| closest_name(mnemonic, target.mnemonics()));
        let near = mine.or_else(|| closest_name(mnemonic, there.clone().flat_map(Instructions::mnemonics)));
        let Some(near) = near else {
            return format!("unknown instruction `{written}`{here}; `halfbyte isa` lists all instructions");
        };
        let of: Vec<&str> =
            Instructions::ALL.iter().filter(|set| set.page(near).is_some()).map(|set| set.name()).collect();
        format!(
            "there is no instruction `{written}`{here}; did you mean `{near}` of {}? `halfbyte isa` lists all",
            of.join(" and ")
        )
    }
}
