//! Support for the tests of HALU register allocation: a builder of code on virtual registers, and
//! an interpreter that executes code before and after allocation.

pub mod random;

use std::collections::HashMap;

use halfbyte_abi::Signature;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Access as Memory, Address, ControlFlow, Reader, SpecialReg, Write};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::meaning::{guard, meaning};
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::word::Field;
use halfbyte_isel::mach;
use halfbyte_isel::regalloc::{AllocError, Allocator, Options, allocate};
use halfbyte_isel::vcode::{Access, BlockIndex, Edge, Terminator, VBlock, VInst, VReg};
use halfbyte_isel::{Halu, HaluExtra, RegClass};

/// Types of HALU: selected code, its operands, and allocated code.
pub type VCode = halfbyte_isel::vcode::VCode<Halu>;
pub type Operand = halfbyte_isel::vcode::Operand<Halu>;
pub type MachFunc = mach::MachFunc<Halu>;

/// Builder of HALU code on virtual registers. The blocks can be filled in any order.
#[derive(Default)]
pub struct Builder {
    vregs: Vec<RegClass>,
    blocks: Vec<Draft>,
    at: usize,
}

struct Draft {
    params: Vec<VReg>,
    insts: Vec<(Inst, Vec<Operand>)>,
    end: End,
}

type Target<'a> = (BlockIndex, &'a [VReg]);

enum End {
    Exit,
    Jump(BlockIndex, Vec<VReg>),
    Branch(VReg, bool, [(BlockIndex, Vec<VReg>); 2]),
}

pub fn used(field: Field, reg: VReg) -> Operand {
    part(field, reg, 0)
}

pub fn part(field: Field, reg: VReg, part: u8) -> Operand {
    Operand { place: field, reg, part, access: Access::Use }
}

pub fn def(field: Field, reg: VReg) -> Operand {
    Operand { place: field, reg, part: 0, access: Access::Def }
}

pub fn replace(field: Field, reg: VReg, part: u8, old: VReg) -> Operand {
    Operand { place: field, reg, part, access: Access::UpdateInPlace(old) }
}

impl Builder {
    /// Creates code with an empty entry block, which is the current block.
    pub fn new() -> Builder {
        let mut builder = Builder::default();
        builder.block(&[]);
        builder
    }

    pub fn reg(&mut self, class: RegClass) -> VReg {
        self.vregs.push(class);
        VReg(self.vregs.len() as u32 - 1)
    }

    pub fn block(&mut self, params: &[RegClass]) -> (BlockIndex, Vec<VReg>) {
        let params: Vec<_> = params.iter().map(|&class| self.reg(class)).collect();
        self.blocks.push(Draft { params: params.clone(), insts: Vec::new(), end: End::Exit });
        (self.blocks.len() as BlockIndex - 1, params)
    }

    /// Makes a block the current one, to which instructions are appended.
    pub fn at(&mut self, block: BlockIndex) {
        self.at = block as usize;
    }

    pub fn inst(&mut self, inst: Inst, operands: &[Operand]) {
        self.blocks[self.at].insts.push((inst, operands.to_vec()));
    }

    /// Appends an instruction whose destination RD is a whole new register.
    pub fn make(&mut self, class: RegClass, inst: Inst, operands: &[Operand]) -> VReg {
        let reg = self.reg(class);
        self.inst(inst, &[&[def(RD, reg)], operands].concat());
        reg
    }

    pub fn constant(&mut self, value: u32) -> VReg {
        self.make(RegClass::Word, Inst::new(Opcode::MOV_I).with(IMM32, value.into()), &[])
    }

    /// Computes `3 * a + b`, which depends on the order of the operands.
    pub fn mix(&mut self, a: VReg, b: VReg) -> VReg {
        self.make(RegClass::Word, Inst::new(Opcode::IMAD_RIR).with(IMM32, 3), &[used(RA, a), used(R64, b)])
    }

    pub fn less(&mut self, a: VReg, b: VReg) -> VReg {
        let p = self.reg(RegClass::Pred);
        self.inst(Inst::new(Opcode::ISETP_RR), &[def(PU, p), used(RA, a), used(R32, b)]);
        p
    }

