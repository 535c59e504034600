//! Collective operations of PTX.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::ptx::meaning::{self, Location, Reader, Warp, collective, guard, results, written_registers};
use halfbyte_isa::ptx::operand::Var;
use halfbyte_isa::ptx::row::OperandRole;
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Inst, Reg};

use super::insts::{Insts, bits_of, name_of};
use crate::jit::{At, Cell, Cells, Collective, Dataflow, FaultKind, Id, Lanes, Memory, Name, Op, Place, Shape, Takes};
use halfbyte_isa::trap::Space;

/// Returns the collective operation of the instruction at an address, if any.
pub(super) fn place_of(address: u32, insts: &Insts<'_>, cells: &mut Cells) -> Option<Place> {
    let inst = insts.entry.body.insts.get(address as usize)?;
    let types = insts.plan.types.as_slice();
    let mut dataflow = Dataflow::default();
    let mut names = Names { cells, types };
    let guard = guard(inst, &mut dataflow, &mut names);
    let meeting = collective(inst, &mut dataflow, &mut names)?;
    if inst.is_warp_level() {
        let takes =
            (0..).zip(written_registers(inst)).map(|(k, reg)| Takes::Word(k, names.cells.get(name_of(reg, types))));
        let place = Place::new(&dataflow, guard, &meeting, takes);
        return Some(Place { collective: Some(Box::new(OnCells::new(address, inst, insts, cells))), ..place });
    }
    let [number, answer] = results(inst).map(|reg| Some(name_of(reg?, types)));
    let number = number.map(|name| {
        let cell = names.cells.get(name);
        if name.is_truth() { Takes::Truth(cell) } else { Takes::Number(cell) }
    });
    let answer = answer.map(|name| Takes::Answer(names.cells.get(name)));
    Some(Place::new(&dataflow, guard, &meeting, number.into_iter().chain(answer)))
}

/// Reads cells by their names.
struct Names<'a> {
    cells: &'a mut Cells,
    types: &'a [Type],
}

impl Names<'_> {
    fn read(&mut self, dataflow: &mut Dataflow, name: Name) -> Id {
        dataflow.push(Op::Input(self.cells.get(name)), &[], Shape::Varying)
    }
}

impl Reader<Dataflow> for Names<'_> {
    fn register(&mut self, dataflow: &mut Dataflow, reg: Reg) -> [Id; 2] {
        let low = self.read(dataflow, Name::Virtual(reg.0, 0));
        match bits_of(reg, self.types) {
            64 => [low, self.read(dataflow, Name::Virtual(reg.0, 1))],
            _ => [low, dataflow.word(0)],
        }
    }

    fn predicate(&mut self, dataflow: &mut Dataflow, reg: Reg) -> Id {
        self.read(dataflow, Name::Truth(reg.0))
    }

    fn special(&mut self, dataflow: &mut Dataflow, _: Special) -> [Id; 2] {
        [dataflow.word(0); 2]
    }

    fn variable(&mut self, dataflow: &mut Dataflow, _: Var) -> [Id; 2] {
        [dataflow.word(0); 2]
    }
}

/// Instruction that a warp executes as a whole, with the cells of its registers.
#[derive(Debug)]
struct OnCells {
    /// Address of the instruction in the program.
    address: u32,
    inst: meaning::WarpInst,
    /// Registers that the instruction reads, each with the index of its first cell in `cells`.
    regs: Vec<(Reg, usize)>,
    cells: Vec<Cell>,
    /// Variables that the instruction names, with their addresses.
    variables: Vec<(Var, u64)>,
}

impl OnCells {
    fn new(address: u32, inst: &Inst, insts: &Insts<'_>, cells: &mut Cells) -> OnCells {
        let types = insts.plan.types.as_slice();
        let mut of = OnCells {
            address,
            inst: meaning::WarpInst::new(inst, insts.plan.sm),
            regs: Vec::new(),
            cells: Vec::new(),
            variables: Vec::new(),
        };
        for reg in read_by(inst) {
            of.regs.push((reg, of.cells.len()));
            match name_of(reg, types) {
                name if name.is_truth() => of.cells.push(cells.get(name)),
                _ => {
                    let words = if bits_of(reg, types) == 64 { 2 } else { 1 };
                    of.cells.extend((0..words).map(|word| cells.get(Name::Virtual(reg.0, word))));
                }
            }
        }
        let variables = inst.operands.iter().filter_map(|operand| operand.variable());
        of.variables = variables.map(|var| (var, insts.address(var))).collect();
        of
    }
}

