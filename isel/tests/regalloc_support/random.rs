//! Generator of random code with branches, loops, wide registers and guarded updates.

use super::*;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isel::RegClass;
use halfbyte_isel::vcode::VReg;

/// SplitMix64 random number generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Size and shape of the random code.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Approximate number of instructions.
    pub size: usize,
    /// For each class, the number of values that are defined at the start and can be read in all
    /// blocks. The number of live values is never much higher.
    pub live: [usize; 4],
    /// Maximum nesting depth of branches and loops.
    pub depth: usize,
}

const CLASSES: [RegClass; 4] = [RegClass::Pred, RegClass::Word, RegClass::Pair, RegClass::Quad];

struct Generator {
    random: Random,
    b: Builder,
    /// Values that code at the current point can read, by class.
    values: [Vec<VReg>; 4],
    most: [usize; 4],
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
        // One word and one predicate are always defined, so that instructions have operands.
        let floor = usize::from(matches!(class, RegClass::Pred | RegClass::Word));
        for i in 0..n.max(floor) {
            let value = g.fresh(class, i as u32);
            g.values[class as usize].push(value);
        }
    }
    while g.budget > 0 {
        g.region(shape.depth);
    }
    for value in g.values.clone().concat() {
        g.store(value);
    }
    g.b.finish()
}

impl Generator {
    fn fresh(&mut self, class: RegClass, i: u32) -> VReg {
        match class {
            RegClass::Pred => {
                let [x, y] = [i.wrapping_mul(7) % 5, 2].map(|v| self.b.constant(v));
                self.b.less(x, y)
            }
            RegClass::Word => self.b.constant(i.wrapping_mul(0x9e37)),
            class => self.b.load(class, 16 * i),
        }
    }

    fn pick(&mut self, class: RegClass) -> VReg {
        let values = &self.values[class as usize];
        values[self.random.below(values.len())]
    }

    fn has(&self, class: RegClass) -> bool {
        !self.values[class as usize].is_empty()
    }

    /// Adds a new value to those that later code can read. The value may replace an older one.
    fn keep(&mut self, value: VReg) {
        let class = self.b.class(value) as usize;
        let n = self.values[class].len();
        if n == self.most[class] || n > 0 && self.random.chance(80) {
            let at = self.random.below(n);
            self.values[class][at] = value;
        } else {
            self.values[class].push(value);
        }
    }

    fn store(&mut self, value: VReg) {
        self.stores += 1;
        let word = if self.b.class(value) == RegClass::Pred { self.b.truth(value) } else { value };
        self.b.store(word, 16 * (self.stores % 0x1000));
    }

    /// Generates a few instructions, or a branch or a loop that contains generated code.
    fn region(&mut self, depth: usize) {
        let kind = self.random.below(10);
        if depth > 0 && kind == 0 {
            self.diamond(depth - 1);
        } else if depth > 0 && kind == 1 {
            self.repeat(depth - 1);
        } else {
            for _ in 0..self.random.below(8) + 1 {
                self.budget = self.budget.saturating_sub(1);
                self.instruction();
            }
        }
    }

    /// Chooses register classes for the parameters of a block, and arguments for the parameters.
    fn params(&mut self) -> (Vec<RegClass>, Vec<VReg>) {
        let n = self.random.below(5);
        let mut classes: Vec<_> = (0..n).map(|_| CLASSES[self.random.below(4)]).collect();
        classes.retain(|&class| self.has(class));
        let args = self.args(&classes);
        (classes, args)
    }

    fn args(&mut self, classes: &[RegClass]) -> Vec<VReg> {
        classes.iter().map(|&class| self.pick(class)).collect()
    }

    fn diamond(&mut self, depth: usize) {
        let cond = self.pick(RegClass::Pred);
        let not = self.random.chance(50);
        let (classes, _) = self.params();
        let (join, params) = self.b.block(&classes);
        let (passed, first) = self.params();
        let second = self.args(&passed);
        let [(then, then_params), (otherwise, otherwise_params)] = [self.b.block(&passed), self.b.block(&passed)];
        self.b.branch(cond, not, (then, &first), (otherwise, &second));
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
        classes.push(RegClass::Word);
        args.push(self.b.constant(0));
        let (head, mut params) = self.b.block(&classes);
        let [(latch, _), (end, _)] = [self.b.block(&[]), self.b.block(&[])];
        self.b.jump((head, &args));
        self.b.at(head);
        let before = self.values.clone();
        let counter = params.pop().unwrap();
        params.into_iter().for_each(|param| self.keep(param));
        (0..self.random.below(3)).for_each(|_| self.region(depth));
        let one = self.b.constant(1);
        let next = self.b.make(RegClass::Word, Inst::new(Opcode::IADD3_RRR), &[used(RA, counter), used(R32, one)]);
        let times = self.random.below(3) as u32 + 1;
        let times = self.b.constant(times);
        let more = self.b.less(next, times);
        self.b.branch(more, false, (latch, &[]), (end, &[]));
        self.b.at(latch);
        classes.pop();
        let mut args = self.args(&classes);
        args.push(next);
        self.b.jump((head, &args));
        // Later code can also read values that are defined in the loop, because the loop body dominates the exit.
        self.b.at(end);
        if self.random.chance(50) {
            self.values = before;
        }
    }

