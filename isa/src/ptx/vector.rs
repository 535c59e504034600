//! The registers of a vector.

use std::fmt;

use super::inst::Reg;

/// `{a, b}`: up to four registers, of which `None` is `_`. It takes four bytes a register, for most operands are none of it and
/// have its room all the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vector {
    /// Those that are not there are blank.
    regs: [Reg; Vector::MOST],
    len: u8,
}

/// `_`: no register has this number, for there are no more than [`MAX_REGISTERS`](super::module::MAX_REGISTERS).
const BLANK: Reg = Reg(u32::MAX);

impl Vector {
    /// How many registers there are at most.
    pub const MOST: usize = 4;

    /// How many registers there are.
    pub fn len(&self) -> usize {
        self.len.into()
    }

    /// Whether there are none, as in no instruction.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The registers in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Option<Reg>> + ExactSizeIterator + Clone {
        let Vector { regs, len } = *self;
        regs.into_iter().take(len.into()).map(|reg| (reg != BLANK).then_some(reg))
    }

    /// Each register, to be changed.
    pub fn registers_mut(&mut self, each: impl FnMut(&mut Reg)) {
        self.regs.iter_mut().filter(|reg| **reg != BLANK).for_each(each);
    }
}

/// Those beyond four are left out.
impl FromIterator<Option<Reg>> for Vector {
    fn from_iter<T: IntoIterator<Item = Option<Reg>>>(regs: T) -> Vector {
        let mut vector = Vector { regs: [BLANK; Vector::MOST], len: 0 };
        for (place, reg) in vector.regs.iter_mut().zip(regs) {
            *place = reg.unwrap_or(BLANK);
            vector.len += 1;
        }
        vector
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
