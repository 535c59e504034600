//! Combines a sum (IADD3) with the definitions of its terms: sums, products and shifts without other uses.

use arrayvec::ArrayVec;

use super::Combiner;
use super::word::{Operation, Shift, ThreeSourceOp};
use crate::halu::operands::{Number, Reg, SourceLocation, Src};

impl Combiner<'_> {
    /// Merges the definition of a term into a sum. Returns `true` if the sum changed.
    pub(super) fn sum(&mut self, at: u32, sources: [Src; 3]) -> bool {
        self.sum_of_sum(at, sources) || self.sum_of_shift(at, sources) || self.sum_of_products(at, sources)
    }

    /// Returns the index of the instruction in the current block that defines a source operand.
    /// Returns `None` if the operand is defined in another block or has other uses.
    fn single_use_def(&self, source: Src) -> Option<u32> {
        let SourceLocation::Reg(reg) = source.place else { return None };
        self.def_in_block(reg).filter(|_| self.uses(reg) == 1)
    }

    /// Returns the nonzero terms of a sum.
    fn terms(sources: [Src; 3]) -> ArrayVec<Src, 3> {
        sources.into_iter().filter(|source| source.place != Src::ZERO.place).collect()
    }

    fn sum_of_sum(&mut self, at: u32, sources: [Src; 3]) -> bool {
        for place in 0..3 {
            let Some((ThreeSourceOp::Sum, inner)) =
                self.single_use_def(sources[place]).and_then(|maker| self.three(maker))
            else {
                continue;
            };
            let sign = |source: Src| if sources[place].neg { source.negated() } else { source };
            let others = (0..3).filter(|&other| other != place).map(|other| sources[other]);
            let all = others.chain(inner.map(sign)).filter(|source| source.place != Src::ZERO.place);
            let mut terms: ArrayVec<Src, 3> = ArrayVec::new();
            let fits = all.map(|source| source.folded(Number::Int)).all(|source| {
                let known = terms.iter_mut().find(|term| matches!(term.place, SourceLocation::Imm(_)));
                match (source.place, known) {
                    (SourceLocation::Imm(more), Some(Src { place: SourceLocation::Imm(number), .. })) => {
                        *number = number.wrapping_add(more);
                        true
                    }
                    _ => terms.try_push(source).is_ok(),
                }
            });
            let registers = terms.iter().filter(|term| term.is_reg()).count();
            let lives_on = Combiner::registers(&terms).iter().any(|&reg| self.is_updated_in_place(reg));
            if !fits || lives_on || registers == 0 || registers + 1 < terms.len() {
                continue;
            }
            let term = |number: usize| terms.get(number).copied().unwrap_or(Src::ZERO);
            if self.write_three(at, ThreeSourceOp::Sum, [term(0), term(1), term(2)]) {
                return true;
            }
        }
        false
    }

    fn sum_of_shift(&mut self, at: u32, sources: [Src; 3]) -> bool {
        let terms = Combiner::terms(sources);
        let &[a, b] = terms.as_slice() else { return false };
        for (shifted, to) in [(a, b), (b, a)] {
            let shift = self.single_use_def(shifted).and_then(|maker| self.shift_of(maker));
            if let Some((Shift::Left, count, reg)) = shift
                && let SourceLocation::Reg(to) = to.place
                && !shifted.neg
                && !terms.iter().any(|term| term.neg)
                && !self.is_updated_in_place(reg)
            {
                self.write_scaled(at, reg, count, to);
                return true;
            }
        }
        false
    }

    /// If the source operand is a product without an addend, returns its instruction and factors.
    fn bare_product(&self, source: Src) -> Option<(u32, [Src; 2])> {
        let maker = self.single_use_def(source).filter(|_| !source.neg)?;
        let Some((ThreeSourceOp::Product, [a, b, c])) = self.three(maker) else { return None };
        let lives_on = Combiner::registers(&[a, b]).iter().any(|&reg| self.is_updated_in_place(reg));
        (c.place == Src::ZERO.place && !lives_on).then_some((maker, [a, b]))
    }

    fn sum_of_products(&mut self, at: u32, sources: [Src; 3]) -> bool {
        let terms = Combiner::terms(sources);
        match *terms.as_slice() {
            [a, b] => [(a, b), (b, a)].into_iter().any(|(product, to)| {
                let found = self.bare_product(product).filter(|_| !to.neg);
                found.is_some_and(|(_, [x, y])| self.write_three(at, ThreeSourceOp::Product, [x, y, to]))
            }),
            [a, b, c] => [[a, b, c], [a, c, b], [b, c, a]].into_iter().any(|[first, second, to]| {
                let (Some(one), Some(other)) = (self.bare_product(first), self.bare_product(second)) else {
                    return false;
                };
                // `a * b + c * d + e` becomes two IMAD. The later product adds the term `e`. If `e`
                // is defined after this product, the product moves down to the sum.
                let ((maker, [x, y]), (_, [v, w]), made) =
                    if one.0 > other.0 { (one, other, first) } else { (other, one, second) };
                let is_there = match to.place {
                    SourceLocation::Reg(reg) => self.maker_of_any(reg).is_none_or(|def| def < maker),
                    _ => true,
                };
                // IMAD cannot add an immediate or constant memory if its factors are registers.
                if to.neg || !to.is_reg() || !self.write_three(maker, ThreeSourceOp::Product, [x, y, to]) {
                    return false;
                }
                if !is_there {
                    self.moved.insert(at, maker);
                }
                self.write_three(at, ThreeSourceOp::Product, [v, w, made])
            }),
            _ => false,
        }
    }

    /// Returns the index of the instruction in the current block that defines a register, or the
    /// last word of a wide register. Returns `None` if the register is defined in another block.
    fn maker_of_any(&self, reg: Reg) -> Option<u32> {
        let known = &self.known[reg.vreg?.0 as usize];
        (known.block == self.block).then_some(known.def)
    }

    /// Replaces a register factor of a product by an immediate, if the factor is constant. Returns
    /// `true` if the product changed.
    pub(super) fn product_by_number(&mut self, at: u32, [a, b, c]: [Src; 3]) -> bool {
        if ![a, b, c].iter().all(|source| source.is_reg()) {
            return false;
        }
        [(a, b), (b, a)].into_iter().any(|(factor, by)| {
            let SourceLocation::Reg(Reg { vreg: Some(_), .. }) = by.place else { return false };
            let number = self.number(by).filter(|&number| number != 0);
            number.is_some_and(|number| self.write_three(at, ThreeSourceOp::Product, [factor, Src::imm(number), c]))
        })
    }

    /// Folds a shift or a byte permutation of constants. Returns `true` if the instruction changed.
    pub(super) fn fold_constants(&mut self, at: u32, meaning: Operation) -> bool {
        let number = |reg: Reg| self.number(Src::plain(SourceLocation::Reg(reg)));
        let made = match meaning {
            Operation::Shift(shift, count, reg) => number(reg).map(|number| match shift {
                Shift::Left => number << count,
                Shift::Right => number >> count,
                Shift::Signed => (number as i32 >> count) as u32,
            }),
            Operation::Permutation(selector, [a, b]) => {
                number(a).zip(number(b)).map(|(a, b)| permuted(selector, u64::from(b) << 32 | u64::from(a)))
            }
            _ => None,
        };
        made.is_some_and(|made| {
            self.write_constant(at, made);
            true
        })
    }
}

/// Evaluates PRMT with this selector on eight bytes.
fn permuted(selector: u16, bytes: u64) -> u32 {
    (0..4).fold(0, |word, place| {
        let nibble = selector >> (4 * place) & 0xf;
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        word | u32::from(byte) << (8 * place)
    })
}
