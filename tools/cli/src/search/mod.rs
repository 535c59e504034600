//! `halfbyte search`

mod sequences;
mod templates;

use halfbyte::Sm;
use halfbyte_isel::ptx::expand::{Form, lines, sequence};

use sequences::{Plan, search};

use super::io::print;
use super::names::did_you_mean;
use super::output::mention;
use super::{Done, Failure};

/// Searches for a shorter sequence that has a video instruction's bits
///
/// Prints it as `rules/ptx/video` has it, after it was run on all pairs of lanes. All programs of one instruction are tried,
/// then of two, and so on; each more takes some hundred times as long.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Search {
    /// The form, such as `vmin4.u32.u32.u32.sat`
    form: String,
    /// The SM version that it is for
    #[arg(long, value_name = "N", default_value = "75", value_parser = super::sm_version)]
    sm: Sm,
    /// The most instructions, two that the assembler makes one of counting as one; one less than the table has lines if not
    /// given
    #[arg(long, value_name = "N")]
    at_most: Option<usize>,
    /// Threads; as many as there are processors if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte search vmin4.u32.u32.u32.sat
  halfbyte search vmin4.u32.u32.u32.sat --sm 90 --at-most 3";

impl Search {
    pub(super) fn run(self) -> Done {
        let form = Form::all().find(|form| form.to_string() == self.form);
        let form = form.ok_or_else(|| {
            let names: Vec<String> = Form::all().map(|form| form.to_string()).collect();
            let meant = did_you_mean(&self.form, "", names.iter().map(String::as_str));
            Failure::Call(format!("`{}` is no form of video instruction{meant}", self.form))
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
            return Err(Failure::input(format!(
                "there is none of at most {} instructions of those tried",
                plan.at_most
            )));
        };
        let mut text = format!("{form} @ sm_{sm}:\n");
        for line in lines(&found).map_err(Failure::input)? {
            text += &format!("    {line}\n");
        }
        print(text.as_bytes())
    }
}
