//! `halfbyte search`

mod sequences;
mod templates;

use halfbyte::Sm;
use halfbyte_isel::ptx::expand::{VideoForm, lines, sequence};

use sequences::{Plan, search};

use super::io::print;
use super::names::did_you_mean;
use super::output::mention;
use super::{Done, Failure};

/// Searches for a shorter instruction sequence for a video instruction
///
/// Prints the sequence in the format of `rules/ptx/video`, after a test on all pairs of lanes. All sequences of one
/// instruction are tried, then of two, and so on; each further instruction takes several hundred times as long.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Search {
    /// Form of the instruction, such as `vmin4.u32.u32.u32.sat`
    form: String,
    /// SM version
    #[arg(long, value_name = "N", default_value = "75", value_parser = super::sm_version)]
    sm: Sm,
    /// Maximum number of instructions; two instructions that the assembler fuses count as one
    /// [default: one less than in the table]
    #[arg(long, value_name = "N")]
    at_most: Option<usize>,
    /// Number of threads [default: number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte search vmin4.u32.u32.u32.sat
  halfbyte search vmin4.u32.u32.u32.sat --sm 90 --at-most 3";

impl Search {
    pub(super) fn run(self) -> Done {
        let form = VideoForm::all().find(|form| form.to_string() == self.form);
        let form = form.ok_or_else(|| {
            let names: Vec<String> = VideoForm::all().map(|form| form.to_string()).collect();
            let meant = did_you_mean(&self.form, "", names.iter().map(String::as_str));
            Failure::Call(format!("`{}` is not a form of a video instruction{meant}", self.form))
        })?;
        let sm = self.sm.number();
        let known = sequence(form, sm).map_err(Failure::input)?;
        mention(&format!("{}: {} PTX instructions", known.place, known.insts.len()));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let plan = Plan {
            form,
            sm,
            at_most: self.at_most.unwrap_or(known.insts.len().saturating_sub(1)),
            threads: self.threads.unwrap_or(processors),
        };
        let found = search(plan, |length| mention(&format!("programs of {length}"))).map_err(Failure::input)?;
        let Some(found) = found else {
            return Err(Failure::input(format!("no sequence of at most {} instructions was found", plan.at_most)));
        };
        let mut text = format!("{form} @ sm_{sm}:\n");
        for line in lines(&found).map_err(Failure::input)? {
            text += &format!("    {line}\n");
        }
        print(text.as_bytes())
    }
}