/// Returns the registers that a warp-level instruction reads.
pub(super) fn read_by(inst: &Inst) -> impl Iterator<Item = Reg> {
    let read = inst.operands_with_rows().filter(|(o, _)| o.role != OperandRole::Def);
    read.flat_map(|(_, operand)| operand.registers())
}

impl Collective for OnCells {
    fn reads(&self) -> &[Cell] {
        &self.cells
    }

    fn execute(&self, held: &[Lanes], memory: &Memory<'_>) -> Result<Vec<Lanes>, (u32, FaultKind)> {
        let given: Vec<(Reg, Lanes)> = written_registers(self.inst.inst()).map(|reg| (reg, Lanes::default())).collect();
        let mut warp = Held { of: self, held, memory, given };
        self.inst.execute(&mut warp)?;
        Ok(warp.given.into_iter().map(|(_, words)| words).collect())
    }
}

/// A warp whose lanes hold the given words.
struct Held<'a> {
    of: &'a OnCells,
    held: &'a [Lanes],
    memory: &'a Memory<'a>,
    given: Vec<(Reg, Lanes)>,
}

impl Warp for Held<'_> {
    type Fault = (u32, FaultKind);

    fn number(&self) -> u32 {
        self.memory.subgroup()
    }

    fn reader(&mut self, lane: u32) -> impl Reader<Concrete> {
        OfLane { of: self.of, held: self.held, lane: lane as usize }
    }

    fn set(&mut self, lane: u32, reg: Reg, word: u32) {
        for (_, words) in self.given.iter_mut().filter(|(given, _)| *given == reg) {
            if let Some(place) = words.get_mut(lane as usize) {
                *place = word;
            }
        }
    }

    fn load(&mut self, lane: u32, place: Location<u32>, into: &mut [u8]) -> Result<(), Self::Fault> {
        self.memory.load(lane, at(place), into, self.of.address).map_err(|kind| (lane, kind))
    }

    fn store(&mut self, lane: u32, place: Location<u32>, bytes: &[u8]) -> Result<(), Self::Fault> {
        self.memory.store(lane, at(place), bytes, self.of.address).map_err(|kind| (lane, kind))
    }
}

/// Returns the address of a location that a warp-level instruction may access.
fn at(place: Location<u32>) -> At {
    let plus = |[low, high]: [u32; 2], offset: i32| {
        (u64::from(high) << 32 | u64::from(low)).wrapping_add_signed(offset.into())
    };
    match place {
        Location::Shared { base: [low, _], offset } => At::In(Space::Shared, low.wrapping_add_signed(offset).into()),
        Location::Global { base, offset } => At::In(Space::Global, plus(base, offset)),
        Location::Flat { base, offset }
        | Location::Constant { base, offset }
        | Location::Local { base, offset }
        | Location::Param { base, offset } => At::Flat(plus(base, offset)),
        Location::Frame { offset, .. } | Location::Parameter { offset, .. } => At::Flat(offset as u64),
    }
}

/// Reader of the values of one lane.
struct OfLane<'a> {
    of: &'a OnCells,
    held: &'a [Lanes],
    lane: usize,
}

impl OfLane<'_> {
    fn words(&self, reg: Reg) -> [u32; 2] {
        let Some(place) = self.of.regs.iter().position(|(of, _)| *of == reg) else { return [0; 2] };
        let first = self.of.regs[place].1;
        let end = self.of.regs.get(place + 1).map_or(self.of.cells.len(), |(_, next)| *next);
        let word = |cell: usize| self.held.get(cell).and_then(|words| words.get(self.lane)).copied().unwrap_or(0);
        [word(first), if end - first == 2 { word(first + 1) } else { 0 }]
    }
}

impl Reader<Concrete> for OfLane<'_> {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        self.words(reg)
    }

    fn predicate(&mut self, _: &mut Concrete, reg: Reg) -> bool {
        self.words(reg)[0] != 0
    }

    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [0; 2]
    }

    fn variable(&mut self, _: &mut Concrete, var: Var) -> [u32; 2] {
        let address = self.of.variables.iter().find(|(of, _)| *of == var).map_or(0, |(_, address)| *address);
        [address as u32, (address >> 32) as u32]
    }
}
