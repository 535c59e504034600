//! Tests that the destruction of SSA form preserves the results of PTX code. Random code with
//! loops, joins and cyclic moves is compared with an interpretation of its SSA form.

use std::collections::HashMap;

use halfbyte::abi::{Axis, Direction, Param, ParamKind, Signature};
use halfbyte::emit::write_object;
use halfbyte::isa::object::{Header, Loc};
use halfbyte::isa::ptx::types::{Special, SpecialGroup, Token, Type};
use halfbyte::isa::ptx::{Address, Base, Guard, Inst, Opcode, Operand, Reg};
use halfbyte::runtime::{Arg, Launch, Program};
use halfbyte::{TARGETS, isa};
use halfbyte_isel::mach::MachFunc;
use halfbyte_isel::regalloc::{AllocError, Options, allocate};
use halfbyte_isel::vcode::{Edge, Machine, Terminator, VCode, VInst, VReg};
use halfbyte_isel::{Ptx, PtxExtra};

type PtxVCode = VCode<Ptx>;

const SM: halfbyte::Sm = halfbyte::Sm::SM_90;
const ITEMS: u32 = 6;
/// Maximum number of blocks that an item executes.
const FUEL: u64 = 40;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % limit
    }

    fn of(&mut self, all: &[Reg]) -> Reg {
        all[self.below(all.len())]
    }
}

fn inst(opcode: Opcode, words: &[Token], operands: &[Operand]) -> Inst {
    Inst {
        opcode,
        modifiers: words.iter().copied().collect(),
        guard: None,
        operands: operands.iter().cloned().collect(),
    }
}

/// An edge to a block, with the arguments for the parameters of the block.
#[derive(Clone)]
struct Way {
    block: u32,
    args: Vec<Reg>,
}

enum End {
    Exit,
    Jump(Way),
    Branch { guard: Guard, then: Way, otherwise: Way },
}

struct Block {
    params: Vec<Reg>,
    insts: Vec<Inst>,
    end: End,
}

/// Builder of random code.
struct Builder {
    registers: Vec<Type>,
    blocks: Vec<Block>,
    random: Random,
}

impl Builder {
    fn register(&mut self, ty: Type) -> Reg {
        self.registers.push(ty);
        Reg(self.registers.len() as u32 - 1)
    }

    fn block(&mut self, params: Vec<Reg>) -> u32 {
        self.blocks.push(Block { params, insts: Vec::new(), end: End::Exit });
        self.blocks.len() as u32 - 1
    }

    fn push(&mut self, block: u32, inst: Inst) {
        self.blocks[block as usize].insts.push(inst);
    }

    /// Appends `d = a op b` on 32-bit words to a block. Returns `d`.
    fn compute(&mut self, block: u32, opcode: Opcode, ty: Type, a: Reg, b: Operand) -> Reg {
        let d = self.register(Type::B32);
        let operands = [Operand::Register(d), Operand::Register(a), b];
        let words = [Token::Lo, Token::Type(ty)];
        let words = if opcode == Opcode::MUL { &words[..] } else { &words[1..] };
        self.push(block, inst(opcode, words, &operands));
        d
    }

    /// Appends a comparison of two 32-bit words to a block. Returns the predicate.
    fn test(&mut self, block: u32, compare: Token, a: Reg, b: Operand) -> Reg {
        let p = self.register(Type::Pred);
        let operands = [Operand::Register(p), Operand::Register(a), b];
        self.push(block, inst(Opcode::SETP_BITS, &[compare, Token::Type(Type::B32)], &operands));
        p
    }

    /// Adds a block that jumps to block `to`, and returns an edge to the added block. The jump
    /// passes `fuel` and random registers of `values`.
    fn way(&mut self, to: u32, fuel: Reg, values: &[Reg]) -> Way {
        let count = self.blocks[to as usize].params.len();
        let mut args: Vec<Reg> = (0..count).map(|_| self.random.of(values)).collect();
        args[0] = fuel;
        let block = self.block(Vec::new());
        self.blocks[block as usize].end = End::Jump(Way { block: to, args });
        Way { block, args: Vec::new() }
    }

