//! Tests that random code of a custom machine behaves the same before and after register allocation.

use std::collections::HashMap;

use halfbyte_abi::Signature;
use halfbyte_ir::witness::Random;
use halfbyte_isa::object::Loc;
use halfbyte_isel::mach::MachFunc;
use halfbyte_isel::regalloc::{AllocError, Options, SingleRegisterFile, allocate};
use halfbyte_isel::vcode::{Access, BlockIndex, Edge, Machine, Operand, Terminator, VCode, VInst, VReg};

/// Custom machine with `N` interchangeable registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Mine<const N: u32>;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Name {
    /// Loads the constant in field 3.
    Set,
    /// Computes `b + 2 * c + 1`. The result depends on the order of the operands, so that swapped
    /// operands are detected.
    Sum,
    /// Adds to a register that is updated in place.
    Add,
    /// Branches if the register is not zero.
    If,
    Unless,
    Copy,
    Spill,
    Reload,
    Emit,
    Jump,
    Exit,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Inst(Name, [u64; 4]);

impl<const N: u32> Machine for Mine<N> {
    type Inst = Inst;
    type RegisterPosition = usize;
    type Class = ();
    type Extra = ();

    fn jump() -> Inst {
        Inst(Name::Jump, [0; 4])
    }

    fn exit() -> Inst {
        Inst(Name::Exit, [0; 4])
    }

    fn invert(branch: &mut Inst) {
        branch.0 = if branch.0 == Name::If { Name::Unless } else { Name::If };
    }

    fn set(inst: &mut Inst, place: usize, number: u64) {
        inst.1[place] = number;
    }
}

impl<const N: u32> SingleRegisterFile for Mine<N> {
    const REGISTERS: u32 = N;
    const BYTES: u32 = 8;

    fn copy(from: u64, to: u64) -> Inst {
        Inst(Name::Copy, [to, from, 0, 0])
    }

    fn spill(from: u64, offset: u64) -> Inst {
        Inst(Name::Spill, [from, offset, 0, 0])
    }

    fn reload(offset: u64, to: u64) -> Inst {
        Inst(Name::Reload, [to, offset, 0, 0])
    }

    fn takes(inst: &Inst, operands: &[Operand<Self>]) -> bool {
        operands.len() == [1, 3, 2, 1, 1, 0, 0, 0, 1, 0, 0][inst.0 as usize]
    }
}

/// State of the custom machine: virtual or hardware registers, memory, and the stored results.
#[derive(Default)]
struct State {
    registers: HashMap<u64, u64>,
    memory: HashMap<u64, u64>,
    emitted: Vec<u64>,
}

impl State {
    fn get(&self, register: u64) -> u64 {
        self.registers[&register]
    }

    /// Executes an instruction. Returns `true` if the instruction is a branch that is taken.
    fn step(&mut self, Inst(name, [a, b, c, d]): Inst) -> bool {
        let value = match name {
            Name::Set => d,
            Name::Sum => self.get(b).wrapping_add(self.get(c).wrapping_mul(2)).wrapping_add(1),
            Name::Add => self.get(a).wrapping_add(self.get(b)),
            Name::Copy => self.get(b),
            Name::Reload => self.memory[&b],
            Name::Spill => {
                assert!(b.is_multiple_of(8));
                self.memory.insert(b, self.get(a));
                return false;
            }
            Name::Emit => {
                self.emitted.push(self.get(a));
                return false;
            }
            Name::If => return self.get(a) != 0,
            Name::Unless => return self.get(a) == 0,
            Name::Jump | Name::Exit => return name == Name::Jump,
        };
        self.registers.insert(a, value);
        false
    }

    fn virtual_step<const N: u32>(&mut self, code: &VCode<Mine<N>>, vinst: &VInst<Mine<N>>) -> bool {
        let mut inst = vinst.inst;
        for operand in code.operands(vinst) {
            if let Access::UpdateInPlace(old) = operand.access {
                self.registers.insert(operand.reg.0.into(), self.get(old.0.into()));
            }
            inst.1[operand.place] = operand.reg.0.into();
        }
        self.step(inst)
    }
}

fn run_virtual<const N: u32>(code: &VCode<Mine<N>>) -> Vec<u64> {
    let (mut state, mut block) = (State::default(), 0);
    loop {
        let of = &code.blocks[block];
        for inst in code.insts_of(of) {
            state.virtual_step(code, inst);
        }
        let edge = match &of.terminator {
            Terminator::Exit => return state.emitted,
            Terminator::Jump(edge) => edge,
            Terminator::Branch { inst, then, otherwise } => {
                if state.virtual_step(code, inst) {
                    then
                } else {
                    otherwise
                }
            }
        };
        block = edge.block as usize;
        let values: Vec<u64> = code.list(&edge.args).iter().map(|arg| state.get(arg.0.into())).collect();
        for (param, value) in code.list(&code.blocks[block].params).iter().zip(values) {
            state.registers.insert(param.0.into(), value);
        }
    }
}

