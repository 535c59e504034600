//! Random kernels, well formed and free of races and traps, for tests of everything that stands between text and results.
//!
//! A kernel is drawn from its seed: straight lines, branches with and without a second way, switches, loops of bounded
//! trips, and parameters of blocks, over every op, type, modifier and operand form that a target takes. What a target takes
//! is found out by asking it: each form is tried once in a kernel of its own ([`Palette`]). Instructions of the target are
//! drawn as intrinsics. `contract` alone never is, since it allows more than one result.
//!
//! Every item owns [`ROW`] bytes of each buffer that is written. Constants and data come from edge values as often as not.

mod instruction;

use std::collections::{HashMap, HashSet};

use halfbyte_ir::builder::Builder;
use halfbyte_ir::flow::Flow;
use halfbyte_ir::op::ArgType;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{
    Attr, AttrKind, Block, Clamp, Direction, Effect, Elem, FlagKind, FloatCC, FloatFlags, IntCC, IntrinsicData, Kernel,
    LaneMap, MemAttr, Op, ParamKind, Rounding, Type, Value,
};

use instruction::Drawn;

/// Bytes of every buffer that belong to an item.
pub const ROW: u32 = 64;

/// Rows that buffers have beyond those of the items, so that reads may go astray a little.
const SPARE_ROWS: u32 = 2;

/// The widest type that a kernel is given, in bits.
const WIDEST: u32 = 128;

/// Draws before giving up on finding an op, or an operand.
const DRAWS: usize = 50;

/// How a kernel is to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Ops in straight lines, about.
    pub ops: usize,
    /// How deep branches and loops are nested.
    pub depth: usize,
    /// Values that are made first and used last, so that all of them are alive in between.
    pub live: usize,
}

impl Shape {
    /// One of several kinds: straight, branchy, or with more alive than registers can hold.
    pub fn random(random: &mut Random) -> Shape {
        let ops = 5 + random.below(50);
        match random.below(8) {
            0..=1 => Shape { ops, depth: 0, live: 0 },
            2..=6 => Shape { ops, depth: 1 + random.below(3), live: random.below(20) },
            _ => Shape { ops: ops.min(20), depth: random.below(2), live: 60 + random.below(200) },
        }
    }
}

/// The arguments of a launch, by parameter, as little-endian bytes: a scalar's, or a buffer's with [`ROW`] bytes an item and
/// some more. What is `out` is zero.
pub fn arguments(kernel: &Kernel, items: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let of = |param: &halfbyte_ir::Param| match param.kind {
        ParamKind::Scalar(ty) => elements(ty, 1, random),
        ParamKind::Buffer { elem, direction, .. } => {
            let bytes = (items + SPARE_ROWS) * ROW;
            match direction {
                Direction::Out => vec![0; bytes as usize],
                Direction::In | Direction::InOut => elements(elem, bytes / elem.bytes().max(1), random),
            }
        }
    };
    kernel.params.iter().map(of).collect()
}

/// Values of a type as they lie in memory, edge values among their lanes.
pub fn elements(ty: Type, count: u32, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count as usize * ty.bytes() as usize);
    for _ in 0..count {
        if ty.is_mask() {
            let bits = random.bits() & (u64::MAX >> (64 - ty.bits()));
            bytes.extend_from_slice(bits.to_le_bytes().get(..ty.bytes() as usize).unwrap_or_default());
            continue;
        }
        let other = random.bits();
        for _ in 0..ty.lanes() {
            let lane = random.lane(ty.elem(), other).to_le_bytes();
            bytes.extend_from_slice(lane.get(..ty.elem().bits() as usize / 8).unwrap_or_default());
        }
    }
    bytes
}

/// A form of an instruction: all that a target may make its answer depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Form {
    op: Op,
    ty: Type,
    /// The first operand's type; the op and this give those of all.
    from: Option<Type>,
    /// The type of a condition.
    condition: Option<Type>,
    attr: Attr,
    /// The last operand is a constant with all lanes the same.
    constant: bool,
}

