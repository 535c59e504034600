//! Patterns of HALU instructions that fewer instructions could replace. A match is a hint for a
//! missed optimisation, not a proof.

use std::fmt::Write;

use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{HALU, Module};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::isa::MachineCode;
use halfbyte_isa::row::{OperandRole, RegFile};

/// A pattern of HALU instructions that fewer instructions could replace.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The pattern's name.
    pub name: &'static str,
    /// The instructions of the pattern, and their better replacement.
    pub description: &'static str,
    /// A predicate that returns `true` if the pattern starts at an instruction index.
    find: fn(&Listing, usize) -> bool,
}

/// All patterns.
pub const PATTERNS: &[Pattern] = &[
    Pattern { name: "rotation", description: "SHF to each side and LOP3, for one SHF", find: rotation },
    Pattern {
        name: "bytes",
        description: "bytes moved by SHF or masked by LOP3 and moved by PRMT or masked, for one PRMT",
        find: bytes,
    },
    Pattern { name: "extension", description: "PRMT that extends what a load can extend", find: extension },
    Pattern { name: "bits", description: "LOP3 of a LOP3 over no more than three words, for one", find: bits },
    Pattern { name: "sum", description: "IADD3 of an IADD3 over no more than three words, for one", find: sum },
    Pattern { name: "product", description: "IADD3 of IMAD, for IMAD that adds", find: product },
    Pattern { name: "scaled", description: "IADD3 of a left SHF, for LEA", find: scaled },
    Pattern {
        name: "second term",
        description: "MOV of constant memory for IADD3 that has another such term",
        find: second_term,
    },
    Pattern { name: "number", description: "SHF or PRMT of a number that MOV makes, for the number", find: number },
    Pattern {
        name: "latch",
        description: "a branch out of a loop and then the one back, for the one back",
        find: latch,
    },
];

/// Returns the instruction indices at which each pattern matches, in the order of [`PATTERNS`]. For
/// code of other targets than HALU, no pattern matches.
pub fn redundant_instructions(code: &dyn MachineCode) -> Vec<Vec<usize>> {
    let is_halu = code.target() == halfbyte_isa::halu::TARGET;
    let insts: Vec<Option<Inst>> = code.iter().map(|word| Inst::decode(word).filter(|_| is_halu)).collect();
    let mut begins = vec![false; insts.len()];
    for (at, inst) in insts.iter().enumerate() {
        if let Some(inst) = inst
            && let Some(field) = inst.opcode().target()
            && let Some(begin) =
                at.checked_add_signed(inst.get_signed(field) as isize).and_then(|to| begins.get_mut(to))
        {
            *begin = true;
        }
    }
    let listing = Listing { insts, begins };
    let places = |pattern: &Pattern| (0..listing.insts.len()).filter(|&at| (pattern.find)(&listing, at)).collect();
    PATTERNS.iter().map(places).collect()
}

/// Returns a report on the kernels that HALU accepts: for each pattern the number of matches, and
/// the instruction indices in each kernel.
pub fn page(modules: &[Module]) -> String {
    let (mut words, mut found) = (0, Vec::new());
    let options = Options::new(HALU);
    for module in modules {
        let mut compiler = Compiler::new(module, &options);
        for kernel in &module.ir().kernels {
            let Ok((code, _)) = compiler.compile(kernel, &mut |_| {}) else { continue };
            words += code.words.len();
            found.push((module.file(), &kernel.name, redundant_instructions(&*code.words)));
        }
    }
    let all: usize = found.iter().flat_map(|(.., places)| places).map(Vec::len).sum();
    let mut page = format!("{all} of {words} instructions match a pattern of redundant code\n");
    for (number, pattern) in PATTERNS.iter().enumerate() {
        let places = || found.iter().map(|(file, kernel, places)| (file, kernel, &places[number]));
        let count: usize = places().map(|(.., at)| at.len()).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{count:6}  {}: {}", pattern.name, pattern.description);
        for (file, kernel, at) in places().filter(|(.., at)| !at.is_empty()) {
            let at: Vec<String> = at.iter().map(usize::to_string).collect();
            let _ = writeln!(page, "        {file} @{kernel}: {}", at.join(" "));
        }
    }
    page
}

/// The decoded instructions of a kernel.
struct Listing {
    insts: Vec<Option<Inst>>,
    /// For each instruction index, `true` if the instruction is a branch target.
    begins: Vec<bool>,
}

impl Listing {
    fn inst(&self, at: usize) -> Option<&Inst> {
        self.insts.get(at)?.as_ref()
    }

    fn is(&self, at: usize, opcodes: &[Opcode]) -> bool {
        self.inst(at).is_some_and(|inst| opcodes.contains(&inst.opcode()))
    }

