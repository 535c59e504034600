//! The resources that a kernel takes, as the attributes of a function in the CUDA driver report them.

use std::collections::HashMap;

use super::module::{BlockLimit, Body, Entry};
use super::types::{Space, Type};

/// The resources of a kernel, with those of the functions that it reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// Estimated number of 32-bit registers of a thread, from 1 to 255.
    pub registers: u32,
    /// Shared memory of a block in bytes, without the memory whose size the launch determines.
    pub shared: u64,
    /// Local memory of a thread in bytes.
    pub local: u64,
    /// Constant memory in bytes: the constant variables that the kernel uses.
    pub constant: u64,
    /// Maximum number of threads of a block.
    pub threads: u32,
}

/// Maximum number of threads of a block on every GPU.
const MAX_BLOCK: u32 = 1024;

/// Maximum number of registers of a thread.
const MAX_REGISTERS: u32 = 255;

impl Entry {
    /// Returns the resources that the kernel takes.
    pub fn resources(&self) -> Resources {
        let bodies: Vec<&Body> = self.reached_bodies().collect();
        let constants = self.used_variables().into_iter().filter_map(|number| self.variables.get(number as usize));
        let constants = constants.filter(|of| of.space == Space::Const).map(|of| of.bytes.len() as u64);
        let most = |of: [u32; 3]| of.into_iter().fold(1, u32::saturating_mul);
        Resources {
            registers: bodies.iter().map(|body| registers(body)).max().unwrap_or(0).clamp(1, MAX_REGISTERS),
            shared: self.shared_layout().fixed,
            local: bodies.iter().map(|body| u64::from(body.layout().1)).sum(),
            constant: constants.sum(),
            threads: match self.blocks {
                BlockLimit::Any => MAX_BLOCK,
                BlockLimit::AtMost(block) | BlockLimit::Exactly(block) => most(block).min(MAX_BLOCK),
            },
        }
    }
}

/// Estimates the number of 32-bit registers of a body: the maximum over all instructions of the registers that are
/// named before the instruction and again at or after it. Branches are ignored.
fn registers(body: &Body) -> u32 {
    let mut ranges = HashMap::new();
    for (number, inst) in body.insts.iter().enumerate() {
        for (_, reg) in inst.registers() {
            let (_, last) = ranges.entry(reg).or_insert((number, number));
            *last = number;
        }
    }
    let mut changes = vec![0_i64; body.insts.len() + 1];
    for (reg, (first, last)) in ranges {
        let ty = body.registers.ty(reg).filter(|&ty| ty != Type::Pred);
        let words = ty.map_or(0, |ty| i64::from(ty.bits().div_ceil(32)));
        for (at, change) in [(first, words), (last + 1, -words)] {
            changes.get_mut(at).into_iter().for_each(|of| *of += change);
        }
    }
    let live = changes.into_iter().scan(0, |live, change| {
        *live += change;
        Some(*live)
    });
    live.max().map_or(0, |most| most.try_into().unwrap_or(u32::MAX))
}
