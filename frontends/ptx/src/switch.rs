//! Expansion of each indirect branch into a binary tree of comparisons and branches.
//!
//! In PTX, an index beyond the table is undefined behaviour. The expansion branches to the last label instead.

use halfbyte_isa::ptx::module::{Body, LabelName, Registers, Targets};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Guard, Inst, Label, Opcode, Operand, Reg};

use crate::expand::Expansion;

/// State of the expansion of indirect branches.
pub(crate) struct Switches {
    registers: Registers,
    insts: Vec<Inst>,
    /// Number of labels in the original body. The next labels are those in `labels`, which the expansion adds.
    old_labels: usize,
    labels: Vec<LabelName>,
    is_below: Reg,
}

impl Expansion for Switches {
    fn is_replaced(inst: &Inst) -> bool {
        inst.opcode == Opcode::BRX
    }

    fn new(body: &Body) -> Option<Switches> {
        let mut registers = body.registers.clone();
        let is_below = registers.declare("%is_below", Type::Pred, None)?;
        Some(Switches { registers, insts: Vec::new(), old_labels: body.labels.len(), labels: Vec::new(), is_below })
    }

    fn insts(&mut self) -> &mut Vec<Inst> {
        &mut self.insts
    }

    fn replace(&mut self, inst: &Inst, body: &Body) {
        let (Some(index), Some(&Operand::Table(table))) = (inst.operands.first(), inst.operands.get(1)) else {
            return;
        };
        let labels = match body.tables.get(table as usize).map(|table| &table.of) {
            Some(Targets::Labels(labels)) => labels.as_slice(),
            _ => &[],
        };
        // If the guard of the indirect branch is false, a branch skips the whole expansion.
        let around = inst.guard.map(|guard| {
            let around = self.label();
            self.branch(Some(Guard { not: !guard.not, ..guard }), around);
            around
        });
        self.among(index, 0, labels);
        if let Some(around) = around {
            self.place(around);
        }
    }

    fn finish(self, mut body: Body) -> Body {
        body.labels.extend(self.labels);
        Body { registers: self.registers, insts: self.insts, ..body }
    }
}

impl Switches {
    /// Emits the branches to the labels, whose indices in the table begin with `first`.
    fn among(&mut self, index: &Operand, first: u32, labels: &[Label]) {
        match labels {
            [] => {}
            [label, others @ ..] if others.iter().all(|other| other == label) => self.branch(None, *label),
            _ => {
                let (low, high) = labels.split_at(labels.len() / 2);
                let middle = first + low.len() as u32;
                let compared = [Operand::Register(self.is_below), index.clone(), Operand::Number(middle.into())];
                self.push(Opcode::SETP_INT, &[Token::Lt, Token::Type(Type::U32)], None, &compared);
                let below = self.label();
                self.branch(Some(Guard { reg: self.is_below, not: false }), below);
                self.among(index, middle, high);
                self.place(below);
                self.among(index, first, low);
            }
        }
    }

    /// Creates a label whose position is set later.
    fn label(&mut self) -> Label {
        let number = self.old_labels + self.labels.len();
        self.labels.push(LabelName { name: format!("$switch_{number}"), at: 0 });
        Label(number as u32)
    }

    /// Sets the position of a created label to that of the next instruction.
    fn place(&mut self, label: Label) {
        let at = self.insts.len() as u32;
        if let Some(label) = (label.0 as usize).checked_sub(self.old_labels).and_then(|own| self.labels.get_mut(own)) {
            label.at = at;
        }
    }

    fn branch(&mut self, guard: Option<Guard>, to: Label) {
        self.push(Opcode::BRA, &[], guard, &[Operand::Label(to)]);
    }

    fn push(&mut self, opcode: Opcode, words: &[Token], guard: Option<Guard>, operands: &[Operand]) {
        let (words, operands) = (words.iter().copied().collect(), operands.iter().cloned().collect());
        self.insts.push(Inst { opcode, modifiers: words, guard, operands });
    }
}
