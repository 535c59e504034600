//! Combines byte moves: one PRMT computes a word whose bytes are bytes of two words, zeros, or copies of a sign bit.

use arrayvec::ArrayVec;

use super::Combiner;
use super::word::{Operation, Shift, ThreeSourceOp};
use crate::halu::operands::{Reg, SourceLocation, Src};
use crate::vcode::VReg;

/// Symbolic value of one byte of a 32-bit word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Byte {
    Zero,
    /// Byte of a register; with `sign`, eight copies of the top bit of this byte.
    Of {
        reg: Reg,
        byte: u8,
        sign: bool,
    },
}

/// Symbolic values of the four bytes of a word, lowest byte first.
pub(super) type ByteMap = [Byte; 4];

const ZEROS: ByteMap = [Byte::Zero; 4];

impl Byte {
    fn sign(self) -> Byte {
        match self {
            Byte::Zero => Byte::Zero,
            Byte::Of { reg, byte, .. } => Byte::Of { reg, byte, sign: true },
        }
    }
}

/// Returns the symbolic value of byte number `byte` of a register.
pub fn byte_of_register(reg: Reg, byte: usize) -> Byte {
    Byte::Of { reg, byte: byte as u8, sign: false }
}

fn own(reg: Reg) -> ByteMap {
    if reg.vreg.is_none() { ZEROS } else { [0, 1, 2, 3].map(|byte| byte_of_register(reg, byte)) }
}

fn shifted(shift: Shift, bytes: usize, map: ByteMap) -> ByteMap {
    let byte = |at: Option<usize>| at.and_then(|at| map.get(at)).copied();
    [0usize, 1, 2, 3].map(|place| match shift {
        Shift::Left => byte(place.checked_sub(bytes)).unwrap_or(Byte::Zero),
        Shift::Right => byte(Some(place + bytes)).unwrap_or(Byte::Zero),
        Shift::Signed => byte(Some(place + bytes)).unwrap_or(map[3].sign()),
    })
}

fn permuted(selector: u16, maps: [ByteMap; 2]) -> ByteMap {
    [0u16, 1, 2, 3].map(|place| {
        let nibble = usize::from(selector >> (4 * place) & 0xf);
        let byte = maps[nibble >> 2 & 1][nibble & 3];
        if nibble & 8 == 0 { byte } else { byte.sign() }
    })
}

/// Byte of one input of a LOP3.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// All bits of the byte have this value.
    All(bool),
    Unknown(Option<Byte>),
}

/// Truth tables of the three inputs of LOP3: a bit is set if the input is 1 in this case.
const INPUT_TABLES: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// Specialises the truth table for inputs whose bit number `source` is `bit`. The result does not depend on this input.
fn with_bit(table: u8, source: usize, bit: bool) -> u8 {
    let (has, distance) = (INPUT_TABLES[source], 4 >> source);
    if bit { table & has | (table & has) >> distance } else { table & !has | (table & !has) << distance }
}

/// Returns one byte of a LOP3 result, if this byte is always zero or a byte of an input.
pub fn byte_of_function(mut table: u8, sources: [Bits; 3]) -> Option<Byte> {
    for (source, &bits) in sources.iter().enumerate() {
        match bits {
            Bits::All(bit) => table = with_bit(table, source, bit),
            // The bits of this byte differ or are unknown, so the table cannot be specialised.
            Bits::Unknown(None) => {}
            Bits::Unknown(Some(_)) => {
                if let Some(same) = sources[..source].iter().position(|&other| other == bits) {
                    table = INPUT_TABLES[same] & with_bit(table, source, true)
                        | !INPUT_TABLES[same] & with_bit(table, source, false);
                }
            }
        }
    }
    if table == 0 {
        return Some(Byte::Zero);
    }
    sources.iter().zip(INPUT_TABLES).find_map(|(bits, has)| match bits {
        Bits::Unknown(Some(byte)) if table == has => Some(*byte),
        _ => None,
    })
}

