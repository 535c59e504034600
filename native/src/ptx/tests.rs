//! Comparison of single instructions in native code with their semantics.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::meaning::{Access, Called, Effects, Location, Next, Reader, Write, guard, meaning};
use halfbyte_isa::ptx::module::{Body, Entry};
use halfbyte_isa::ptx::operand::Var;
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Reg};

use super::plan::computes;
use crate::jit::step::Inputs;
use crate::jit::{Dataflow, Id};

/// Computes the effects of an instruction on the values of a reader, with code as it is made for kernels. Returns
/// `None` if the guard is false.
fn native_effects(inst: &Inst, reader: &mut Random) -> Option<Effects<u32, bool>> {
    let mut inputs = Inputs::new(reader);
    let mut dataflow = Dataflow::default();
    let holds = guard(inst, &mut dataflow, &mut inputs);
    let effects = meaning(inst, &mut dataflow, &mut inputs);
    let outputs = inputs.outputs();
    let holds = holds.map(|holds| outputs.truth(holds));
    let effects = map(&effects, &mut |word| outputs.word(word), &mut |truth| outputs.truth(truth));
    let results = outputs.compute(dataflow).unwrap();
    let holds = holds.is_none_or(|holds| results.truth(holds));
    holds.then(|| map(&effects, &mut |cell| results.word(cell), &mut |cell| results.truth(cell)))
}

/// Replaces the words and truth values of effects.
fn map<W: Copy, P: Copy, V: Copy, Q: Copy>(
    effects: &Effects<W, P>,
    word: &mut impl FnMut(W) -> V,
    truth: &mut impl FnMut(P) -> Q,
) -> Effects<V, Q> {
    let writes = effects.writes.iter().map(|write| match *write {
        Write::Register(reg, value) => Write::Register(reg, value.map(&mut *word)),
        Write::Predicate(reg, p) => Write::Predicate(reg, truth(p)),
    });
    let writes = writes.collect();
    let access = effects.access.as_ref().map(|access| match access {
        &Access::Load { place, element, ref into } => {
            Access::Load { place: map_place(place, word), element, into: into.clone() }
        }
        Access::Store { place, element, data } => {
            let place = map_place(*place, word);
            Access::Store { place, element: *element, data: data.iter().map(|value| value.map(&mut *word)).collect() }
        }
        Access::Atomic { place, element, operands, into } => {
            let place = map_place(*place, word);
            let operands = operands.iter().map(|pair| pair.map(|value| value.map(&mut *word))).collect();
            Access::Atomic { place, element: *element, operands, into: into.clone() }
        }
        &Access::Copy { from, to, bytes, taken } => {
            let [from, to] = [from, to].map(|place| map_place(place, word));
            Access::Copy { from, to, bytes, taken: word(taken) }
        }
        Access::CommitCopies => Access::CommitCopies,
        &Access::AwaitCopies { but } => Access::AwaitCopies { but },
        &Access::Allocate { into, bytes, align } => Access::Allocate { into, bytes: bytes.map(&mut *word), align },
        &Access::SaveStack { into } => Access::SaveStack { into },
        &Access::RestoreStack { to } => Access::RestoreStack { to: to.map(&mut *word) },
    });
    let next = match effects.next {
        Next::Fall => Next::Fall,
        Next::Branch(label) => Next::Branch(label),
        Next::Indexed { table, index } => Next::Indexed { table, index: word(index) },
        Next::Call(Called::Function(number)) => Next::Call(Called::Function(number)),
        Next::Call(Called::At { address, table }) => Next::Call(Called::At { address: address.map(&mut *word), table }),
        Next::Return => Next::Return,
        Next::Exit => Next::Exit,
        Next::Trap => Next::Trap,
        Next::Collective => Next::Collective,
    };
    Effects { writes, access, next }
}

fn map_place<W: Copy, V: Copy>(place: Location<W>, word: &mut impl FnMut(W) -> V) -> Location<V> {
    match place {
        Location::Flat { base, offset } => Location::Flat { base: base.map(word), offset },
        Location::Global { base, offset } => Location::Global { base: base.map(word), offset },
        Location::Constant { base, offset } => Location::Constant { base: base.map(word), offset },
        Location::Local { base, offset } => Location::Local { base: base.map(word), offset },
        Location::Param { base, offset } => Location::Param { base: base.map(word), offset },
        Location::Shared { base, offset } => Location::Shared { base: base.map(word), offset },
        Location::Frame { number, offset } => Location::Frame { number, offset },
        Location::Parameter { number, offset } => Location::Parameter { number, offset },
    }
}

