//! Counted loops of one basic block. Native code computes a lower bound of the trip count, and
//! executes that number of iterations without an exit test.

use arrayvec::ArrayVec;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f};

use super::graph::{Flow, Graph};
use crate::vp1::interp::Bundles;

/// Maximum number of bundles in a counted loop, including the delay slot of its branch.
const MAX_BUNDLES: u32 = 16;
/// Approximate number of bundles in an unrolled loop body. A loop that accumulates products has a
/// smaller unrolled body, because it keeps many vectors live.
const UNROLLED_BUNDLES: u32 = 24;
const UNROLLED_ACCUMULATING: u32 = 16;
/// Maximum number of bundles in a loop that is unrolled. In a longer loop the overhead of each
/// iteration is relatively small.
const MAX_UNROLLED: u32 = 6;

/// Bit numbers of the flags `aef` and `zf` in a condition register `$c`.
const AEF: u64 = 10;
const ZF: u64 = 1;

/// A counted loop of one basic block, which branches back to its start while a flag is clear.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Number of the bundle that contains the branch. The delay slot after it is the last bundle of the loop.
    pub jump: u32,
    /// The bundle at `jump` without its branch; `None` if it contains nothing else.
    pub rest_of_jump: Option<Bundle>,
    /// The loop's branch starts the next group of items.
    pub group: bool,
    /// Unroll factor: the number of original iterations in an unrolled iteration.
    pub unrolled: u32,
    /// The loop writes the accumulator `$va`.
    pub accumulates: bool,
    /// Address registers that the loop changes only by adding nonnegative constants.
    pub pointers: Vec<Pointer>,
    /// The condition that ends the loop by setting the flag.
    pub end: ExitCondition,
    /// Number of the condition register `$c` that contains the flag.
    pub c: u8,
    /// Number of the bundle that writes the flag. If this bundle is not before the branch, the
    /// branch tests the flag of the previous iteration.
    pub writer: u32,
    /// The loop body, if it consists of row loads, one vector instruction and the update of the
    /// loop counter. Otherwise `None`.
    pub rows: Option<Rows>,
}

/// A loop body that consists of row loads and one vector instruction.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub loads: Vec<Load>,
    /// A bundle that contains only the vector instruction.
    pub vector: Bundle,
}

/// A row load in a loop. No other load of the loop writes the same register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Number of the vector register `$v` that receives the row.
    pub v: u8,
    pub pointer: Pointer,
    /// Byte offset of the row from the address register's value at the start of an iteration.
    pub offset: i32,
    /// Number of bytes that the load adds to the address register.
    pub step: i32,
    /// `true` if the load precedes the vector instruction. Otherwise the vector instruction reads
    /// the row that the previous iteration loaded.
    pub is_before: bool,
}

impl Load {
    /// Returns the byte offset of the row that the vector instruction reads, from the address
    /// register's value at the start of the iteration.
    pub(super) fn read(&self) -> i32 {
        if self.is_before { self.offset } else { self.offset - self.pointer.step as i32 }
    }
}

/// An address register to which a loop adds constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// Number of the address register `$a`.
    pub register: u8,
    /// Number of bytes that the register advances in each iteration.
    pub step: u32,
    /// Alignment in bytes that the register's addresses must have.
    pub align: u32,
}

/// The condition that sets the exit flag of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExitCondition {
    /// An address register reaches its limit. The field is the index of the register in
    /// [`Loop::pointers`].
    Limit(usize),
    /// A scalar register `$r`, which the loop decrements by 1 in each iteration, becomes 0.
    Zero(u8),
}

impl ExitCondition {
    /// Returns the bit number of the exit flag in the `$c`.
    pub(super) fn bit(self) -> u32 {
        match self {
            ExitCondition::Limit(_) => 1 << AEF,
            ExitCondition::Zero(_) => 1 << ZF,
        }
    }
}