    /// Returns the general-purpose registers that an instruction reads (`Use`) or writes (`Def`).
    /// An operand of several registers contributes all of them.
    fn registers(&self, at: usize, role: OperandRole) -> impl Iterator<Item = u64> {
        let inst = self.inst(at).copied();
        let slots = inst.map_or(&[][..], |inst| inst.opcode().registers());
        let of = move |slot: &&halfbyte_isa::row::RegSlot| {
            slot.file == RegFile::Gpr && (slot.role == role || slot.role == OperandRole::Update)
        };
        slots.iter().filter(of).flat_map(move |slot| {
            let first = inst.map_or(u64::from(RZ), |inst| inst.get(slot.field));
            (first..first + u64::from(slot.span)).filter(|&reg| reg != u64::from(RZ))
        })
    }

    fn reads(&self, at: usize, reg: u64) -> bool {
        self.registers(at, OperandRole::Use).any(|read| read == reg)
    }

    /// Returns the register that an instruction writes, if it writes exactly one.
    fn result(&self, at: usize) -> Option<u64> {
        let mut written = self.registers(at, OperandRole::Def);
        written.next().filter(|_| written.next().is_none())
    }

    /// Returns the only instruction that reads the result of the instruction at `at`. Returns
    /// `None` if there are several, or if the result may still be read after the basic block.
    fn only_use(&self, at: usize) -> Option<usize> {
        let result = self.result(at)?;
        let mut only = None;
        for next in at + 1..self.insts.len() {
            let inst = self.inst(next)?;
            if self.begins[next] {
                return None;
            }
            if self.reads(next, result) && only.replace(next).is_some() {
                return None;
            }
            if inst.opcode().target().is_some() {
                return None;
            }
            let is_end = inst.opcode() == Opcode::EXIT && inst.is_unconditional();
            if is_end
                || inst.is_unconditional() && self.registers(next, OperandRole::Def).any(|written| written == result)
            {
                return only;
            }
        }
        None
    }

    /// Returns the instruction in the same basic block that defines the register `reg`, which the
    /// instruction at `at` reads.
    fn maker(&self, at: usize, reg: u64) -> Option<usize> {
        (0..at).rev().take_while(|&before| !self.begins[before + 1]).find(|&before| self.result(before) == Some(reg))
    }

    fn field(&self, at: usize, field: halfbyte_isa::word::Field) -> u64 {
        self.inst(at).map_or(0, |inst| inst.get(field))
    }

    /// Returns `true` if the instruction at `at` is a logical right shift by one of the given counts.
    fn shift_right(&self, at: usize, counts: &[u64]) -> bool {
        self.is(at, &[Opcode::SHF_RIR])
            && self.field(at, RA) == u64::from(RZ)
            && counts.contains(&self.field(at, IMM32))
            && self.field(at, SIGN) == SIGN_UNSIGNED
    }

    /// Returns the distinct source registers of an instruction without RZ. The second result is a
    /// number that identifies the immediate or constant-bank source, if any.
    fn sources(&self, at: usize) -> (Vec<u64>, Option<u64>) {
        let mut registers: Vec<u64> = self.registers(at, OperandRole::Use).collect();
        registers.sort_unstable();
        registers.dedup();
        let other = match self.inst(at).map(Inst::opcode) {
            Some(Opcode::LOP3_RIR | Opcode::IADD3_RIR | Opcode::IMAD_RIR) => Some(self.field(at, IMM32)),
            Some(Opcode::LOP3_RCR | Opcode::IADD3_RCR | Opcode::IMAD_RCR) => {
                Some(1 << 32 | self.field(at, CMEM_OFFSET))
            }
            _ => None,
        };
        (registers, other)
    }

    /// Returns `true` if one instruction with three sources could replace two instructions. The
    /// second one must be the only user of the first one's result.
    fn fits_one(&self, first: usize, second: usize) -> bool {
        let (registers, other) = self.sources(first);
        let (more, another) = self.sources(second);
        let Some(between) = self.result(first) else { return false };
        // A register that is redefined between the two instructions counts as a separate source.
        let is_written =
            |reg: u64| (first..second).any(|at| self.registers(at, OperandRole::Def).any(|written| written == reg));
        let is_new = |&reg: &u64| reg != between && (!registers.contains(&reg) || is_written(reg));
        let registers = registers.len() + more.into_iter().filter(is_new).count();
        let others = match (other, another) {
            (Some(a), Some(b)) if a != b => 2,
            (None, None) => 0,
            _ => 1,
        };
        others < 2 && registers + others <= 3
    }
}

/// Encoding of a logical shift in the `SIGN` field of `SHF`.
const SIGN_UNSIGNED: u64 = 0;