fn run<const N: u32>(func: &MachFunc<Mine<N>>) -> Vec<u64> {
    let (mut state, mut block) = (State::default(), 0);
    'block: loop {
        for inst in &func.blocks[block].insts {
            if state.step(inst.inst) {
                block = inst.target.unwrap() as usize;
                continue 'block;
            }
            if inst.inst.0 == Name::Exit {
                assert!(state.registers.keys().all(|&register| register < func.registers.into()));
                assert!(state.memory.keys().all(|&offset| offset + 8 <= func.local_bytes.into()));
                return state.emitted;
            }
        }
        block += 1;
    }
}

/// Generates code with random instructions before, in and after a loop. The loop has about `live` parameters.
fn generate<const N: u32>(seed: u64, live: usize, size: usize) -> VCode<Mine<N>> {
    let mut random = Random(seed);
    let mut code = VCode::new(Signature::new("k", Vec::new()).unwrap(), ());
    fn inst<const N: u32>(
        code: &mut VCode<Mine<N>>,
        name: Name,
        operands: &[(VReg, Access)],
        number: u64,
    ) -> VInst<Mine<N>> {
        let operands = (0..).zip(operands).map(|(place, &(reg, access))| Operand { place, reg, part: 0, access });
        VInst { inst: Inst(name, [0, 0, 0, number]), operands: code.add_operands(operands), loc: Loc::default() }
    }
    fn draw<const N: u32>(
        code: &mut VCode<Mine<N>>,
        random: &mut Random,
        values: &mut Vec<VReg>,
        size: usize,
    ) -> Vec<VInst<Mine<N>>> {
        let mut insts = Vec::new();
        for _ in 0..size {
            let [a, b] = [(); 2].map(|()| values[random.below(values.len())]);
            let reg = code.add_register(());
            insts.push(match random.below(4) {
                0 => inst(code, Name::Set, &[(reg, Access::Def)], random.bits()),
                1 => inst(code, Name::Add, &[(reg, Access::UpdateInPlace(a)), (b, Access::Use)], 0),
                _ => inst(code, Name::Sum, &[(reg, Access::Def), (a, Access::Use), (b, Access::Use)], 0),
            });
            values.push(reg);
            if random.below(4) == 0 {
                insts.push(inst(code, Name::Emit, &[(reg, Access::Use)], 0));
            }
        }
        insts
    }
    let edge = |code: &mut VCode<Mine<N>>, block: BlockIndex, args: &[VReg]| Edge {
        block,
        args: code.add_list(args.iter().copied()),
    };
    let counter = code.add_register(());
    let mut insts = vec![inst(&mut code, Name::Set, &[(counter, Access::Def)], 5)];
    let mut values = vec![counter];
    insts.extend(draw(&mut code, &mut random, &mut values, live));
    let first = edge(&mut code, 1, &values);
    code.add_block([], insts, Terminator::Jump(first), Loc::default());
    // The first parameter of the loop counts down.
    let params: Vec<VReg> = values.iter().map(|_| code.add_register(())).collect();
    let [minus, count] = [(); 2].map(|()| code.add_register(()));
    let mut insts = vec![
        inst(&mut code, Name::Set, &[(minus, Access::Def)], u64::MAX),
        inst(&mut code, Name::Add, &[(count, Access::UpdateInPlace(params[0])), (minus, Access::Use)], 0),
    ];
    let mut values = params[1..].to_vec();
    values.push(count);
    insts.extend(draw(&mut code, &mut random, &mut values, size));
    let branch = inst(&mut code, Name::If, &[(count, Access::Use)], 0);
    let (again, out) = (edge(&mut code, 2, &[]), edge(&mut code, 3, &[]));
    let terminator = Terminator::Branch { inst: branch, then: again, otherwise: out };
    code.add_block(params.clone(), insts, terminator, Loc::default());
    let args: Vec<VReg> =
        (0..params.len()).map(|i| if i == 0 { count } else { values[random.below(values.len())] }).collect();
    let again = edge(&mut code, 1, &args);
    code.add_block([], [], Terminator::Jump(again), Loc::default());
    let mut insts = draw(&mut code, &mut random, &mut values, size);
    for &value in &values {
        insts.push(inst(&mut code, Name::Emit, &[(value, Access::Use)], 0));
    }
    code.add_block([], insts, Terminator::Exit, Loc::default());
    code
}

/// Checks 100 random programs, and returns the number of spills in all of them.
fn check<const N: u32>(live: usize, size: usize) -> u32 {
    (0..100)
        .map(|seed| {
            let code = generate::<N>(seed, live, size);
            let expected = run_virtual(&code);
            let func = allocate(code, &Options { check: true, watchdog: None }).unwrap();
            assert_eq!(run(&func), expected, "seed {seed}: {func:?}");
            func.spills
        })
        .sum()
}

#[test]
fn few_values_stay_in_registers() {
    assert_eq!(check::<64>(4, 10), 0);
}

#[test]
fn many_values_are_spilled() {
    assert!(check::<3>(8, 20) > 0);
    assert!(check::<8>(20, 30) > 0);
}

#[test]
fn rejects_code_that_cannot_be_allocated() {
    let options = Options::default();
    let file = AllocError::File { registers: 65, bytes: 8 };
    assert_eq!(allocate(generate::<65>(0, 2, 2), &options).err(), Some(file));
    let mut code = generate::<8>(0, 2, 2);
    code.insts[0].operands.end = code.insts[0].operands.start;
    assert_eq!(allocate(code, &options).err(), Some(AllocError::Unfit(0)));
}