/// Returns the operands of an access that adds a constant to its address register. The operands are
/// the register, the constant in bytes, and the alignment to which the access rounds the address
/// down. Returns `None` for other instructions.
fn post_increment_access(inst: &Inst) -> Option<(u8, i64, u32)> {
    use Opcode::*;
    let (field, align) = match inst.opcode() {
        LDAVH_I => (f::SRC1, 16),
        STAVH_I => (f::DST, 16),
        LDAS_I => (f::SRC1, 4),
        STAS_I => (f::DST, 4),
        _ => return None,
    };
    Some((inst.get(field) as u8, inst.get_signed(f::IMM), align))
}

impl Loop {
    /// Returns the counted loop that begins at bundle `first`, if any.
    pub(super) fn at(program: &Bundles, graph: &Graph, first: u32) -> Option<Loop> {
        let mut jump = first;
        let group = loop {
            match graph.flow(jump) {
                Flow::Fall if jump < first + MAX_BUNDLES => jump += 1,
                Flow::Jump { to, call: false, conditional: true, group } if to == first => break group,
                _ => return None,
            }
            if graph.is_leader(jump) {
                return None;
            }
        };
        let bundles: Vec<&Bundle> =
            (first..=jump + 1).map_while(|at| program.get(at as usize).map(|(_, bundle)| bundle)).collect();
        let footprints: Vec<Footprint> =
            bundles.iter().map(|bundle| Footprint::of(bundle, None)).collect::<Result<_, _>>().ok()?;
        let pointers = pointers(&bundles, &footprints);
        let branch = bundles.get((jump - first) as usize)?.inst(Unit::Branch)?;
        if branch.opcode() != Opcode::BRA_NOT || branch.get(f::CDST) < 4 {
            return None;
        }
        let rest: ArrayVec<u32, 3> = [Unit::Address, Unit::Scalar, Unit::Vector]
            .into_iter()
            .filter_map(|unit| Some(bundles.get((jump - first) as usize)?.inst(unit)?.word()))
            .collect();
        let (c, bit) = (branch.get(f::COND) as u8, branch.get(f::SLCT));
        let (writer, end) = end(&bundles, &footprints, &pointers, c, bit)?;
        let counter = (writer, matches!(end, ExitCondition::Zero(_)));
        let rows = rows(&bundles, &pointers, counter, (jump - first) as usize);
        let accumulator = Locations::register(RegFile::Va, 0);
        let accumulates = footprints.iter().any(|footprint| footprint.writes.intersects(accumulator));
        let unrolled = if accumulates { UNROLLED_ACCUMULATING } else { UNROLLED_BUNDLES };
        Some(Loop {
            jump,
            rest_of_jump: Bundle::new(&rest).ok(),
            group,
            unrolled: if bundles.len() as u32 > MAX_UNROLLED { 1 } else { unrolled / bundles.len() as u32 },
            accumulates,
            pointers,
            end,
            c,
            writer: first + writer as u32,
            rows,
        })
    }
}

/// Returns the address registers that a loop changes only by accesses that add nonnegative constants.
fn pointers(bundles: &[&Bundle], footprints: &[Footprint]) -> Vec<Pointer> {
    let mut pointers: Vec<Pointer> = Vec::new();
    let mut others = Locations::EMPTY;
    for (bundle, footprint) in bundles.iter().zip(footprints) {
        let written = footprint.writes.intersection(Locations::file(RegFile::A));
        let moved_by_hand = bundle.inst(Unit::Scalar).is_some_and(|inst| inst.opcode() == Opcode::MOV_A_R);
        let access = bundle.inst(Unit::Address).and_then(post_increment_access);
        match access {
            Some((register, step, align)) if !moved_by_hand && step >= 0 && step % i64::from(align) == 0 => {
                match pointers.iter_mut().find(|pointer| pointer.register == register) {
                    Some(pointer) => {
                        pointer.step += step as u32;
                        // A step of the size of a 32-bit word may break the alignment that accesses to rows require.
                        if pointer.align != align {
                            others = others.union(Locations::register(RegFile::A, register));
                        }
                    }
                    None => pointers.push(Pointer { register, step: step as u32, align }),
                }
            }
            _ => others = others.union(written),
        }
    }
    pointers.retain(|pointer| !others.intersects(Locations::register(RegFile::A, pointer.register)));
    pointers
}

