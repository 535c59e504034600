//! Instructions at which items meet.

use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::ptx::meaning::{Reader, guard, meeting, results};
use halfbyte_isa::ptx::operand::Var;
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Inst, Reg};

use super::insts::{bits_of, name_of};
use crate::halu::jit::{Cells, Dataflow, Id, Name, Op, Place, Shape, Takes};

/// What items meet for at an instruction; none where they do not.
pub(super) fn place_of(inst: &Inst, types: &[Type], cells: &mut Cells) -> Option<Place> {
    let mut dataflow = Dataflow::default();
    let mut names = Names { cells, types };
    let guard = guard(inst, &mut dataflow, &mut names);
    let meeting = meeting(inst, &mut dataflow, &mut names)?;
    let [number, answer] = results(inst).map(|reg| Some(name_of(reg?, types)));
    let number = number.map(|name| {
        let cell = names.cells.get(name);
        if name.is_truth() { Takes::Truth(cell) } else { Takes::Number(cell) }
    });
    let answer = answer.map(|name| Takes::Answer(names.cells.get(name)));
    Some(Place::new(&dataflow, guard, &meeting, number.into_iter().chain(answer)))
}

/// Reads what is in cells, by their names.
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
