//! Runs: consecutive items that the loop over all items executes together.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{self, InstBuilder, Value};
use cranelift_frontend::Variable;
use halfbyte_isa::halu::domain::Domain;

use super::scalar::Scalar;
use crate::vir::ITEMS;

/// Blocks to which a run can branch.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    /// Number of items of the run, a multiple of the items of a gang.
    pub count: Value,
    /// Block whose argument is the number of finished items. Another run begins after these items.
    pub some: ir::Block,
    /// Block whose argument is the number of finished items. The items of the next gang run one after another.
    pub stuck: ir::Block,
}

/// Position of an item in a launch with groups, and the numbers of groups and of items of a group along each axis.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Position of the item in its group, and position of the group.
    pub at: [Variable; 6],
    pub grid: [Value; 3],
    pub block: [Value; 3],
}

impl Place {
    /// Sets the position of an item in a launch whose groups are lines.
    fn put(self, s: &mut Scalar<'_, '_, '_>, item: Value) {
        let Place { at: [x, y, z, u, v, w], grid: [across, down, _], block: [along, ..] } = self;
        let zero = s.word(0);
        s.b.def_var(y, zero);
        s.b.def_var(z, zero);
        let mut rest = item;
        for (variable, count) in [(x, along), (u, across), (v, down)] {
            let place = s.b.ins().urem(rest, count);
            s.b.def_var(variable, place);
            rest = s.b.ins().udiv(rest, count);
        }
        s.b.def_var(w, rest);
    }
}

/// Runs of consecutive items. A line consists of the items along x. The position is kept for the first item of a line,
/// and for an item that runs alone.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    /// Block that checks if a run begins at the current item.
    pub ask: ir::Block,
    number: Variable,
    place: Option<Place>,
    /// Number of the item before which items run one after another.
    until: Variable,
    /// Number of the first item of the line, and the number after its last item.
    line: [Variable; 2],
    /// Number of items of a line.
    length: Value,
}

impl Runs {
    /// Emits the initialisation in front of the loop. If `may_run` is false, all items run one after another.
    pub fn new(
        s: &mut Scalar<'_, '_, '_>,
        may_run: Value,
        items: Value,
        (number, place): (Variable, Option<Place>),
    ) -> Runs {
        let ask = s.b.create_block();
        let [until, start, end] = [(); 3].map(|()| s.b.declare_var(I32));
        let (zero, mut length) = (s.word(0), items);
        let mut from = s.b.ins().select(may_run, zero, items);
        // Items are consecutive along x if groups are lines.
        if let Some(Place { grid: [across, ..], block: [along, rest @ ..], .. }) = place {
            let mut is_line = s.truth(true);
            for count in rest {
                let is_one = s.b.ins().icmp_imm_s(IntCC::Equal, count, 1);
                is_line = s.b.ins().band(is_line, is_one);
            }
            from = s.b.ins().select(is_line, from, items);
            length = s.b.ins().imul(across, along);
        }
        for (variable, value) in [(until, from), (start, zero), (end, zero)] {
            s.b.def_var(variable, value);
        }
        Runs { ask, number, place, until, line: [start, end], length }
    }

    fn put_place(self, s: &mut Scalar<'_, '_, '_>, item: Value) {
        if let Some(place) = self.place {
            place.put(s, item);
        }
    }

    /// Returns the position of a run's first item along its line.
    pub fn along(self, s: &mut Scalar<'_, '_, '_>) -> Value {
        let [at, start] = [self.number, self.line[0]].map(|variable| s.b.use_var(variable));
        s.b.ins().isub(at, start)
    }

    /// Emits the start of a run at the current item, or a jump to `item` if the item runs alone. Code that is emitted
    /// from now on belongs to the run.
    pub fn begin(self, s: &mut Scalar<'_, '_, '_>, item: ir::Block) -> Ways {
        let [together, next_line, go, rest, run] = [(); 5].map(|()| s.b.create_block());
        let [some, stuck] = [(); 2].map(|()| s.b.create_block());
        let [start, end] = self.line;
        s.b.switch_to_block(self.ask);
        let (at, until) = (s.b.use_var(self.number), s.b.use_var(self.until));
        let is_alone = s.b.ins().icmp(IntCC::UnsignedLessThan, at, until);
        s.b.ins().brif(is_alone, item, &[], together, &[]);
        s.b.switch_to_block(together);
        let before = s.b.use_var(end);
        let is_on = s.b.ins().icmp(IntCC::UnsignedLessThan, at, before);
        s.b.ins().brif(is_on, go, &[], next_line, &[]);
        s.b.switch_to_block(next_line);
        let into = s.b.ins().urem(at, self.length);
        let first = s.b.ins().isub(at, into);
        s.b.def_var(start, first);
        let last = s.b.ins().iadd(first, self.length);
        s.b.def_var(end, last);
        self.put_place(s, at);
        s.b.ins().jump(go, &[]);
        s.b.switch_to_block(go);
        let last = s.b.use_var(end);
        let left = s.b.ins().isub(last, at);
        let count = s.b.ins().band_imm_s(left, -i64::from(ITEMS));
        s.b.ins().brif(count, run, &[], rest, &[]);
        s.b.switch_to_block(rest);
        s.b.def_var(self.until, last);
        self.put_place(s, at);
        s.b.ins().jump(item, &[]);
        s.b.switch_to_block(run);
        Ways { count, some, stuck }
    }

    /// Emits the code after a run. The next run begins in the current block.
    pub fn end(self, s: &mut Scalar<'_, '_, '_>, ways: Ways, item: ir::Block) {
        let Ways { some, stuck, .. } = ways;
        let made = s.b.append_block_param(stuck, I32);
        s.b.switch_to_block(stuck);
        self.go_on(s, made);
        let at = s.b.use_var(self.number);
        let end = s.b.ins().iadd_imm_s(at, i64::from(ITEMS));
        s.b.def_var(self.until, end);
        self.put_place(s, at);
        s.b.ins().jump(item, &[]);
        let made = s.b.append_block_param(some, I32);
        s.b.switch_to_block(some);
        self.go_on(s, made);
    }

    fn go_on(self, s: &mut Scalar<'_, '_, '_>, items: Value) {
        let at = s.b.use_var(self.number);
        let next = s.b.ins().iadd(at, items);
        s.b.def_var(self.number, next);
    }
}
