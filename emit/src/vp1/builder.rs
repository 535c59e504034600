//! Builder that collects the bundles of a function in layout order.

use halfbyte_isa::vp1::Unit;

use super::link::Piece;
use super::op::{Label, Op, target_field};
use super::pipeline::{PipelinePart, Pipelined};
use super::schedule::{self, Members, Schedule};
use super::words::{Planned, Word};
use crate::straighten::ControlInst;

/// Code of a function that is being built.
pub(super) struct Builder {
    /// Pieces of code in layout order.
    pub pieces: Vec<Piece>,
    /// Number of bundles of all pieces.
    pub bundles: u32,
    /// Labels that refer to the next piece that is appended.
    pub names: Vec<Label>,
    /// Smallest unused label.
    pub labels: Label,
}

impl Builder {
    /// Creates an empty builder. `labels` is the smallest unused label.
    pub(super) fn new(labels: Label) -> Builder {
        Builder { pieces: Vec::new(), bundles: 0, names: Vec::new(), labels }
    }

    fn add(&mut self, label: Option<Label>, ops: &[Op], bundles: &[Members]) {
        self.bundles += bundles.len() as u32;
        self.pieces.push(piece(label, ops, bundles));
    }

    /// Makes the collected labels refer to the current end of the code.
    pub(super) fn add_names(&mut self) {
        for label in std::mem::take(&mut self.names) {
            self.add(Some(label), &[], &[]);
        }
    }

    /// Appends a scheduled block with its label.
    pub(super) fn add_block(&mut self, label: Label, block: &[Op], schedule: &Schedule) {
        self.add_names();
        self.add(Some(label), block, &schedule.bundles);
    }

    /// Appends a pipelined loop. Control continues at `exit` after the loop. If `falls` is set, the
    /// code of `exit` follows directly.
    pub(super) fn add_loop(&mut self, label: Label, pipelined: &Pipelined, exit: Label, falls: bool) {
        let starts = pipelined.starts();
        let kernel = self.labels;
        let label_of = |part: PipelinePart| match part {
            PipelinePart::Kernel => kernel,
            PipelinePart::Start(number) if number == starts => kernel,
            PipelinePart::Start(number) => kernel + 1 + number,
            PipelinePart::End(number) => kernel + 1 + starts + number,
        };
        self.labels = label_of(PipelinePart::End(starts)) + 1;
        if pipelined.counts() && self.pieces.is_empty() {
            let jump = pipelined.ops.last().and_then(|branch| branch.jump_to(label));
            let jump = jump.as_slice();
            self.add(None, jump, &[Members::from_iter(0..jump.len() as u32), Members::new()]);
        }
        let order = pipelined.order();
        for (at, &part) in order.iter().enumerate() {
            let mut ops = pipelined.ops.clone();
            let mut bundles = pipelined.bundles(part);
            match (part, ops.last_mut()) {
                (PipelinePart::Start(number), Some(branch)) if pipelined.counts() => {
                    branch.target = Some(label_of(PipelinePart::Start(number + 1)));
                }
                (PipelinePart::Start(number), Some(branch)) => {
                    *branch = branch.inverted().unwrap_or_else(|| branch.clone()).with_group(false);
                    branch.target = Some(label_of(PipelinePart::End(number)));
                }
                (PipelinePart::Kernel, Some(branch)) => branch.target = Some(kernel),
                (PipelinePart::End(_), Some(branch)) => {
                    let jump = branch.jump_to(exit).filter(|_| !falls || at + 1 < order.len());
                    jump.into_iter().for_each(|jump| schedule::append_jump(&mut ops, &mut bundles, jump));
                }
                (_, None) => {}
            }
            // The label of the original block refers to the first stage of the prologue, or to the kernel of the
            // pipelined loop if there is no prologue.
            if matches!(part, PipelinePart::Start(0)) || starts == 0 && part == PipelinePart::Kernel {
                self.names.push(label);
                self.add_names();
            }
            self.add(Some(label_of(part)), &ops, &bundles);
        }
    }
}

/// Creates a piece of code from scheduled operations.
fn piece(label: Option<Label>, ops: &[Op], bundles: &[Members]) -> Piece {
    Piece { label, bundles: bundles.iter().map(|bundle| planned(ops, bundle)).collect() }
}

/// Collects the instruction words of a bundle's operations.
fn planned(ops: &[Op], members: &[u32]) -> Planned {
    let words = Unit::ALL.map(|unit| {
        let (op, inst) = schedule::words_of(ops, members, unit)?;
        let target = op.target.filter(|_| target_field(&inst).is_some());
        let access = op.stream.filter(|_| unit == Unit::Address);
        Some(Word { inst, target, stream: access, group: op.group && target.is_some(), loc: op.loc })
    });
    Planned { words, aligned: false }
}