const LOGIC: &[Opcode] = &[Opcode::LOP3_RRR, Opcode::LOP3_RIR, Opcode::LOP3_RCR];
const SUMS: &[Opcode] = &[Opcode::IADD3_RRR, Opcode::IADD3_RIR, Opcode::IADD3_RCR];
const PRODUCTS: &[Opcode] = &[Opcode::IMAD_RRR, Opcode::IMAD_RIR, Opcode::IMAD_RCR];

/// Returns `true` if the instruction is an integer addition without a carry in or out.
fn is_sum(listing: &Listing, at: usize) -> bool {
    listing.is(at, SUMS) && listing.field(at, X) == 0 && listing.field(at, PU) == u64::from(PT)
}

fn rotation(listing: &Listing, at: usize) -> bool {
    let Some(user) = listing.only_use(at).filter(|&user| listing.is(user, LOGIC)) else { return false };
    let right = |other: usize| {
        let count = listing.field(at, IMM32);
        listing.shift_right(other, &[32 - count.min(31)]) && listing.field(other, R64) == listing.field(at, RA)
    };
    listing.is(at, &[Opcode::SHF_RIR])
        && listing.field(at, R64) == u64::from(RZ)
        && listing.registers(user, OperandRole::Use).filter_map(|reg| listing.maker(user, reg)).any(right)
}

fn bytes(listing: &Listing, at: usize) -> bool {
    let is_mask = |at: usize, masks: &[u64]| {
        listing.is(at, &[Opcode::LOP3_RIR])
            && masks.contains(&listing.field(at, IMM32))
            && listing.field(at, LUT) == 0xc0
    };
    let moved = listing.shift_right(at, &[8, 16, 24]) || is_mask(at, &[0xff, 0xff00, 0xffff, 0xff_00ff, 0xff00_ff00]);
    let Some(user) = listing.only_use(at).filter(|_| moved) else { return false };
    let one = |selector: u64| [0x4440, 0x8880, 0x4410, 0x9910, 0x6420, 0x7531, 0x5410].contains(&selector);
    is_mask(user, &[0xff, 0xffff]) || listing.is(user, &[Opcode::PRMT_RIR]) && one(listing.field(user, IMM16))
}

fn extension(listing: &Listing, at: usize) -> bool {
    let bytes = [Opcode::LDG_U_U8, Opcode::LDG_W_U8, Opcode::LDC_U8];
    let halves = [Opcode::LDG_U_U16, Opcode::LDG_W_U16, Opcode::LDC_U16];
    let selectors: &[u64] = match () {
        () if listing.is(at, &bytes) => &[0x4440, 0x8880],
        () if listing.is(at, &halves) => &[0x4410, 0x9910],
        () => return false,
    };
    let is_extension =
        |user: usize| listing.is(user, &[Opcode::PRMT_RIR]) && selectors.contains(&listing.field(user, IMM16));
    listing.only_use(at).is_some_and(is_extension)
}

fn bits(listing: &Listing, at: usize) -> bool {
    let user = listing.only_use(at).filter(|&user| listing.is(at, LOGIC) && listing.is(user, LOGIC));
    user.is_some_and(|user| listing.fits_one(at, user))
}

fn sum(listing: &Listing, at: usize) -> bool {
    let user = listing.only_use(at).filter(|&user| is_sum(listing, at) && is_sum(listing, user));
    // A register that is added twice counts as two terms.
    let terms =
        |at: usize| listing.registers(at, OperandRole::Use).count() + usize::from(listing.sources(at).1.is_some());
    user.is_some_and(|user| listing.fits_one(at, user) && terms(at) + terms(user) <= 4)
}

/// Returns the addition that is the only user of a product, if the multiplication itself adds nothing.
fn bare_product(listing: &Listing, at: usize) -> Option<usize> {
    let is_bare = listing.is(at, PRODUCTS) && listing.field(at, R64) == u64::from(RZ);
    let sum = listing.only_use(at).filter(|&user| is_bare && is_sum(listing, user))?;
    let is_negative = listing.field(sum, RA_NEG) + listing.field(sum, R64_NEG) != 0
        || !listing.is(sum, &[Opcode::IADD3_RIR]) && listing.field(sum, SLOT_NEG) != 0;
    (!is_negative).then_some(sum)
}

fn product(listing: &Listing, at: usize) -> bool {
    let Some(sum) = bare_product(listing, at) else { return false };
    let terms: Vec<u64> = listing.registers(sum, OperandRole::Use).collect();
    let (_, other) = listing.sources(sum);
    let earlier = |reg: &u64| {
        listing.maker(sum, *reg).is_some_and(|maker| maker < at && bare_product(listing, maker) == Some(sum))
    };
    match (terms.len(), other) {
        (2, None) => true,
        (3, None) => terms.iter().any(earlier),
        _ => false,
    }
}

