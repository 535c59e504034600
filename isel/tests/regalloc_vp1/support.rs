//! Support for the tests of VP1 register allocation: a builder of code on virtual registers, and a
//! processor that executes code before and after allocation, one instruction or group per bundle.

use std::ops::Range;

use halfbyte_abi::Signature;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::domain::Next;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Inst, Opcode};
use halfbyte_isel::Vp1;
use halfbyte_isel::mach;
use halfbyte_isel::regalloc::{AllocError, Options, allocate};
use halfbyte_isel::vcode::{self, Access, BlockIndex, Edge, Terminator, VBlock, VInst, VReg};
use halfbyte_isel::vp1::{Class, Extra, Group, GroupRegisterPosition};

pub type VCode = vcode::VCode<Vp1>;
pub type Operand = vcode::Operand<Vp1>;
pub type MachFunc = mach::MachFunc<Vp1>;
type Target<'a> = (BlockIndex, &'a [VReg]);

/// Number and contents of the `$a` through which code stores results. The earlier contents of this
/// memory are not part of the result.
const OUT: (u64, u32) = (0, 0x1000);
/// Number and contents of the `$a` through which code loads arbitrary data.
const IN: (u64, u32) = (1, 0x1800);

pub fn used(place: impl Into<GroupRegisterPosition>, reg: VReg) -> Operand {
    part(place, reg, 0)
}

pub fn part(place: impl Into<GroupRegisterPosition>, reg: VReg, part: u8) -> Operand {
    Operand { place: place.into(), reg, part, access: Access::Use }
}

pub fn def(place: impl Into<GroupRegisterPosition>, reg: VReg) -> Operand {
    Operand { place: place.into(), reg, part: 0, access: Access::Def }
}

pub fn replace(place: impl Into<GroupRegisterPosition>, reg: VReg, old: VReg) -> Operand {
    Operand { place: place.into(), reg, part: 0, access: Access::UpdateInPlace(old) }
}

/// Returns the operand for the second instruction of a group instead of the first.
pub fn second(operand: Operand) -> Operand {
    Operand { place: GroupRegisterPosition { inst: 1, ..operand.place }, ..operand }
}

/// Returns one operand for each register of a tuple.
pub fn tuple(place: impl Into<GroupRegisterPosition> + Copy, regs: &[VReg]) -> Vec<Operand> {
    (0..).zip(regs).map(|(i, &reg)| part(place, reg, i)).collect()
}

/// Builder of VP1 code on virtual registers. The blocks can be filled in any order.
pub struct Builder {
    pub code: VCode,
    blocks: Vec<Draft>,
    at: usize,
}

struct Draft {
    params: Vec<VReg>,
    insts: Vec<(Group, Vec<Operand>)>,
    end: End,
}

enum End {
    Exit,
    Jump(BlockIndex, Vec<VReg>),
    Branch(Inst, Vec<Operand>, [(BlockIndex, Vec<VReg>); 2]),
}

impl Builder {
    /// Creates code with an empty entry block, which is the current block.
    pub fn new() -> Builder {
        let code = VCode {
            signature: Signature::new("test", Vec::new()).unwrap(),
            vregs: Vec::new(),
            blocks: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            pool: Vec::new(),
            parts: Vec::new(),
            extra: Extra::default(),
        };
        let mut builder = Builder { code, blocks: Vec::new(), at: 0 };
        builder.block(&[]);
        builder
    }

    pub fn reg(&mut self, class: Class) -> VReg {
        self.code.vregs.push(class);
        VReg(self.code.vregs.len() as u32 - 1)
    }

    pub fn block(&mut self, params: &[Class]) -> (BlockIndex, Vec<VReg>) {
        let params: Vec<_> = params.iter().map(|&class| self.reg(class)).collect();
        self.blocks.push(Draft { params: params.clone(), insts: Vec::new(), end: End::Exit });
        (self.blocks.len() as BlockIndex - 1, params)
    }

    /// Makes a block the current one, to which instructions are appended.
    pub fn at(&mut self, block: BlockIndex) {
        self.at = block as usize;
    }

    pub fn inst(&mut self, inst: impl Into<Group>, operands: &[Operand]) {
        self.blocks[self.at].insts.push((inst.into(), operands.to_vec()));
    }

    /// Appends an instruction whose result in field DST is a new register.
    pub fn make(&mut self, class: Class, inst: Inst, operands: &[Operand]) -> VReg {
        let reg = self.reg(class);
        self.inst(inst, &[&[def(DST, reg)], operands].concat());
        reg
    }

