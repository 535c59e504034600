//! Table of ops. Each row describes one op. The parser, printer, verifier, documentation, evaluator
//! dispatch and the ISLE terms are all derived from the rows.

use std::ops::RangeInclusive;

use halfbyte_abi::{Elem, Type};

use crate::attr::FlagKind;
use crate::order::MemOrder;

/// A set of types that an op accepts, with its name in error messages.
#[derive(Clone, Copy)]
pub struct TypeSet {
    /// Name of the set in messages.
    pub name: &'static str,
    /// Set of types, as a bit mask indexed by [`Type::index`].
    types: u64,
}

impl TypeSet {
    /// Returns `true` if the set contains a type.
    #[inline]
    pub const fn contains(self, ty: Type) -> bool {
        self.types >> ty.index() & 1 == 1
    }
}

/// Creates the set of types that satisfy a predicate.
macro_rules! type_set {
    ($name:literal, |$ty:ident| $belongs:expr) => {
        TypeSet {
            name: $name,
            types: {
                let mut types = 0;
                let mut index = 0;
                while index < Type::ALL.len() {
                    let $ty = Type::ALL[index];
                    types |= ($belongs as u64) << index;
                    index += 1;
                }
                types
            },
        }
    };
}

/// Type of an operand, relative to the op's controlling type (its suffix in text).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgType {
    /// The controlling type.
    Same,
    /// The mask type with the same number of lanes: `i1` for a scalar.
    Mask,
    /// `i1`, or the mask type with the same number of lanes.
    Condition,
    /// The scalar type of a lane of the controlling type.
    Lane,
    /// Exactly this type.
    Exactly(Type),
    /// Any type that [`OpRow::convert`] allows.
    Converted,
}

/// Type of an op's result, relative to its controlling type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// No result.
    None,
    /// The controlling type.
    Same,
    /// The mask type with the same number of lanes.
    Mask,
    /// The scalar type of a lane of the controlling type.
    Lane,
    /// The same number of lanes, each twice as wide.
    Wide,
    /// Exactly this type.
    Exactly(Type),
}

/// Kind of attribute of an op, which also determines its syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrKind {
    /// No attribute.
    None,
    /// Float modifiers, of which the op accepts those in this [`FlagSet`].
    Float(FlagSet),
    /// Integer comparison condition.
    IntCC,
    /// Floating-point comparison condition, and `ftz`.
    FloatCC,
    /// Constant, with a value for each lane.
    Const,
    /// Lane number or part number.
    Lane,
    /// List of lane numbers.
    Lanes,
    /// Axis of the launch, or no axis for a position over all axes.
    Axis,
    /// Address of a load or store.
    Mem,
    /// Address, memory order and scope of an atomic access.
    Atomic,
    /// Memory order and scope of a fence.
    Fence,
    /// Flag of a barrier: `unaligned` if items of a subgroup may execute different barrier instructions.
    Barrier,
    /// Branch targets with their arguments.
    Targets,
    /// Target instruction, as assembly text.
    Intrinsic,
}

/// Set of float modifiers that an op accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlagSet {
    /// Rounding modes `rz`, `rp` and `rm` besides the default `rn`.
    pub rounding: bool,
    /// Modifier `ftz`: flushes subnormal numbers to zero.
    pub ftz: bool,
    /// Modifiers `sat` and `relu`.
    pub clamp: bool,
    /// Modifier `contract`: allows one rounding for a product and its sum.
    pub contract: bool,
    /// Modifier `nan`: a NaN operand makes the result NaN.
    pub nan: bool,
}

/// Side effect of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// No side effect. The op can be removed, duplicated, merged and moved.
    Pure,
    /// Reads memory and traps on an invalid address, so the op must stay even if its result is unused.
    Read,
    /// Writes memory and traps on an invalid address.
    Write,
    /// Accesses memory atomically and traps on an invalid address. Passes do not change the op, and
    /// move no other memory access across it.
    Atomic,
    /// Orders the memory accesses before the op and after it.
    Fence,
    /// Convergent: items of a group execute the op together. Passes do not duplicate, merge, move
    /// or remove the op, and do not change its control dependences. Passes move no memory access
    /// across the op.
    Convergent,
    /// Ends a block.
    Terminator,
}

/// Set of items that execute a convergent op together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConvergenceScope {
    /// All items of a group.
    Group,
    /// The items of a subgroup that are in the op's mask.
    Subgroup,
}

impl ConvergenceScope {
    /// Returns the name of the set in text: `group` or `subgroup`.
    pub const fn name(self) -> &'static str {
        match self {
            ConvergenceScope::Group => "group",
            ConvergenceScope::Subgroup => "subgroup",
        }
    }
}

/// Description of an op: a row of the op table.
pub struct OpRow {
    /// The described op.
    pub op: Op,
    /// Name of the enum variant, which ISLE rules also use, such as `AddSatU`.
    pub ident: &'static str,
    /// Name of the op in the IR text.
    pub name: &'static str,
    /// Accepted controlling types; `None` if the op has no type suffix.
    pub types: Option<TypeSet>,
    /// Operand types in order. The last operands can be [optional](OpRow::optional). Ops with
    /// [`AttrKind::Targets`], [`AttrKind::Intrinsic`] and `concat` take more operands.
    pub args: &'static [ArgType],
    /// Number of optional operands at the end.
    pub optional: usize,
    /// Type of the result.
    pub result: ResultType,
    /// Kind of the op's attribute.
    pub attr: AttrKind,
    /// Side effect of the op.
    pub effect: Effect,
    /// `true` if each result lane depends only on the operand lanes with the same number.
    pub lanewise: bool,
    /// `true` if the first two operands can be exchanged.
    pub commutative: bool,
    /// Predicate that is `true` if the op converts `from` to `to`. Only present for an op with an
    /// [`ArgType::Converted`] operand.
    pub convert: Option<fn(from: Type, to: Type) -> bool>,
    /// Description of the op for the reference manual.
    pub doc: &'static str,
    /// Example line for the reference manual, which a test also parses.
    pub example: &'static str,
}

const INT: TypeSet = type_set!("an integer type", |t| t.is_int());
const NARROW_INT: TypeSet =
    type_set!("an integer type with lanes of at most 32 bits", |t| t.is_int() && t.elem().bits() <= 32);
const SCALAR_INT: TypeSet = type_set!("a scalar integer type", |t| t.is_int() && t.is_scalar());
const WIDENABLE: TypeSet =
    type_set!("an integer type with one of twice the width (i8, i16, i32, i8x16, i16x16)", |t| t.widened().is_some());
