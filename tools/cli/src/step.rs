//! `halfbyte step`

use std::path::PathBuf;

use halfbyte_prove::step;
use serde_json::json;

use super::json;
use super::{Done, EngineName, Machine};

/// Executes single instructions, on VP1 bundles, on given registers
///
/// Lines {"asm" or "words", "pre"} become {"post"} or {"error"}. "pre" and "post" name locations; "post" holds
/// those that are written.
///
/// HALU: R0, UR5 and c[0x3][0x1a4] are 32 bits in hexadecimal, P0 is a boolean. What "pre" does not name is 0.
///
/// VP1: objects "r", "a", "m", "x", "vc" (8 digits), "c", "l" (4) and "v" (32, component 0 first) by register
/// numbers, "ds" (2) by three digits of the row and one of the bank, "vx" (32), "va", a list of 16 integers, and
/// "uc", a number, which is $uccfg. Digits are hexadecimal. What "pre" does not name is as after reset: 0, each
/// "c" 8000.
///
/// A line that is no JSON object is answered by {"error"} too; the exit code is then 1, after all lines.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Step {
    /// The machine
    #[arg(long, value_enum)]
    target: Machine,
    /// What executes
    #[arg(long, value_enum, default_value = "interp")]
    engine: EngineName,
    /// Answer JSON lines; there is no other form, and it may be left out
    #[arg(long)]
    json: bool,
    /// The lines; - is standard input
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