    /// Appends a group of two instructions, and returns the result of the second one in field DST.
    /// `operands` contain the index of their instruction.
    pub fn make_two(&mut self, class: Class, insts: [Inst; 2], operands: &[Operand]) -> VReg {
        let reg = self.reg(class);
        self.inst(insts, &[&[second(def(DST, reg))], operands].concat());
        reg
    }

    pub fn constant(&mut self, value: u32) -> VReg {
        self.make(Class::R, Inst::new(Opcode::MOV_I).with(IMM19, value.into()), &[])
    }

    /// Loads a vector of arbitrary data that depends on `number`.
    pub fn vector(&mut self, number: u32) -> VReg {
        let load = Inst::new(Opcode::LDVH).with(SRC1, IN.0).with(IMM, 16 * u64::from(number % 64));
        self.make(Class::V, load, &[])
    }

    /// Emits the difference of two words, which depends on the order of the operands.
    pub fn mix(&mut self, a: VReg, b: VReg) -> VReg {
        self.make(Class::R, Inst::new(Opcode::SUB_RR), &[used(SRC1, a), used(SRC2, b)])
    }

    /// Emits a function of all bits of two vectors that depends on the order of the operands.
    pub fn mix_vectors(&mut self, a: VReg, b: VReg) -> VReg {
        let half = self.make(Class::V, Inst::new(Opcode::VSHR_U_RI).with(BIMM, 1), &[used(SRC1, a)]);
        let mixed =
            self.make(Class::V, Inst::new(Opcode::VBITOP_RR).with(BITOP, 6), &[used(SRC1, half), used(SRC2, b)]);
        self.make(Class::V, Inst::new(Opcode::VBITOP_RR).with(BITOP, 6), &[used(SRC1, mixed), used(SRC2, a)])
    }

    /// Emits the difference of two words, and returns its sign and zero flags.
    pub fn compare(&mut self, a: VReg, b: VReg) -> VReg {
        let flags = self.reg(Class::C);
        self.inst(Inst::new(Opcode::SUB_RR), &[def(CDST, flags), used(SRC1, a), used(SRC2, b)]);
        flags
    }

    /// Emits the differences of the bytes of two vectors, and returns their sign and zero flags.
    pub fn compare_vectors(&mut self, a: VReg, b: VReg) -> VReg {
        let flags = self.reg(Class::Vc);
        let unread = self.reg(Class::V);
        self.inst(Inst::new(Opcode::VSUB_S_RR), &[def(DST, unread), def(CDST, flags), used(SRC1, a), used(SRC2, b)]);
        flags
    }

    /// Returns flags that do not rotate a quad.
    pub fn no_rotation(&mut self) -> VReg {
        let flags = self.reg(Class::C);
        self.inst(Inst::new(Opcode::OR_RI), &[def(CDST, flags)]);
        flags
    }

    /// Stores a register as a part of the observable result.
    pub fn store(&mut self, reg: VReg, address: u32) {
        let opcode = if self.class(reg) == Class::V { Opcode::STVH } else { Opcode::STS };
        let store = Inst::new(opcode).with(DST, OUT.0).with(IMM, u64::from(16 * address % 2048));
        self.inst(store, &[used(SRC1, reg)]);
    }

    pub fn class(&self, reg: VReg) -> Class {
        self.code.vregs[reg.0 as usize]
    }

    pub fn jump(&mut self, (block, args): Target) {
        self.blocks[self.at].end = End::Jump(block, args.to_vec());
    }

    /// Branches to `then` if the bit of the flags is set, or if it is clear and `not` is `true`.
    /// Otherwise branches to `otherwise`.
    pub fn branch(&mut self, flags: VReg, bit: u64, not: bool, then: Target, otherwise: Target) {
        let opcode = if not { Opcode::BRA_NOT } else { Opcode::BRA };
        self.branch_by(Inst::new(opcode).with(SLCT, bit), &[used(COND, flags)], then, otherwise);
    }

    pub fn branch_by(&mut self, inst: Inst, operands: &[Operand], then: Target, otherwise: Target) {
        let edges = [then, otherwise].map(|(block, args)| (block, args.to_vec()));
        self.blocks[self.at].end = End::Branch(inst, operands.to_vec(), edges);
    }