fn scaled(listing: &Listing, at: usize) -> bool {
    let is_left = listing.is(at, &[Opcode::SHF_RIR]) && listing.field(at, R64) == u64::from(RZ);
    let Some(sum) = listing.only_use(at).filter(|&user| is_left && is_sum(listing, user)) else { return false };
    let is_negative = listing.field(sum, RA_NEG) + listing.field(sum, R64_NEG) != 0;
    listing.is(sum, &[Opcode::IADD3_RRR])
        && !is_negative
        && listing.field(sum, SLOT_NEG) == 0
        && listing.registers(sum, OperandRole::Use).count() == 2
}

fn second_term(listing: &Listing, at: usize) -> bool {
    let is_third =
        |user: usize| listing.is(user, &[Opcode::IADD3_RCR]) && listing.registers(user, OperandRole::Use).count() == 2;
    listing.is(at, &[Opcode::MOV_C]) && listing.only_use(at).is_some_and(is_third)
}

fn number(listing: &Listing, at: usize) -> bool {
    let is_made = |reg: u64| listing.maker(at, reg).is_some_and(|maker| listing.is(maker, &[Opcode::MOV_I]));
    let reads = || listing.registers(at, OperandRole::Use);
    listing.is(at, &[Opcode::SHF_RIR, Opcode::PRMT_RIR]) && reads().next().is_some() && reads().all(is_made)
}

fn latch(listing: &Listing, at: usize) -> bool {
    let is_branch =
        |at: usize| listing.is(at, &[Opcode::BRA]).then(|| listing.inst(at).is_some_and(Inst::is_unconditional));
    let next = at + 1;
    let is_reached = listing.begins.get(next) == Some(&true);
    let goes_back = |at: usize| {
        listing.inst(at).is_some_and(|inst| inst.opcode().target().is_some_and(|to| inst.get_signed(to) <= 0))
    };
    is_branch(at) == Some(false) && is_branch(next) == Some(true) && !is_reached && !goes_back(at) && goes_back(next)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_isa::halu::{HaluCode, assemble};

    use super::*;

    #[test]
    fn each_pattern_is_found_where_it_is() {
        for (name, text) in [
            ("rotation", "SHF.L.U32 R1, R0, 0x5, RZ\nSHF.R.U32.HI R2, RZ, 0x1b, R0\nLOP3 R1, R1, R2, RZ, 0xfc"),
            ("bytes", "SHF.R.U32.HI R1, RZ, 0x8, R0\nPRMT R1, R1, 0x8880, RZ"),
            ("extension", "LDG.U16 R1, [R0.U32+UR2]\nPRMT R1, R1, 0x9910, RZ"),
            ("bits", "LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R3, R3, R2, RZ, 0x3c"),
            ("sum", "IADD3 R3, R0, R1, RZ\nIADD3 R3, R3, 0x7, RZ"),
            ("product", "IMAD R3, R0, R1, RZ\nIADD3 R3, R2, R3, RZ"),
            ("scaled", "SHF.L.U32 R3, R0, 0x3, RZ\nIADD3 R3, R2, R3, RZ"),
            ("second term", "MOV R3, c[0x0][0x160]\nIADD3 R3, R2, c[0x0][0x164], R3"),
            ("number", "MOV R3, 0x70000\nSHF.R.U32.HI R3, RZ, 0x4, R3"),
            ("latch", "L:\n@P0 BRA OUT\nBRA L\nEXIT\nOUT:\nMOV R0, RZ"),
        ] {
            let code = |text: &str| HaluCode(assemble(&format!("{text}\nEXIT\n")).unwrap().words);
            let found = |text: &str| redundant_instructions(&code(text));
            for (pattern, places) in PATTERNS.iter().zip(found(text)) {
                assert_eq!(places.len(), usize::from(pattern.name == name), "{}: {text}", pattern.name);
            }
        }
        // A first `LOP3` whose result has a second use is not redundant.
        let kept = "LOP3 R3, R0, R1, RZ, 0x3c\nLOP3 R4, R3, R2, RZ, 0x3c\nSTG [R9.U32+UR4], R3\nEXIT\n";
        assert!(redundant_instructions(&HaluCode(assemble(kept).unwrap().words)).iter().all(Vec::is_empty));
        // The registers R1 and R2 are redefined between the two instructions.
        let other = "LOP3 R3, R0, R1, R2, 0x96\nMOV R1, R4\nMOV R2, R5\nLOP3 R3, R3, R1, R2, 0x96\nEXIT\n";
        assert!(redundant_instructions(&HaluCode(assemble(other).unwrap().words)).iter().all(Vec::is_empty));
    }
}
