//! Random kernels mean the same before and after all passes, on targets that lack this or that.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fmt::Write;

use common::{kernel, lower, same_output};
use halfbyte_ir::op::{ArgType, AttrKind, OpRow};
use halfbyte_ir::witness::{Random, witnesses};
use halfbyte_ir::{FloatCC, IntCC, Op, Type};
use halfbyte_lower::Context;
use halfbyte_lower::trial::target;
use proptest::prelude::*;

/// Types of values and how many of each are at hand.
const TYPES: &[Type] = &[
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::I8X4,
    Type::I16X2,
    Type::I8X16,
    Type::F16,
    Type::F16X2,
    Type::BF16X2,
    Type::F32,
    Type::I1,
    Type::I1X2,
    Type::I1X4,
    Type::I1X16,
];

/// A body under construction: instructions, and the values there are by type.
struct Body {
    random: Random,
    text: String,
    values: Vec<(Type, String)>,
    names: usize,
}

impl Body {
    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.random.below(from.len())).copied()
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// A value of that type; recent ones are likelier, so that chains form. Otherwise a constant.
    fn value(&mut self, ty: Type) -> String {
        let of_type: Vec<String> =
            self.values.iter().filter(|(of, _)| *of == ty).map(|(_, name)| name.clone()).collect();
        let constant = of_type.is_empty() || self.random.below(6) == 0;
        if constant && ty != Type::PTR {
            let name = self.name();
            let lane = |random: &mut Random| match random.below(3) {
                0 => 0,
                1 => 1,
                _ => random.lane(ty.elem(), 0),
            };
            let hex = |lane: u64| if ty.is_mask() { lane.to_string() } else { format!("{lane:#x}") };
            let lanes: Vec<String> = match self.random.below(2) {
                0 => vec![hex(lane(&mut self.random) & ty.elem().mask()); ty.lanes()],
                _ => (0..ty.lanes()).map(|_| hex(lane(&mut self.random) & ty.elem().mask())).collect(),
            };
            let list = if ty.is_scalar() { lanes.concat() } else { format!("[{}]", lanes.join(", ")) };
            let _ = write!(self.text, "{name} = const.{ty} {list}; ");
            self.values.push((ty, name.clone()));
            return name;
        }
        let back = self.random.below(of_type.len()).min(self.random.below(of_type.len()));
        of_type[of_type.len() - 1 - back].clone()
    }

    fn attr(&mut self, row: &OpRow, ty: Type) -> Option<(String, String)> {
        let mut head = String::new();
        let mut tail = String::new();
        let number = self.random.bits() as usize;
        match row.attr {
            AttrKind::None => {}
            AttrKind::Float(_) => {
                let flags = row.flags(ty);
                if flags.rounding && number.is_multiple_of(2) {
                    head += [".rz", ".rp", ".rm", ""][number / 2 % 4];
                }
                if flags.ftz && number.is_multiple_of(3) {
                    head += ".ftz";
                }
                if flags.clamp && number.is_multiple_of(5) {
                    head += [".sat", ".relu"][number / 5 % 2];
                }
                if flags.contract && number.is_multiple_of(7) {
                    head += ".contract";
                }
            }
            AttrKind::IntCC => head = format!(".{}", IntCC::ALL[number % IntCC::ALL.len()]),
            AttrKind::FloatCC => head = format!(".{}", FloatCC::ALL[number % FloatCC::ALL.len()]),
            AttrKind::Lane => tail = format!(", {}", number % ty.lanes()),
            AttrKind::Lanes => {
                let lanes: Vec<String> =
                    (0..ty.lanes()).map(|_| self.random.below(2 * ty.lanes()).to_string()).collect();
                tail = format!(", [{}]", lanes.join(", "));
            }
            _ => return None,
        }
        Some((head, tail))
    }

    /// One more instruction, if this op on this type can be written.
    fn inst(&mut self, op: Op, ty: Type) -> Option<()> {
        let row = op.row();
        if !op.is_pure() || row.args.is_empty() || row.types.is_none_or(|set| !(set.contains)(ty)) {
            return None;
        }
        let result = row.result_type(ty).filter(|ty| TYPES.contains(ty))?;
        let lane_count = match op {
            Op::Split => return None,
            _ => ty,
        };
        let (head, tail) = self.attr(row, lane_count)?;
        let mut args = Vec::new();
        for arg in row.args {
            let ty = match arg {
                ArgType::Same => ty,
                ArgType::Mask => ty.mask_type()?,
                ArgType::Condition => match self.random.below(2) {
                    0 => Type::I1,
                    _ => ty.mask_type()?,
                },
                ArgType::Lane => ty.lane_type(),
                ArgType::Exactly(ty) => *ty,
                ArgType::Converted => {
                    let convert = row.convert?;
                    let from: Vec<Type> = TYPES.iter().copied().filter(|&from| convert(from, ty)).collect();
                    self.pick(&from)?
                }
            };
            if !TYPES.contains(&ty) {
                return None;
            }
            args.push(self.value(ty));
        }
        if op == Op::Concat {
            // Parts of one type, as many as fill the whole.
            let part = self.values.iter().find(|(_, name)| *name == args[0])?.0;
            while args.len() < (ty.bits() / part.bits()) as usize {
                args.push(self.value(part));
            }
        }
        let name = self.name();
        let _ = write!(self.text, "{name} = {}{head}.{ty} {}{tail}; ", op.name(), args.join(", "));
        self.values.push((result, name));
        Some(())
    }

    fn insts(&mut self, count: usize) {
        let mut done = 0;
        while done < count {
            let (op, ty) = (self.pick(Op::ALL).unwrap(), self.pick(TYPES).unwrap());
            done += usize::from(self.inst(op, ty).is_some());
        }
    }

    /// Two ways, by a branch or a switch, that meet with a value each; sometimes both are the same block.
    fn fork(&mut self) {
        let ty = self.pick(TYPES).unwrap();
        let id = self.names;
        let around = self.value(ty);
        let join = format!("^join{id}({around})");
        let then = if self.random.below(4) == 0 { join } else { format!("^then{id}") };
        let text = match self.random.below(3) {
            0 => {
                let on = self.value(Type::I32);
                format!("switch {on}, ^else{id}, [0: {then}, 1: ^else{id}, 7: {then}]; ")
            }
            _ => {
                let on = self.value(Type::I1);
                format!("br_if {on}, {then}, ^else{id}; ")
            }
        };
        self.text += &text;
        let outside = self.values.len();
        for label in ["then", "else"] {
            let _ = write!(self.text, "^{label}{id}:; ");
            self.insts(4);
            let value = self.value(ty);
            let _ = write!(self.text, "br ^join{id}({value}); ");
            self.values.truncate(outside);
        }
        let name = self.name();
        let _ = write!(self.text, "^join{id}({name}: {ty}):; ");
        self.values.push((ty, name));
    }

    /// A loop of a few turns, as many as a constant says or a value, that ends before or behind its body.
    fn turns(&mut self) {
        let ty = self.pick(TYPES).unwrap();
        let id = self.names;
        let first = [self.value(ty), self.value(ty)];
        let (start, step) = (self.random.below(4), [1, 1, 2, 255][self.random.below(4)]);
        let bound = match self.random.below(3) {
            0 => {
                let of = self.value(Type::I32);
                format!("%three{id} = const.i32 3; %bound{id} = and.i32 {of}, %three{id}; ")
            }
            _ => format!("%bound{id} = const.i32 {}; ", start + step * self.random.below(5)),
        };
        let _ = write!(
            self.text,
            "{bound}%start{id} = const.i32 {start}; %step{id} = const.i32 {step}; br ^turn{id}(%start{id}, {}, {}); \
             ^turn{id}(%k{id}x: i32, %p{id}: {ty}, %q{id}: {ty}):; ",
            first[0], first[1]
        );
        let outside = self.values.len();
        self.values.extend([(Type::I32, format!("%k{id}x")), (ty, format!("%p{id}")), (ty, format!("%q{id}"))]);
        let before = self.random.below(2) == 0;
        if before {
            let _ = write!(
                self.text,
                "%more{id} = icmp.lt_u.i32 %k{id}x, %bound{id}; br_if %more{id}, ^body{id}, ^after{id}(%p{id}); ^body{id}:; "
            );
        }
        self.insts(3);
        match self.random.below(4) {
            0 => self.fork(),
            1 => self.turns(),
            _ => {}
        }
        let (a, b) = (self.value(ty), self.value(ty));
        let _ = write!(self.text, "%next{id} = add.i32 %k{id}x, %step{id}; ");
        let on = format!("^turn{id}(%next{id}, {a}, {b})");
        self.text += &match before {
            true => format!("br {on}; "),
            false => {
                format!("%more{id} = icmp.lt_u.i32 %next{id}, %bound{id}; br_if %more{id}, {on}, ^after{id}({a}); ")
            }
        };
        self.values.truncate(outside);
        let name = self.name();
        let _ = write!(self.text, "^after{id}({name}: {ty}):; ");
        self.values.push((ty, name));
    }
}