const BITS: TypeSet = type_set!("an integer or mask type", |t| t.is_int() || t.is_mask());
const FLOAT: TypeSet = type_set!("a floating-point type", |t| t.is_float());
const NO_DOUBLE: TypeSet =
    type_set!("a floating-point type except f64", |t| t.is_float() && !matches!(t.elem(), Elem::F64));
const SINGLE_OR_DOUBLE: TypeSet = type_set!("f32 or f64", |t| matches!(t.elem(), Elem::F32 | Elem::F64));
const SINGLE: TypeSet = type_set!("f32", |t| matches!(t.elem(), Elem::F32));
const FLOAT_SCALAR: TypeSet = type_set!("a scalar floating-point type", |t| t.is_float() && t.is_scalar());
const SCALAR_FLOAT: TypeSet =
    type_set!("a scalar floating-point type, e4m3 or e5m2", |t| (t.is_float() || t.is_fp8()) && t.is_scalar());
const WORD_INT: TypeSet = type_set!("i32 or i64", |t| matches!((t.elem(), t.lanes()), (Elem::I32 | Elem::I64, 1)));
const PACKED_INT: TypeSet = type_set!("a vector of integers", |t| t.is_int() && !t.is_scalar());
const SAD_INT: TypeSet =
    type_set!("i8x4, i16x2 or i8x16", |t| t.is_int() && !t.is_scalar() && t.elem().bits() * t.lanes() as u32 <= 128);
const WORD_BYTES: TypeSet = type_set!("i8x4", |t| matches!((t.elem(), t.lanes()), (Elem::I8, 4)));
const WORD_HALVES: TypeSet = type_set!("i16x2", |t| matches!((t.elem(), t.lanes()), (Elem::I16, 2)));
const MASK: TypeSet = type_set!("a mask of several lanes", |t| t.is_mask() && !t.is_scalar());
const VECTOR: TypeSet = type_set!("a vector type", |t| !t.is_scalar());
const BYTES16: TypeSet = type_set!("i8x16", |t| matches!((t.elem(), t.lanes()), (Elem::I8, 16)));
const WORD: TypeSet =
    type_set!("a type of 32 bits", |t| t.bits() == 32 && !t.is_mask() && !matches!(t.elem(), Elem::Ptr));
const ATOMIC_INT32: TypeSet = type_set!("i32", |t| matches!((t.elem(), t.lanes()), (Elem::I32, 1)));
const ATOMIC_EXCHANGE: TypeSet =
    type_set!("i32, i64 or i8x16", |t| matches!((t.elem(), t.lanes()), (Elem::I32 | Elem::I64, 1) | (Elem::I8, 16)));
const ATOMIC_CAS: TypeSet = type_set!("i16, i32, i64 or i8x16", |t| matches!(
    (t.elem(), t.lanes()),
    (Elem::I16 | Elem::I32 | Elem::I64, 1) | (Elem::I8, 16)
));
const ATOMIC_FLOAT: TypeSet = type_set!("f16, bf16, f16x2, bf16x2, f32 or f64", |t| t.is_float());
const ATOMIC_DATA: TypeSet = type_set!("a type of at most 64 bits that is neither a mask nor ptr", |t| t.bits() <= 64
    && !t.is_mask()
    && !matches!(t.elem(), Elem::Ptr));
const DATA: TypeSet = type_set!("any type except ptr", |t| !matches!(t.elem(), Elem::Ptr));
const ANY: TypeSet = type_set!("any type", |_t| true);

const NO_FLAGS: FlagSet = FlagSet { rounding: false, ftz: false, clamp: false, contract: false, nan: false };
const ARITH: AttrKind = AttrKind::Float(FlagSet { rounding: true, ftz: true, clamp: true, contract: true, nan: false });
const FMA: AttrKind = AttrKind::Float(FlagSet { rounding: true, ftz: true, clamp: true, ..NO_FLAGS });
const MINMAX: AttrKind = AttrKind::Float(FlagSet { ftz: true, nan: true, ..NO_FLAGS });
const ROUND: AttrKind = AttrKind::Float(FlagSet { rounding: true, ..NO_FLAGS });

fn same_lanes_wider(from: Type, to: Type) -> bool {
    from.is_int() && to.is_int() && from.lanes() == to.lanes() && from.elem().bits() < to.elem().bits()
}
fn same_lanes_narrower(from: Type, to: Type) -> bool {
    same_lanes_wider(to, from)
}
fn twice_as_wide(from: Type, to: Type) -> bool {
    to.widened() == Some(from)
}
fn mask_to_lanes(from: Type, to: Type) -> bool {
    to.is_int() && to.mask_type() == Some(from)
}
fn float_to_float(from: Type, to: Type) -> bool {
    let one_computes = from.is_float() && (to.is_float() || to.is_fp8()) || from.is_fp8() && to.is_float();
    let of_double = |ty: Type, other: Type| ty != Type::F64 || matches!(other, Type::F16 | Type::F32);
    one_computes && from.is_scalar() && to.is_scalar() && from != to && of_double(from, to) && of_double(to, from)
}
fn int_to_float(from: Type, to: Type) -> bool {
    (from == Type::I32 && to.is_float() || from == Type::I64 && to == Type::F64) && to.is_scalar()
}
fn float_to_int(from: Type, to: Type) -> bool {
    int_to_float(to, from)
}
fn same_bits(from: Type, to: Type) -> bool {
    from.bits() == to.bits() && !from.is_mask() && !to.is_mask() && from != to
}
fn whole_of_parts(from: Type, to: Type) -> bool {
    !from.is_mask() && !to.is_mask() && from.bits() < to.bits() && to.bits() <= 512
}
fn part_of_whole(from: Type, to: Type) -> bool {
    whole_of_parts(to, from)
}