impl Form {
    /// Of an op that has no other operands than its type says.
    const fn plain(op: Op, ty: Type) -> Form {
        Form { op, ty, from: None, condition: None, attr: Attr::None, constant: false }
    }
}

/// What a target takes, found out by asking.
pub struct Palette<'t> {
    takes: Box<dyn FnMut(&Kernel) -> bool + 't>,
    /// What ops are on, masks apart, which come with them.
    types: Vec<Type>,
    known: HashMap<Form, bool>,
}

impl<'t> Palette<'t> {
    /// Of a target for which this says whether it can compile a kernel.
    pub fn new(takes: impl FnMut(&Kernel) -> bool + 't) -> Palette<'t> {
        Palette { takes: Box::new(takes), types: Type::ALL.to_vec(), known: HashMap::new() }
    }

    /// Only with ops whose operands and results are of these types, and truth values and masks.
    #[must_use]
    pub fn with_types(mut self, types: &[Type]) -> Palette<'t> {
        self.types = types.to_vec();
        self
    }

    fn has(&self, ty: Type) -> bool {
        ty.bits() <= WIDEST && (ty.is_mask() || self.types.contains(&ty))
    }

    /// A random kernel of that name.
    pub fn kernel(&mut self, name: &str, shape: &Shape, random: &mut Random) -> Kernel {
        let generator = Generator {
            palette: self,
            random,
            builder: Builder::new(name),
            scope: Vec::new(),
            inputs: Vec::new(),
            rows: Vec::new(),
            item: None,
            blocks: 0,
        };
        generator.kernel(shape)
    }

    fn takes(&mut self, form: Form) -> bool {
        if let Some(&known) = self.known.get(&form) {
            return known;
        }
        let takes = probe(&form).is_some_and(|kernel| halfbyte_ir::verify(&kernel).is_ok() && (self.takes)(&kernel));
        self.known.insert(form, takes);
        takes
    }
}

/// A kernel around one instruction of this form.
fn probe(form: &Form) -> Option<Kernel> {
    match form.op {
        Op::Switch => return Some(probe_switch()),
        Op::Br => return probe_with(&operand_types(form)?, false, |b, args| Some(join(b, form.ty, args))),
        _ => {}
    }
    probe_with(&operand_types(form)?, form.constant, |b, args| {
        Some(match form.op {
            Op::Const => b.constant(form.ty, &[1]),
            _ => b.value(form.op, form.ty, form.attr, args),
        })
    })
}

/// A kernel that makes a value of operands of these types and stores it. The last operand may be constant.
fn probe_with(
    types: &[Type],
    constant: bool,
    make: impl FnOnce(&mut Builder, &[Value]) -> Option<Value>,
) -> Option<Kernel> {
    let mut b = Builder::new("probe");
    b.begin("entry", &[]);
    let mut args = Vec::new();
    for (number, &ty) in types.iter().enumerate() {
        args.push(match ty {
            _ if constant && number + 1 == types.len() => b.constant(ty, &[1]),
            Type::PTR => b.buffer_aligned(&format!("a{number}"), Direction::InOut, Type::I8, 16),
            _ if ty.is_mask() && !ty.is_scalar() => {
                let lanes = int_of_mask(ty)?;
                let (x, y) = (b.scalar(&format!("a{number}"), lanes), b.scalar(&format!("b{number}"), lanes));
                b.icmp(IntCC::Eq, lanes, x, y)
            }
            _ => b.scalar(&format!("a{number}"), ty),
        });
    }
    let result = make(&mut b, &args)?;
    let result = storable(&mut b, result)?;
    let ty = b.kernel().ty(result);
    let out = b.buffer_aligned("out", Direction::Out, ty, 16);
    b.store(ty, result, out, 0);
    b.ret();
    Some(b.finish())
}

