//! Types, ops and operand forms that a target supports, found by trial compilation.

use std::collections::HashMap;

use crate::builder::Builder;
use crate::op::ArgType;
use crate::witness::Random;
use crate::{Attr, Direction, IntCC, IntrinsicData, Kernel, Op, Type, Value};

use super::{Generator, Shape, storable};

/// Kinds of address computation in generated kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    /// Arbitrary: addresses may depend on data and on computed pointers.
    Any,
    /// Affine: addresses are known at launch. An address is a sum of multiples of the item's number, of small
    /// parameters, and of induction variables of loops whose trip counts are also known.
    Affine,
}

/// A form of code to generate, with all properties on which the support of a target may depend.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum GeneratedForm {
    Op(OpForm),
    /// A scalar parameter.
    Scalar(Type),
    /// A block parameter.
    Passed(Type),
    Switch,
}

/// Form of an instruction: op, types, attribute and constant operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct OpForm {
    pub op: Op,
    pub ty: Type,
    /// Type of the operand of a conversion. Together with the op and the controlling type, it
    /// determines all operand types.
    pub from: Option<Type>,
    /// Type of the condition operand, if the op has one.
    pub condition: Option<Type>,
    pub attr: Attr,
    /// `true` if the last operand is a constant with equal lanes.
    pub constant: bool,
}

impl OpForm {
    /// Returns the form of an op whose operand types depend only on its controlling type.
    pub(super) const fn plain(op: Op, ty: Type) -> OpForm {
        OpForm { op, ty, from: None, condition: None, attr: Attr::None, constant: false }
    }

    /// Returns the operand types, or `None` for a form that is not generated.
    pub(super) fn operands(&self) -> Option<Vec<Type>> {
        if self.op == Op::Concat {
            return self.from.map(|from| vec![from; (self.ty.bits() / from.bits()) as usize]);
        }
        let of = |arg: &ArgType| match arg {
            ArgType::Same => Some(self.ty),
            ArgType::Mask => self.ty.mask_type(),
            ArgType::Condition => self.condition,
            ArgType::Lane => Some(self.ty.lane_type()),
            ArgType::Exactly(ty) => Some(*ty),
            ArgType::Converted => self.from,
        };
        self.op.row().args.iter().map(of).collect()
    }
}

/// A randomly generated target instruction, as an intrinsic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawn {
    /// Target and assembly text of the instruction.
    pub data: IntrinsicData,
    /// Type of the result.
    pub result: Type,
    /// Types of the operands.
    pub operands: Vec<Type>,
}

/// Generator of random target instructions. Returns `None` for an instruction without a result. The
/// instruction can be one that is not valid as an intrinsic.
pub type Draw = fn(&mut Random) -> Option<Drawn>;

/// Predicate that is `true` if the target can compile a kernel.
type Takes<'t> = dyn FnMut(&Kernel) -> bool + 't;

/// Forms of code that a target supports, and preferences of the generator.
pub struct Palette<'t> {
    takes: Box<Takes<'t>>,
    /// Types of generated values, without masks, which are generated as needed. A type that occurs
    /// more often is generated more often.
    pub(super) types: Vec<Type>,
    pub(super) addresses: Addresses,
    pub(super) instructions: Vec<Draw>,
    /// Types of more than 16 bytes that can be block parameters; computed on first use.
    wide: Option<Vec<Type>>,
    known: HashMap<GeneratedForm, bool>,
}

impl<'t> Palette<'t> {
    /// Creates the palette of a target. `takes` returns `true` if the target can compile a kernel.
    pub fn new(takes: impl FnMut(&Kernel) -> bool + 't) -> Palette<'t> {
        Palette {
            takes: Box::new(takes),
            types: Type::ALL.to_vec(),
            addresses: Addresses::Any,
            instructions: Vec::new(),
            wide: None,
            known: HashMap::new(),
        }
    }

    /// Restricts operands and results to the given types, truth values and masks. A type that
    /// occurs more often is generated more often.
    #[must_use]
    pub fn with_types(mut self, types: &[Type]) -> Palette<'t> {
        self.types = types.to_vec();
        self
    }