    /// Emits a select of 1 or 0 by a predicate, and returns its register.
    pub fn truth(&mut self, p: VReg) -> VReg {
        let sel = Inst::new(Opcode::SEL_RI).with(IMM32, 1).with(PP_NOT, 1);
        self.make(RegClass::Word, sel, &[used(PP, p)])
    }

    /// Builds a wide register from its 32-bit parts.
    pub fn build(&mut self, words: &[VReg]) -> VReg {
        let class = if words.len() == 2 { RegClass::Pair } else { RegClass::Quad };
        let mov = Inst::new(Opcode::MOV_R);
        let mut whole = self.make(class, mov, &[used(R32, words[0])]);
        for (i, &word) in words.iter().enumerate().skip(1) {
            let next = self.reg(class);
            self.inst(mov, &[replace(RD, next, i as u8, whole), used(R32, word)]);
            whole = next;
        }
        whole
    }

    /// Loads a register of the class from global memory.
    pub fn load(&mut self, class: RegClass, address: u32) -> VReg {
        let opcode = match class {
            RegClass::Pair => Opcode::LDG_U_64,
            RegClass::Quad => Opcode::LDG_U_128,
            _ => Opcode::LDG_U_32,
        };
        self.make(class, Inst::new(opcode).with(IMM24, address.into()), &[])
    }

    /// Stores a whole register to global memory.
    pub fn store(&mut self, reg: VReg, address: u32) {
        let opcode = match self.class(reg) {
            RegClass::Pair => Opcode::STG_U_64,
            RegClass::Quad => Opcode::STG_U_128,
            _ => Opcode::STG_U_32,
        };
        self.inst(Inst::new(opcode).with(IMM24, address.into()), &[used(R64, reg)]);
    }

    pub fn class(&self, reg: VReg) -> RegClass {
        self.vregs[reg.0 as usize]
    }

    pub fn jump(&mut self, (block, args): Target) {
        self.blocks[self.at].end = End::Jump(block, args.to_vec());
    }

    pub fn branch(&mut self, cond: VReg, not: bool, then: Target, otherwise: Target) {
        let edges = [then, otherwise].map(|(block, args)| (block, args.to_vec()));
        self.blocks[self.at].end = End::Branch(cond, not, edges);
    }

    pub fn finish(self) -> VCode {
        let mut code = VCode {
            signature: Signature::new("test", Vec::new()).unwrap(),
            vregs: self.vregs,
            blocks: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            pool: Vec::new(),
            parts: Vec::new(),
            extra: HaluExtra::default(),
        };
        let loc = Loc::default();
        for draft in self.blocks {
            let first = code.insts.len() as u32;
            for (inst, operands) in draft.insts {
                let start = code.operands.len() as u32;
                code.operands.extend(operands);
                code.insts.push(VInst { inst, operands: start..code.operands.len() as u32, loc });
            }
            let insts = first..code.insts.len() as u32;
            let params = list(&mut code.pool, &draft.params);
            let terminator = match draft.end {
                End::Exit => Terminator::Exit,
                End::Jump(block, args) => Terminator::Jump(Edge { block, args: list(&mut code.pool, &args) }),
                End::Branch(cond, not, edges) => {
                    let [then, otherwise] =
                        edges.map(|(block, args)| Edge { block, args: list(&mut code.pool, &args) });
                    let start = code.operands.len() as u32;
                    code.operands.push(used(GUARD, cond));
                    let inst = Inst::new(Opcode::BRA).with(GUARD_NOT, not.into());
                    Terminator::Branch { inst: VInst { inst, operands: start..start + 1, loc }, then, otherwise }
                }
            };
            code.blocks.push(VBlock { params, insts, terminator, loc });
        }
        code
    }
}

fn list(pool: &mut Vec<VReg>, regs: &[VReg]) -> std::ops::Range<u32> {
    let start = pool.len() as u32;
    pool.extend(regs);
    start..pool.len() as u32
}

/// Observable behaviour of code: address and value of each word that it stores to global memory, in order.
pub type Trace = Vec<(u64, u32)>;

/// State of the interpreter. A word of global memory that was never stored is a hash of its address.
struct Machine {
    gprs: [u32; 256],
    preds: [bool; 8],
    local: Vec<u8>,
    global: HashMap<u64, u32>,
    trace: Trace,
}

