//! Allocation for machines with a single file of interchangeable registers.

use halfbyte_abi::MAX_LOCAL_BYTES;
use regalloc2::{Allocation, PReg, ProgPoint};

use super::adapter::{BankAssignment, Cursor, RegisterBank};
use super::allocate::Allocate;
use super::rewrite::{Rewriter, rewrite};
use super::{AllocError, Allocator, Options};
use crate::mach::MachFunc;
use crate::vcode::{Access, BlockIndex, Machine, Operand, VBlock, VCode, VInst, VReg};

/// Machine with a single file of interchangeable registers, and the instructions that allocation
/// inserts. The code may have any blocks and edges. An operand with [`Access::UpdateInPlace`] gets
/// the hardware register of the register that it updates.
///
/// ```
/// use halfbyte_isel::regalloc::{Options, SingleRegisterFile, allocate};
/// use halfbyte_isel::vcode::{Access, Machine, Operand, Terminator, VCode, VInst};
/// # use halfbyte_abi::Signature;
/// # use halfbyte_isa::object::Loc;
///
/// #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
/// struct Mine;
///
/// /// An instruction by its name, and the numbers of its registers.
/// #[derive(Clone, PartialEq, Debug)]
/// struct Inst(&'static str, [u64; 3]);
///
/// impl Machine for Mine {
///     type Inst = Inst;
///     type RegisterPosition = usize;
///     type Class = ();
///     type Extra = ();
///     fn jump() -> Inst {
///         Inst("jump", [0; 3])
///     }
///     fn exit() -> Inst {
///         Inst("exit", [0; 3])
///     }
///     fn invert(branch: &mut Inst) {
///         branch.0 = if branch.0 == "if" { "unless" } else { "if" };
///     }
///     fn set(inst: &mut Inst, place: usize, number: u64) {
///         inst.1[place] = number;
///     }
/// }
///
/// impl SingleRegisterFile for Mine {
///     const REGISTERS: u32 = 2;
///     const BYTES: u32 = 4;
///     fn copy(from: u64, to: u64) -> Inst {
///         Inst("copy", [to, from, 0])
///     }
///     fn spill(from: u64, offset: u64) -> Inst {
///         Inst("spill", [offset, from, 0])
///     }
///     fn reload(offset: u64, to: u64) -> Inst {
///         Inst("reload", [to, offset, 0])
///     }
/// }
///
/// // Three values are live at once, in two registers.
/// # let signature = Signature::new("k", Vec::new())?;
/// let mut code = VCode::<Mine>::new(signature, ());
/// let [a, b, c, d, e] = [(); 5].map(|()| code.add_register(()));
/// let mut inst = |name, operands: &[_]| {
///     let operands = (0..).zip(operands).map(|(place, &(reg, access))| Operand { place, reg, part: 0, access });
///     VInst { inst: Inst(name, [0; 3]), operands: code.add_operands(operands), loc: Loc::default() }
/// };
/// let insts = [
///     inst("first", &[(a, Access::Def)]),
///     inst("second", &[(b, Access::Def)]),
///     inst("third", &[(c, Access::Def)]),
///     inst("add", &[(d, Access::Def), (a, Access::Use), (b, Access::Use)]),
///     inst("add", &[(e, Access::Def), (d, Access::Use), (c, Access::Use)]),
///     inst("store", &[(e, Access::Use)]),
/// ];
/// code.add_block([], insts, Terminator::Exit, Loc::default());
/// let func = allocate(code, &Options::default())?;
/// let spills = func.blocks[0].insts.iter().filter(|inst| inst.inst.0 == "spill").count();
/// assert!(spills > 0 && spills == func.spills as usize && func.local_bytes >= 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SingleRegisterFile: Machine {
    /// Number of registers that allocation may use, from register 0 on; at most 64.
    const REGISTERS: u32;
    /// Size and alignment of a spilled register in bytes: 4, 8 or 16.
    const BYTES: u32;

    /// Returns an instruction that copies register `from` to register `to`.
    fn copy(from: u64, to: u64) -> Self::Inst;

    /// Returns an instruction that stores a register at a byte offset in local memory. The size of
    /// local memory is [`MachFunc::local_bytes`].
    fn spill(from: u64, offset: u64) -> Self::Inst;

    /// Returns an instruction that loads a register from a byte offset in local memory.
    fn reload(offset: u64, to: u64) -> Self::Inst;

    /// Returns `true` if an instruction accepts its operands. Called before allocation for each
    /// instruction, including branches.
    fn takes(inst: &Self::Inst, operands: &[Operand<Self>]) -> bool {
        let _ = (inst, operands);
        true
    }
}

