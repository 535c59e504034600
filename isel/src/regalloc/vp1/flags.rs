//! Allocation of the flags registers `$c` and `$vc`. Each file has four registers, whose contents cannot be moved or
//! spilled.
//!
//! Blocks are visited so that dominators come first, and definitions in program order. All registers that are live at a
//! definition are allocated before it, so four registers suffice if at most four are live at once.

use halfbyte_isa::row::RegFile;
use smallvec::SmallVec;

use super::super::AllocError;
use super::super::flow::{Flow, branch_operands};
use super::super::liveness::Liveness;
use super::check::{by_place, is_clobber};
use super::shape::slots;
use crate::vcode::{Access, BlockIndex, Operand, VCode, VInst, VReg};
use crate::vp1::machine::Vp1;
use crate::vp1::{Class, GroupRegisterPosition};

/// Number of registers in each file, `$c` and `$vc`.
const COUNT: u8 = 4;
/// Marker of a virtual register to which no hardware register is assigned.
const NONE: u8 = u8::MAX;

/// Hardware register of each virtual register of the flags classes.
#[derive(Default)]
pub(super) struct Flags {
    /// Number of the hardware register, by virtual register.
    numbers: Vec<u8>,
}

impl Flags {
    /// Returns the number of the hardware register that is assigned to a virtual register, or
    /// `None` if `reg` is not of a flags class.
    pub(super) fn number(&self, reg: VReg) -> Option<u8> {
        self.numbers.get(reg.0 as usize).copied().filter(|&number| number != NONE)
    }
}

/// Returns the register file of a flags class, and its index: 0 for `$c`, 1 for `$vc`. Returns
/// `None` for any other class.
const fn file(class: Class) -> Option<(RegFile, usize)> {
    match class {
        Class::C => Some((RegFile::C, 0)),
        Class::Vc => Some((RegFile::Vc, 1)),
        Class::R | Class::V => None,
    }
}

/// Assigns a hardware register to each virtual register of the flags classes.
///
/// # Errors
/// Fails if more than four registers of a file are live at once.
pub(super) fn place(code: &VCode<Vp1>, flow: &Flow, liveness: &Liveness) -> Result<Flags, AllocError> {
    if code.vregs.iter().all(|&class| file(class).is_none()) {
        return Ok(Flags::default());
    }
    let mut walk = Walk {
        code,
        numbers: vec![NONE; code.vregs.len()],
        remaining_reads: vec![0; code.vregs.len()],
        taken: [[None; COUNT as usize]; 2],
        next: [0; 2],
        pairs: pairs(code, flow),
        block: 0,
    };
    for (rank, block) in flow.blocks(code) {
        walk.block = flow.index(rank);
        walk.taken = [[None; COUNT as usize]; 2];
        // `remaining_reads` counts, for each register, the reads that follow in the block. Being
        // live out of the block counts as one read.
        let read = |access: Access, reg: VReg| match access {
            Access::Use => Some(reg),
            Access::UpdateInPlace(old) => Some(old),
            Access::Def => None,
        };
        let mut count = |reg: VReg| walk.remaining_reads[reg.0 as usize] += 1;
        let all = code.insts_of(block).iter().flat_map(|inst| code.operands(inst));
        let all = all.chain(branch_operands(code, &block.terminator));
        all.filter_map(|operand| read(operand.access, operand.reg)).for_each(&mut count);
        let after = || {
            let live = flow.succs(rank).iter().flat_map(|succ| liveness.live_in(succ.index())).map(|&reg| VReg(reg));
            live.chain(block.terminator.edges().flat_map(|edge| code.list(&edge.args).iter().copied()))
        };
        after().for_each(&mut count);

        liveness.live_in(rank).iter().for_each(|&reg| walk.enter(VReg(reg)));
        for &param in code.list(&block.params) {
            let wish = walk.argument(flow, rank, param);
            walk.define(param, wish)?;
        }
        for inst in code.insts_of(block) {
            walk.inst(inst)?;
        }
        for operand in branch_operands(code, &block.terminator) {
            walk.read(operand.reg);
        }
        after().for_each(|reg| walk.read(reg));
    }
    walk.check_edges(flow)?;
    Ok(Flags { numbers: walk.numbers })
}