impl Inputs<'_, Random> {
    fn pair(&mut self, dataflow: &mut Dataflow, words: [u32; 2]) -> [Id; 2] {
        words.map(|word| self.input(dataflow, word, false))
    }
}

impl Reader<Dataflow> for Inputs<'_, Random> {
    fn register(&mut self, dataflow: &mut Dataflow, reg: Reg) -> [Id; 2] {
        let words = self.reader.register(&mut Concrete, reg);
        self.pair(dataflow, words)
    }

    fn predicate(&mut self, dataflow: &mut Dataflow, reg: Reg) -> Id {
        let word = u32::from(self.reader.predicate(&mut Concrete, reg)).wrapping_neg();
        self.input(dataflow, word, true)
    }

    fn special(&mut self, dataflow: &mut Dataflow, special: Special) -> [Id; 2] {
        let words = self.reader.special(&mut Concrete, special);
        self.pair(dataflow, words)
    }

    fn variable(&mut self, dataflow: &mut Dataflow, var: Var) -> [Id; 2] {
        let words = self.reader.variable(&mut Concrete, var);
        self.pair(dataflow, words)
    }
}

/// Registers of the given types, whose values are generated on demand.
#[derive(Clone)]
struct Random {
    state: u64,
    types: Vec<Type>,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        self.state >> 32 ^ self.state << 16
    }

    /// Returns an edge case of integers or floats, or an arbitrary value.
    fn value(&mut self) -> u64 {
        let halves = [0, 0x8000, 0x7C00, 0xFC00, 0x7FFF, 1, 0x3C00, 0xFFFF];
        let doubles = [0.0f64, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, 1e300, -3.5];
        let singles = [0.0f32, -0.0, 1.0, f32::NAN, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1e-45, 2.5e9, -7.75];
        let mut one_of = |count: usize| self.next() as usize % count;
        match one_of(6) {
            0 => (0..4).fold(0, |value, _| value << 16 | halves[one_of(8)]),
            1 => one_of(80) as u64,
            2 => doubles[one_of(9)].to_bits(),
            3 => singles[one_of(9)].to_bits().into(),
            4 => (one_of(40) as u64).wrapping_neg(),
            _ => self.next() ^ self.next() << 32,
        }
    }
}

impl Reader<Concrete> for Random {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        let value = self.value();
        let value = self.types.get(reg.0 as usize).map_or(0, |ty| ty.truncate(value));
        [value as u32, (value >> 32) as u32]
    }

    fn predicate(&mut self, _: &mut Concrete, _: Reg) -> bool {
        !self.next().is_multiple_of(2)
    }

    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [self.next() as u32, 0]
    }

    fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
        let address = self.next();
        [address as u32, (address >> 32) as u32]
    }
}

/// Returns a kernel that declares registers of every operand type.
fn entry() -> Entry {
    let mut body = Body::default();
    let all =
        [("p", Type::Pred), ("c", Type::B8), ("h", Type::B16), ("r", Type::B32), ("d", Type::B64), ("q", Type::B128)];
    for (name, ty) in all {
        body.registers.declare(name, ty, Some(8));
    }
    Entry { body, ..Entry::default() }
}

#[test]
fn every_opcode_does_what_its_meaning_says() {
    let entry = entry();
    let families = entry.body.registers.families().iter();
    let types = families.flat_map(|family| family.numbers().map(|_| family.held())).collect();
    let mut random = Random { state: 7, types };
    let mut tried = 0;
    for _ in 0..6 {
        for &opcode in Opcode::ALL {
            let Some(inst) = Inst::random(opcode, &entry, &mut || random.next()) else { continue };
            tried += 1;
            let mut state = random.clone();
            let acts = guard(&inst, &mut Concrete, &mut state) != Some(false);
            let expected = meaning(&inst, &mut Concrete, &mut state);
            if computes(&inst) {
                assert!(expected.access.is_none() && expected.next == Next::Fall, "{inst:?}");
            }
            let found = native_effects(&inst, &mut random);
            assert_eq!(found.is_some(), acts, "{inst:?}");
            if let Some(found) = found {
                assert_eq!(found.writes, expected.writes, "{inst:?}");
                assert_eq!(found.access, expected.access, "{inst:?}");
                assert_eq!(found.next, expected.next, "{inst:?}");
            }
        }
    }
    assert!(tried > 6 * Opcode::ALL.len() * 9 / 10, "{tried} of {}", 6 * Opcode::ALL.len());
}
