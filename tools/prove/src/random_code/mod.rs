//! Random machine programs, which compare native code with the interpreter.
//!
//! Compiled kernels use only a few of a machine's instructions, and use them in similar forms. The programs of this
//! module are random machine code. Most of their operands are chosen so that a program executes many instructions
//! before it traps. Some instruction words are arbitrary. A [`Case`] is a program with a launch, and is drawn from a
//! seed, or from the bytes of a fuzzer ([`Draws`]).
//!
//! The items of a launch must not depend on each other, because each engine executes them in
//! another order. Therefore each item has its own bytes in every buffer that is written. A launch
//! with only one item may access all bytes.

mod campaign;
mod draws;
mod halu;
#[cfg(test)]
mod tests;
mod trial;
mod vp1;

use halfbyte_abi::Target;
use halfbyte_abi::{Param, ParamKind, Signature};
use halfbyte_emit::{KernelCode, write_object};
use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::object::{Header, KernelInfo, Loc};
use halfbyte_isa::stream::Tiles;
use halfbyte_runtime::Program;

pub use campaign::{Finding, Plan, Summary, run};
pub use draws::Draws;
pub use trial::{Difference, Outcome, THREADS, Trial};

/// An argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The bits of a scalar.
    Scalar(u128),
    /// The contents of a buffer before the launch.
    Buffer(Vec<u8>),
}

/// A program with a launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The machine code.
    pub words: SharedCode,
    /// The properties of the program that an object stores, such as its name and its parameters.
    pub info: KernelInfo,
    /// The number of work items.
    pub items: u32,
    /// One argument for each parameter.
    pub args: Vec<Argument>,
    /// The number of backward branches that an item may take.
    pub budget: u64,
}

/// A function that draws a random program for one target.
type Draw = fn(&mut Draws<'_>) -> Option<Case>;

/// The targets with random programs, and the functions that draw them.
const DRAWN: [(Target, Draw); 2] = [(halfbyte::HALU, halu::draw), (halfbyte::VP1, vp1::draw)];

impl Case {
    /// Draws a random program for [`halfbyte::HALU`] or [`halfbyte::VP1`]. Returns `None` for any other target.
    pub fn draw(target: Target, draws: &mut Draws<'_>) -> Option<Case> {
        let (_, draw) = DRAWN.iter().find(|(of, _)| *of == target)?;
        draw(draws)
    }

    /// Returns the target of the machine code.
    pub fn target(&self) -> Target {
        self.words.target()
    }

    /// Writes the program to an object and loads the object.
    ///
    /// # Errors
    /// Fails with a message if the object cannot be written or loaded.
    pub fn load(&self) -> Result<Program, String> {
        let code = KernelCode {
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

/// Returns the properties for the object of a program with these parameters.
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