    fn instruction(&mut self) {
        use RegClass::{Pair, Pred, Quad, Word};
        let [x, y] = [self.pick(Word), self.pick(Word)];
        match self.random.below(16) {
            0..3 => {
                let z = self.b.mix(x, y);
                self.keep(z);
            }
            3 => {
                let p = self.b.less(x, y);
                self.keep(p);
            }
            4 => {
                let [p, q, r] = [0; 3].map(|_| self.pick(Pred));
                let [u, v] = [self.b.reg(Pred), self.b.reg(Pred)];
                let plop3 = Inst::new(Opcode::PLOP3).with(LUT, self.random.next() & 0xff);
                self.b.inst(plop3, &[def(PU, u), def(PV, v), used(PP, p), used(PX, q), used(PY, r)]);
                self.keep(u);
                self.keep(v);
            }
            5 => {
                let [g, p, q, r] = [0; 4].map(|_| self.pick(Pred));
                let [u, v] = [self.b.reg(Pred), self.b.reg(Pred)];
                let isetp = Inst::new(Opcode::ISETP_RR);
                let operands = [
                    used(GUARD, g),
                    replace(PU, u, 0, p),
                    replace(PV, v, 0, q),
                    used(RA, x),
                    used(R32, y),
                    used(PP, r),
                ];
                self.b.inst(isetp, &operands);
                self.keep(u);
                self.keep(v);
            }
            6 => {
                let (g, old) = (self.pick(Pred), self.pick(Word));
                let z = self.b.reg(Word);
                let add = Inst::new(Opcode::IADD3_RRR).with(GUARD_NOT, 1);
                self.b.inst(add, &[used(GUARD, g), replace(RD, z, 0, old), used(RA, x), used(R32, y), used(R64, old)]);
                self.keep(z);
            }
            7 => {
                let p = self.pick(Pred);
                let z = self.b.make(Word, Inst::new(Opcode::SEL_RR), &[used(RA, x), used(R32, y), used(PP, p)]);
                self.keep(z);
            }
            8 => {
                let pair = self.b.build(&[x, y]);
                self.keep(pair);
            }
            9 => {
                let words = [x, y, self.pick(Word), self.pick(Word)];
                let quad = self.b.build(&words);
                self.keep(quad);
            }
            10 if self.has(Pair) => {
                let pair = self.pick(Pair);
                let wide = self.b.make(
                    Pair,
                    Inst::new(Opcode::IMAD_WIDE_RRR),
                    &[used(RA, x), part(R32, pair, 1), used(R64, pair)],
                );
                self.keep(wide);
            }
            11 if self.has(Quad) => {
                let quad = self.pick(Quad);
                let [i, j] = [0; 2].map(|_| self.random.below(4) as u8);
                let inst = Inst::new(Opcode::IMAD_RIR).with(IMM32, 9);
                let z = self.b.make(Word, inst, &[part(RA, quad, i), part(R64, quad, j)]);
                self.keep(z);
            }
            12 if self.has(Quad) => {
                let (old, g) = (self.pick(Quad), self.pick(Pred));
                let new = self.b.reg(Quad);
                let half = 2 * self.random.below(2) as u8;
                let wide = Inst::new(Opcode::IMAD_WIDE_RRR);
                self.b.inst(
                    wide,
                    &[used(GUARD, g), replace(RD, new, half, old), used(RA, x), used(R32, y), part(R64, old, 2 - half)],
                );
                self.keep(new);
            }
            13 => {
                let class = CLASSES[1 + self.random.below(3)];
                let value = self.b.load(class, 16 * self.stores % 0x1000);
                self.keep(value);
            }
            _ => {
                let class = CLASSES[self.random.below(4)];
                if self.has(class) {
                    let value = self.pick(class);
                    self.store(value);
                }
            }
        }
    }
}