impl Combiner<'_> {
    /// Returns the symbolic bytes of a register. For a register from another block, only zero bytes
    /// are known, so that no live range grows beyond its block.
    fn map(&self, reg: Reg) -> ByteMap {
        let Some(vreg) = reg.vreg.filter(|_| reg.part == 0) else { return own(reg) };
        let Some(map) = self.maps[vreg.0 as usize] else { return own(reg) };
        if self.known[vreg.0 as usize].block == self.block {
            return map;
        }
        [0, 1, 2, 3].map(|place| if map[place] == Byte::Zero { Byte::Zero } else { byte_of_register(reg, place) })
    }

    /// Returns the symbolic bytes of an instruction's result. A byte of unknown origin is described
    /// as a byte of the result register itself.
    fn result_bytes(&self, result: VReg, meaning: Operation) -> ByteMap {
        let own = |place: usize| byte_of_register(Reg::new(result), place);
        match meaning {
            Operation::Permutation(selector, [a, b]) => permuted(selector, [self.map(a), self.map(b)]),
            Operation::Shift(shift, count, reg) => {
                let (bytes, map) = (count as usize / 8, self.map(reg));
                if count % 8 == 0 {
                    return shifted(shift, bytes, map);
                }
                let zero = |place: usize| match shift {
                    Shift::Left => place < bytes,
                    Shift::Right => (place + bytes..4).all(|from| map[from] == Byte::Zero),
                    Shift::Signed => false,
                };
                [0, 1, 2, 3].map(|place| if zero(place) { Byte::Zero } else { own(place) })
            }
            Operation::Three(ThreeSourceOp::Logic(table), sources) => {
                let maps = sources.map(|source| match source.place {
                    SourceLocation::Reg(reg) => Some(self.map(reg)),
                    _ => None,
                });
                [0usize, 1, 2, 3].map(|place| {
                    let bits = [0usize, 1, 2].map(|number| match (sources[number].place, maps[number]) {
                        (SourceLocation::Imm(bits), _) => match (bits >> (8 * place)) as u8 {
                            0 => Bits::All(false),
                            0xff => Bits::All(true),
                            _ => Bits::Unknown(None),
                        },
                        (_, Some(map)) if map[place] == Byte::Zero => Bits::All(false),
                        (_, Some(map)) => Bits::Unknown(Some(map[place])),
                        _ => Bits::Unknown(None),
                    });
                    byte_of_function(table, bits).unwrap_or(own(place))
                })
            }
            Operation::Three(ThreeSourceOp::Product, [a, b, c]) => {
                // A product of n bytes and m bytes has at most n + m bytes.
                let bytes = |source: Src| match source.place {
                    SourceLocation::Imm(number) => 4 - number.leading_zeros() as usize / 8,
                    SourceLocation::Const(_) => 4,
                    SourceLocation::Reg(reg) => {
                        self.map(reg).iter().rposition(|&byte| byte != Byte::Zero).map_or(0, |last| last + 1)
                    }
                };
                let length = if c.place == Src::ZERO.place { bytes(a) + bytes(b) } else { 4 };
                [0, 1, 2, 3].map(|place| if place < length { own(place) } else { Byte::Zero })
            }
            Operation::Three(ThreeSourceOp::Sum, _) => [0, 1, 2, 3].map(own),
            Operation::Number(number) => {
                [0, 1, 2, 3].map(|place| if number >> (8 * place) & 0xff == 0 { Byte::Zero } else { own(place) })
            }
            Operation::Load { bytes, .. } => {
                [0, 1, 2, 3].map(|place| if place < bytes { own(place) } else { Byte::Zero })
            }
        }
    }

    /// Records the symbolic bytes of an instruction's result, unless they are already recorded.
    pub(super) fn note_bytes(&mut self, result: VReg, meaning: Operation) {
        if self.maps[result.0 as usize].is_none() {
            self.maps[result.0 as usize] = Some(self.result_bytes(result, meaning));
        }
    }

    /// Replaces an instruction that only moves bytes by one PRMT of the registers from which the
    /// bytes come, or removes the instruction. Returns `true` if the instruction changed.
    pub(super) fn bytes(&mut self, at: u32, result: VReg, meaning: Operation) -> bool {
        let map = self.result_bytes(result, meaning);
        self.maps[result.0 as usize] = Some(map);
        let is_own = |byte: &Byte| matches!(byte, Byte::Of { reg, .. } if *reg == Reg::new(result));
        if map.iter().any(is_own) || map == ZEROS {
            return false;
        }
        let Some(sources) = self.inst(at).map(|inst| self.code.operands(inst)) else { return false };
        let sources = sources.iter().filter(|operand| operand.access == crate::vcode::Access::Use);
        let sources: ArrayVec<Reg, 3> =
            sources.map(|operand| Reg { vreg: Some(self.now(operand.reg)), part: operand.part }).take(3).collect();
        let mut roots: ArrayVec<Reg, 4> = ArrayVec::new();
        for byte in map {
            if let Byte::Of { reg, .. } = byte
                && !roots.contains(&reg)
            {
                roots.push(reg);
            }
        }
        for &reg in sources.iter().chain(&roots) {
            let Some(vreg) = reg.vreg.filter(|&vreg| reg.part == 0 && self.is_word(vreg)) else { continue };
            if self.map(reg) == map {
                self.forward(at, vreg);
                return true;
            }
            if sources.contains(&reg) && self.load_signed(at, reg, map) {
                return true;
            }
        }
        // A shift or a mask becomes a PRMT only if one of its source registers is dead afterwards.
        let is_new = |root: &Reg| !sources.contains(root) && !self.is_updated_in_place(*root);
        let goes =
            |source: &Reg| !roots.contains(source) && self.uses(*source) == 1 && self.def_in_block(*source).is_some();
        if !roots.iter().any(is_new)
            || roots.iter().any(|root| !sources.contains(root) && self.is_updated_in_place(*root))
        {
            return false;
        }
        if !matches!(meaning, Operation::Permutation(..)) && !sources.iter().any(goes) {
            return false;
        }
        let Some((selector, words)) = self.selector(map, &roots) else { return false };
        self.write_permutation(at, selector, words);
        true
    }

    /// Returns the selector and the registers of a PRMT that builds the bytes from the registers
    /// `roots`, or `None` if `roots` has more than two registers. With one register, zero bytes
    /// come from RZ; with two, from a byte of either register that is known to be zero.
    fn selector(&self, map: ByteMap, roots: &[Reg]) -> Option<(u16, [Reg; 2])> {
        let words = match *roots {
            [only] => [only, Reg::ZERO],
            [first, second] => [first, second],
            _ => return None,
        };
        let zero = words.iter().enumerate().rev().find_map(|(word, &reg)| {
            let byte = self.map(reg).iter().position(|&byte| byte == Byte::Zero);
            byte.map(|byte| 4 * word + byte)
        });
        let mut selector = 0;
        for (place, byte) in map.into_iter().enumerate() {
            let nibble = match byte {
                Byte::Zero => zero?,
                Byte::Of { reg, byte, sign } => {
                    4 * words.iter().position(|&word| word == reg)? + usize::from(byte) + 8 * usize::from(sign)
                }
            };
            selector |= (nibble as u16) << (4 * place);
        }
        Some((selector, words))
    }

    /// Changes a zero-extending load into a sign-extending one, if the only use of the loaded value
    /// is its sign extension. Returns `true` if the load changed.
    fn load_signed(&mut self, at: u32, reg: Reg, map: ByteMap) -> bool {
        let Some(load) = self.maker(reg).filter(|_| self.uses(reg) == 1) else { return false };
        let Some(Operation::Load { bytes, signed: Some(signed) }) = self.meaning(load) else { return false };
        let last = byte_of_register(reg, bytes - 1);
        let extended = [0, 1, 2, 3].map(|place| if place < bytes { byte_of_register(reg, place) } else { last.sign() });
        if map != extended {
            return false;
        }
        if let Some(inst) = self.code.insts.get_mut(load as usize) {
            inst.inst = signed;
        }
        if let Some(vreg) = reg.vreg {
            self.maps[vreg.0 as usize] = Some(extended);
            self.forward(at, vreg);
        }
        true
    }
}
