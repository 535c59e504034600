//! Sums of which the target computes as many addends at once as it can.

use halfbyte_ir::{Attr, Inst, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::super::pairs::{Range, numbers};
use super::{BITS, COLUMN, Columns, DEPTH, Maker, Planes, bits_everywhere, everywhere, is_in, parts};

const SIGNED: Range = -0x8000..=0x7fff;
const UNSIGNED: Range = 0..=0xffff;

/// Wide instructions that are not placed yet.
pub(super) type Draft = Vec<Inst>;

/// The most addends of a sum that are looked for; others may be sums in turn.
const MOST_ADDENDS: usize = 64;

/// Addends whose sum the target computes at once.
struct Group {
    draft: Draft,
    sum: Option<Value>,
}

/// What the second byte of a lane is.
enum Above {
    Zero,
    /// As the sign of the first.
    Sign,
    Byte(Value),
}

impl Maker<'_, '_, '_, '_> {
    pub(super) fn draft(&mut self, draft: &mut Draft, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        self.legaliser.draft(draft, op, ty, attr, args)
    }

    /// The two low bytes of a wide value, if the target computes both at once, in instructions that are drafted only; and whether those above
    /// are like the sign.
    fn bytes_at_once(&mut self, value: Value, draft: &mut Draft) -> Option<(Value, Above, bool)> {
        let ty = self.ty(value);
        let range = numbers(self.legaliser, value, DEPTH)?;
        let is_signed = is_in(&range, &SIGNED);
        if !is_signed && !is_in(&range, &UNSIGNED) {
            return None;
        }
        let low = self.narrowing(draft, value)?;
        let above = match (*range.start(), *range.end()) {
            (0.., ..=0xff) => Above::Zero,
            (-0x80.., ..=0x7f) => Above::Sign,
            _ => {
                let count = self.legaliser.constant_attr(ty, bits_everywhere(ty, BITS as u64));
                let count = self.draft(draft, Op::Const, ty, count, &[]);
                let shift = if is_signed { Op::ShrS } else { Op::ShrU };
                let up = self.draft(draft, shift, ty, Attr::None, &[value, count]);
                Above::Byte(self.narrowing(draft, up)?)
            }
        };
        Some((low, above, *range.start() < 0))
    }

    /// The low bytes of a wide value, if the target computes them at once.
    fn narrowing(&mut self, draft: &mut Draft, value: Value) -> Option<Value> {
        let low = self.draft(draft, Op::Trunc, Type::I8X16, Attr::None, &[value]);
        draft.last().is_some_and(|&inst| self.legaliser.narrows(inst)).then_some(low)
    }

    /// The planes of a wide value, if the target computes the lowest two at once. What it is made of may be drafted only.
    pub(super) fn at_once(&mut self, value: Value, mut draft: Draft) -> Option<Planes> {
        let places = self.ty(value).elem().bits() as usize / BITS;
        let (low, above, may_be_negative) = self.bytes_at_once(value, &mut draft)?;
        self.legaliser.place_drafted(&draft);
        let high = match above {
            Above::Zero => None,
            Above::Sign => self.sign(Some(low))?,
            Above::Byte(high) => Some(high),
        };
        let fill = if may_be_negative && places > 2 { self.sign(high)? } else { None };
        let mut planes: Planes = smallvec![Some(low), high];
        planes.resize(places, fill);
        Some(planes)
    }

    /// What a sum is of, and what is subtracted.
    fn addends(&self, value: Value) -> Vec<(Value, bool)> {
        let kernel = self.kernel();
        let (mut addends, mut open) = (Vec::new(), vec![(value, false)]);
        while let Some((value, is_negative)) = open.pop() {
            let value = self.legaliser.current(value);
            let inst =
                kernel.def_inst(value).filter(|_| addends.len() < MOST_ADDENDS && parts(kernel, value).is_none());
            match inst.map(|inst| (kernel.insts[inst].op, kernel.args(inst))) {
                Some((Op::Add, &[a, b])) => open.extend([(b, is_negative), (a, is_negative)]),
                Some((Op::Sub, &[a, b])) => open.extend([(b, !is_negative), (a, is_negative)]),
                Some((Op::Neg, &[a])) => open.push((a, !is_negative)),
                _ => addends.push((value, is_negative)),
            }
        }
        addends
    }

    /// Whether the target computes a value's lowest two bytes at once, and those above follow from them.
    fn is_at_once(&mut self, value: Value) -> bool {
        self.bytes_at_once(value, &mut Draft::new()).is_some()
    }

    /// A sum, a few addends at a time.
    pub(super) fn sum(&mut self, value: Value, places: usize) -> Option<Planes> {
        let ty = self.ty(value);
        let mut sum = None;
        for addends in self.addends(value).chunks(COLUMN / 2) {
            sum = Some(self.sum_of(ty, addends, sum, places)?);
        }
        sum
    }

    /// A sum of addends, and of planes. Those of which the target computes the sum at once are added so, with the lowest bytes of those that
    /// are there as planes.
    fn sum_of(&mut self, ty: Type, addends: &[(Value, bool)], before: Option<Planes>, places: usize) -> Option<Planes> {
        let mut columns: Columns = smallvec![SmallVec::new(); places];
        let mut group = Group { draft: Draft::new(), sum: None };
        let mut number: u64 = 0;
        if let Some(before) = before {
            self.join_planes(&mut group, &mut columns, ty, &before)?;
        }
        for &(addend, is_negative) in addends {
            if let Some(constant) = everywhere(self.kernel(), addend) {
                number = if is_negative { number.wrapping_sub(constant) } else { number.wrapping_add(constant) };
            } else if self.is_at_once(addend) && self.join(&mut group, &mut columns, addend, is_negative)? {
            } else {
                let mut planes = self.planes(addend)?;
                if is_negative {
                    planes = self.complement(&planes)?;
                    number = number.wrapping_add(1);
                }
                self.join_planes(&mut group, &mut columns, ty, &planes)?;
            }
        }
        if number != 0 {
            let attr = self.legaliser.constant_attr(ty, bits_everywhere(ty, number));
            let mut draft = Draft::new();
            let constant = self.draft(&mut draft, Op::Const, ty, attr, &[]);
            let sum = group.sum.map(|sum| self.draft(&mut draft, Op::Add, ty, Attr::None, &[sum, constant]));
            match sum.filter(|&sum| self.is_at_once(sum)) {
                Some(sum) => {
                    group.draft.append(&mut draft);
                    group.sum = Some(sum);
                }
                None => self.put_number(&mut columns, number)?,
            }
        }
        self.close(&mut group, &mut columns)?;
        self.total(&columns)
    }

    /// Adds the planes of an addend, the lowest with the group.
    fn join_planes(&mut self, group: &mut Group, columns: &mut Columns, ty: Type, planes: &Planes) -> Option<()> {
        Self::put(columns, planes.get(1..)?, 1);
        if let Some(lowest) = *planes.first()? {
            let wide = self.draft(&mut group.draft, Op::Zext, ty, Attr::None, &[lowest]);
            self.join(group, columns, wide, false)?;
        }
        Some(())
    }

    /// Adds what is computed at once to a group that is, or begins another one; not what is subtracted first and would not be then.
    fn join(&mut self, group: &mut Group, columns: &mut Columns, addend: Value, is_negative: bool) -> Option<bool> {
        let ty = self.ty(addend);
        if let Some(sum) = group.sum {
            let mut draft = Draft::new();
            let op = if is_negative { Op::Sub } else { Op::Add };
            let next = self.draft(&mut draft, op, ty, Attr::None, &[sum, addend]);
            if self.is_at_once(next) {
                group.draft.append(&mut draft);
                group.sum = Some(next);
                return Some(true);
            }
        }
        let mut draft = Draft::new();
        let first = match is_negative {
            true => self.draft(&mut draft, Op::Neg, ty, Attr::None, &[addend]),
            false => addend,
        };
        if is_negative && !self.is_at_once(first) {
            return Some(false);
        }
        self.close(group, columns)?;
        group.draft.append(&mut draft);
        group.sum = Some(first);
        Some(true)
    }

    /// Puts the bytes of a group's sum into columns.
    fn close(&mut self, group: &mut Group, columns: &mut Columns) -> Option<()> {
        if let Some(sum) = group.sum.take() {
            let planes = self.at_once(sum, std::mem::take(&mut group.draft))?;
            Self::put(columns, &planes, 0);
        }
        Some(())
    }
}