    /// Sets the kind of address computation.
    #[must_use]
    pub fn with_addresses(mut self, addresses: Addresses) -> Palette<'t> {
        self.addresses = addresses;
        self
    }

    /// Sets the generators of random target instructions.
    #[must_use]
    pub fn with_intrinsics(mut self, instructions: &[Draw]) -> Palette<'t> {
        self.instructions = instructions.to_vec();
        self
    }

    /// Returns the kind of address computation.
    pub const fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Generates a random kernel.
    pub fn kernel(&mut self, name: &str, shape: &Shape, random: &mut Random) -> Kernel {
        if self.wide.is_none() {
            // Some targets support vectors of more than 16 bytes only in some combinations of ops,
            // and not as block parameters.
            let wide: Vec<Type> = Type::ALL.iter().copied().filter(|ty| ty.is_wide()).collect();
            let named = wide.into_iter().filter(|ty| self.types.contains(ty) && self.types.contains(&Type::I8X16));
            let named: Vec<Type> = named.collect();
            self.wide = Some(named.into_iter().filter(|&ty| self.takes(GeneratedForm::Passed(ty))).collect());
        }
        Generator::new(self, name, shape, random).kernel(shape)
    }

    pub(super) fn has(&self, ty: Type) -> bool {
        let is_given = !ty.is_wide() && (ty.is_mask() || self.types.contains(&ty));
        is_given || self.wide.as_ref().is_some_and(|wide| wide.contains(&ty))
    }

    pub(super) fn takes(&mut self, form: GeneratedForm) -> bool {
        if let Some(&known) = self.known.get(&form) {
            return known;
        }
        let takes = probe(&form).is_some_and(|kernel| self.takes_kernel(&kernel));
        self.known.insert(form, takes);
        takes
    }

    /// Returns `true` if the target supports an intrinsic with operands of the given types.
    pub(super) fn takes_intrinsic(&mut self, result: Type, operands: &[Type], target: &str, text: &str) -> bool {
        let probe = probe_with(operands, false, |b, args| Some(b.intrinsic(result, target, text, args)));
        probe.is_some_and(|kernel| self.takes_kernel(&kernel))
    }

    fn takes_kernel(&mut self, kernel: &Kernel) -> bool {
        crate::verify(kernel).is_ok() && (self.takes)(kernel)
    }
}

/// Returns `true` if buffers can hold values of the type.
pub(super) fn is_stored(ty: Type) -> bool {
    !ty.is_mask() && ty != Type::PTR && !ty.is_wide()
}

/// Returns the integer type with one lane per lane of a mask.
pub(super) fn int_of_mask(mask: Type) -> Option<Type> {
    [Type::I8X4, Type::I16X2, Type::I8X16, Type::I32].into_iter().find(|ty| ty.mask_type() == Some(mask))
}

/// Builds a kernel that uses a form once, to test whether a target supports the form.
fn probe(form: &GeneratedForm) -> Option<Kernel> {
    match *form {
        GeneratedForm::Switch => Some(probe_switch()),
        GeneratedForm::Scalar(ty) => probe_with(&[], false, |b, _| Some(b.scalar("s", ty))),
        GeneratedForm::Passed(ty) => probe_with(&[ty, ty], false, |b, args| Some(join(b, ty, args))),
        GeneratedForm::Op(form) => probe_with(&form.operands()?, form.constant, |b, args| {
            Some(match form.op {
                Op::Const => b.constant(form.ty, &[1]),
                _ => b.value(form.op, form.ty, form.attr, args),
            })
        }),
    }
}

/// Builds a kernel that computes a value from operands of the given types and stores it. If
/// `constant`, the last operand is a constant; all other operands are loaded.
fn probe_with(
    types: &[Type],
    constant: bool,
    make: impl FnOnce(&mut Builder, &[Value]) -> Option<Value>,
) -> Option<Kernel> {
    let mut b = Builder::new("probe");
    b.begin("entry", &[]);
    let item = b.here(Op::ItemId);
    let mut loaded = 0;
    let mut load = |b: &mut Builder, ty: Type| {
        loaded += 1;
        let buffer = b.buffer_aligned(&format!("a{loaded}"), Direction::In, ty, 16);
        b.load(ty, buffer, item)
    };
    let mut args = Vec::new();
    for (number, &ty) in types.iter().enumerate() {
        args.push(match ty {
            _ if constant && number + 1 == types.len() => b.constant(ty, &[1]),
            Type::PTR => b.buffer_aligned(&format!("p{number}"), Direction::InOut, Type::I8, 16),
            _ if ty.is_mask() => {
                let lanes = int_of_mask(ty)?;
                let (x, y) = (load(&mut b, lanes), load(&mut b, lanes));
                b.icmp(IntCC::Eq, lanes, x, y)
            }
            _ if ty.is_wide() => {
                let bytes = load(&mut b, Type::I8X16);
                b.op(Op::Zext, ty, &[bytes])
            }
            _ => load(&mut b, ty),
        });
    }
    let result = make(&mut b, &args)?;
    let result = storable(&mut b, result)?;
    let ty = b.kernel().ty(result);
    let out = b.buffer_aligned("out", Direction::Out, ty, 16);
    b.store(ty, result, out, item);
    b.ret();
    Some(b.finish())
}

/// Returns a block parameter that is the first or the second of `values`, depending on a condition.
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