    fn finish(self, max_items: u64) -> PtxVCode {
        let mut code = PtxVCode::new(
            signature(),
            PtxExtra { sm: SM, max_items, along_x: false, block: None, types: Vec::new(), arrays: Vec::new() },
        );
        code.vregs = self.registers;
        for (number, block) in (1..).zip(self.blocks) {
            let loc = Loc { line: number, column: 1 };
            let insts = block.insts.into_iter().map(|inst| VInst::alone(inst, loc));
            let edge = |code: &mut PtxVCode, way: Way| Edge {
                block: way.block,
                args: code.add_list(way.args.into_iter().map(VReg::from)),
            };
            let end = match block.end {
                End::Exit => Terminator::Exit,
                End::Jump(to) => Terminator::Jump(edge(&mut code, to)),
                End::Branch { guard, then, otherwise } => Terminator::Branch {
                    inst: VInst::alone(Inst { guard: Some(guard), ..Ptx::jump() }, loc),
                    then: edge(&mut code, then),
                    otherwise: edge(&mut code, otherwise),
                },
            };
            code.add_block(block.params.into_iter().map(VReg::from), insts, end, loc);
        }
        code
    }
}

fn signature() -> Signature {
    let elem = halfbyte::ir::Type::I32;
    let kind = ParamKind::Buffer { direction: Direction::Out, elem, align: 4, may_alias: false };
    Signature::new("k", vec![Param { name: "0y".to_owned(), kind }]).unwrap()
}

/// Returns random blocks with loops. The first parameter of each block is the number of blocks that
/// may still be executed.
fn code(seed: u64) -> PtxVCode {
    let mut b = Builder { registers: Vec::new(), blocks: Vec::new(), random: Random(seed) };
    let entry = b.block(Vec::new());
    let (item, fuel) = (b.register(Type::B32), b.register(Type::B32));
    let thread = Operand::Special(Special { group: SpecialGroup::Thread, axis: Axis::X });
    b.push(entry, inst(Opcode::MOV_SPECIAL, &[Token::Type(Type::U32)], &[Operand::Register(item), thread]));
    let number = Operand::Number(FUEL);
    b.push(entry, inst(Opcode::MOV, &[Token::Type(Type::B32)], &[Operand::Register(fuel), number]));
    let mut global = vec![item];
    for step in 1..4 {
        let last = *global.last().unwrap();
        let value = b.compute(entry, Opcode::MUL, Type::U32, last, Operand::Number(0x9e37_79b9 + step));
        global.push(value);
    }

    let count = 1 + b.random.below(5);
    let mut mains = Vec::new();
    for _ in 0..=count {
        let params = (0..2 + b.random.below(5)).map(|_| b.register(Type::B32)).collect();
        mains.push(b.block(params));
    }
    let last = mains.pop().unwrap();
    let start = b.way(mains[0], fuel, &global);
    b.blocks[entry as usize].end = End::Jump(start);

    for &main in &mains {
        let mut values = b.blocks[main as usize].params.clone();
        let fuel = values[0];
        let left = b.compute(main, Opcode::ADD, Type::U32, fuel, Operand::Number(0xffff_ffff));
        values.extend(&global);
        for _ in 0..b.random.below(4) {
            let (x, y) = (b.random.of(&values), b.random.of(&values));
            let (opcode, ty) = [(Opcode::ADD, Type::U32), (Opcode::XOR, Type::B32)][b.random.below(2)];
            values.push(b.compute(main, opcode, ty, x, Operand::Register(y)));
        }
        let empty = b.test(main, Token::Eq, left, Operand::Number(0));
        let out = b.way(last, left, &values);
        // The block has one successor or two.
        let mut on = {
            let to = mains[b.random.below(mains.len())];
            b.way(to, left, &values)
        };
        if b.random.below(3) > 0 {
            let block = b.block(Vec::new());
            let (x, y) = (b.random.of(&values), b.random.of(&values));
            let guard = Guard { reg: b.test(block, Token::Ne, x, Operand::Register(y)), not: b.random.below(2) == 0 };
            let to = mains[b.random.below(mains.len())];
            let otherwise = b.way(to, left, &values);
            b.blocks[block as usize].end = End::Branch { guard, then: on, otherwise };
            on = Way { block, args: Vec::new() };
        }
        let guard = Guard { reg: empty, not: b.random.below(2) == 0 };
        let (then, otherwise) = if guard.not { (on, out) } else { (out, on) };
        b.blocks[main as usize].end = End::Branch { guard, then, otherwise };
    }

    // Combines all parameters of the last block to one word.
    let params = b.blocks[last as usize].params.clone();
    let mut all = params[0];
    for &param in &params[1..] {
        let turned = b.compute(last, Opcode::MUL, Type::U32, all, Operand::Number(31));
        all = b.compute(last, Opcode::ADD, Type::U32, turned, Operand::Register(param));
    }
    let [base, wide, address] = [(); 3].map(|()| b.register(Type::B64));
    let param = Operand::Memory(Address { base: Base::Parameter(0), offset: 0 });
    let of = |ty| Token::Type(ty);
    b.push(last, inst(Opcode::LD_PARAM, &[Token::Param, of(Type::U64)], &[Operand::Register(base), param]));
    let operands = [Operand::Register(wide), Operand::Register(item), Operand::Number(4)];
    b.push(last, inst(Opcode::MUL_WIDE, &[Token::Wide, of(Type::U32)], &operands));
    let operands = [address, base, wide].map(Operand::Register);
    b.push(last, inst(Opcode::ADD, &[of(Type::U64)], &operands));
    let place = Operand::Memory(Address { base: Base::Register(address), offset: 0 });
    b.push(last, inst(Opcode::ST, &[Token::Global, of(Type::B32)], &[place, Operand::Register(all)]));
    b.finish(1 << 20)
}

