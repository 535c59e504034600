//! Tests that random VP1 code behaves the same before and after register allocation. The code has
//! branches, loops, tuples and partial updates.

use halfbyte_ir::witness::Random;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isel::vcode::VReg;
use halfbyte_isel::vp1::Class;

use super::support::*;

/// Size and shape of the random code.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Approximate number of instructions.
    pub size: usize,
    /// Numbers of values in `$r` and `$v` that are defined at the start and can be read in all
    /// blocks. The number of live values is never much higher.
    pub live: [usize; 2],
    /// Maximum nesting depth of branches and loops.
    pub depth: usize,
}

const CLASSES: [Class; 2] = [Class::R, Class::V];

struct Generator {
    random: Random,
    b: Builder,
    /// Values that code at the current point can read, by class.
    values: [Vec<VReg>; 2],
    most: [usize; 2],
    budget: usize,
    stores: u32,
}

/// Generates random code with the given shape.
pub fn generate(seed: u64, shape: Shape) -> VCode {
    let mut g = Generator {
        random: Random(seed),
        b: Builder::new(),
        values: Default::default(),
        most: shape.live.map(|n| n + 2),
        budget: shape.size,
        stores: 0,
    };
    for (class, n) in CLASSES.into_iter().zip(shape.live) {
        for i in 0..n.max(1) as u32 {
            let value = if class == Class::R { g.b.constant(i.wrapping_mul(0x9e37) & 0x3ffff) } else { g.b.vector(i) };
            g.values[class as usize].push(value);
        }
    }
    while g.budget > 0 {
        g.region(shape.depth);
    }
    for value in g.values.concat() {
        g.store(value);
    }
    g.b.finish()
}

impl Generator {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn pick(&mut self, class: Class) -> VReg {
        let values = &self.values[class as usize];
        values[self.random.below(values.len())]
    }

    fn picks<const N: usize>(&mut self, class: Class) -> [VReg; N] {
        [(); N].map(|()| self.pick(class))
    }

    /// Adds a new value to those that later code can read. The value may replace an older one.
    fn keep(&mut self, value: VReg) {
        let class = self.b.class(value) as usize;
        let n = self.values[class].len();
        if n == self.most[class] || self.chance(80) {
            let at = self.random.below(n);
            self.values[class][at] = value;
        } else {
            self.values[class].push(value);
        }
    }

    fn store(&mut self, value: VReg) {
        self.stores += 1;
        self.b.store(value, self.stores);
    }

    /// Generates a few instructions, or a branch or a loop that contains generated code.
    fn region(&mut self, depth: usize) {
        match self.random.below(10) {
            0 if depth > 0 => self.diamond(depth - 1),
            1 if depth > 0 => self.repeat(depth - 1),
            _ => {
                for _ in 0..self.random.below(8) + 1 {
                    self.budget = self.budget.saturating_sub(1);
                    self.instruction();
                }
            }
        }
    }

    /// Chooses register classes for the parameters of a block, and arguments for the parameters.
    fn params(&mut self) -> (Vec<Class>, Vec<VReg>) {
        let n = self.random.below(5);
        let classes: Vec<_> = (0..n).map(|_| CLASSES[self.random.below(2)]).collect();
        let args = self.args(&classes);
        (classes, args)
    }

    fn args(&mut self, classes: &[Class]) -> Vec<VReg> {
        classes.iter().map(|&class| self.pick(class)).collect()
    }

    fn diamond(&mut self, depth: usize) {
        let [x, y] = self.picks(Class::R);
        let flags = self.b.compare(x, y);
        let (bit, not) = (self.random.below(2) as u64, self.chance(50));
        let (classes, _) = self.params();
        let (join, params) = self.b.block(&classes);
        let (passed, first) = self.params();
        let second = self.args(&passed);
        let [(then, then_params), (otherwise, otherwise_params)] = [self.b.block(&passed), self.b.block(&passed)];
        self.b.branch(flags, bit, not, (then, &first), (otherwise, &second));
        let before = self.values.clone();
        for (block, own) in [(then, then_params), (otherwise, otherwise_params)] {
            self.values = before.clone();
            self.b.at(block);
            own.into_iter().for_each(|param| self.keep(param));
            (0..self.random.below(3)).for_each(|_| self.region(depth));
            let args = self.args(&classes);
            self.b.jump((join, &args));
        }
        self.values = before;
        self.b.at(join);
        params.into_iter().for_each(|param| self.keep(param));
    }