struct State<'a>(&'a [u32; 256], &'a [bool; 8]);

impl Reader<Concrete> for State<'_> {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.0[n as usize]
    }

    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        panic!("UR{n} is read")
    }

    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.1[n as usize]
    }

    fn constant(&mut self, _: &mut Concrete, bank: u8, offset: u16) -> u32 {
        panic!("c[{bank}][{offset}] is read")
    }

    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        0
    }
}

impl Machine {
    /// Creates a state whose registers hold arbitrary contents, so that reads of unwritten
    /// registers change the results.
    fn new(local_bytes: u32, junk: u32) -> Machine {
        Machine {
            gprs: std::array::from_fn(|i| scramble(junk.wrapping_add(i as u32))),
            preds: std::array::from_fn(|i| scramble(junk ^ i as u32) & 1 != 0),
            local: vec![junk as u8; local_bytes as usize],
            global: HashMap::new(),
            trace: Trace::new(),
        }
    }

    fn step(&mut self, inst: &Inst) -> ControlFlow {
        inst.validate().unwrap();
        let mut state = State(&self.gprs, &self.preds);
        if guard(inst, &mut Concrete, &mut state) == Some(false) {
            return ControlFlow::Fall;
        }
        let effects = meaning(inst, &mut Concrete, &mut state);
        for write in effects.writes {
            match write {
                Write::Gpr(n, word) => self.gprs[n as usize] = word,
                Write::Pred(n, p) => self.preds[n as usize] = p,
                Write::Ur(n, _) => panic!("UR{n} is written"),
            }
        }
        match effects.access {
            None => {}
            Some(Memory::Load { address, width, dst, .. }) => {
                for word in 0..width.registers() {
                    self.gprs[usize::from(dst + word)] = self.load(at(&address, width.bytes(), word), &address);
                }
            }
            Some(Memory::Atomic { .. }) => panic!("memory is changed in one step"),
            Some(Memory::Store { address, width, data }) => {
                for (word, &value) in data.iter().enumerate() {
                    self.store(at(&address, width.bytes(), word as u8), &address, value);
                }
            }
        }
        effects.next
    }

    fn load(&self, at: u64, address: &Address<u32>) -> u32 {
        match address {
            Address::Local { .. } => u32::from_le_bytes(self.local[at as usize..][..4].try_into().unwrap()),
            _ => self.global.get(&at).copied().unwrap_or_else(|| scramble(at as u32)),
        }
    }

    fn store(&mut self, at: u64, address: &Address<u32>, value: u32) {
        match address {
            Address::Local { .. } => self.local[at as usize..][..4].copy_from_slice(&value.to_le_bytes()),
            _ => {
                self.global.insert(at, value);
                self.trace.push((at, value));
            }
        }
    }
}

fn scramble(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    (x ^ x >> 15).wrapping_mul(0x846c_a68b)
}

/// Returns the address of word number `word` of an access, and checks the alignment of the access.
fn at(address: &Address<u32>, bytes: u32, word: u8) -> u64 {
    let base = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
    let first = match *address {
        Address::Uniform { offset, base: b, imm } => {
            base(b).wrapping_add(offset.into()).wrapping_add_signed(imm.into())
        }
        Address::Wide { base: b, imm } => base(b).wrapping_add_signed(imm.into()),
        Address::Local { imm } => imm.into(),
        Address::Constant { .. } => panic!("constant memory is read"),
        Address::Flat { .. } | Address::Shared { .. } | Address::Scratch { .. } => panic!("other memory is reached"),
    };
    assert!(
        first.is_multiple_of(bytes.into()) || matches!(address, Address::Wide { .. }),
        "{first:#x} is not a multiple of {bytes}"
    );
    first + 4 * u64::from(word)
}

