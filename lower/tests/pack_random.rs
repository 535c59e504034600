//! Random kernels with branches, loops, guarded accesses and mixed types do the same when they are packed.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fmt::Write;

use common::kernel;
use common::pack::{same, try_lower, vectors};
use halfbyte_ir::Type;
use halfbyte_ir::witness::Random;
use proptest::prelude::*;

/// Elements of each written buffer that belong to an item.
const ROW: u32 = 8;

/// A kernel under construction.
struct Body {
    random: Random,
    text: String,
    /// The values at hand.
    values: Vec<(Type, String)>,
    names: usize,
    /// Counters of the counted loops around, all of them below [`ROW`].
    counters: Vec<String>,
    /// Whether the trips of all loops around are known at launch.
    known: bool,
    bytes: bool,
}

impl Body {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())]
    }

    fn line(&mut self, text: &str) {
        self.text += "  ";
        self.text += text;
        self.text.push('\n');
    }

    /// The result of an instruction.
    fn value(&mut self, ty: Type, inst: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {inst}"));
        self.values.push((ty, name.clone()));
        name
    }

    fn any(&mut self, ty: Type) -> String {
        let of_type: Vec<&String> = self.values.iter().filter(|(of, _)| *of == ty).map(|(_, name)| name).collect();
        if of_type.is_empty() || self.random.below(8) == 0 {
            let lane = self.random.lane(ty.elem(), 0) & if ty.is_mask() { 1 } else { u64::MAX };
            let lane = if self.random.below(2) == 0 { lane & 7 } else { lane };
            return self.value(ty, &format!("const.{ty} {}", lane & ty.elem().mask()));
        }
        let back = self.random.below(of_type.len()).min(self.random.below(of_type.len()));
        of_type[of_type.len() - 1 - back].clone()
    }

    fn op(&mut self) {
        let ty = self.pick(&[Type::I8X4, Type::I8X4, Type::I32, Type::I1, Type::I1X4, Type::I8]);
        let form = match ty {
            Type::I8X4 => self.pick(&[
                "add.i8x4 W, W",
                "sub_sat_s.i8x4 W, W",
                "avg_u.i8x4 W, W",
                "mul.i8x4 W, W",
                "min_u.i8x4 W, W",
                "not.i8x4 W",
                "select.i8x4 M, W, W",
                "select.i8x4 C, W, W",
                "mask_expand.i8x4 M",
                "bitcast.i8x4 I",
                "splat.i8x4 B",
                "shuffle.i8x4 W, W, [7, 0, 2, 5]",
                "concat.i8x4 B, B, B, B",
                "insert.i8x4 W, B, 2",
                "shr_u.i8x4 W, W",
            ]),
            Type::I32 => self.pick(&[
                "add.i32 I, I",
                "mul.i32 I, I",
                "xor.i32 I, I",
                "select.i32 C, I, I",
                "bitcast.i32 W",
                "sext.i32 B",
                "zext.i32 B",
                "sad_u.i8x4 W, W, I",
                "reduce_add_s.i8x4 W",
                "max_s.i32 I, I",
                "mask_expand.i32 C",
                "sub.i32 I, I",
                "and.i32 I, I",
                "shl.i32 I, I",
            ]),
            Type::I1 => self.pick(&[
                "icmp.lt_s.i32 I, I",
                "icmp.eq.i32 I, I",
                "any.i1x4 M",
                "all.i1x4 M",
                "and.i1 C, C",
                "xor.i1 C, C",
                "extract.i1x4 M, 1",
                "icmp.gt_u.i8 B, B",
                "not.i1 C",
                "select.i1 C, C, C",
            ]),
            Type::I1X4 => self.pick(&[
                "icmp.lt_u.i8x4 W, W",
                "icmp.eq.i8x4 W, W",
                "and.i1x4 M, M",
                "not.i1x4 M",
                "splat.i1x4 C",
                "insert.i1x4 M, C, 3",
                "select.i1x4 C, M, M",
                "shuffle.i1x4 M, M, [1, 4, 6, 0]",
            ]),
            _ => self.pick(&[
                "extract.i8x4 W, 0",
                "extract.i8x4 W, 3",
                "trunc.i8 I",
                "add.i8 B, B",
                "avg_s.i8 B, B",
                "select.i8 C, B, B",
                "reduce_max_u.i8x4 W",
                "mask_expand.i8 C",
                "split.i8 I, 1",
            ]),
        };
        let mut inst = String::new();
        let (op, operands) = form.split_once(' ').unwrap();
        for letter in operands.chars() {
            inst += &match letter {
                'W' => self.any(Type::I8X4),
                'I' => self.any(Type::I32),
                'B' => self.any(Type::I8),
                'C' => self.any(Type::I1),
                'M' => self.any(Type::I1X4),
                other => other.to_string(),
            };
        }
        self.value(ty, &format!("{op} {inst}"));
    }

    /// An index that is affine.
    fn index(&mut self) -> String {
        let mut sum = self.pick(&["%i", "%i", "%i", "%n", "%row", "%zero"]).to_string();
        if let Some(counter) = self.counters.last().cloned() {
            match self.random.below(4) {
                0 => sum = self.value(Type::I32, &format!("add.i32 {sum}, {counter}")),
                1 => {
                    let stride = self.value(Type::I32, &format!("mul.i32 {counter}, %w"));
                    sum = self.value(Type::I32, &format!("add.i32 {stride}, {sum}"));
                }
                _ => {}
            }
        }
        match self.random.below(3) {
            0 => sum,
            _ => format!("{sum} + {}", self.random.below(4)),
        }
    }

    /// An element of the item's own row.
    fn slot(&mut self) -> String {
        let counter = self.counters.last().cloned().filter(|_| self.random.below(2) == 0);
        match counter {
            Some(counter) => self.value(Type::I32, &format!("add.i32 %row, {counter}")),
            None => format!("%row + {}", self.random.below(ROW as usize)),
        }
    }

    fn access(&mut self) {
        if !self.known {
            return self.op();
        }
        match self.random.below(8) {
            0..=2 => {
                let index = self.index();
                self.value(Type::I8X4, &format!("load %x[{index}]"));
            }
            3 => {
                let index = self.index();
                self.value(Type::I32, &format!("load %v[{index}]"));
            }
            4 if self.bytes => {
                let index = self.index();
                self.value(Type::I8, &format!("load %b[{index}]"));
            }
            5 => {
                let (word, slot) = (self.any(Type::I32), self.slot());
                self.line(&format!("store {word}, %z[{slot}]"));
            }
            6 if self.bytes => {
                let (byte, slot) = (self.any(Type::I8), self.slot());
                self.line(&format!("store {byte}, %q[{slot}]"));
            }
            7 if self.random.below(3) == 0 => {
                let slot = self.slot();
                self.value(Type::I32, &format!("load %z[{slot}]"));
            }
            _ => {
                let (word, slot) = (self.any(Type::I8X4), self.slot());
                self.line(&format!("store {word}, %y[{slot}]"));
            }
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(3) {
            0 => {
                let bound = self.any(Type::I32);
                self.value(Type::I1, &format!("icmp.lt_s.i32 %n, {bound}"))
            }
            1 => self.value(Type::I1, "icmp.lt_u.i32 %n, %w"),
            _ => self.any(Type::I1),
        }
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            match self.random.below(12) {
                0..=1 if depth > 0 => self.branch(depth - 1),
                2 if depth > 0 => self.counted(depth - 1),
                3 if depth > 0 => self.varying(depth - 1),
                4 if depth > 0 && self.random.below(3) == 0 => {
                    let (condition, id) = (self.condition(), self.name()[1..].to_string());
                    self.line(&format!("br_if {condition}, ^ret{id}, ^on{id}"));
                    let _ = writeln!(self.text, "^ret{id}:\n  ret\n^on{id}:");
                }
                4..=6 => self.access(),
                _ => self.op(),
            }
        }
    }

    /// Ways that part and meet again.
    fn branch(&mut self, depth: usize) {
        let (condition, id) = (self.condition(), self.name()[1..].to_string());
        let types = [self.pick(&[Type::I8X4, Type::I32, Type::I1, Type::I8]), self.pick(&[Type::I8X4, Type::I1X4])];
        let given: Vec<String> = types.iter().map(|&ty| self.any(ty)).collect();
        let short = self.random.below(3) == 0;
        let otherwise = if short { format!("^join{id}({})", given.join(", ")) } else { format!("^else{id}") };
        self.line(&format!("br_if {condition}, ^then{id}, {otherwise}"));
        for label in if short { &["then"][..] } else { &["then", "else"] } {
            let _ = writeln!(self.text, "^{label}{id}:");
            let outside = self.values.len();
            let count = self.random.below(4);
            self.statements(count, depth);
            let given: Vec<String> = types.iter().map(|&ty| self.any(ty)).collect();
            if self.random.below(4) == 0 {
                let other: Vec<String> = types.iter().map(|&ty| self.any(ty)).collect();
                let condition = self.condition();
                self.line(&format!(
                    "br_if {condition}, ^join{id}({}), ^join{id}({})",
                    given.join(", "),
                    other.join(", ")
                ));
            } else {
                self.line(&format!("br ^join{id}({})", given.join(", ")));
            }
            self.values.truncate(outside);
        }
        let params: Vec<String> = types.iter().map(|_| self.name()).collect();
        let list: Vec<String> = params.iter().zip(&types).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let _ = writeln!(self.text, "^join{id}({}):", list.join(", "));
        self.values.extend(types.into_iter().zip(params));
    }

    /// A loop whose trips are known at launch, at most as many as a row has elements.
    fn counted(&mut self, depth: usize) {
        let (id, carried) = (self.name()[1..].to_string(), self.any(Type::I8X4));
        let at_end = self.random.below(2) == 0;
        let bound = self.pick(&["%n", "%w", "%three"]);
        let less = self.pick(&["lt_s", "lt_u"]);
        self.line(&format!("br ^loop{id}(%zero, {carried})"));
        let (counter, value) = (self.name(), self.name());
        let _ = writeln!(self.text, "^loop{id}({counter}: i32, {value}: i8x4):");
        let outside = self.values.len();
        self.values.push((Type::I8X4, value.clone()));
        self.values.push((Type::I32, counter.clone()));
        self.counters.push(counter.clone());
        if !at_end {
            if self.random.below(4) == 0 {
                self.statements(2, 0);
            }
            let test = self.value(Type::I1, &format!("icmp.{less}.i32 {counter}, {bound}"));
            self.line(&format!("br_if {test}, ^body{id}, ^exit{id}({value})"));
            let _ = writeln!(self.text, "^body{id}:");
        }
        let count = 1 + self.random.below(4);
        self.statements(count, depth);
        let next = self.value(Type::I32, &format!("add.i32 {counter}, %one"));
        if self.random.below(3) == 0 {
            // A second way out.
            let (condition, leaving) = (self.condition(), self.any(Type::I8X4));
            self.line(&format!("br_if {condition}, ^exit{id}({leaving}), ^stay{id}"));
            let _ = writeln!(self.text, "^stay{id}:");
            self.statements(1, 0);
        }
        if self.random.below(4) == 0 && !at_end {
            // A second way back.
            let (condition, kept) = (self.condition(), self.any(Type::I8X4));
            self.line(&format!("br_if {condition}, ^loop{id}({next}, {kept}), ^late{id}"));
            let _ = writeln!(self.text, "^late{id}:");
            self.statements(1, 0);
        }
        let kept = self.any(Type::I8X4);
        if at_end {
            let test = self.value(Type::I1, &format!("icmp.{less}.i32 {next}, {bound}"));
            self.line(&format!("br_if {test}, ^loop{id}({next}, {kept}), ^exit{id}({kept})"));
        } else {
            self.line(&format!("br ^loop{id}({next}, {kept})"));
        }
        self.counters.pop();
        self.values.truncate(outside);
        let result = self.name();
        let _ = writeln!(self.text, "^exit{id}({result}: i8x4):");
        self.values.push((Type::I8X4, result));
        self.values.push((Type::I32, counter));
    }

    /// A loop that is taken a few times, as data says.
    fn varying(&mut self, depth: usize) {
        let known = std::mem::replace(&mut self.known, false);
        let data = self.any(Type::I32);
        let bound = self.value(Type::I32, &format!("and.i32 {data}, %three"));
        let (id, carried) = (self.name()[1..].to_string(), [self.any(Type::I8X4), self.any(Type::I32)]);
        self.line(&format!("br ^loop{id}(%zero, {}, {})", carried[0], carried[1]));
        let (counter, word, number) = (self.name(), self.name(), self.name());
        let _ = writeln!(self.text, "^loop{id}({counter}: i32, {word}: i8x4, {number}: i32):");
        let outside = self.values.len();
        self.values.extend([(Type::I8X4, word.clone()), (Type::I32, number.clone()), (Type::I32, counter.clone())]);
        let count = self.random.below(4);
        self.statements(count, depth);
        let next = self.value(Type::I32, &format!("add.i32 {counter}, %one"));
        let test = self.value(Type::I1, &format!("icmp.lt_s.i32 {counter}, {bound}"));
        let leaving = self.any(Type::I8X4);
        self.line(&format!("br_if {test}, ^stay{id}, ^exit{id}({leaving})"));
        let _ = writeln!(self.text, "^stay{id}:");
        let count = self.random.below(3);
        self.statements(count, depth);
        if self.random.below(3) == 0 {
            let (condition, leaving) = (self.condition(), self.any(Type::I8X4));
            self.line(&format!("br_if {condition}, ^exit{id}({leaving}), ^more{id}"));
            let _ = writeln!(self.text, "^more{id}:");
        }
        let (word, number) = (self.any(Type::I8X4), self.any(Type::I32));
        self.line(&format!("br ^loop{id}({next}, {word}, {number})"));
        self.values.truncate(outside);
        self.known = known;
        let result = self.name();
        let _ = writeln!(self.text, "^exit{id}({result}: i8x4):");
        self.values.extend([(Type::I8X4, result), (Type::I32, counter)]);
    }
}