/// The first of these values or the second, by way of a block's parameter.
fn join(b: &mut Builder, ty: Type, values: &[Value]) -> Value {
    let condition = b.scalar("c", Type::I1);
    let (join, way) = (b.block("join", &[ty]), b.block("way", &[]));
    let (first, second) = values.split_at(values.len().min(1));
    b.br_if(condition, (join, first), (way, &[]));
    b.go_to(way);
    b.br(join, second);
    b.go_to(join);
    b.params(join).first().copied().unwrap_or(condition)
}

fn probe_switch() -> Kernel {
    let mut b = Builder::new("probe");
    let on = b.scalar("on", Type::I32);
    let entry = b.begin("entry", &[]);
    let ways = [b.block("one", &[]), b.block("other", &[])];
    b.go_to(entry);
    b.switch(on, (ways[0], &[]), &[(7, ways[1], &[])]);
    for way in ways {
        b.go_to(way);
        b.ret();
    }
    b.finish()
}

/// The types of a form's operands; none where the op has a form that is not drawn.
fn operand_types(form: &Form) -> Option<Vec<Type>> {
    let row = form.op.row();
    match form.op {
        Op::Concat => return form.from.map(|from| vec![from; (form.ty.bits() / from.bits()) as usize]),
        // The values that two ways hand to a block.
        Op::Br => return Some(vec![form.ty; 2]),
        _ => {}
    }
    let of = |arg: &ArgType| match arg {
        ArgType::Same => Some(form.ty),
        ArgType::Mask => form.ty.mask_type(),
        ArgType::Condition => form.condition,
        ArgType::Lane => Some(form.ty.lane_type()),
        ArgType::Exactly(ty) => Some(*ty),
        ArgType::Converted => form.from,
    };
    row.args.iter().map(of).collect()
}

/// Integers with one lane for each of a mask.
fn int_of_mask(mask: Type) -> Option<Type> {
    [Type::I8X4, Type::I16X2, Type::I8X16, Type::I32].into_iter().find(|ty| ty.mask_type() == Some(mask))
}

/// Whether values of the type lie in buffers.
fn is_stored(ty: Type) -> bool {
    !ty.is_mask() && ty != Type::PTR && ty.bits() <= WIDEST
}

struct Generator<'g, 't> {
    palette: &'g mut Palette<'t>,
    random: &'g mut Random,
    builder: Builder,
    /// The values that may be used here, in the order of their definitions.
    scope: Vec<Value>,
    /// `in` buffers.
    inputs: Vec<(Value, Type)>,
    /// Buffers of which each item owns a row.
    rows: Vec<Value>,
    item: Option<Value>,
    blocks: usize,
}