    pub fn finish(self) -> VCode {
        let Builder { mut code, blocks, .. } = self;
        let loc = Loc::default();
        for draft in blocks {
            let first = code.insts.len() as u32;
            for (inst, operands) in draft.insts {
                let operands = append(&mut code.operands, &operands);
                code.insts.push(VInst { inst, operands, loc });
            }
            let insts = first..code.insts.len() as u32;
            let params = append(&mut code.pool, &draft.params);
            let mut edge = |block, args: &[VReg]| Edge { block, args: append(&mut code.pool, args) };
            let terminator = match draft.end {
                End::Exit => Terminator::Exit,
                End::Jump(block, args) => Terminator::Jump(edge(block, &args)),
                End::Branch(inst, operands, [then, otherwise]) => {
                    let (then, otherwise) = (edge(then.0, &then.1), edge(otherwise.0, &otherwise.1));
                    let operands = append(&mut code.operands, &operands);
                    Terminator::Branch { inst: VInst { inst: inst.into(), operands, loc }, then, otherwise }
                }
            };
            code.blocks.push(VBlock { params, insts, terminator, loc });
        }
        code
    }
}

fn append<T: Clone>(list: &mut Vec<T>, items: &[T]) -> Range<u32> {
    let start = list.len() as u32;
    list.extend_from_slice(items);
    start..list.len() as u32
}

/// Observable behaviour of code: address and contents of each store, in order.
pub type Trace = Vec<(u64, [u8; 16])>;

/// Returns the byte at address `at` of the memory from which code loads.
pub fn junk(at: u32) -> u8 {
    ((at * at) >> 3 ^ at) as u8
}

/// Creates a processor whose registers hold arbitrary contents, so that reads of unwritten
/// registers change the results.
fn processor(seed: u32) -> State {
    let mut state = State::default();
    let mut next = seed;
    let mut word = || {
        next = next.wrapping_mul(0x9e37_79b9).wrapping_add(0x7f4a_7c15);
        next ^ next >> 15
    };
    state.r.fill_with(&mut word);
    state.v.as_flattened_mut().fill_with(|| word() as u8);
    state.vc.fill_with(&mut word);
    state.c.fill_with(|| word() as u16 | 0x8000);
    (0..2048).for_each(|at| state.data.set_byte(at, word() as u8));
    // The memory from which code loads is the same before and after allocation.
    (0..2048).for_each(|at| state.data.set_byte(IN.1 + at, junk(at)));
    (state.a[OUT.0 as usize], state.a[IN.0 as usize]) = (OUT.1, IN.1);
    state
}

/// Executes the instructions of a group as one bundle. Returns `true` if a branch is taken.
fn step(state: &mut State, group: &Group, trace: &mut Trace) -> bool {
    let words: Vec<u32> = group.insts.iter().map(Inst::word).collect();
    let stored = group.insts.iter().find(|inst| is_result(inst)).map(|inst| inst.get(IMM));
    let next = state.step(&Bundle::new(&words).unwrap(), |_| {});
    if let Some(at) = stored {
        let word = group.insts[0].opcode() == Opcode::STS;
        let bytes = if word { 4 } else { 16 };
        let byte = |i: usize| if i < bytes { state.data.byte(OUT.1 + at as u32 + i as u32) } else { 0 };
        trace.push((at, std::array::from_fn(byte)));
    }
    match next {
        Next::Jump { taken, .. } => taken.is_none_or(|taken| taken != 0),
        Next::Fall => false,
        other => panic!("{other:?}"),
    }
}

fn is_result(inst: &Inst) -> bool {
    matches!(inst.opcode(), Opcode::STS | Opcode::STVH) && inst.get(DST) == OUT.0
}

/// Contents of a virtual register.
#[derive(Clone, Copy, Default)]
struct Value {
    v: [u8; 16],
    word: u32,
}

fn put(state: &mut State, class: Class, number: usize, value: Value) {
    match class {
        Class::R => state.r[number] = value.word,
        Class::V => state.v[number] = value.v,
        Class::C => state.c[number] = value.word as u16,
        Class::Vc => state.vc[number] = value.word,
    }
}

fn get(state: &State, class: Class, number: usize) -> Value {
    match class {
        Class::R => Value { word: state.r[number], ..Value::default() },
        Class::V => Value { v: state.v[number], ..Value::default() },
        Class::C => Value { word: state.c[number].into(), ..Value::default() },
        Class::Vc => Value { word: state.vc[number], ..Value::default() },
    }
}