/// Interprets the SSA form of the code. Returns the word that an item stores.
fn walk(code: &PtxVCode, item: u32) -> u32 {
    let mut held: HashMap<Reg, u32> = HashMap::new();
    let mut at = 0;
    loop {
        let block = &code.blocks[at as usize];
        for VInst { inst, .. } in code.insts_of(block) {
            let value = |operand: &Operand, held: &HashMap<Reg, u32>| match *operand {
                Operand::Register(reg) => held[&reg],
                Operand::Number(bits) => bits as u32,
                _ => item,
            };
            let operands = &inst.operands;
            let Operand::Register(d) = operands[0] else { return value(&operands[1], &held) };
            let result = match inst.opcode {
                Opcode::MOV | Opcode::MOV_SPECIAL => value(&operands[1], &held),
                Opcode::LD_PARAM | Opcode::MUL_WIDE => continue,
                Opcode::ADD if inst.ty(0) == Type::U64 => continue,
                opcode => {
                    let (a, b) = (value(&operands[1], &held), value(&operands[2], &held));
                    match opcode {
                        Opcode::ADD => a.wrapping_add(b),
                        Opcode::MUL => a.wrapping_mul(b),
                        Opcode::XOR => a ^ b,
                        _ if inst.has(Token::Eq) => (a == b).into(),
                        _ => (a != b).into(),
                    }
                }
            };
            held.insert(d, result);
        }
        let edge = match &block.terminator {
            Terminator::Exit => panic!("what is stored comes first"),
            Terminator::Jump(edge) => edge,
            Terminator::Branch { inst, then, otherwise } => {
                let guard = inst.inst.guard.unwrap();
                if (held[&guard.reg] != 0) != guard.not { then } else { otherwise }
            }
        };
        let args: Vec<u32> = code.list(&edge.args).iter().map(|&arg| held[&arg.into()]).collect();
        let params = code.list(&code.blocks[edge.block as usize].params);
        held.extend(params.iter().map(|&param| param.into()).zip(args));
        at = edge.block;
    }
}

fn finish(code: PtxVCode) -> Result<MachFunc<Ptx>, AllocError> {
    allocate(code, &Options::default())
}

fn program(code: PtxVCode) -> (Program, isa::isa::SharedCode) {
    let compiled = TARGETS.layout(halfbyte::ptx(SM), Box::new(finish(code).unwrap())).unwrap();
    let header = Header { target: halfbyte::ptx(SM), source: "k.hb".to_owned() };
    let words = compiled.words.clone();
    (halfbyte::TARGETS.load(&write_object(&header, &[compiled]).unwrap()).unwrap(), words)
}

#[test]
fn code_out_of_ssa_form_computes_the_same() {
    let mut moves = 0;
    for seed in 0..400 {
        let code = code(seed);
        let expected: Vec<u32> = (0..ITEMS).map(|item| walk(&code, item)).collect();
        let edges = code.blocks.iter().map(|block| block.params.len()).sum::<usize>();
        let (program, words) = program(code);
        let mut bytes = [0; 4 * ITEMS as usize];
        program.kernels()[0].launch(Launch::new(ITEMS, &mut [Arg::Buffer(&mut bytes)])).unwrap();
        let found: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        assert_eq!(found, expected, "seed {seed}, {edges} parameters\n{}", words.disassemble());
        moves += words.disassemble().matches("mov.b32").count();
    }
    assert!(moves > 400, "{moves}: there is something to move");
}