impl Generator<'_, '_> {
    fn kernel(mut self, shape: &Shape) -> Kernel {
        self.begin(&[]);
        let item = self.builder.here(Op::ItemId);
        self.item = Some(item);
        self.scope.push(item);
        for _ in 0..shape.live {
            self.op();
        }
        self.region(shape.ops, shape.depth);
        self.observe(shape.live > 0);
        self.builder.ret();
        self.builder.finish()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.random.below(items.len())).copied()
    }

    fn ty(&self, value: Value) -> Type {
        self.builder.kernel().ty(value)
    }

    fn block(&mut self, params: &[Type]) -> Block {
        self.blocks += 1;
        self.builder.block(&format!("b{}", self.blocks), params)
    }

    fn go_to(&mut self, block: Block) {
        self.builder.go_to(block);
        self.scope.extend_from_slice(self.builder.params(block));
    }

    fn begin(&mut self, params: &[Type]) {
        let block = self.block(params);
        self.go_to(block);
    }

    // Control.

    /// About that many ops, from here to where the current block then ends.
    fn region(&mut self, ops: usize, depth: usize) {
        let mut left = ops;
        while left > 0 {
            let inner = (left / 2).min(12);
            match self.random.below(24) {
                0..=1 if depth > 0 => {
                    left -= inner;
                    self.diamond(inner, depth - 1);
                }
                2 if depth > 0 => {
                    left -= inner;
                    self.repeat(inner, depth - 1);
                }
                3 if depth > 0 => {
                    left -= inner;
                    self.switch(inner, depth - 1);
                }
                4..=6 => self.store(),
                _ => {
                    left -= 1;
                    self.op();
                }
            }
        }
    }

    /// Types of values to hand to another block, of every kind that there is here.
    fn passed_types(&mut self) -> Vec<Type> {
        let count = self.random.below(5);
        let mut types = Vec::new();
        for _ in 0..count {
            let ty = self.pick(&self.scope.clone()).map(|value| self.ty(value));
            types.extend(ty.filter(|&ty| self.palette.takes(Form::plain(Op::Br, ty))));
        }
        types
    }

    /// Values of these types that may be used here; the same one may serve for several.
    fn passed(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().filter_map(|&ty| self.operand(ty)).collect()
    }

    /// Two ways, or one and a shortcut, or one that ends; what was made on them is left behind but for what is handed on.
    fn diamond(&mut self, ops: usize, depth: usize) {
        let Some(condition) = self.operand(Type::I1) else { return };
        let types = self.passed_types();
        let join = self.block(&types);
        let straight = self.passed(&types);
        let arms: Vec<Block> = (0..1 + self.random.below(3).min(1)).map(|_| self.block(&[])).collect();
        let way = |number: usize| match arms.get(number) {
            Some(&arm) => (arm, &[] as &[Value]),
            None => (join, straight.as_slice()),
        };
        let first = usize::from(self.one_in(2));
        self.builder.br_if(condition, way(first), way(1 - first));
        self.arms(&arms, join, &types, ops, depth);
    }

    fn switch(&mut self, ops: usize, depth: usize) {
        if !self.palette.takes(Form::plain(Op::Switch, Type::I32)) {
            return;
        }
        let Some(on) = self.small() else { return };
        let types = self.passed_types();
        let join = self.block(&types);
        let straight = self.passed(&types);
        let arms: Vec<Block> = (0..1 + self.random.below(3)).map(|_| self.block(&[])).collect();
        let cases: Vec<_> = (0..).zip(&arms).map(|(case, &arm)| (case, arm, &[] as &[Value])).collect();
        self.builder.switch(on, (join, &straight), &cases);
        self.arms(&arms, join, &types, ops, depth);
    }

    /// Blocks that lead to `join`, or end; and goes on there.
    fn arms(&mut self, arms: &[Block], join: Block, types: &[Type], ops: usize, depth: usize) {
        let outer = self.scope.len();
        for (number, &arm) in arms.iter().enumerate() {
            self.go_to(arm);
            self.region(ops / arms.len(), depth);
            // The first always goes on, so that `join` can be reached.
            if number > 0 && self.one_in(8) {
                self.store();
                self.builder.ret();
            } else {
                let values = self.passed(types);
                self.builder.br(join, &values);
            }
            self.scope.truncate(outer);
        }
        self.go_to(join);
    }

    /// A number from 0 to 3.
    fn small(&mut self) -> Option<Value> {
        let value = self.operand(Type::I32)?;
        let mask = self.builder.int(Type::I32, 3);
        Some(self.builder.op(Op::And, Type::I32, &[value, mask]))
    }

    /// A loop that counts up to a small bound, which is asked for before or after its body.
    fn repeat(&mut self, ops: usize, depth: usize) {
        let ask_first = self.one_in(2);
        let bound = self.random.below(5) as i64;
        let bound = match self.small() {
            Some(value) if self.one_in(2) => value,
            _ => self.builder.int(Type::I32, bound),
        };
        let types = self.passed_types();
        let counted: Vec<Type> = [Type::I32].into_iter().chain(types.iter().copied()).collect();
        let head = self.block(&counted);
        let start = self.builder.int(Type::I32, 0);
        let mut initial = vec![start];
        initial.extend(self.passed(&types));
        self.builder.br(head, &initial);
        self.go_to(head);
        let params = self.builder.params(head).to_vec();
        let Some((&counter, carried)) = params.split_first() else { return };
        let exit = if ask_first {
            let (body, exit) = (self.block(&[]), self.block(&types));
            let more = self.builder.icmp(IntCC::LtS, Type::I32, counter, bound);
            self.builder.br_if(more, (body, &[]), (exit, carried));
            let outer = self.scope.len();
            self.go_to(body);
            self.region(ops, depth);
            let mut again = vec![self.next(counter)];
            again.extend(self.passed(&types));
            self.builder.br(head, &again);
            self.scope.truncate(outer);
            exit
        } else {
            self.region(ops, depth);
            let exit = self.block(&types);
            let mut again = vec![self.next(counter)];
            again.extend(self.passed(&types));
            let left = self.passed(&types);
            let more = self.builder.icmp(IntCC::LtS, Type::I32, again.first().copied().unwrap_or(counter), bound);
            self.builder.br_if(more, (head, &again), (exit, &left));
            exit
        };
        self.go_to(exit);
    }

    fn next(&mut self, counter: Value) -> Value {
        let one = self.builder.int(Type::I32, 1);
        self.builder.op(Op::Add, Type::I32, &[counter, one])
    }

    // Values.

    /// Adds an op whose result may be used from now on.
    fn op(&mut self) {
        for _ in 0..DRAWS {
            if self.one_in(40)
                && let Some(value) = self.intrinsic()
            {
                self.scope.push(value);
                return;
            }
            let near = self.pick(&self.scope.clone()).map(|value| self.ty(value));
            let ty = match near {
                Some(ty) if !self.one_in(3) => ty,
                _ => self.pick(&self.palette.types.clone()).unwrap_or(Type::I32),
            };
            let Some(op) = self.pick(Op::ALL) else { return };
            if let Some(value) = self.try_op(op, ty) {
                self.scope.push(value);
                return;
            }
        }
    }

    /// Adds this op on this controlling type, where there is such an op and the target takes it.
    fn try_op(&mut self, op: Op, ty: Type) -> Option<Value> {
        let row = op.row();
        let ty = row.fixed_type().unwrap_or(ty);
        let drawn = match row.attr {
            AttrKind::Const | AttrKind::Mem | AttrKind::Targets | AttrKind::Intrinsic => false,
            _ => row.effect == Effect::Pure && row.types.is_none_or(|types| (types.contains)(ty)),
        };
        // Addresses are made where something is loaded or stored through them.
        let result = row.result_type(ty).filter(|&result| result != Type::PTR || op == Op::Select)?;
        if !drawn || !self.palette.has(ty) || !self.palette.has(result) {
            return None;
        }
        let from: Vec<Type> = match row.convert {
            Some(convert) => {
                Type::ALL.iter().copied().filter(|&from| convert(from, ty) && self.palette.has(from)).collect()
            }
            None => Vec::new(),
        };
        let from = self.pick(&from);
        let condition = match row.args.contains(&ArgType::Condition) {
            true => ty.mask_type().filter(|_| self.one_in(2)).or(Some(Type::I1)),
            false => None,
        };
        let attr = self.attr(op, ty, from);
        let is_shift = matches!(op, Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU);
        let form = Form { op, ty, from, condition, attr, constant: is_shift && !self.one_in(3) };
        let types = operand_types(&form)?;
        if !types.iter().all(|&ty| self.palette.has(ty)) || !self.palette.takes(form) {
            return None;
        }
        let mut args = Vec::with_capacity(types.len());
        for (number, &ty) in types.iter().enumerate() {
            args.push(if form.constant && number + 1 == types.len() {
                let lane = self.random.lane(ty.elem(), 0);
                self.builder.constant(ty, &[lane])
            } else {
                self.operand(ty)?
            });
        }
        Some(self.builder.value(op, ty, attr, &args))
    }

    /// Adds an instruction of the target.
    fn intrinsic(&mut self) -> Option<Value> {
        let Drawn { data: IntrinsicData { target, text }, result, operands } = instruction::halu(self.random)?;
        if !self.palette.has(result) || !operands.iter().all(|&ty| self.palette.has(ty)) {
            return None;
        }
        let probe = probe_with(&operands, false, |b, args| Some(b.intrinsic(result, &target, &text, args)))?;
        if !(self.palette.takes)(&probe) {
            return None;
        }
        let args = operands.iter().map(|&ty| self.operand(ty)).collect::<Option<Vec<Value>>>()?;
        Some(self.builder.intrinsic(result, &target, &text, &args))
    }

    fn attr(&mut self, op: Op, ty: Type, from: Option<Type>) -> Attr {
        let row = op.row();
        match row.attr {
            AttrKind::Float(_) => Attr::Float(self.flags(op, ty)),
            AttrKind::IntCC => Attr::IntCC(self.pick(IntCC::ALL).unwrap_or(IntCC::Eq)),
            AttrKind::FloatCC => Attr::FloatCC {
                cc: self.pick(FloatCC::ALL).unwrap_or(FloatCC::Eq),
                ftz: row.flags(ty).contains(FlagKind::Ftz) && self.one_in(3),
            },
            AttrKind::Lane => {
                let parts = match (op, from) {
                    (Op::Split, Some(from)) => from.bits() / ty.bits(),
                    _ => ty.lanes() as u32,
                };
                Attr::Lane(self.random.below(parts as usize) as u8)
            }
            AttrKind::Lanes => {
                let lanes: Vec<u8> = (0..ty.lanes()).map(|_| self.random.below(2 * ty.lanes()) as u8).collect();
                Attr::Lanes(LaneMap::new(&lanes))
            }
            _ => Attr::None,
        }
    }

    fn flags(&mut self, op: Op, ty: Type) -> FloatFlags {
        let takes = op.row().flags(ty);
        let mut flags = FloatFlags::default();
        if takes.rounding && self.one_in(2) {
            flags.rounding = self.pick(&Rounding::ALL).unwrap_or_default();
        }
        if takes.clamp && self.one_in(3) {
            flags.clamp = if self.one_in(2) { Clamp::Sat } else { Clamp::Relu };
        }
        flags.ftz = takes.ftz && self.one_in(3);
        flags.nan = takes.nan && self.one_in(2);
        flags
    }

    /// A value of a type: one from before, the later the likelier, or a new one.
    fn operand(&mut self, ty: Type) -> Option<Value> {
        let before: Vec<Value> = self.scope.iter().copied().filter(|&value| self.ty(value) == ty).collect();
        let late = self.random.below(before.len()).max(self.random.below(before.len()));
        let before = before.get(late).copied();
        if before.is_some() && !self.one_in(8) {
            return before;
        }
        match self.source(ty) {
            Some(value) => {
                self.scope.push(value);
                Some(value)
            }
            None => before,
        }
    }

    /// A new value of a type that needs no other.
    fn source(&mut self, ty: Type) -> Option<Value> {
        if ty == Type::PTR {
            return self.own_row();
        }
        let choice = self.random.below(8);
        if ty == Type::I1 && choice < 4 || ty.is_mask() && ty != Type::I1 {
            return self.compared(ty);
        }
        match choice {
            0..=2 if self.palette.takes(Form::plain(Op::Const, ty)) => {
                let other = self.random.bits();
                let lanes: Vec<u64> = match self.one_in(3) {
                    true => vec![self.random.lane(ty.elem(), other)],
                    false => (0..ty.lanes()).map(|_| self.random.lane(ty.elem(), other)).collect(),
                };
                Some(self.builder.constant(ty, &lanes))
            }
            3 | 4 => {
                let name = format!("s{}", self.builder.kernel().params.len());
                Some(self.builder.scalar(&name, ty))
            }
            _ if ty == Type::I1 => self.compared(ty),
            _ => self.load(ty),
        }
    }

    /// A mask, by a comparison.
    fn compared(&mut self, mask: Type) -> Option<Value> {
        let types = self.palette.types.iter().copied().filter(|ty| !ty.is_mask() && ty.mask_type() == Some(mask));
        let types: Vec<Type> = types.collect();
        for _ in 0..DRAWS {
            let ty = self.pick(&types)?;
            let op = if ty.is_float() { Op::Fcmp } else { Op::Icmp };
            if let Some(value) = self.try_op(op, ty) {
                return Some(value);
            }
        }
        None
    }

    // Memory.

    /// A value from a buffer that is only read, at any place in it, or from the item's own row of another.
    fn load(&mut self, ty: Type) -> Option<Value> {
        if !is_stored(ty) {
            return None;
        }
        if !self.rows.is_empty() && self.one_in(4) {
            let (attr, base, index) = self.own_place(ty)?;
            let args = [base, index.unwrap_or(base)];
            return Some(self.builder.value(Op::Load, ty, attr, args.get(..1 + usize::from(index.is_some()))?));
        }
        let (base, elem) = self.input(ty);
        let bytes = ty.bytes();
        // Wide accesses need no more than the alignment of a word.
        let align = if bytes > 4 && self.one_in(3) { 4 } else { bytes };
        let scale = if elem == ty { bytes } else { align };
        let offset = (scale * self.random.below(4) as u32) as i32;
        let attr = Attr::Mem(MemAttr { scale, offset, align });
        let index = match self.random.below(4) {
            0 => None,
            1 => Some(self.small()?),
            _ => self.item,
        };
        let args = [base, index.unwrap_or(base)];
        Some(self.builder.value(Op::Load, ty, attr, args.get(..1 + usize::from(index.is_some()))?))
    }

    /// An `in` buffer to load the type from, mostly of its own.
    fn input(&mut self, ty: Type) -> (Value, Type) {
        let fitting: Vec<(Value, Type)> = self.inputs.iter().copied().filter(|&(_, elem)| elem == ty).collect();
        match self.pick(&fitting) {
            Some(input) if !self.one_in(6) => input,
            _ => {
                let stored: Vec<Type> = self.palette.types.iter().copied().filter(|&ty| is_stored(ty)).collect();
                let elem = if self.one_in(4) { self.pick(&stored).unwrap_or(ty) } else { ty };
                let name = format!("x{}", self.builder.kernel().params.len());
                let align = elem.bytes().max(16);
                let base = self.builder.buffer_aligned(&name, Direction::In, elem, align);
                self.inputs.push((base, elem));
                (base, elem)
            }
        }
    }

    /// A place for a value in the item's own row of a buffer that is written: address, base and index.
    fn own_place(&mut self, ty: Type) -> Option<(Attr, Value, Option<Value>)> {
        let (bytes, slots) = (ty.bytes(), ROW / ty.bytes());
        let offset = (self.random.below(slots as usize) as u32 * bytes) as i32;
        let slot = Attr::Mem(MemAttr { scale: bytes, offset, align: bytes });
        let pointers: Vec<Value> = self.scope.iter().copied().filter(|&value| self.ty(value) == Type::PTR).collect();
        match (self.pick(&pointers), self.random.below(3)) {
            (Some(pointer), 0) => return Some((slot, pointer, None)),
            (_, 1) => {
                let first = Attr::Mem(MemAttr { scale: ROW, offset: 0, align: bytes });
                return Some((first, self.row_buffer(), self.item));
            }
            _ => {}
        }
        let row = self.builder.int(Type::I32, slots.into());
        let index = self.builder.op(Op::Mul, Type::I32, &[self.item?, row]);
        Some((slot, self.row_buffer(), Some(index)))
    }

    fn row_buffer(&mut self) -> Value {
        match self.pick(&self.rows.clone()) {
            Some(buffer) if !self.one_in(8) => buffer,
            _ => {
                let direction = if self.one_in(2) { Direction::Out } else { Direction::InOut };
                let name = format!("y{}", self.builder.kernel().params.len());
                let buffer = self.builder.buffer_aligned(&name, direction, Type::I32, 16);
                self.rows.push(buffer);
                buffer
            }
        }
    }

    /// The address of the item's own row of some buffer.
    fn own_row(&mut self) -> Option<Value> {
        let (base, item) = (self.row_buffer(), self.item?);
        let step = self.builder.int(Type::I32, ROW.into());
        let offset = self.builder.op(Op::MulWideU, Type::I32, &[item, step]);
        Some(self.builder.op(Op::PtrAdd, Type::PTR, &[base, offset]))
    }

    /// Stores a value of any type in the item's own row.
    fn store(&mut self) {
        let stored: Vec<Value> = self.scope.iter().copied().filter(|&value| is_stored(self.ty(value))).collect();
        let Some(value) = self.pick(&stored) else { return };
        let ty = self.ty(value);
        if let Some((attr, base, index)) = self.own_place(ty) {
            let args = [value, base, index.unwrap_or(base)];
            self.builder.inst(Op::Store, ty, attr, args.get(..2 + usize::from(index.is_some())).unwrap_or_default());
        }
    }

    /// Stores what has not been used, or all, each value in a place of its own.
    fn observe(&mut self, all: bool) {
        let used = uses(self.builder.kernel());
        let wanted: Vec<Value> = self.scope.iter().copied().filter(|value| all || !used.contains(value)).collect();
        let mut places: HashMap<Type, (Value, u32)> = HashMap::new();
        let mut indices: HashMap<u32, Value> = HashMap::new();
        for value in wanted {
            let Some(value) = storable(&mut self.builder, value) else { continue };
            let ty = self.ty(value);
            let (buffer, slot) = match places.get(&ty) {
                Some(&(buffer, slot)) if slot < ROW / ty.bytes() => (buffer, slot),
                _ => {
                    let name = format!("r{}", self.builder.kernel().params.len());
                    (self.builder.buffer_aligned(&name, Direction::Out, ty, 16), 0)
                }
            };
            places.insert(ty, (buffer, slot + 1));
            let Some(item) = self.item else { return };
            let slots = ROW / ty.bytes();
            let index = *indices.entry(slots).or_insert_with(|| {
                let row = self.builder.int(Type::I32, slots.into());
                self.builder.op(Op::Mul, Type::I32, &[item, row])
            });
            self.builder.store(ty, value, buffer, (index, slot as i32));
        }
    }
}

/// A value that says the same and is of a type that has a place in memory.
fn storable(b: &mut Builder, value: Value) -> Option<Value> {
    let ty = b.kernel().ty(value);
    match ty {
        _ if is_stored(ty) => Some(value),
        Type::I1 => {
            let (one, zero) = (b.int(Type::I32, 1), b.int(Type::I32, 0));
            Some(b.op(Op::Select, Type::I32, &[value, one, zero]))
        }
        _ if ty.elem() == Elem::I1 => Some(b.op(Op::MaskExpand, int_of_mask(ty)?, &[value])),
        Type::PTR => Some(b.op(Op::Bitcast, Type::I64, &[value])),
        _ => None,
    }
}

/// The values that some instruction uses.
fn uses(kernel: &Kernel) -> HashSet<Value> {
    let flow = Flow::new(kernel);
    let insts = flow.reverse_postorder().flat_map(|block| &kernel.blocks[block].insts);
    let operands = |&inst: &halfbyte_ir::Inst| {
        let passed = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
        kernel.args(inst).iter().chain(passed).copied().collect::<Vec<_>>()
    };
    insts.flat_map(operands).collect()
}