    fn repeat(&mut self, depth: usize) {
        let (mut classes, mut args) = self.params();
        classes.push(Class::R);
        args.push(self.b.constant(0));
        let (head, mut params) = self.b.block(&classes);
        let [(latch, _), (end, _)] = [self.b.block(&[]), self.b.block(&[])];
        self.b.jump((head, &args));
        self.b.at(head);
        let before = self.values.clone();
        let counter = params.pop().unwrap();
        params.into_iter().for_each(|param| self.keep(param));
        (0..self.random.below(3)).for_each(|_| self.region(depth));
        let next = self.b.make(Class::R, Inst::new(Opcode::ADD_RI).with(IMM, 1), &[used(SRC1, counter)]);
        let times = self.random.below(3) as u32 + 1;
        let times = self.b.constant(times);
        let more = self.b.compare(next, times);
        self.b.branch(more, 0, false, (latch, &[]), (end, &[]));
        self.b.at(latch);
        classes.pop();
        let mut args = self.args(&classes);
        args.push(next);
        self.b.jump((head, &args));
        // Later code can also read values that are defined in the loop, because the loop body dominates the exit.
        self.b.at(end);
        if self.chance(50) {
            self.values = before;
        }
    }

    /// Returns a tuple of `N` vectors. Often it is the tuple of the first vectors, so that tuples repeat.
    fn vectors<const N: usize>(&mut self) -> [VReg; N] {
        let values = &self.values[Class::V as usize];
        if values.len() >= N && self.random.below(2) == 0 {
            std::array::from_fn(|i| self.values[Class::V as usize][i])
        } else {
            self.picks(Class::V)
        }
    }

    fn instruction(&mut self) {
        use Class::{R, V};
        let [x, y] = self.picks(R);
        let [v, w] = self.picks(V);
        let inst = Inst::new;
        let marked = |operands: Vec<Operand>| operands.into_iter().map(second).collect::<Vec<_>>();
        let value = match self.random.below(18) {
            0 | 1 => self.b.mix(x, y),
            2 | 3 => self.b.mix_vectors(v, w),
            4 => {
                let k = self.random.below(4) as u64;
                self.b.make(R, inst(Opcode::MOV_R_V).with(VWORD, k), &[used(SRC1, v)])
            }
            5 => {
                let k = self.random.below(4) as u64;
                let new = self.b.reg(V);
                self.b.inst(inst(Opcode::MOV_V_R).with(VWORD, k), &[replace(DST, new, v), used(SRC1, x)]);
                new
            }
            6 => {
                let new = self.b.reg(R);
                self.b.inst(inst(Opcode::SETHI).with(IMM16, self.random.bits() & 0xffff), &[replace(DST, new, x)]);
                new
            }
            7 => {
                let pair = self.vectors::<2>();
                self.b.make(V, inst(Opcode::VLRP), &[tuple(SRC1, &pair), vec![used(SRC2, v)]].concat())
            }
            8 => {
                // One instruction reads a pair and chooses between two vectors, which are sometimes the same.
                let (pair, other) = (self.vectors::<2>(), self.vectors::<2>());
                let flags = self.b.compare(x, y);
                let masks = self.b.reg(Class::Vc);
                let operands =
                    [vec![def(CDST, masks)], tuple(SRC1, &pair), tuple(SRC2, &other), vec![used(COND, flags)]];
                self.b.inst(inst(Opcode::VCMPAD).with(SLCT, 1).with(CMPOP, 0xc), &operands.concat());
                self.blend(v, w, masks)
            }
            9 => {
                let masks = self.b.compare_vectors(v, w);
                self.blend(w, v, masks)
            }
            10 => {
                let pair = self.picks::<2>(R);
                let flags = self.b.compare(x, y);
                let operands = [vec![used(SRC1, x)], tuple(SRC2, &pair), vec![used(COND, flags)]].concat();
                self.b.make(R, inst(Opcode::ADD_RR).with(SLCT, 0), &operands)
            }
            11 | 12 => {
                let quad = self.vectors::<4>();
                let flags = self.b.no_rotation();
                let operands = marked([tuple(SRC1, &quad), vec![used(COND, flags)]].concat());
                let vec = inst(Opcode::VEC).with(FACTOR1, 99).with(FACTOR2, 0x1f0);
                self.b.make_two(V, [vec, inst(Opcode::VLRP2).with(SIGNS, 1)], &operands)
            }
            13 => {
                let quad = self.picks::<4>(R);
                let pair = self.vectors::<2>();
                let flags = self.b.compare(x, y);
                let masks = self.b.compare_vectors(v, w);
                let forwarded = [vec![used(SRC1, x)], tuple(SRC2, &quad), vec![used(VCIDX, masks), used(COND, flags)]];
                let taken = marked([tuple(SRC1, &pair), vec![used(SRC2, v)]].concat());
                let insts = [inst(Opcode::BVECMAD).with(SLCT, 1), inst(Opcode::VMAD2_S)];
                self.b.make_two(V, insts, &[forwarded.concat(), taken].concat())
            }
            14 => {
                // Several adjacent instructions pass a value through `$va`.
                let pair = self.vectors::<2>();
                self.b.inst(inst(Opcode::VMUL_S_RR_VA), &[used(SRC1, v), used(SRC2, w)]);
                let vec = inst(Opcode::VEC).with(FACTOR1, 7).with(FACTOR2, 0x1f0);
                let operands = marked(tuple(SRC1, &pair));
                self.b.make_two(V, [vec, inst(Opcode::VMAC2_U)], &operands)
            }
            15 => {
                let quad = self.vectors::<4>();
                let flags = self.b.compare(x, y);
                let news = [(); 4].map(|()| self.b.reg(V));
                let parts = (0..).zip(news.into_iter().zip(quad));
                let mut operands: Vec<_> =
                    parts.map(|(part, (new, old))| Operand { part, ..replace(DST, new, old) }).collect();
                operands.push(used(COND, flags));
                self.b.inst(inst(Opcode::LDAXH).with(SRC1, 1).with(SRC2, 31).with(SLCT, 0), &operands);
                news.into_iter().for_each(|new| self.keep(new));
                return;
            }
            _ => {
                let value = if self.chance(50) { x } else { v };
                return self.store(value);
            }
        };
        self.keep(value);
    }