/// Executes code on virtual registers, for at most `blocks` blocks.
pub fn run_virtual(code: &VCode, mut blocks: u32) -> Trace {
    let mut state = processor(1);
    let mut trace = Trace::new();
    let mut values = vec![Value::default(); code.vregs.len()];
    let mut block = &code.blocks[0];
    // Each register field gets registers of its own for this instruction.
    let mut run = |inst: &VInst<Vp1>, values: &mut Vec<Value>, trace: &mut Trace| {
        let mut group = inst.inst.clone();
        let mut next = [0; 4];
        let mut defs = Vec::new();
        for same in code.operands(inst).chunk_by(|a, b| a.place == b.place) {
            let class = code.vregs[same[0].reg.0 as usize];
            let next = &mut next[class as usize];
            let align = if same.len() > 1 { 4 } else { 1 };
            let place = same[0].place;
            let member = &group.insts[usize::from(place.inst)];
            let first = if member.shares(place.field) {
                member.get(place.field) as usize
            } else {
                let first = usize::next_multiple_of(*next, align);
                *next = first + same.last().unwrap().part as usize + 1;
                first
            };
            for operand in same {
                let source = match operand.access {
                    Access::UpdateInPlace(old) => old,
                    Access::Use | Access::Def => operand.reg,
                };
                let number = first + usize::from(operand.part);
                if operand.access != Access::Def {
                    put(&mut state, class, number, values[source.0 as usize]);
                }
                if operand.access != Access::Use {
                    defs.push((operand.reg, class, number));
                }
            }
            group.insts[usize::from(place.inst)].set(place.field, first as u64);
        }
        let taken = step(&mut state, &group, trace);
        for (reg, class, number) in defs {
            values[reg.0 as usize] = get(&state, class, number);
        }
        taken
    };
    while blocks > 0 {
        blocks -= 1;
        for inst in &code.insts[block.insts.start as usize..block.insts.end as usize] {
            run(inst, &mut values, &mut trace);
        }
        let edge = match &block.terminator {
            Terminator::Exit => break,
            Terminator::Jump(edge) => edge,
            Terminator::Branch { inst, then, otherwise } => {
                if run(inst, &mut values, &mut trace) {
                    then
                } else {
                    otherwise
                }
            }
        };
        block = &code.blocks[edge.block as usize];
        let args: Vec<_> = code.list(&edge.args).iter().map(|arg| values[arg.0 as usize]).collect();
        for (param, value) in code.list(&block.params).iter().zip(args) {
            values[param.0 as usize] = value;
        }
    }
    trace
}

/// Executes allocated code, for at most `blocks` blocks.
pub fn run_machine(func: &MachFunc, mut blocks: u32) -> Trace {
    let mut state = processor(2);
    let mut trace = Trace::new();
    let mut block = 0;
    'blocks: while blocks > 0 {
        blocks -= 1;
        for mach in &func.blocks[block].insts {
            check(func, &mach.inst);
            if mach.inst.insts[0].opcode() == Opcode::EXIT {
                break 'blocks;
            }
            if step(&mut state, &mach.inst, &mut trace) {
                block = mach.target.unwrap() as usize;
                continue 'blocks;
            }
        }
        block += 1;
    }
    trace
}

fn check(func: &MachFunc, group: &Group) {
    for inst in &group.insts {
        for slot in inst.registers().iter().filter(|slot| slot.file == RegFile::R) {
            let number = inst.get(slot.field) as u32;
            assert!(number == 31 || number < func.registers, "{inst} of {}", func.registers);
        }
        if [Opcode::STS, Opcode::STVH, Opcode::LDS, Opcode::LDVH].contains(&inst.opcode()) {
            let base = if matches!(inst.opcode(), Opcode::STS | Opcode::STVH) { DST } else { SRC1 };
            assert!(inst.get(base) != 31 || inst.get(IMM) < func.local_bytes.into(), "{inst}");
        }
    }
}

/// Allocates the registers of code with all checks enabled.
pub fn checked(code: VCode) -> Result<MachFunc, AllocError> {
    allocate(code, &Options { check: true, ..Options::default() })
}

/// Allocates code, and checks that the allocated code behaves like the code before allocation.
pub fn same(code: VCode) -> MachFunc {
    const BLOCKS: u32 = 200;
    let func = checked(code.clone()).unwrap();
    let expected = run_virtual(&code, BLOCKS);
    assert!(!expected.is_empty());
    assert_eq!(run_machine(&func, BLOCKS), expected);
    func
}

/// Returns the number of instructions with an opcode.
pub fn count(func: &MachFunc, opcode: Opcode) -> usize {
    let insts = func.blocks.iter().flat_map(|block| &block.insts).flat_map(|mach| &mach.inst.insts);
    insts.filter(|inst| inst.opcode() == opcode).count()
}

/// Returns the number of instructions that move vectors. Code without such moves gets them only from the allocator.
pub fn moves(func: &MachFunc) -> usize {
    count(func, Opcode::MOV_V)
}