#[test]
fn a_loop_keeps_its_counter_in_one_register() {
    // The live ranges of consecutive iterations do not overlap, so no moves remain.
    let mut b = Builder { registers: Vec::new(), blocks: Vec::new(), random: Random(0) };
    let entry = b.block(Vec::new());
    let start = b.register(Type::B32);
    b.push(entry, inst(Opcode::MOV, &[Token::Type(Type::B32)], &[Operand::Register(start), Operand::Number(9)]));
    let counter = b.register(Type::B32);
    let head = b.block(vec![counter]);
    let next = b.compute(head, Opcode::ADD, Type::U32, counter, Operand::Number(0xffff_ffff));
    let p = b.test(head, Token::Ne, next, Operand::Number(0));
    let (back, done) = (b.block(Vec::new()), b.block(Vec::new()));
    let edge = |block, args: &[Reg]| Way { block, args: args.to_vec() };
    b.blocks[entry as usize].end = End::Jump(edge(head, &[start]));
    b.blocks[head as usize].end =
        End::Branch { guard: Guard { reg: p, not: false }, then: edge(back, &[]), otherwise: edge(done, &[]) };
    b.blocks[back as usize].end = End::Jump(edge(head, &[next]));
    let (_, words) = program(b.finish(u64::MAX));
    assert_eq!(
        words.disassemble(),
        ".version 7.8\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 .ptr .global .align 4 $0y)\n{\n    \
         .reg .pred %p<1>;\n    .reg .b32 %r<1>;\n    mov.b32 %r0, 9;\n$L_0:\n    add.u32 %r0, %r0, -1;\n    \
         setp.ne.b32 %p0, %r0, 0;\n    @%p0 bra $L_0;\n    ret;\n}\n"
            .replace("-1", "4294967295")
    );
}

#[test]
fn code_that_is_none_is_refused() {
    let wrong = |change: &dyn Fn(&mut PtxVCode)| {
        let mut code = code(3);
        change(&mut code);
        finish(code).unwrap_err()
    };
    assert_eq!(wrong(&|code| code.insts[1] = code.insts[0].clone()), AllocError::Redefined(VReg(0)));
    assert!(matches!(wrong(&|code| code.blocks[0].insts.end = 1), AllocError::Undefined(_)));
    let short = |code: &mut PtxVCode| code.insts[1].inst.operands.truncate(1);
    assert_eq!(wrong(&short), AllocError::Inst { inst: 1, name: "MOV" });
    let jump = |block| Terminator::Jump(Edge { block, args: 0..0 });
    assert_eq!(wrong(&|code| code.blocks[0].terminator = jump(99)), AllocError::Block(99));
    assert_eq!(wrong(&|code| code.blocks[0].terminator = jump(1)), AllocError::Arguments(0));
    let critical = |code: &mut PtxVCode| {
        for block in &mut code.blocks {
            if let Terminator::Branch { then, otherwise, .. } = &mut block.terminator {
                *then = otherwise.clone();
            }
        }
    };
    assert!(matches!(wrong(&critical), AllocError::CriticalEdge { .. }));
}

fn with_items(mut code: PtxVCode, max_items: u64) -> PtxVCode {
    code.extra.max_items = max_items;
    code
}

#[test]
fn no_more_items_than_addresses_are_computed_for() {
    let (program, _) = program(with_items(code(1), 5));
    let mut bytes = [0; 24];
    let error = program.kernels()[0].launch(Launch::new(6, &mut [Arg::Buffer(&mut bytes)])).unwrap_err();
    assert_eq!(error.to_string(), "kernel `k`: too many work items: 6; at most 5 are supported");
    program.kernels()[0].launch(Launch::new(5, &mut [Arg::Buffer(&mut bytes)])).unwrap();
}

#[test]
fn native_code_leaves_the_same() {
    let (program, _) = program(code(1));
    let [interpreted, native] = halfbyte::runtime::Engine::ALL.map(|engine| {
        let mut bytes = [0; 4];
        let mut args = [Arg::Buffer(&mut bytes)];
        let stats = program.kernels()[0].launch(Launch { engine, ..Launch::new(1, &mut args) }).unwrap();
        (stats, bytes)
    });
    assert_eq!(interpreted, native);
    assert!(program.kernels()[0].translation().is_some());
}
