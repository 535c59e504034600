//! Sums on byte planes. As many addends as possible are added in wide lanes by one instruction of the target.

use halfbyte_ir::{Attr, Inst, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

use super::super::pairs::{Range, numbers};
use super::{BITS, COLUMN, Columns, DEPTH, Maker, Planes, bits_everywhere, everywhere, is_in, parts};

const SIGNED: Range = -0x8000..=0x7fff;
const UNSIGNED: Range = 0..=0xffff;

/// Instructions on wide lanes that have been created but not yet placed in a block.
pub(super) type Draft = Vec<Inst>;

/// Maximum number of addends into which a nested sum is split. If a nested sum has more addends,
/// some of the resulting addends are sums themselves.
const MOST_ADDENDS: usize = 64;

/// Addends whose sum the target computes with one instruction.
struct Group {
    draft: Draft,
    sum: Option<Value>,
}

/// Second byte of each lane.
enum HighByte {
    Zero,
    /// Copies of the sign of the first byte.
    Sign,
    Byte(Value),
}

impl Maker<'_, '_, '_, '_> {
    pub(super) fn draft(&mut self, draft: &mut Draft, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        self.legaliser.draft(draft, op, ty, attr, args)
    }

    /// Returns the two lowest bytes of each lane of a wide value, if the target computes each of
    /// them with one instruction. The third result is `true` if a lane may be negative, so that its
    /// higher bytes are copies of the sign. The instructions are only added to `draft`.
    fn bytes_at_once(&mut self, value: Value, draft: &mut Draft) -> Option<(Value, HighByte, bool)> {
        let ty = self.ty(value);
        let range = numbers(self.legaliser, value, DEPTH)?;
        let is_signed = is_in(&range, &SIGNED);
        if !is_signed && !is_in(&range, &UNSIGNED) {
            return None;
        }
        let low = self.narrowing(draft, value)?;
        let above = match (*range.start(), *range.end()) {
            (0.., ..=0xff) => HighByte::Zero,
            (-0x80.., ..=0x7f) => HighByte::Sign,
            _ => {
                let count = self.legaliser.constant_attr(ty, bits_everywhere(ty, BITS as u64));
                let count = self.draft(draft, Op::Const, ty, count, &[]);
                let shift = if is_signed { Op::ShrS } else { Op::ShrU };
                let up = self.draft(draft, shift, ty, Attr::None, &[value, count]);
                HighByte::Byte(self.narrowing(draft, up)?)
            }
        };
        Some((low, above, *range.start() < 0))
    }

    /// Returns the lowest byte of each lane of a wide value, if the target computes it with one instruction.
    fn narrowing(&mut self, draft: &mut Draft, value: Value) -> Option<Value> {
        let low = self.draft(draft, Op::Trunc, Type::I8X16, Attr::None, &[value]);
        draft.last().is_some_and(|&inst| self.legaliser.narrows(inst)).then_some(low)
    }

    /// Returns the byte planes of a value, if the target computes the two lowest ones with one
    /// instruction each. `draft` holds operands of the value that are not placed yet.
    pub(super) fn at_once(&mut self, value: Value, mut draft: Draft) -> Option<Planes> {
        let places = self.ty(value).elem().bits() as usize / BITS;
        let (low, above, may_be_negative) = self.bytes_at_once(value, &mut draft)?;
        self.legaliser.place_drafted(&draft);
        let high = match above {
            HighByte::Zero => None,
            HighByte::Sign => self.sign(Some(low))?,
            HighByte::Byte(high) => Some(high),
        };
        let fill = if may_be_negative && places > 2 { self.sign(high)? } else { None };
        let mut planes: Planes = smallvec![Some(low), high];
        planes.resize(places, fill);
        Some(planes)
    }

    /// Returns the addends of a nested sum. The flag of an addend is `true` if the addend is subtracted.
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

    /// Returns `true` if the target computes the two lowest bytes of a value with one instruction
    /// each, and the higher bytes are zeros or copies of the sign.
    fn is_at_once(&mut self, value: Value) -> bool {
        self.bytes_at_once(value, &mut Draft::new()).is_some()
    }

    /// Computes a sum in steps of at most `COLUMN / 2` addends.
    pub(super) fn sum(&mut self, value: Value, places: usize) -> Option<Planes> {
        let ty = self.ty(value);
        let mut sum = None;
        for addends in self.addends(value).chunks(COLUMN / 2) {
            sum = Some(self.sum_of(ty, addends, sum, places)?);
        }
        sum
    }

    /// Adds the addends and the planes of an earlier sum `before`. Addends whose sum the target computes with one
    /// instruction form a group. The group also contains the lowest bytes of addends that are given as planes.
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

    /// Adds an addend that is given as byte planes: its lowest plane to the group, the other planes to the columns.
    fn join_planes(&mut self, group: &mut Group, columns: &mut Columns, ty: Type, planes: &Planes) -> Option<()> {
        Self::put(columns, planes.get(1..)?, 1);
        if let Some(lowest) = *planes.first()? {
            let wide = self.draft(&mut group.draft, Op::Zext, ty, Attr::None, &[lowest]);
            self.join(group, columns, wide, false)?;
        }
        Some(())
    }

    /// Adds an addend to the group if the target can still compute the sum, otherwise closes the
    /// group and begins a new one. Returns `false` if the target cannot compute a new group that
    /// begins with this addend because the addend is subtracted.
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

    /// Ends a group, and adds the bytes of its sum to the columns.
    fn close(&mut self, group: &mut Group, columns: &mut Columns) -> Option<()> {
        if let Some(sum) = group.sum.take() {
            let planes = self.at_once(sum, std::mem::take(&mut group.draft))?;
            Self::put(columns, &planes, 0);
        }
        Some(())
    }
}