/// A check of the witness language with a random body, so that its runs are those of the rules.
fn check(seed: u64) -> String {
    let mut body = Body { random: Random(seed), text: String::new(), values: Vec::new(), names: 0 };
    let inputs = [Type::I8X4, Type::F16X2, Type::I8X16, Type::I16X2, Type::I32, Type::I64];
    let mut head = Vec::new();
    for (number, ty) in inputs.into_iter().enumerate() {
        head.push(format!("%in{number}: {ty}"));
        body.values.push((ty, format!("%in{number}")));
    }
    for _ in 0..body.random.below(4) {
        body.insts(6);
        match body.random.below(3) {
            0 => body.turns(),
            _ => body.fork(),
        }
    }
    body.insts(12);
    // The last values of all types, mixed into one word.
    let mut parts = Vec::new();
    let last: Vec<(Type, String)> = body.values.iter().rev().take(14).cloned().collect();
    for (number, (ty, name)) in last.into_iter().enumerate() {
        let word = format!("%w{number}");
        let text = match ty.bits() {
            _ if ty == Type::I1 => format!("{word} = mask_expand.i32 {name}"),
            _ if ty == Type::I1X2 => format!("{word}m = mask_expand.i16x2 {name}; {word} = bitcast.i32 {word}m"),
            _ if ty == Type::I1X4 => format!("{word}m = mask_expand.i8x4 {name}; {word} = bitcast.i32 {word}m"),
            _ if ty == Type::I1X16 => format!("{word}m = mask_expand.i8x16 {name}; {word} = split.i32 {word}m, 1"),
            8 => format!("{word} = zext.i32 {name}"),
            16 if ty == Type::I16 => format!("{word} = zext.i32 {name}"),
            16 => format!("{word}b = bitcast.i16 {name}; {word} = zext.i32 {word}b"),
            32 if ty == Type::I32 => format!("{word}z = const.i32 0; {word} = add.i32 {name}, {word}z"),
            32 => format!("{word} = bitcast.i32 {name}"),
            64 => format!("{word} = split.i32 {name}, 1"),
            _ => format!("{word} = split.i32 {name}, 2"),
        };
        parts.push(text);
        parts.push(format!("%k{number} = const.i32 {}", 2 * number + 3));
        parts.push(format!("%m{number} = mul.i32 {word}, %k{number}"));
        if number > 0 {
            let before = if number == 1 { "%m0".to_string() } else { format!("%s{}", number - 1) };
            parts.push(format!("%s{number} = add.i32 {before}, %m{number}"));
        }
    }
    format!("({}): {}{}", head.join(", "), body.text, parts.join("; "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_keep_the_meaning(seed: u64, gaps: u64) {
        let check = check(seed);
        let witnesses = witnesses(&check).unwrap();
        let [witness] = &witnesses[..] else { panic!("one kernel") };
        let before = kernel(&witness.text);
        // Of pure ops other than the simplest about a quarter is missing, and of constants but integers of a word.
        let lacking = |op: Op, ty: Type| {
            let simple = matches!(op, Op::Split | Op::Concat | Op::Bitcast | Op::ItemId)
                || op == Op::Const && ty.is_int() && ty.bits() <= 32;
            (op.is_pure() || op == Op::Switch) && !simple && Random(gaps ^ ((op as u64) << 8 | ty.index() as u64)).below(4) == 0
        };
        let legality = target(lacking);
        let mut after = before.clone();
        let mut context = Context::new(&legality);
        let passes = "fold canon unroll gvn if_convert canon merge licm dce legalise gvn licm dce";
        lower(&mut after, &passes.split(' ').collect::<Vec<_>>(), &mut context);
        for launch in witness.launches(64, seed) {
            same_output(&before, &after, witness, &launch);
        }
    }
}
