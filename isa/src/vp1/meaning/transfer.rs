//! Moves between `$r` and the other register files, which the scalar unit executes. Every move clears the scalar flags.

use super::address::stores_word;
use super::{Context, Outcome, f};
use crate::row::RegFile;
use crate::vp1::domain::{Domain, Index, Reader, Unknown, Write};
use crate::vp1::{Opcode, Unit};

/// The number of `$uccfg` among the `$uc` registers.
const UCCFG: u8 = 16;
/// The writable bits of `$uccfg`.
const UCCFG_WRITABLE: u32 = 0x111;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates `mov` from an `$r` to another register file.
    pub(super) fn move_out(&mut self, file: RegFile) -> Result<Outcome<D>, Unknown> {
        // A store of the address unit in the same bundle takes precedence on the read port of `$r`.
        let source = match self.bundle.inst(Unit::Address) {
            Some(store) if stores_word(store.opcode()) => store.get(f::SRC1) as u8,
            _ => self.reg(f::SRC1),
        };
        let value = self.read.r(self.d, Index::Fixed(source));
        let mut outcome = self.clear_flags();
        let n = self.reg(f::DST);
        match file {
            RegFile::V => {
                let old = self.v(f::DST);
                outcome.overridable_write = Some(Write::V(n, self.d.with_word(old, self.reg(f::VWORD), value)));
            }
            RegFile::A => outcome.writes.push(Write::A(n, value)),
            RegFile::L if n < 4 => outcome.writes.push(Write::L(n, self.and(value, 0xffff))),
            RegFile::L => {}
            RegFile::M => outcome.writes.push(Write::M(self.split(f::DST, f::MHIGH) as u8, value)),
            RegFile::X => outcome.writes.push(Write::X(self.reg(f::XDST), value)),
            RegFile::Uc if n == UCCFG => outcome.writes.push(Write::Uccfg(self.and(value, UCCFG_WRITABLE))),
            _ => return Err(Unknown::RegisterFile(self.reg(f::RFILE))),
        }
        Ok(outcome)
    }

    /// Evaluates `mov` to an `$r` register from another register file. If the source file is `$v`,
    /// `$a`, `$l` or `$c`, a load to the same `$r` register overrides the move.
    pub(super) fn move_in(&mut self, file: RegFile) -> Result<Outcome<D>, Unknown> {
        let mut outcome = self.clear_flags();
        let n = self.reg(f::SRC1);
        match file {
            RegFile::V => {
                let vector = self.v(f::SRC1);
                let value = self.d.word_of(vector, self.reg(f::VWORD));
                outcome.overridable_write = self.define(f::DST, value);
            }
            RegFile::A => {
                let value = self.a(f::SRC1);
                outcome.overridable_write = self.define(f::DST, value);
            }
            RegFile::L => {
                // An `exit` of the branch unit in the same bundle takes precedence on the read port.
                if self.bundle.inst(Unit::Branch).is_none_or(|branch| branch.opcode() != Opcode::EXIT) {
                    let value = self.read.l(self.d, n & 3);
                    outcome.overridable_write = self.define(f::DST, value);
                }
            }
            RegFile::C => {
                let value = if n < 4 { self.read.c(self.d, n) } else { self.d.word(0) };
                outcome.overridable_write = self.define(f::DST, value);
            }
            RegFile::M => {
                let value = self.read.m(self.d, self.split(f::SRC1, f::MHIGH) as u8);
                outcome.writes.extend(self.define(f::DST, value));
            }
            RegFile::X => {
                let value = self.read.x(self.d, self.reg(f::XSRC));
                outcome.writes.extend(self.define(f::DST, value));
            }
            RegFile::Uc if n == UCCFG => {
                let value = self.read.uccfg(self.d);
                outcome.writes.extend(self.define(f::DST, value));
            }
            _ => return Err(Unknown::RegisterFile(self.reg(f::RFILE))),
        }
        Ok(outcome)
    }
}