macro_rules! ops {
    ($($ident:ident $name:literal $types:tt $args:tt -> $result:tt, $attr:tt, $effect:ident $(, $flag:ident)* $(, ($convert:ident))?;
       $doc:literal; $example:literal;)*) => {
        /// An operation of the IR.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $ident,)* }

        impl Op {
            /// All ops, in the order of the table.
            pub const ALL: &'static [Op] = &[$(Op::$ident),*];

            /// Returns the op that has a name in the IR text.
            pub fn from_name(name: &str) -> Option<Op> {
                match name { $($name => Some(Op::$ident),)* _ => None }
            }
        }

        const ROWS: &[OpRow] = &[$(OpRow {
            op: Op::$ident,
            ident: stringify!($ident),
            name: $name,
            types: ops!(@types $types),
            args: ops!(@args $args),
            optional: 0 $(+ ops!(@optional $flag))*,
            result: ops!(@result $result),
            attr: ops!(@attr $attr),
            effect: Effect::$effect,
            lanewise: false $(|| ops!(@is lanewise $flag))*,
            commutative: false $(|| ops!(@is commutative $flag))*,
            convert: ops!(@convert $($convert)?),
            doc: $doc,
            example: $example,
        }),*];
    };
    (@types -) => { None };
    (@types $set:ident) => { Some($set) };
    (@args [$($arg:tt)*]) => { &[$(ops!(@arg $arg)),*] };
    (@arg same) => { ArgType::Same };
    (@arg mask) => { ArgType::Mask };
    (@arg cond) => { ArgType::Condition };
    (@arg lane) => { ArgType::Lane };
    (@arg from) => { ArgType::Converted };
    (@arg $ty:ident) => { ArgType::Exactly(Type::$ty) };
    (@result -) => { ResultType::None };
    (@result same) => { ResultType::Same };
    (@result mask) => { ResultType::Mask };
    (@result lane) => { ResultType::Lane };
    (@result wide) => { ResultType::Wide };
    (@result $ty:ident) => { ResultType::Exactly(Type::$ty) };
    (@attr -) => { AttrKind::None };
    (@attr ($attr:ident)) => { AttrKind::$attr };
    (@attr $konst:ident) => { $konst };
    (@optional one_optional) => { 1 };
    (@optional two_optional) => { 2 };
    (@optional $flag:ident) => { 0 };
    (@is lanewise lanewise) => { true };
    (@is commutative commutative) => { true };
    (@is $a:ident $b:ident) => { false };
    (@convert) => { None };
    (@convert $f:ident) => { Some($f) };
}