    /// Emits a selection between the bytes of two vectors by vector flags.
    fn blend(&mut self, v: VReg, w: VReg, masks: VReg) -> VReg {
        let factors = self.b.constant(0x10100);
        let forwarded = vec![used(SRC1, factors), used(VCIDX, masks)];
        let taken = [tuple(SRC1, &[v, w]), vec![used(SRC2, w)]].concat();
        let operands = [forwarded, taken.into_iter().map(second).collect()].concat();
        let insts = [Inst::new(Opcode::BVEC), Inst::new(Opcode::VMAD2_U).with(SHIFT, 7).with(FRACTINT, 1)];
        self.b.make_two(Class::V, insts, &operands)
    }
}

/// Statistics of the register allocation of several functions.
#[derive(Default)]
struct Outcome {
    spills: [usize; 2],
}

fn check(seeds: std::ops::Range<u64>, shape: Shape) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in seeds {
        let func = same(generate(seed, shape));
        // Spills and stores of results have different base registers.
        let to_frame = |opcode| {
            let insts = func.blocks.iter().flat_map(|block| &block.insts).map(|mach| mach.inst.insts[0]);
            insts.filter(|inst| inst.opcode() == opcode && inst.get(DST) == 31).count()
        };
        outcome.spills[0] += to_frame(Opcode::STS);
        outcome.spills[1] += to_frame(Opcode::STVH);
    }
    outcome
}

#[test]
fn small() {
    let outcome = check(0..400, Shape { size: 30, live: [4, 4], depth: 2 });
    assert_eq!(outcome.spills, [0, 0]);
}

#[test]
fn many() {
    check(1000..1150, Shape { size: 120, live: [12, 16], depth: 3 });
}

#[test]
fn too_many() {
    let outcome = check(2000..2060, Shape { size: 100, live: [40, 50], depth: 3 });
    assert!(outcome.spills[0] > 0 && outcome.spills[1] > 0);
}

#[test]
fn full() {
    check(3000..3100, Shape { size: 60, live: [31, 32], depth: 2 });
}