impl<M: SingleRegisterFile> Allocate for M {
    fn check(code: &VCode<M>, block: &VBlock<M>) -> Result<(), AllocError> {
        let mut insts = code.insts_of(block).iter().zip(block.insts.clone());
        let unfit = insts.find(|(inst, _)| !M::takes(&inst.inst, code.operands(inst)));
        unfit.map_or(Ok(()), |(_, index)| Err(AllocError::Unfit(index)))
    }

    fn check_branch(code: &VCode<M>, block: BlockIndex, branch: &VInst<M>) -> Result<(), AllocError> {
        if M::takes(&branch.inst, code.operands(branch)) { Ok(()) } else { Err(AllocError::Branch(block)) }
    }

    fn allocate(allocator: &mut Allocator, code: VCode<M>, options: &Options) -> Result<MachFunc<M>, AllocError> {
        let words = M::BYTES / 4;
        if !(1..=PReg::MAX as u32 + 1).contains(&M::REGISTERS) || M::BYTES % 4 != 0 || !matches!(words, 1 | 2 | 4) {
            return Err(AllocError::File { registers: M::REGISTERS, bytes: M::BYTES });
        }
        let file = File(RegisterBank { registers: M::REGISTERS, words });
        let Allocator { flow, liveness, main, .. } = allocator;
        main.allocate(&code, flow, liveness, &file, options)?;
        let local_bytes = 4 * main.output().num_spillslots as u64;
        if local_bytes > MAX_LOCAL_BYTES.into() {
            return Err(AllocError::LocalMemory(local_bytes));
        }
        let mut writer = Writer { cursor: main.cursor(), spills: 0 };
        let blocks = rewrite(&code, flow, &mut writer)?;
        let spills = writer.spills;
        let registers = main.used().into_iter().map(|reg| reg.hw_enc() as u32 + 1).max().unwrap_or(0);
        let (signature, extra) = (code.signature, code.extra);
        Ok(MachFunc { signature, blocks, local_bytes: local_bytes as u32, registers, spills, extra })
    }
}

/// Assignment of all virtual registers to a single register bank.
struct File(RegisterBank);

impl BankAssignment for File {
    fn offers(&self) -> [Option<RegisterBank>; 3] {
        [Some(self.0), None, None]
    }

    fn bank_of(&self, _: VReg) -> Option<usize> {
        Some(0)
    }

    fn fixed(&self, _: u32) -> Option<u8> {
        None
    }

    fn memory(&self) -> u64 {
        MAX_LOCAL_BYTES.into()
    }
}

struct Writer<'a> {
    cursor: Cursor<'a>,
    spills: u32,
}

impl<M: SingleRegisterFile> Rewriter<M> for Writer<'_> {
    fn inst(&mut self, code: &VCode<M>, vinst: &VInst<M>) -> Result<M::Inst, AllocError> {
        let mut inst = vinst.inst.clone();
        for operand in code.operands(vinst) {
            if let Access::UpdateInPlace(_) = operand.access {
                self.cursor.next_place();
            }
            let place = self.cursor.next_place().and_then(Allocation::as_reg);
            let place = place.ok_or_else(|| AllocError::Unsound(format!("{:?} has no register", operand.reg)))?;
            M::set(&mut inst, operand.place, place.hw_enc() as u64);
        }
        Ok(inst)
    }

    fn moves(&mut self, point: ProgPoint, push: &mut dyn FnMut(M::Inst)) -> Result<(), AllocError> {
        let offset = |place: Allocation| place.as_stack().map(|slot| 4 * slot.index() as u64);
        let number = |place: Allocation| place.as_reg().map(|reg| reg.hw_enc() as u64);
        while let Some((from, to)) = self.cursor.next_move(point) {
            match (number(from), offset(from), number(to), offset(to)) {
                (Some(from), _, Some(to), _) if from == to => {}
                (Some(from), _, Some(to), _) => push(M::copy(from, to)),
                (Some(from), _, _, Some(to)) => {
                    self.spills += 1;
                    push(M::spill(from, to));
                }
                (_, Some(from), Some(to), _) => push(M::reload(from, to)),
                _ => return Err(AllocError::Unsound(format!("a move from {from} to {to}"))),
            }
        }
        Ok(())
    }
}