/// Returns the index of the only bundle that sets the exit flag of a loop, and the condition that
/// sets the flag. The flag is bit `bit` of register `$c` number `c`. Returns `None` if the
/// condition is not one of [`ExitCondition`].
fn end(
    bundles: &[&Bundle],
    footprints: &[Footprint],
    pointers: &[Pointer],
    c: u8,
    bit: u64,
) -> Option<(usize, ExitCondition)> {
    let only_writer = |places: Locations| {
        let mut writers = (0..).zip(footprints).filter(|(_, footprint)| footprint.writes.intersects(places));
        let writer = writers.next()?.0;
        writers.next().is_none().then_some(writer)
    };
    let writer = only_writer(Locations::flags(c, 1 << bit))?;
    let bundle: &Bundle = bundles.get(writer)?;
    match bit {
        AEF => {
            let (register, ..) = post_increment_access(bundle.inst(Unit::Address)?)?;
            let place = pointers.iter().position(|pointer| pointer.register == register && pointer.step > 0)?;
            Some((writer, ExitCondition::Limit(place)))
        }
        ZF => {
            let inst = bundle.inst(Unit::Scalar)?;
            let down = match inst.opcode() {
                Opcode::SUB_RI => inst.get_signed(f::IMM) == 1,
                Opcode::ADD_RI => inst.get_signed(f::IMM) == -1,
                _ => false,
            };
            let r = inst.get(f::DST) as u8;
            let alone = only_writer(Locations::register(RegFile::R, r)) == Some(writer);
            (down && alone && r != f::R_ZERO && inst.get(f::SRC1) as u8 == r)
                .then_some((writer, ExitCondition::Zero(r)))
        }
        _ => None,
    }
}

/// Returns the row loads of a loop and its only vector instruction. Returns `None` if the loop
/// contains any other instruction, except those that count and branch.
fn rows(bundles: &[&Bundle], pointers: &[Pointer], (writer, counts): (usize, bool), jump: usize) -> Option<Rows> {
    let mut loads: Vec<Load> = Vec::new();
    let mut vector: Option<Bundle> = None;
    for (at, bundle) in bundles.iter().enumerate() {
        let inst = |unit: Unit, nop: Opcode| bundle.inst(unit).filter(|inst| inst.opcode() != nop);
        let is_idle = (inst(Unit::Scalar, Opcode::SNOP).is_none() || counts && at == writer)
            && (inst(Unit::Branch, Opcode::BNOP).is_none() || at == jump);
        if !is_idle {
            return None;
        }
        // A bundle reads all operands before it writes. The vector instruction of a bundle
        // therefore does not see the row that the same bundle loads.
        if let Some(inst) = inst(Unit::Vector, Opcode::VNOP) {
            let alone = Bundle::new(&[inst.word()]).ok()?;
            if vector.replace(alone).is_some() {
                return None;
            }
        }
        if let Some(inst) = inst(Unit::Address, Opcode::ANOP) {
            let (register, step, _) = post_increment_access(inst).filter(|_| inst.opcode() == Opcode::LDAVH_I)?;
            let pointer = *pointers.iter().find(|pointer| pointer.register == register)?;
            let before = loads.iter().filter(|load| load.pointer.register == register);
            let offset = before.map(|load| load.step).sum();
            let v = inst.get(f::DST) as u8;
            if loads.iter().any(|load| load.v == v) {
                return None;
            }
            loads.push(Load { v, pointer, offset, step: i32::try_from(step).ok()?, is_before: vector.is_none() });
        }
    }
    Some(Rows { loads, vector: vector? })
}