ops! {
    // Integer arithmetic, lane by lane.
    Add "add" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Sum, wrapping."; "%r = add.i8x4 %a, %b";
    Sub "sub" INT [same same] -> same, -, Pure, lanewise;
        "Difference, wrapping."; "%r = sub.i8x4 %a, %b";
    Mul "mul" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Product, wrapping."; "%r = mul.i32 %a, %b";
    MulHiS "mul_hi_s" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Upper half of the signed product of twice the width."; "%r = mul_hi_s.i32 %a, %b";
    MulHiU "mul_hi_u" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Upper half of the unsigned product of twice the width."; "%r = mul_hi_u.i32 %a, %b";
    MulWideS "mul_wide_s" WIDENABLE [same same] -> wide, -, Pure, lanewise, commutative;
        "Signed product, exact, in lanes of twice the width."; "%r = mul_wide_s.i32 %a, %b";
    MulWideU "mul_wide_u" WIDENABLE [same same] -> wide, -, Pure, lanewise, commutative;
        "Unsigned product, exact, in lanes of twice the width."; "%r = mul_wide_u.i32 %a, %b";
    DivS "div_s" SCALAR_INT [same same] -> same, -, Pure;
        "Signed quotient, rounded toward zero. A division by 0 gives all ones. The least number divided by -1 gives the least number."; "%r = div_s.i32 %a, %b";
    DivU "div_u" SCALAR_INT [same same] -> same, -, Pure;
        "Unsigned quotient, rounded down. A division by 0 gives all ones."; "%r = div_u.i32 %a, %b";
    RemS "rem_s" SCALAR_INT [same same] -> same, -, Pure;
        "Signed remainder, a - b * div_s(a, b), with the sign of a. A division by 0 gives all ones."; "%r = rem_s.i32 %a, %b";
    RemU "rem_u" SCALAR_INT [same same] -> same, -, Pure;
        "Unsigned remainder, a - b * div_u(a, b). A division by 0 gives all ones."; "%r = rem_u.i32 %a, %b";
    AddSatS "add_sat_s" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "Signed sum, clamped to the lane's signed range."; "%r = add_sat_s.i8x4 %a, %b";
    AddSatU "add_sat_u" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "Unsigned sum, clamped to the lane's unsigned range."; "%r = add_sat_u.i8x4 %a, %b";
    SubSatS "sub_sat_s" NARROW_INT [same same] -> same, -, Pure, lanewise;
        "Signed difference, clamped to the lane's signed range."; "%r = sub_sat_s.i8x4 %a, %b";
    SubSatU "sub_sat_u" NARROW_INT [same same] -> same, -, Pure, lanewise;
        "Unsigned difference, clamped at zero."; "%r = sub_sat_u.i8x4 %a, %b";
    AvgS "avg_s" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "Signed average, exact: with s = a + b, (s + 1) >> 1 if s >= 0, else s >> 1."; "%r = avg_s.i8x4 %a, %b";
    AvgU "avg_u" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "Unsigned average rounded up: (a + b + 1) >> 1, exact."; "%r = avg_u.i8x4 %a, %b";
    AbsDiffS "absdiff_s" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "|a - b| of signed lanes, wrapping to the lane."; "%r = absdiff_s.i8x4 %a, %b";
    AbsDiffU "absdiff_u" NARROW_INT [same same] -> same, -, Pure, lanewise, commutative;
        "|a - b| of unsigned lanes."; "%r = absdiff_u.i8x4 %a, %b";
    MinS "min_s" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Signed minimum."; "%r = min_s.i8x4 %a, %b";
    MinU "min_u" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Unsigned minimum."; "%r = min_u.i8x4 %a, %b";
    MaxS "max_s" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Signed maximum."; "%r = max_s.i8x4 %a, %b";
    MaxU "max_u" INT [same same] -> same, -, Pure, lanewise, commutative;
        "Unsigned maximum."; "%r = max_u.i8x4 %a, %b";
    Neg "neg" INT [same] -> same, -, Pure, lanewise;
        "Negation, wrapping."; "%r = neg.i8x4 %a";
    Abs "abs" INT [same] -> same, -, Pure, lanewise;
        "Absolute value, wrapping: the least number is its own absolute value."; "%r = abs.i8x4 %a";
    Shl "shl" INT [same same] -> same, -, Pure, lanewise;
        "Shift left by the second operand's lane, modulo the width."; "%r = shl.i32 %a, %b";
    ShrS "shr_s" INT [same same] -> same, -, Pure, lanewise;
        "Arithmetic shift right by the second operand's lane, modulo the width."; "%r = shr_s.i32 %a, %b";
    ShrU "shr_u" INT [same same] -> same, -, Pure, lanewise;
        "Logical shift right by the second operand's lane, modulo the width."; "%r = shr_u.i32 %a, %b";
    RoundShrS "round_shr_s" INT [same same] -> same, -, Pure, lanewise;
        "Arithmetic shift right by n (modulo the width), rounded: (a + (1 << (n - 1))) >> n, computed exactly, or a if n is 0."; "%r = round_shr_s.i32 %a, %b";
    RoundShrU "round_shr_u" INT [same same] -> same, -, Pure, lanewise;
        "Logical shift right by n (modulo the width), rounded: (a + (1 << (n - 1))) >> n, computed exactly, or a if n is 0."; "%r = round_shr_u.i32 %a, %b";
    Rotl "rotl" INT [same same] -> same, -, Pure, lanewise;
        "Rotation left by the second operand's lane, modulo the width."; "%r = rotl.i32 %a, %b";
    Rotr "rotr" INT [same same] -> same, -, Pure, lanewise;
        "Rotation right by the second operand's lane, modulo the width."; "%r = rotr.i32 %a, %b";
    Popcount "popcount" INT [same] -> same, -, Pure, lanewise;
        "Number of set bits."; "%r = popcount.i32 %a";
    Clz "clz" INT [same] -> same, -, Pure, lanewise;
        "Number of zeros above the highest set bit; the width for 0."; "%r = clz.i32 %a";
    Ctz "ctz" INT [same] -> same, -, Pure, lanewise;
        "Number of zeros below the lowest set bit; the width for 0."; "%r = ctz.i32 %a";
    BitReverse "bit_reverse" INT [same] -> same, -, Pure, lanewise;
        "The bits of each lane in reverse order."; "%r = bit_reverse.i32 %a";
    And "and" BITS [same same] -> same, -, Pure, lanewise, commutative;
        "Bitwise and."; "%r = and.i32 %a, %b";
    Or "or" BITS [same same] -> same, -, Pure, lanewise, commutative;
        "Bitwise or."; "%r = or.i32 %a, %b";
    Xor "xor" BITS [same same] -> same, -, Pure, lanewise, commutative;
        "Bitwise exclusive or."; "%r = xor.i32 %a, %b";
    Not "not" BITS [same] -> same, -, Pure, lanewise;
        "Bitwise complement."; "%r = not.i32 %a";
    Icmp "icmp" INT [same same] -> mask, (IntCC), Pure, lanewise;
        "Integer comparison with a mask as its result (`i1` for scalars): eq ne lt le gt ge with _s or _u."; "%m = icmp.lt_u.i8x4 %a, %b";
    Select "select" ANY [cond same same] -> same, -, Pure, lanewise;
        "The second operand if the condition is true, else the third. The condition is one `i1` for all lanes, or a mask."; "%r = select.i8x4 %m, %a, %b";

    // Integer ops across lanes and widths.
    SadS "sad_s" SAD_INT [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of |a - b|, signed lanes, modulo 2^32."; "%r = sad_s.i8x4 %a, %b, %acc";
    SadU "sad_u" SAD_INT [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of |a - b|, unsigned lanes, modulo 2^32."; "%r = sad_u.i8x4 %a, %b, %acc";
    Dot4S "dot4_s" WORD_BYTES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, signed lanes, modulo 2^32."; "%r = dot4_s.i8x4 %a, %b, %acc";
    Dot4U "dot4_u" WORD_BYTES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, unsigned lanes, modulo 2^32."; "%r = dot4_u.i8x4 %a, %b, %acc";
    Dot4SU "dot4_su" WORD_BYTES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, lanes of a signed and of b unsigned, modulo 2^32."; "%r = dot4_su.i8x4 %a, %b, %acc";
    Dot2S "dot2_s" WORD_HALVES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, signed lanes, modulo 2^32."; "%r = dot2_s.i16x2 %a, %b, %acc";
    Dot2U "dot2_u" WORD_HALVES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, unsigned lanes, modulo 2^32."; "%r = dot2_u.i16x2 %a, %b, %acc";
    Dot2SU "dot2_su" WORD_HALVES [same same I32] -> I32, -, Pure;
        "acc + the sum over lanes of a * b, lanes of a signed and of b unsigned, modulo 2^32."; "%r = dot2_su.i16x2 %a, %b, %acc";
    ReduceAddS "reduce_add_s" PACKED_INT [same] -> I32, -, Pure;
        "Sum of the sign-extended lanes, modulo 2^32."; "%r = reduce_add_s.i8x4 %a";
    ReduceAddU "reduce_add_u" PACKED_INT [same] -> I32, -, Pure;
        "Sum of the zero-extended lanes, modulo 2^32."; "%r = reduce_add_u.i8x4 %a";
    ReduceMinS "reduce_min_s" PACKED_INT [same] -> lane, -, Pure;
        "Signed minimum of the lanes."; "%r = reduce_min_s.i8x4 %a";
    ReduceMinU "reduce_min_u" PACKED_INT [same] -> lane, -, Pure;
        "Unsigned minimum of the lanes."; "%r = reduce_min_u.i8x4 %a";
    ReduceMaxS "reduce_max_s" PACKED_INT [same] -> lane, -, Pure;
        "Signed maximum of the lanes."; "%r = reduce_max_s.i8x4 %a";
    ReduceMaxU "reduce_max_u" PACKED_INT [same] -> lane, -, Pure;
        "Unsigned maximum of the lanes."; "%r = reduce_max_u.i8x4 %a";
    Any "any" MASK [same] -> I1, -, Pure;
        "True if at least one lane of the mask is set."; "%r = any.i1x4 %m";
    All "all" MASK [same] -> I1, -, Pure;
        "True if every lane of the mask is set."; "%r = all.i1x4 %m";
    Sext "sext" INT [from] -> same, -, Pure, lanewise, (same_lanes_wider);
        "Sign extension of each lane to the named, wider type."; "%r = sext.i32 %a";
    Zext "zext" INT [from] -> same, -, Pure, lanewise, (same_lanes_wider);
        "Zero extension of each lane to the named, wider type."; "%r = zext.i32 %a";
    Trunc "trunc" INT [from] -> same, -, Pure, lanewise, (same_lanes_narrower);
        "Low bits of each lane, in the named, narrower type."; "%r = trunc.i8 %a";
    NarrowSatS "narrow_sat_s" WIDENABLE [from] -> same, -, Pure, lanewise, (twice_as_wide);
        "Signed lanes clamped to the signed range of the named type of half the width."; "%r = narrow_sat_s.i16 %a";
    NarrowSatU "narrow_sat_u" WIDENABLE [from] -> same, -, Pure, lanewise, (twice_as_wide);
        "Signed lanes clamped to the unsigned range of the named type of half the width."; "%r = narrow_sat_u.i8x16 %a";
    NarrowSatUU "narrow_sat_uu" WIDENABLE [from] -> same, -, Pure, lanewise, (twice_as_wide);
        "Unsigned lanes clamped to the unsigned range of the named type of half the width."; "%r = narrow_sat_uu.i16 %a";
    MaskExpand "mask_expand" INT [from] -> same, -, Pure, lanewise, (mask_to_lanes);
        "All bits of a lane are set if its mask bit is set, and clear otherwise."; "%r = mask_expand.i8x4 %m";

    // Floating-point arithmetic, lane by lane.
    Fadd "fadd" FLOAT [same same] -> same, ARITH, Pure, lanewise, commutative;
        "Sum, rounded once."; "%r = fadd.rz.ftz.f16x2 %a, %b";
    Fsub "fsub" FLOAT [same same] -> same, ARITH, Pure, lanewise;
        "Difference: the sum with the sign of the second operand inverted."; "%r = fsub.f16x2 %a, %b";
    Fmul "fmul" FLOAT [same same] -> same, ARITH, Pure, lanewise, commutative;
        "Product, rounded once. The sign of a zero is the exclusive or of the signs, in every rounding mode."; "%r = fmul.sat.f16x2 %a, %b";
    Ffma "ffma" FLOAT [same same same] -> same, FMA, Pure, lanewise, commutative;
        "a * b + c, rounded once."; "%r = ffma.relu.f16x2 %a, %b, %c";
    Fneg "fneg" FLOAT [same] -> same, -, Pure, lanewise;
        "Inverts the sign bit, also of a NaN."; "%r = fneg.f16x2 %a";
    Fabs "fabs" FLOAT [same] -> same, -, Pure, lanewise;
        "Clears the sign bit, also of a NaN."; "%r = fabs.f16x2 %a";
    Fmin "fmin" FLOAT [same same] -> same, MINMAX, Pure, lanewise, commutative;
        "Minimum; -0 is below +0. One NaN and a number give the number. Two NaNs, or one with `nan`, give the canonical NaN; in f64, two NaNs give the first one, made quiet."; "%r = fmin.nan.f16x2 %a, %b";
    Fmax "fmax" FLOAT [same same] -> same, MINMAX, Pure, lanewise, commutative;
        "Maximum; -0 is below +0. One NaN and a number give the number. Two NaNs, or one with `nan`, give the canonical NaN; in f64, two NaNs give the first one, made quiet."; "%r = fmax.f16x2 %a, %b";
    Fcmp "fcmp" FLOAT [same same] -> mask, (FloatCC), Pure, lanewise;
        "Comparison with a mask as its result (`i1` for scalars)."; "%m = fcmp.ltu.f16x2 %a, %b";
    Fset "fset" NO_DOUBLE [same same] -> same, (FloatCC), Pure, lanewise;
        "Comparison with 1.0 or +0 as its result."; "%r = fset.ge.ftz.f16x2 %a, %b";
    Fdiv "fdiv" SINGLE_OR_DOUBLE [same same] -> same, ROUND, Pure, lanewise;
        "Quotient, rounded once."; "%r = fdiv.f32 %a, %b";
    Fsqrt "fsqrt" SINGLE_OR_DOUBLE [same] -> same, ROUND, Pure, lanewise;
        "Square root, rounded once. A negative number gives NaN, and -0 gives -0."; "%r = fsqrt.f32 %a";
    Fexp2 "fexp2" NO_DOUBLE [same] -> same, -, Pure, lanewise;
        "2 to the power of the operand, rounded to f32 and then to the type. [Approximate](#approximate) on a GPU."; "%r = fexp2.f32 %a";
    Flog2 "flog2" SINGLE [same] -> same, -, Pure, lanewise;
        "Logarithm to base 2, rounded once. Zeros give -infinity, and a negative number gives NaN. [Approximate](#approximate) on a GPU."; "%r = flog2.f32 %a";
    Frsqrt "frsqrt" SINGLE [same] -> same, -, Pure, lanewise;
        "Reciprocal of the square root, rounded once. A zero gives the infinity of its sign, and a negative number gives NaN. [Approximate](#approximate) on a GPU."; "%r = frsqrt.f32 %a";
    Fsin "fsin" SINGLE [same] -> same, -, Pure, lanewise;
        "Sine of an angle in radians, rounded once. Infinity gives NaN. [Approximate](#approximate) on a GPU."; "%r = fsin.f32 %a";
    Fcos "fcos" SINGLE [same] -> same, -, Pure, lanewise;
        "Cosine of an angle in radians, rounded once. Infinity gives NaN. [Approximate](#approximate) on a GPU."; "%r = fcos.f32 %a";
    Ftanh "ftanh" NO_DOUBLE [same] -> same, -, Pure, lanewise;
        "Hyperbolic tangent, rounded to f32 and then to the type. [Approximate](#approximate) on a GPU."; "%r = ftanh.f32 %a";
    Fcvt "fcvt" SCALAR_FLOAT [from] -> same, ROUND, Pure, lanewise, (float_to_float);
        "Conversion to the named floating-point type, rounded once. A NaN becomes the canonical NaN, or in `f64` a positive quiet NaN with its payload. Conversions to `e4m3` and `e5m2` round to nearest even, clamp to the largest number, also infinity, and give 0x7f for NaN."; "%r = fcvt.f16 %a";
    FcvtFromS "fcvt_from_s" FLOAT_SCALAR [from] -> same, ROUND, Pure, lanewise, (int_to_float);
        "Signed integer to floating point, rounded once."; "%r = fcvt_from_s.f32 %a";
    FcvtFromU "fcvt_from_u" FLOAT_SCALAR [from] -> same, ROUND, Pure, lanewise, (int_to_float);
        "Unsigned integer to floating point, rounded once."; "%r = fcvt_from_u.f32 %a";
    FcvtToS "fcvt_to_s" WORD_INT [from] -> same, -, Pure, lanewise, (float_to_int);
        "Conversion to a signed integer, rounded toward zero and clamped. NaN gives 0; NaN of `f64` gives the least integer."; "%r = fcvt_to_s.i32 %a";
    FcvtToU "fcvt_to_u" WORD_INT [from] -> same, -, Pure, lanewise, (float_to_int);
        "Conversion to an unsigned integer, rounded toward zero and clamped. NaN gives 0; NaN of `f64` gives the integer in which only the highest bit is set."; "%r = fcvt_to_u.i32 %a";

    // Lane manipulation.
    Const "const" DATA [] -> same, (Const), Pure;
        "A constant: one value for all lanes, or a list with lane 0 first."; "%r = const.f16x2 [1.0, -0.5]";
    Splat "splat" VECTOR [lane] -> same, -, Pure;
        "A vector with the scalar in every lane."; "%r = splat.f16x2 %s";
    Shuffle "shuffle" VECTOR [same same] -> same, (Lanes), Pure;
        "Lane i of the result is lane k of the concatenated operands, where k is element i of the list."; "%r = shuffle.i8x4 %a, %b, [3, 2, 5, 4]";
    Swizzle "swizzle" BYTES16 [same same] -> same, -, Pure;
        "Lane i of the result is lane k of the first operand, where k is lane i of the second operand, modulo 16."; "%r = swizzle.i8x16 %a, %idx";
    Extract "extract" VECTOR [same] -> lane, (Lane), Pure;
        "One lane as a scalar."; "%s = extract.f16x2 %a, 1";
    Insert "insert" VECTOR [same lane] -> same, (Lane), Pure;
        "The vector with one lane replaced."; "%r = insert.f16x2 %a, %s, 1";
    Concat "concat" ANY [from] -> same, -, Pure, (whole_of_parts);
        "Concatenation of operands of one type, lowest lane first, as the named type."; "%r = concat.i8x16 %a, %b, %c, %d";
    Split "split" ANY [from] -> same, (Lane), Pure, (part_of_whole);
        "The part with this number, as the named type; part 0 is the lowest."; "%r = split.i8x4 %v, 2";
    Bitcast "bitcast" ANY [from] -> same, -, Pure, (same_bits);
        "The same bits as another type."; "%r = bitcast.i32 %a";

    // Memory accesses.
    Load "load" DATA [PTR] -> same, (Mem), Read;
        "Loads a value. The default type is the element type of the buffer."; "%v = load %x[%i]";
    Store "store" DATA [same PTR] -> -, (Mem), Write;
        "Stores a value."; "store %v, %y[%i + 1]";
    PtrAdd "ptr_add" - [PTR I64] -> PTR, -, Pure;
        "The address plus a number of bytes."; "%q = ptr_add %p, %n";

    // Barriers, fences and subgroup operations.
    Barrier "barrier" - [I32 I32] -> -, (Barrier), Convergent, two_optional;
        "Waits for all items of the group, or for the number of items in the second operand, a multiple of 32. The first operand is the number of the barrier, 0 to 15; the default is 0. It orders the memory accesses of these items."; "barrier %a, %n";
    BarrierArrive "barrier_arrive" - [I32 I32] -> -, (Barrier), Convergent;
        "Arrives at a barrier, and continues without waiting. The second operand is the number of items of the barrier."; "barrier_arrive %a, %n";
    BarrierCount "barrier_count" - [I1 I32 I32] -> I32, (Barrier), Convergent, two_optional;
        "Waits as `barrier`, and returns the number of items for which the operand is true."; "%c = barrier_count %p";
    BarrierAll "barrier_all" - [I1 I32 I32] -> I1, (Barrier), Convergent, two_optional;
        "Waits as `barrier`, and returns whether the operand is true for all of the items."; "%c = barrier_all %p, %a";
    BarrierAny "barrier_any" - [I1 I32 I32] -> I1, (Barrier), Convergent, two_optional;
        "Waits as `barrier`, and returns whether the operand is true for any of the items."; "%c = barrier_any %p, %a, %n";
    SubgroupBarrier "subgroup_barrier" - [I32] -> -, -, Convergent;
        "Waits until all items of the mask are at a `subgroup_barrier`. It orders the memory accesses of these items."; "subgroup_barrier %mask";
    Fence "fence" - [] -> -, (Fence), Fence;
        "Orders the accesses of the item before it and those after it, for all items of the scope."; "fence.acq_rel.device";
    SubgroupShuffle "subgroup_shuffle" WORD [same I32 I32 I32] -> same, -, Convergent;
        "The value of the lane with this number in the segment. The third operand is `c` of PTX, `(32 - w) << 8 | 31` for segments of w lanes; the last operand is the mask."; "%r = subgroup_shuffle.i32 %v, %lane, %c, %mask";
    SubgroupShuffleUp "subgroup_shuffle_up" WORD [same I32 I32 I32] -> same, -, Convergent;
        "The value of the lane `delta` below, or its own value if that lane is below its segment. The third operand is `c` of PTX, here `(32 - w) << 8`."; "%r = subgroup_shuffle_up.i32 %v, %delta, %c, %mask";
    SubgroupShuffleDown "subgroup_shuffle_down" WORD [same I32 I32 I32] -> same, -, Convergent;
        "The value of the lane `delta` above, or its own value if that lane is above its segment. The third operand is `c` of PTX, `(32 - w) << 8 | 31`."; "%r = subgroup_shuffle_down.f32 %v, %delta, %c, %mask";
    SubgroupShuffleXor "subgroup_shuffle_xor" WORD [same I32 I32 I32] -> same, -, Convergent;
        "The value of the lane whose number is the exclusive or with the second operand, or its own value if that lane is above its segment. The third operand is `c` of PTX, `(32 - w) << 8 | 31`."; "%r = subgroup_shuffle_xor.i8x4 %v, %bits, %c, %mask";
    VoteAll "vote_all" - [I1 I32] -> I1, -, Convergent;
        "True if the operand is true for all items of the mask."; "%c = vote_all %p, %mask";
    VoteAny "vote_any" - [I1 I32] -> I1, -, Convergent;
        "True if the operand is true for any item of the mask."; "%c = vote_any %p, %mask";
    VoteUniform "vote_uniform" - [I1 I32] -> I1, -, Convergent;
        "True if the operand is the same for all items of the mask."; "%c = vote_uniform %p, %mask";
    Ballot "ballot" - [I1 I32] -> I32, -, Convergent;
        "A bit for each lane, set if the mask contains the lane and its operand is true."; "%r = ballot %p, %mask";
    MatchAny "match_any" WORD_INT [same I32] -> I32, -, Convergent;
        "The lanes of the items of the mask that have the same value as this item."; "%r = match_any.i32 %v, %mask";
    MatchAll "match_all" WORD_INT [same I32] -> I32, -, Convergent;
        "The lanes of the mask if all of its items have the same value, else 0."; "%r = match_all.i64 %v, %mask";
    SubgroupReduceAdd "subgroup_reduce_add" - [I32 I32] -> I32, -, Convergent;
        "Sum of the values of the items of the mask, modulo 2^32."; "%r = subgroup_reduce_add %v, %mask";
    SubgroupReduceMinS "subgroup_reduce_min_s" - [I32 I32] -> I32, -, Convergent;
        "Signed minimum of the values of the items of the mask."; "%r = subgroup_reduce_min_s %v, %mask";
    SubgroupReduceMinU "subgroup_reduce_min_u" - [I32 I32] -> I32, -, Convergent;
        "Unsigned minimum of the values of the items of the mask."; "%r = subgroup_reduce_min_u %v, %mask";
    SubgroupReduceMaxS "subgroup_reduce_max_s" - [I32 I32] -> I32, -, Convergent;
        "Signed maximum of the values of the items of the mask."; "%r = subgroup_reduce_max_s %v, %mask";
    SubgroupReduceMaxU "subgroup_reduce_max_u" - [I32 I32] -> I32, -, Convergent;
        "Unsigned maximum of the values of the items of the mask."; "%r = subgroup_reduce_max_u %v, %mask";
    SubgroupReduceAnd "subgroup_reduce_and" - [I32 I32] -> I32, -, Convergent;
        "Bitwise and of the values of the items of the mask."; "%r = subgroup_reduce_and %v, %mask";
    SubgroupReduceOr "subgroup_reduce_or" - [I32 I32] -> I32, -, Convergent;
        "Bitwise or of the values of the items of the mask."; "%r = subgroup_reduce_or %v, %mask";
    SubgroupReduceXor "subgroup_reduce_xor" - [I32 I32] -> I32, -, Convergent;
        "Bitwise exclusive or of the values of the items of the mask."; "%r = subgroup_reduce_xor %v, %mask";
    Elect "elect" - [I32] -> I1, -, Convergent;
        "True for the lowest lane of the mask, and false for all others."; "%c = elect %mask";
    ActiveMask "active_mask" - [] -> I32, -, Convergent;
        "The lanes of the subgroup that execute this op together. The set depends on the engine; it always contains the lane of the item."; "%r = active_mask";
    SubgroupId "subgroup_id" - [] -> I32, -, Pure;
        "The number of the subgroup in its group: `local_id` / 32."; "%r = subgroup_id";
    LaneId "lane_id" - [] -> I32, -, Pure;
        "The number of the item in its subgroup: `local_id` modulo 32."; "%r = lane_id";

    // Atomic accesses.
    AtomicLoad "atomic_load" ATOMIC_DATA [PTR] -> same, (Atomic), Atomic;
        "Loads a value atomically, with order `relaxed` or `acquire`."; "%v = atomic_load.acquire.group %x[%i]";
    AtomicStore "atomic_store" ATOMIC_DATA [same PTR] -> -, (Atomic), Atomic;
        "Stores a value atomically, with order `relaxed` or `release`."; "atomic_store.release.group %v, %y[%i]";
    AtomicAdd "atomic_add" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the sum, wrapping. This op and the atomic ops below return the previous value."; "%old = atomic_add %v, %y[%i]";
    AtomicSub "atomic_sub" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the previous value minus the operand, wrapping."; "%old = atomic_sub %v, %y[%i]";
    AtomicMinS "atomic_min_s" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the signed minimum."; "%old = atomic_min_s.i64 %v, %y[%i]";
    AtomicMinU "atomic_min_u" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the unsigned minimum."; "%old = atomic_min_u %v, %y[%i]";
    AtomicMaxS "atomic_max_s" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the signed maximum."; "%old = atomic_max_s %v, %y[%i]";
    AtomicMaxU "atomic_max_u" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the unsigned maximum."; "%old = atomic_max_u %v, %y[%i]";
    AtomicAnd "atomic_and" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the bitwise and."; "%old = atomic_and %v, %y[%i]";
    AtomicOr "atomic_or" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the bitwise or."; "%old = atomic_or.system %v, %y[%i]";
    AtomicXor "atomic_xor" WORD_INT [same PTR] -> same, (Atomic), Atomic;
        "Stores the bitwise exclusive or."; "%old = atomic_xor %v, %y[%i]";
    AtomicInc "atomic_inc" ATOMIC_INT32 [same PTR] -> same, (Atomic), Atomic;
        "Stores the previous value plus 1, or 0 if the previous value is at least the operand, unsigned."; "%old = atomic_inc %v, %y[%i]";
    AtomicDec "atomic_dec" ATOMIC_INT32 [same PTR] -> same, (Atomic), Atomic;
        "Stores the previous value minus 1, or the operand if the previous value is 0 or greater than the operand, unsigned."; "%old = atomic_dec %v, %y[%i]";
    AtomicExchange "atomic_exchange" ATOMIC_EXCHANGE [same PTR] -> same, (Atomic), Atomic;
        "Stores the operand. An `i8x16` is 128 bits in one atomic access."; "%old = atomic_exchange %v, %y[%i]";
    AtomicCompareExchange "atomic_compare_exchange" ATOMIC_CAS [same same PTR] -> same, (Atomic), Atomic;
        "Stores the second operand if the previous value equals the first operand. An `i8x16` is compared as 128 bits."; "%old = atomic_compare_exchange.acq_rel %e, %v, %y[%i]";
    AtomicFadd "atomic_fadd" ATOMIC_FLOAT [same PTR] -> same, (Atomic), Atomic;
        "Stores the sum, rounded to nearest even; packed halves are separate accesses. In a buffer, `f32` operands and sums that are subnormal become zeros of their sign. Other types, and other memory, keep subnormals."; "%old = atomic_fadd.f16x2 %v, %y[%i]";

    // Position of the work item in the launch.
    ItemId "item_id" - [] -> I32, (Axis), Pure;
        "The number of the work item along an axis, from 0: `group_id.x * group_size.x + local_id.x`. Without an axis, the number in the whole launch: x + nx * (y + ny * z), with nx items along x and ny along y."; "%i = item_id.x";
    ItemCount "item_count" - [] -> I32, -, Pure;
        "Number of work items in the launch."; "%n = item_count";
    LocalId "local_id" - [] -> I32, (Axis), Pure;
        "The number of the item in its group, along an axis or in the whole group."; "%l = local_id";
    GroupId "group_id" - [] -> I32, (Axis), Pure;
        "The number of the group, along an axis or in the whole grid."; "%g = group_id";
    GroupSize "group_size" - [] -> I32, (Axis), Pure;
        "The number of items in a group, along an axis or in total."; "%s = group_size.y";
    GroupCount "group_count" - [] -> I32, (Axis), Pure;
        "The number of groups, along an axis or in total."; "%c = group_count";

    // Target instructions.
    Intrinsic "intrinsic" DATA [] -> same, (Intrinsic), Pure;
        "Instructions of a target as assembly text ([Intrinsics](#intrinsics)): `$d` is the result, `$0` `$1` ... are the operands. Other targets refuse it."; "%r = intrinsic.i8x4 halu \"vadd4.u32.u32.u32.sat $d.b10, $0, $1, $2\", %a, %b, %c";

    // Control flow.
    Br "br" - [] -> -, (Targets), Terminator;
        "Branches to a block, with values for its parameters."; "br ^next(%a)";
    BrIf "br_if" - [I1] -> -, (Targets), Terminator;
        "Branches to the first block if the condition is true, else to the second."; "br_if %c, ^then(%a), ^else";
    Switch "switch" - [I32] -> -, (Targets), Terminator;
        "Branches to the block listed for the value, else to the first block."; "switch %x, ^default, [0: ^zero, 7: ^seven(%a)]";
    Ret "ret" - [] -> -, -, Terminator;
        "Ends the work item."; "ret";
}

impl Op {
    /// Returns `true` for an op whose result GPUs only approximate. Every engine of halfbyte
    /// computes the correctly rounded result.
    pub const fn is_approximate(self) -> bool {
        matches!(self, Op::Fexp2 | Op::Flog2 | Op::Frsqrt | Op::Fsin | Op::Fcos | Op::Ftanh)
    }
}

impl FlagSet {
    /// Returns `true` if the set contains the modifiers of the given kind.
    pub const fn contains(self, kind: FlagKind) -> bool {
        match kind {
            FlagKind::Rounding => self.rounding,
            FlagKind::Ftz => self.ftz,
            FlagKind::Clamp => self.clamp,
            FlagKind::Contract => self.contract,
            FlagKind::Nan => self.nan,
        }
    }
}

impl OpRow {
    /// Returns the result type of the op with a controlling type; `None` if there is no result.
    pub fn result_type(&self, ty: Type) -> Option<Type> {
        match self.result {
            ResultType::None => None,
            ResultType::Same => Some(ty),
            ResultType::Mask => ty.mask_type(),
            ResultType::Lane => Some(ty.lane_type()),
            ResultType::Wide => ty.widened(),
            ResultType::Exactly(ty) => Some(ty),
        }
    }

    /// Returns the controlling type of an op without a type suffix: its result type, or `i32` if there is no result.
    pub const fn fixed_type(&self) -> Option<Type> {
        match (self.types, self.result) {
            (Some(_), _) => None,
            (None, ResultType::Exactly(ty)) => Some(ty),
            (None, _) => Some(Type::I32),
        }
    }

    /// Returns the range of valid operand counts, without the arguments of branch targets.
    pub const fn arity(&self) -> RangeInclusive<usize> {
        let fixed = self.args.len();
        match (self.op, self.attr) {
            (_, AttrKind::Intrinsic) => 0..=usize::MAX,
            (Op::Concat, _) => 1..=usize::MAX,
            (_, AttrKind::Mem | AttrKind::Atomic) => fixed..=fixed + 1,
            _ => fixed - self.optional..=fixed,
        }
    }

    /// Returns `true` if the first two operands can be exchanged for this controlling type. An f64
    /// op returns the first of two NaN operands, so its operands cannot be exchanged.
    pub const fn commutes(&self, ty: Type) -> bool {
        self.commutative && !(matches!(ty.elem(), Elem::F64) && matches!(self.result, ResultType::Same))
    }

    /// Returns the type of the operand with number `number`; `None` if any type is valid.
    pub fn arg(&self, number: usize) -> Option<ArgType> {
        match (self.op, self.attr) {
            (_, AttrKind::Intrinsic) => None,
            (Op::Concat, _) => Some(ArgType::Converted),
            (_, AttrKind::Mem | AttrKind::Atomic) => {
                Some(*self.args.get(number).unwrap_or(&ArgType::Exactly(Type::I32)))
            }
            _ => self.args.get(number).copied(),
        }
    }

    /// Returns `true` if the op converts an operand of type `from` to the controlling type `to`.
    pub fn converts(&self, from: Type, to: Type) -> bool {
        self.convert.is_some_and(|convert| convert(from, to)) && self.types.is_some_and(|types| types.contains(to))
    }

    /// Returns the types that the op converts to the controlling type `to`, in the order of
    /// [`Type::ALL`]. The result is empty for ops that do not convert.
    pub fn sources(&self, to: Type) -> impl Iterator<Item = Type> {
        Type::ALL.iter().copied().filter(move |&from| self.converts(from, to))
    }

    /// Returns the modifiers that the op accepts for a controlling type. Only halves have `ftz` and clamping. FP8
    /// conversion always rounds to nearest. The `nan` modifier does not exist for f64.
    pub const fn flags(&self, ty: Type) -> FlagSet {
        let half = ty.is_half();
        match self.attr {
            AttrKind::Float(set) => FlagSet {
                rounding: set.rounding && !ty.is_fp8(),
                ftz: set.ftz && half,
                clamp: set.clamp && half,
                nan: set.nan && !matches!(ty.elem(), Elem::F64),
                ..set
            },
            AttrKind::FloatCC => FlagSet { ftz: half, ..NO_FLAGS },
            _ => NO_FLAGS,
        }
    }
}

impl Op {
    /// Returns the description of this op.
    pub const fn row(self) -> &'static OpRow {
        &ROWS[self as usize]
    }

    /// Returns the name of the op in the IR text.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns `true` if the op has no side effect.
    pub fn is_pure(self) -> bool {
        self.row().effect == Effect::Pure
    }

    /// Returns `true` if items of a group execute the op together (LLVM: convergent).
    pub fn is_convergent(self) -> bool {
        self.row().effect == Effect::Convergent
    }

    /// Returns `true` if the op's result depends on the division of items into groups.
    pub fn tells_group(self) -> bool {
        use Op::{GroupCount, GroupId, GroupSize, LaneId, LocalId, SubgroupId};
        matches!(self, LocalId | GroupId | GroupSize | GroupCount | SubgroupId | LaneId)
    }

    /// Returns the set of items that execute a convergent op together.
    pub fn party(self) -> Option<ConvergenceScope> {
        let party =
            if self.row().attr == AttrKind::Barrier { ConvergenceScope::Group } else { ConvergenceScope::Subgroup };
        self.is_convergent().then_some(party)
    }

    /// Returns `true` if no memory access can be moved across the op. The op itself may be a memory access.
    pub fn orders_memory(self) -> bool {
        matches!(self.row().effect, Effect::Atomic | Effect::Fence | Effect::Convergent)
    }

    /// Returns `true` if the IR text can omit the op's result. An omitted result is unused.
    pub fn may_drop_result(self) -> bool {
        self.row().effect == Effect::Atomic && self != Op::AtomicLoad
    }

    /// Returns the memory orders that the op accepts.
    pub const fn orders(self) -> &'static [MemOrder] {
        use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self {
            Op::AtomicLoad => &[Relaxed, Acquire],
            Op::AtomicStore => &[Relaxed, Release],
            Op::Fence => &[Acquire, Release, AcqRel, SeqCst],
            _ if matches!(self.row().attr, AttrKind::Atomic) => &[Relaxed, Acquire, Release, AcqRel],
            _ => &[],
        }
    }

    /// Returns `true` if the op ends a block.
    pub fn is_terminator(self) -> bool {
        self.row().effect == Effect::Terminator
    }
}
