//! `halfbyte step`

use std::path::PathBuf;

use halfbyte_prove::step;
use serde_json::json;

use super::json;
use super::{Done, EngineName, Machine};

/// Executes single instructions (on VP1: bundles) on given registers
///
/// Lines {"asm" or "words", "pre"} become {"post"} or {"error"}. "pre" and "post" map register names to values; "post"
/// has the registers that were written.
///
/// HALU: R0, UR5 and c[0x3][0x1a4] are 32 bits in hexadecimal, P0 is a boolean. Registers not in "pre" are 0.
///
/// VP1: "r", "a", "m", "x", "vc" (8 digits), "c", "l" (4 digits) and "v" (32 digits, component 0 first) are objects by
/// register number. "ds" (2 digits) is an object by three digits of the row and one of the bank. "vx" has 32 digits,
/// "va" is a list of 16 integers, and "uc" is the number in $uccfg. Digits are hexadecimal. Registers not in "pre" have
/// their reset value: 0, or 8000 for "c".
///
/// A line that is not a JSON object also becomes {"error"}. The command then exits with code 1 after the last line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Step {
    /// Instruction set
    #[arg(long, value_enum)]
    target: Machine,
    /// Engine that executes the instruction
    #[arg(long, value_enum, default_value = "interp")]
    engine: EngineName,
    /// Read and print JSON lines, the only format of this command; may be omitted
    #[arg(long)]
    json: bool,
    /// File with the lines; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  echo '{\"asm\": \"HADD2 R0, R1, R2 ;\", \"pre\": {\"R1\": \"0x3c003c00\", \"R2\": \"0x40004000\"}}' | halfbyte step --target halu
  halfbyte step --target vp1 --engine jit bundles.jsonl";

impl Step {
    pub(super) fn run(self) -> Done {
        let engine = self.engine.engine();
        json::answer(&self.file, |members| {
            let post = match self.target {
                Machine::Halu => step::halu(members, engine)?,
                Machine::Vp1 => step::vp1(members, engine)?,
            };
            Ok(json!({ "post": post }))
        })
    }
}
