//! Random programs of words, for the engines: what native code does with a program must be what the interpreter does.
//!
//! Kernels that are compiled use few of the words that a machine has, and those in the same ways. A program here is made of words
//! alone: most of them are instructions with operands that let the program go on for a while, some are anything. A [`Case`] is a
//! program with a launch. It is drawn from a seed, or from the bytes that a fuzzer has ([`Draws`]).
//!
//! Items of a launch must not depend on each other, as what they find then depends on the engine. So each item has bytes of its
//! own in every buffer that is written, or there is but one item, which may do anything.

mod campaign;
mod draws;
mod halu;
#[cfg(test)]
mod tests;
mod trial;
mod vp1;

use halfbyte_abi::Target;
use halfbyte_abi::{Param, ParamKind, Signature};
use halfbyte_emit::{Code, write_object};
use halfbyte_isa::isa::Words;
use halfbyte_isa::object::{Header, KernelInfo, Loc};
use halfbyte_isa::stream::Tiles;
use halfbyte_runtime::Program;

pub use campaign::{Finding, Plan, Summary, run};
pub use draws::Draws;
pub use trial::{Difference, Outcome, THREADS, Trial};

/// An argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A scalar, by its bits.
    Scalar(u128),
    /// A buffer before the launch.
    Buffer(Vec<u8>),
}

/// A program of words and a launch of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The words.
    pub words: Words,
    /// Its name and parameters, and what else an object says of it.
    pub info: KernelInfo,
    /// The work items.
    pub items: u32,
    /// An argument for each parameter.
    pub args: Vec<Argument>,
    /// Backward branches that an item may take.
    pub budget: u64,
}

/// What draws programs for a target.
type Draw = fn(&mut Draws<'_>) -> Option<Case>;

/// The targets that programs are drawn for.
const DRAWN: [(Target, Draw); 2] = [(halfbyte::HALU, halu::draw), (halfbyte::VP1, vp1::draw)];

impl Case {
    /// A program for a machine, [`halfbyte::HALU`] or [`halfbyte::VP1`]; none for anything else.
    pub fn draw(target: Target, draws: &mut Draws<'_>) -> Option<Case> {
        let (_, draw) = DRAWN.iter().find(|(of, _)| *of == target)?;
        draw(draws)
    }

    /// What runs the words.
    pub fn target(&self) -> Target {
        self.words.target()
    }

    /// The program as a loader has it.
    ///
    /// # Errors
    /// What no object can be made of or loaded from, in words.
    pub fn load(&self) -> Result<Program, String> {
        let code = Code {
            info: self.info.clone(),
            locs: vec![Loc::default(); self.words.len()],
            parts: Vec::new(),
            words: self.words.clone(),
            stats: Vec::new(),
        };
        let header = Header { target: self.target(), source: "random".to_owned() };
        let object = write_object(&header, &[code]).map_err(|error| error.to_string())?;
        halfbyte::TARGETS.load(&object).map_err(|error| error.to_string())
    }
}

/// What an object says of a kernel with these parameters.
fn info(params: Vec<Param>, local_bytes: u32, tiles: Option<Tiles>) -> Option<KernelInfo> {
    let signature = Signature::new("random", params).ok()?;
    let along_x = tiles.is_some();
    Some(KernelInfo {
        signature,
        local_bytes,
        registers: 255,
        tiles,
        max_items: u32::MAX,
        shared_bytes: None,
        scratch_bytes: 0,
        along_x,
    })
}

fn param(name: String, kind: ParamKind) -> Param {
    Param { name, kind }
}