/// Executes code on virtual registers, for at most `blocks` blocks.
pub fn run_virtual(code: &VCode, mut blocks: u32) -> Trace {
    let mut machine = Machine::new(0, 1);
    let mut values = vec![([0; 4], false); code.vregs.len()];
    let mut block = &code.blocks[0];
    while blocks > 0 {
        blocks -= 1;
        for vinst in &code.insts[block.insts.start as usize..block.insts.end as usize] {
            let (mut inst, operands) = (vinst.inst, code.operands(vinst));
            // Each operand gets registers of its own for this instruction.
            for (i, operand) in operands.iter().enumerate() {
                let source = match operand.access {
                    Access::UpdateInPlace(old) => old,
                    Access::Use | Access::Def => operand.reg,
                };
                let (words, p) = values[source.0 as usize];
                if code.vregs[operand.reg.0 as usize] == RegClass::Pred {
                    assert!(i < 7);
                    machine.preds[i] = p;
                    inst.set(operand.place, i as u64);
                } else {
                    machine.gprs[4 * i..][..4].copy_from_slice(&words);
                    inst.set(operand.place, 4 * i as u64 + u64::from(operand.part));
                }
            }
            assert_eq!(machine.step(&inst), ControlFlow::Fall);
            for (i, operand) in operands.iter().enumerate().filter(|(_, operand)| operand.access != Access::Use) {
                let (words, p) = &mut values[operand.reg.0 as usize];
                if code.vregs[operand.reg.0 as usize] == RegClass::Pred {
                    *p = machine.preds[i];
                } else {
                    words.copy_from_slice(&machine.gprs[4 * i..][..4]);
                }
            }
        }
        let edge = match &block.terminator {
            Terminator::Exit => break,
            Terminator::Jump(edge) => edge,
            Terminator::Branch { inst, then, otherwise } => {
                let cond = code.operands(inst)[0].reg;
                if values[cond.0 as usize].1 != (inst.inst.get(GUARD_NOT) != 0) { then } else { otherwise }
            }
        };
        block = &code.blocks[edge.block as usize];
        let args: Vec<_> = code.list(&edge.args).iter().map(|arg| values[arg.0 as usize]).collect();
        for (param, value) in code.list(&block.params).iter().zip(args) {
            values[param.0 as usize] = value;
        }
    }
    machine.trace
}

/// Executes allocated code, for at most `blocks` blocks. Checks that the registers of each executed
/// instruction are below the number of registers in use, and aligned.
pub fn run_machine(func: &MachFunc, mut blocks: u32) -> Trace {
    let mut machine = Machine::new(func.local_bytes, 2);
    let mut block = 0;
    'blocks: while blocks > 0 {
        blocks -= 1;
        for mach in &func.blocks[block].insts {
            check(func, &mach.inst);
            match machine.step(&mach.inst) {
                ControlFlow::Fall => {}
                ControlFlow::Collective => panic!("items meet"),
                ControlFlow::Exit => break 'blocks,
                ControlFlow::Branch(_) => {
                    block = mach.target.unwrap() as usize;
                    continue 'blocks;
                }
            }
        }
        block += 1;
    }
    machine.trace
}

fn check(func: &MachFunc, inst: &Inst) {
    for slot in inst.registers() {
        let number = inst.get(slot.field) as u32;
        if slot.file == RegFile::Gpr && number != u32::from(RZ) {
            let last = number + u32::from(slot.span) - 1;
            assert!(
                number.is_multiple_of(slot.span.into()) && last < func.registers,
                "{} {number}",
                inst.opcode().name()
            );
        }
    }
}

/// Allocates the registers of code with all checks enabled.
pub fn checked(code: VCode) -> Result<MachFunc, AllocError> {
    allocate(code, &Options { check: true, ..Options::default() })
}

/// Allocates code with both algorithms of regalloc2, and checks that the results behave like the code.
pub fn same(code: VCode) -> MachFunc {
    const BLOCKS: u32 = 200;
    let func = checked(code.clone()).unwrap();
    let expected = run_virtual(&code, BLOCKS);
    assert!(!expected.is_empty());
    let linear = Allocator::linear().allocate(code, &Options { check: true, ..Options::default() }).unwrap();
    for func in [&func, &linear] {
        assert!(func.registers <= 255);
        assert_eq!(run_machine(func, BLOCKS), expected);
    }
    func
}

/// Returns the number of instructions with an opcode.
pub fn count(func: &MachFunc, opcode: Opcode) -> usize {
    func.blocks.iter().flat_map(|block| &block.insts).filter(|mach| mach.inst.opcode() == opcode).count()
}