fn text(seed: u64) -> String {
    let mut random = Random(seed);
    let bytes = random.below(4) == 0;
    let mut body =
        Body { random, text: String::new(), values: Vec::new(), names: 0, counters: Vec::new(), known: true, bytes };
    for (ty, name) in [(Type::I32, "%n"), (Type::I32, "%w"), (Type::I8X4, "%s"), (Type::I32, "%i")] {
        body.values.push((ty, name.to_string()));
    }
    body.value(Type::I8X4, "load %x[%i]");
    body.value(Type::I32, "load %v[%i + 1]");
    let count = 4 + body.random.below(10);
    body.statements(count, 3);
    for ty in [Type::I8X4, Type::I32] {
        let value = body.any(ty);
        let buffer = if ty == Type::I32 { "z" } else { "y" };
        body.line(&format!("store {value}, %{buffer}[%row + {}]", ROW - 1));
    }
    format!(
        "kernel @k(%n: i32, %w: i32, %s: i8x4, %x: in i8x4, %v: in i32, %b: in i8, %y: out i8x4, %z: inout i32, %q: out i8) {{
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %three = const.i32 3
  %eight = const.i32 {ROW}
  %row = mul.i32 %i, %eight
{}  ret
}}",
        body.text
    )
}

/// Packs a kernel and runs both, unless it is refused for a reason that a kernel may have. Gives the launches without a fault.
fn check(seed: u64, passes: &str) -> Option<usize> {
    let before = kernel(&text(seed));
    let mut after = before.clone();
    match try_lower(&mut after, passes, &vectors(1000)) {
        Ok(()) => {
            // Buffers that are too short for most of the items.
            same(&before, &after, 2, seed ^ 1);
            Some(same(&before, &after, ROW, seed))
        }
        Err(refusals) => {
            for refusal in refusals {
                let reason = refusal.reason.unwrap();
                let known = ["it may read what", "it may write where", "the number of trips", "its index"];
                assert!(known.iter().any(|known| reason.starts_with(known)), "{reason}");
            }
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packing_keeps_the_meaning(seed: u64) {
        check(seed, "pack");
        check(seed, "fold canon gvn canon merge dce pack legalise gvn dce");
    }
}

/// Branches that are the same for all items that come by, and not for those that do not.
#[test]
fn branches_of_some_items() {
    let seed = 1075182294897325862;
    for passes in ["pack", "fold canon gvn canon merge dce pack legalise gvn dce"] {
        assert!(check(seed, passes).is_some(), "{passes}");
    }
}

#[test]
fn most_random_kernels_are_packed() {
    let good: Vec<usize> = (0..100).filter_map(|seed| check(seed, "pack")).collect();
    assert!(good.len() > 60 && good.iter().sum::<usize>() > good.len() * 4, "{good:?}");
}