/// Returns the pairs of virtual registers that instructions read as a pair of `$vc`.
fn pairs(code: &VCode<Vp1>, flow: &Flow) -> Vec<[VReg; 2]> {
    let all =
        flow.blocks(code).flat_map(|(_, block)| code.insts_of(block)).flat_map(|inst| by_place(code.operands(inst)));
    let mut pairs: Vec<_> = all
        .filter_map(|same| match *same {
            [first, second] if code.vregs.get(first.reg.0 as usize) == Some(&Class::Vc) => {
                Some([first.reg, second.reg])
            }
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// State of the assignment during the walk through the code.
struct Walk<'a> {
    code: &'a VCode<Vp1>,
    numbers: Vec<u8>,
    /// Number of reads that follow in the block, by virtual register.
    remaining_reads: Vec<u32>,
    /// Virtual register that occupies each hardware register, by file and number.
    taken: [[Option<VReg>; COUNT as usize]; 2],
    /// Register number to try next, by file. Using the registers in rotation avoids dependencies between instructions.
    next: [u8; 2],
    pairs: Vec<[VReg; 2]>,
    block: BlockIndex,
}

impl Walk<'_> {
    fn file(&self, reg: VReg) -> Option<(RegFile, usize)> {
        self.code.vregs.get(reg.0 as usize).and_then(|&class| file(class))
    }

    fn none_left(&self, file: RegFile, reg: VReg) -> AllocError {
        AllocError::Flags { file, reg, block: self.block }
    }

    /// Marks the hardware register of a register that is live into the block as occupied.
    fn enter(&mut self, reg: VReg) {
        if let Some((_, file)) = self.file(reg)
            && let Some(taken) = self.taken[file].get_mut(usize::from(self.numbers[reg.0 as usize]))
        {
            *taken = Some(reg);
        }
    }

    /// Counts a read of a register. After its last read, its hardware register is free.
    fn read(&mut self, reg: VReg) {
        let left = &mut self.remaining_reads[reg.0 as usize];
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.release(reg);
        }
    }

    fn release(&mut self, reg: VReg) {
        if let Some((_, file)) = self.file(reg) {
            self.taken[file].iter_mut().filter(|taken| **taken == Some(reg)).for_each(|taken| *taken = None);
        }
    }

    /// If an argument for a block parameter already has a hardware register, returns its number.
    fn argument(&self, flow: &Flow, rank: usize, param: VReg) -> Option<u8> {
        let code = self.code;
        let block = code.blocks.get(self.block as usize)?;
        let at = code.list(&block.params).iter().position(|&other| other == param)?;
        let numbers = flow.preds(rank).iter().filter_map(|pred| {
            let pred = code.blocks.get(flow.index(pred.index()) as usize)?;
            let edge = pred.terminator.edges().find(|edge| edge.block == self.block)?;
            let number = self.numbers[code.list(&edge.args).get(at)?.0 as usize];
            (number != NONE).then_some(number)
        });
        numbers.into_iter().next()
    }

    /// Assigns a free hardware register to a new flags register, preferably number `wish`.
    fn define(&mut self, reg: VReg, wish: Option<u8>) -> Result<(), AllocError> {
        let Some((name, file)) = self.file(reg) else { return Ok(()) };
        let is_free = |number: u8| self.taken[file][usize::from(number)].is_none();
        let mut all: [u8; COUNT as usize] = std::array::from_fn(|i| (self.next[file] + i as u8) % COUNT);
        if file == 1 && !self.pairs.is_empty() {
            // Prefer a `$vc` whose partner in its pair is occupied. This keeps free pairs for operands that are pairs.
            all.sort_by_key(|&number| is_free(number ^ 1));
        }
        let suits = |&number: &u8| is_free(number) && self.suits_pairs(reg, number);
        let number = wish.into_iter().chain(all).find(suits).ok_or_else(|| self.none_left(name, reg))?;
        self.numbers[reg.0 as usize] = number;
        self.taken[file][usize::from(number)] = Some(reg);
        self.next[file] = (number + 1) % COUNT;
        Ok(())
    }

    /// Returns `true` if a `$vc` can hold the register in each pair that contains the register: the
    /// partner `$vc` holds the other register of the pair, or is free.
    fn suits_pairs(&self, reg: VReg, number: u8) -> bool {
        self.pairs.iter().filter(|pair| pair.contains(&reg)).all(|&[first, second]| {
            let (is_second, other) = (u8::from(reg == second), if reg == second { first } else { second });
            let beside = match self.numbers[other.0 as usize] {
                _ if other == reg => true,
                NONE => self.taken[1][usize::from(number ^ 1)].is_none(),
                placed => placed == number ^ 1,
            };
            number & 1 == is_second && beside
        })
    }

    fn inst(&mut self, inst: &VInst<Vp1>) -> Result<(), AllocError> {
        let operands = self.code.operands(inst);
        for operand in operands {
            match operand.access {
                Access::Use => self.read(operand.reg),
                Access::UpdateInPlace(old) => self.read(old),
                Access::Def => {}
            }
        }
        for operand in operands {
            let Some((name, _)) = self.file(operand.reg) else { continue };
            match operand.access {
                Access::Use => {}
                Access::Def => self.define(operand.reg, None)?,
                Access::UpdateInPlace(old) => {
                    let number = self.numbers[old.0 as usize];
                    self.define(operand.reg, Some(number))?;
                    if self.numbers[operand.reg.0 as usize] != number {
                        return Err(self.none_left(name, operand.reg));
                    }
                }
            }
        }
        self.check_clobbers(inst)?;
        let unread = |operand: &&Operand<Vp1>| {
            operand.access != Access::Use && self.remaining_reads[operand.reg.0 as usize] == 0
        };
        for reg in operands.iter().filter(unread).map(|operand| operand.reg).collect::<SmallVec<[_; 4]>>() {
            self.release(reg);
        }
        Ok(())
    }

    /// Checks that no live flags are in a register that an instruction clobbers.
    fn check_clobbers(&self, inst: &VInst<Vp1>) -> Result<(), AllocError> {
        for (number, member) in (0..).zip(&inst.inst.insts) {
            for slot in slots(member).filter(is_clobber) {
                let place = GroupRegisterPosition { inst: number, field: slot.field };
                let named = self.code.operands(inst).iter().any(|operand| operand.place == place);
                let taken = self.taken[0].get(member.get(slot.field) as usize).copied().flatten();
                if let Some(reg) = taken.filter(|_| !named) {
                    return Err(self.none_left(slot.file, reg));
                }
            }
        }
        Ok(())
    }

    /// Checks that each block argument has the same hardware register as its parameter.
    fn check_edges(&self, flow: &Flow) -> Result<(), AllocError> {
        for (rank, block) in flow.blocks(self.code) {
            for edge in block.terminator.edges() {
                let Some(target) = self.code.blocks.get(edge.block as usize) else { continue };
                let pairs = self.code.list(&edge.args).iter().zip(self.code.list(&target.params));
                for (&arg, &param) in pairs {
                    if let Some((file, _)) = self.file(arg)
                        && self.numbers[arg.0 as usize] != self.numbers[param.0 as usize]
                    {
                        return Err(AllocError::Flags { file, reg: arg, block: flow.index(rank) });
                    }
                }
            }
        }
        Ok(())
    }
}
