//! Witness kernels: minimal kernels that test a rule. They are generated from the rule's checks, together with the data
//! to run them on.
//!
//! A check is a line such as
//!
//! ```text
//! [t: f16x2 bf16x2] [r: "" .rz] (%a: $t, %b: $t): %r = fadd$r.$t %a, %b
//! ```
//!
//! `[name: values]` declares a variable. The check expands to one kernel for each combination of values. `[t,m:
//! i8x4/i1x4 i16x2/i1x2]` declares several variables that take their values together. `$name` or `${name}` in the rest
//! of the check is replaced by the value. Among the values, `@int` expands to all integer types, `@narrow` to those of
//! at most 32 bits per lane, `@bits` to integers and masks, and `@half` and `@float` to floating-point types. None of
//! these groups includes the types `i16x16` and `i32x16`, which only occur as intermediate results.
//!
//! The inputs are in parentheses. `%a: f16x2` is a value that every work item loads from a buffer; masks are computed
//! from the signs of loaded integers. `%a: scalar f16x2` is a parameter of the kernel, the same for all items. `%a: in
//! f16x2` is a buffer that the body loads from.
//!
//! The body follows the colon: instructions and block labels separated by `;`, with `%item` as the work item's number.
//! Each item stores the result of the last instruction; a mask is stored as all ones or all zeros per lane. A check
//! with an input `%y: out f16x2` must contain its own stores.

use std::fmt::Write;

use halfbyte_abi::{Elem, Type};

use crate::op::Op;

/// Error in the check of a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("check `{check}`: {reason}")]
pub struct CheckError {
    /// Text of the check.
    pub check: String,
    /// Reason why the check is invalid.
    pub reason: String,
}

/// Kind of a witness kernel's input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// A value that each item loads from a buffer.
    Loaded,
    /// A scalar parameter of the kernel.
    Scalar,
    /// A buffer from which the body loads.
    Buffer,
    /// A buffer of zeros to which the body stores, or to which the result is stored.
    Output,
}

/// Parameter of a witness kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input {
    /// Type of the scalar, or element type of the buffer.
    pub ty: Type,
    /// Kind of the input.
    pub source: InputKind,
}

/// A witness kernel: a minimal kernel that tests a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// Text of the kernel `@witness`.
    pub text: String,
    /// Parameters of the kernel, in order.
    pub params: Vec<Input>,
    /// Number of the parameter that receives the output.
    pub output: usize,
}

/// One launch of a witness kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Number of work items.
    pub items: u32,
    /// Bytes of the argument for each parameter, little endian. The output is zero. Buffers have [`Launch::SPARE`] more
    /// elements than there are items, so that a body may access elements beyond its own.
    pub args: Vec<Vec<u8>>,
}

impl Launch {
    /// Number of additional elements in each buffer.
    pub const SPARE: u32 = 8;
}

/// Expands the check of a rule into witness kernels.
pub fn witnesses(check: &str) -> Result<Vec<Witness>, CheckError> {
    let fail = |reason: String| CheckError { check: check.to_string(), reason };
    let (variables, rest) = variables(check).map_err(fail)?;
    let mut texts = vec![rest.to_string()];
    for Variable { names, values } in &variables {
        let mut substituted = Vec::with_capacity(texts.len() * values.len());
        for text in &texts {
            for value in values {
                let mut text = text.clone();
                for (name, part) in names.iter().zip(value) {
                    text = text.replace(&format!("${{{name}}}"), part).replace(&format!("${name}"), part);
                }
                substituted.push(text);
            }
        }
        if substituted.len() > 4096 {
            return Err(fail("it expands to more than 4096 kernels".into()));
        }
        texts = substituted;
    }
    texts.iter().map(|text| witness(text).map_err(fail)).collect()
}

struct Variable<'a> {
    names: Vec<&'a str>,
    values: Vec<Vec<&'a str>>,
}

/// Parses the variables at the start of a check. Returns the variables and the rest of the check.
/// The longest names come first, so that no name is a prefix of a later one.
fn variables(check: &str) -> Result<(Vec<Variable<'_>>, &str), String> {
    let mut rest = check.trim_start();
    let mut variables = Vec::new();
    while let Some(open) = rest.strip_prefix('[') {
        let (variable, after) = open.split_once(']').ok_or_else(|| "a variable without its `]`".to_string())?;
        let (names, values) =
            variable.split_once(':').ok_or_else(|| format!("`[{variable}]` is not `[name: values]`"))?;
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let mut choices = Vec::new();
        let mut left = values.trim();
        while !left.is_empty() {
            let (value, after) = match left.strip_prefix('"') {
                Some(quoted) => {
                    quoted.split_once('"').ok_or_else(|| format!("`[{variable}]` lacks a closing quote"))?
                }
                None => left.split_once(' ').unwrap_or((left, "")),
            };
            if let Some(class) = value.strip_prefix('@') {
                let contains = class_of_types(class).ok_or_else(|| format!("`@{class}` is not a class of types"))?;
                let types = Type::ALL.iter().filter(|&&ty| ty.bits() <= 128 && contains(ty));
                choices.extend(types.map(|ty| vec![ty.name()]));
                left = after.trim_start();
                continue;
            }
            let parts: Vec<&str> = match names.len() {
                1 => vec![value],
                _ => value.split('/').collect(),
            };
            if parts.len() != names.len() {
                return Err(format!("`{value}` does not give {} values", names.len()));
            }
            choices.push(parts);
            left = after.trim_start();
        }
        if choices.is_empty() {
            return Err(format!("`[{variable}]` has no values"));
        }
        variables.push(Variable { names, values: choices });
        rest = after.trim_start();
    }
    variables.sort_by_key(|v| std::cmp::Reverse(v.names.iter().map(|n| n.len()).max()));
    Ok((variables, rest))
}

fn class_of_types(name: &str) -> Option<fn(Type) -> bool> {
    match name {
        "int" => Some(Type::is_int),
        "narrow" => Some(|ty| ty.is_int() && ty != Type::I64),
        "bits" => Some(|ty| ty.is_int() || ty.is_mask()),
        "half" => Some(Type::is_half),
        "float" => Some(Type::is_float),
        _ => None,
    }
}

/// Splits the body of a check at each `;` outside quotes.
fn pieces(body: &str) -> Vec<&str> {
    let mut quoted = false;
    body.split(|c| {
        quoted ^= c == '"';
        c == ';' && !quoted
    })
    .map(str::trim)
    .filter(|piece| !piece.is_empty())
    .collect()
}

/// Returns the integer type as which a mask is stored in memory. Each lane is all ones or all zeros.
fn carrier(mask: Type) -> Type {
    match mask.lanes() {
        1 => Type::I32,
        2 => Type::I16X2,
        4 => Type::I8X4,
        _ => Type::I8X16,
    }
}

/// Returns the type of an instruction's result, derived from its text alone.
fn result_type(inst: &str) -> Result<Type, String> {
    let word = inst.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
    let name = word.split('.').next().unwrap_or_default();
    let op = Op::from_name(name).ok_or_else(|| format!("`{name}` is not an op"))?;
    let row = op.row();
    let suffix = word.rsplit('.').next().and_then(Type::from_name);
    let ty = match row.fixed_type() {
        Some(ty) => ty,
        None => suffix.ok_or_else(|| format!("`{word}` needs its type as suffix"))?,
    };
    row.result_type(ty).ok_or_else(|| format!("`{word}` has no result"))
}

fn witness(text: &str) -> Result<Witness, String> {
    let (inputs, body) = text
        .trim_start()
        .strip_prefix('(')
        .and_then(|t| t.split_once(')'))
        .ok_or("the inputs stand in parentheses before the body")?;
    let body = body.trim_start().strip_prefix(':').ok_or("a `:` stands between inputs and body")?;
    let mut params: Vec<Input> = Vec::new();
    let mut signature = String::new();
    let mut head = String::from("^entry:\n  %item = item_id\n");
    for input in inputs.split(',').map(str::trim).filter(|i| !i.is_empty()) {
        let (name, ty) = input.split_once(':').ok_or_else(|| format!("`{input}` is not `%name: type`"))?;
        let name = name.trim().strip_prefix('%').ok_or_else(|| format!("`{input}` does not begin with `%`"))?;
        let (kind, ty) = ty.trim().split_once(' ').unwrap_or(("", ty.trim()));
        let ty = Type::from_name(ty.trim()).ok_or_else(|| format!("`{ty}` is not a type"))?;
        if ty == Type::PTR {
            return Err("an address cannot be an input; take a buffer".into());
        }
        let source = match kind {
            "" => InputKind::Loaded,
            "scalar" => InputKind::Scalar,
            "in" => InputKind::Buffer,
            "out" => InputKind::Output,
            _ => return Err(format!("`{kind}` is none of `scalar`, `in`, `out`")),
        };
        let ty = match source {
            InputKind::Loaded if ty.is_mask() => {
                let wide = carrier(ty);
                let _ = writeln!(
                    head,
                    "  %{name}_sign = load.{wide} %{name}_in[%item]\n  %{name}_zero = const.{wide} 0\n  \
                     %{name} = icmp.lt_s.{wide} %{name}_sign, %{name}_zero"
                );
                wide
            }
            InputKind::Loaded => {
                let _ = writeln!(head, "  %{name} = load.{ty} %{name}_in[%item]");
                ty
            }
            _ => ty,
        };
        let _ = match source {
            InputKind::Loaded => write!(signature, "%{name}_in: in {ty}, "),
            InputKind::Scalar => write!(signature, "%{name}: {ty}, "),
            InputKind::Buffer => write!(signature, "%{name}: in {ty}, "),
            InputKind::Output => write!(signature, "%{name}: out {ty}, "),
        };
        params.push(Input { ty, source });
    }

    let pieces = pieces(body);
    let mut tail = String::new();
    let output = match params.iter().position(|p| p.source == InputKind::Output) {
        Some(own) => own,
        None => {
            let last = pieces.last().ok_or("the body is empty")?;
            let (name, inst) = last.split_once('=').ok_or_else(|| format!("`{last}` has no result"))?;
            let name = name.trim();
            let result = result_type(inst.trim())?;
            let mut ty = result;
            let mut stored = name.to_string();
            if result.is_mask() {
                ty = carrier(result);
                stored = "%bits_out".into();
                let _ = match result.is_scalar() {
                    true => writeln!(
                        tail,
                        "  %one_out = const.{ty} -1\n  %none_out = const.{ty} 0\n  \
                         {stored} = select.{ty} {name}, %one_out, %none_out"
                    ),
                    false => writeln!(tail, "  {stored} = mask_expand.{ty} {name}"),
                };
            } else if result == Type::PTR {
                return Err("an address cannot be the result".into());
            }
            let _ = writeln!(tail, "  store {stored}, %result[%item]");
            let _ = write!(signature, "%result: out {ty}, ");
            params.push(Input { ty, source: InputKind::Output });
            params.len() - 1
        }
    };
    let signature = signature.trim_end_matches(", ");
    let mut text = format!("kernel @witness({signature}) {{\n{head}");
    for piece in &pieces {
        let indent = if piece.starts_with('^') { "" } else { "  " };
        let _ = writeln!(text, "{indent}{piece}");
    }
    let _ = write!(text, "{tail}  ret\n}}\n");
    Ok(Witness { text, params, output })
}

impl Witness {
    /// Generates launches that test about `cases` combinations of input values. The same `seed` gives the same
    /// launches.
    ///
    /// If all inputs together have at most 16 bits per lane (two bytes or one half), the first launch tests every
    /// combination of lane values. Each lane takes every combination if `cases` is large enough. Vectors then have a
    /// second launch with random data. Lanes of random data are edge values, values near edge values, values similar to
    /// another input's, and random bits. Scalars change between launches.
    pub fn launches(&self, cases: u32, seed: u64) -> Vec<Launch> {
        let mut random = Random(seed);
        let has = |source| self.params.iter().any(|p| p.source == source);
        let launches = match has(InputKind::Scalar) {
            true => cases.clamp(1, 64),
            false => 1,
        };
        if launches == 1 && !has(InputKind::Buffer) {
            let lane_bits = |p: &Input| match p.source {
                InputKind::Output => 0,
                _ => p.ty.elem().bits(),
            };
            let bits: u32 = self.params.iter().map(lane_bits).sum();
            let lanes = self.params.iter().map(|p| p.ty.lanes() as u32).min();
            if bits <= 16 {
                let lanes = lanes.unwrap_or(1);
                let all = self.exhaustive(1 << bits, lanes, cases);
                // In the exhaustive launch, the lanes of an item always differ by the same amounts.
                // Ops across lanes also need arbitrary combinations.
                return if lanes == 1 { vec![all] } else { vec![all, self.random(cases, &mut random)] };
            }
        }
        (0..launches).map(|_| self.random(cases.div_ceil(launches), &mut random)).collect()
    }

    /// Generates a launch with every combination of lane values, numbered below `total`. The lanes start at different
    /// numbers, so that together they cover all combinations in `total / lanes` items.
    fn exhaustive(&self, total: u32, lanes: u32, cases: u32) -> Launch {
        let items = cases.clamp(total.div_ceil(lanes), total);
        let mut shift = 0;
        let args = self.params.iter().map(|input| {
            let ty = input.ty;
            if input.source == InputKind::Output {
                return zeroed(ty, items);
            }
            let mut bytes = Vec::new();
            for item in 0..items {
                for lane in 0..ty.lanes() as u32 {
                    let number = (item + lane * (total / lanes)) % total;
                    push_lane(&mut bytes, ty.elem(), u64::from(number >> shift));
                }
            }
            bytes.resize(bytes.len() + spare(ty), 0);
            shift += ty.elem().bits();
            bytes
        });
        Launch { items, args: args.collect() }
    }

    fn random(&self, items: u32, random: &mut Random) -> Launch {
        let mut args: Vec<Vec<u8>> = self
            .params
            .iter()
            .map(|p| match p.source {
                InputKind::Output => zeroed(p.ty, items),
                _ => Vec::new(),
            })
            .collect();
        for item in 0..items + Launch::SPARE {
            let mut last = [0; 16];
            for (arg, input) in args.iter_mut().zip(&self.params) {
                let once = input.source == InputKind::Scalar && item > 0;
                if input.source == InputKind::Output || once {
                    continue;
                }
                for last in last.iter_mut().take(input.ty.lanes()) {
                    *last = random.lane(input.ty.elem(), *last);
                    push_lane(arg, input.ty.elem(), *last);
                }
            }
        }
        Launch { items, args }
    }
}

fn spare(ty: Type) -> usize {
    (ty.bytes() * Launch::SPARE) as usize
}

fn zeroed(ty: Type, items: u32) -> Vec<u8> {
    vec![0; ty.bytes() as usize * items as usize + spare(ty)]
}

fn push_lane(bytes: &mut Vec<u8>, elem: Elem, lane: u64) {
    let lane = (lane & elem.mask()).to_le_bytes();
    bytes.extend(lane.iter().take(elem.bits().div_ceil(8) as usize));
}

/// A deterministic random-number generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Returns a random test value for a lane: an edge value, a value near an edge value, a value
    /// similar to `other`, or random bits.
    pub fn lane(&mut self, elem: Elem, other: u64) -> u64 {
        let edge = |random: &mut Random| {
            let edges = edges(elem);
            edges.get(random.below(edges.len())).copied().unwrap_or(0)
        };
        let near = |random: &mut Random| random.below(5) as u64;
        let lane = match self.below(16) {
            0..=4 => edge(self),
            5..=6 => edge(self).wrapping_add(near(self)).wrapping_sub(2),
            7 => other,
            8 => other ^ 1 << (elem.bits() - 1),
            9 => other.wrapping_add(near(self)).wrapping_sub(2),
            10 => other.wrapping_neg(),
            _ => self.bits(),
        };
        lane & elem.mask()
    }
}

/// Returns the edge values of a lane: zeros, extremes, subnormals, infinities, and NaN with payloads.
pub fn edges(elem: Elem) -> &'static [u64] {
    match elem {
        Elem::I1 => &[0, 1],
        Elem::E4M3 | Elem::E5M2 => &[
            0, 1, 3, 4, 7, 8, 9, 0x3c, 0x40, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0x84, 0x88, 0xbc, 0xfb, 0xfc,
            0xfe, 0xff,
        ],
        Elem::I8 => &[0, 1, 2, 3, 4, 7, 8, 0x7f, 0x80, 0x81, 0xfe, 0xff],
        Elem::I16 => &[0, 1, 2, 7, 8, 15, 16, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xff80, 0xfffe, 0xffff],
        Elem::I32 => &[
            0,
            1,
            2,
            7,
            8,
            15,
            16,
            31,
            32,
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0x1_0000,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_8000,
            0xffff_ff80,
            0xffff_fffe,
            0xffff_ffff,
        ],
        Elem::I64 | Elem::Ptr => &[
            0,
            1,
            2,
            63,
            64,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1_0000_0000,
            i64::MAX as u64,
            i64::MIN as u64,
            i64::MIN as u64 + 1,
            u64::MAX - 1,
            u64::MAX,
        ],
        Elem::F64 => &[
            0,
            0x8000_0000_0000_0000,
            1,
            0x8000_0000_0000_0001,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x8010_0000_0000_0000,
            0x36a0_0000_0000_0000,
            0x3800_0000_0000_0000,
            0x380f_ffff_f000_0000,
            0x3e60_0000_0000_0001,
            0x3f0f_fc00_0000_0000,
            0x3fe0_0000_0000_0000,
            0x3fef_ffff_ffff_ffff,
            0x3ff0_0000_0000_0000,
            0xbff0_0000_0000_0000,
            0x3ff0_0000_0000_0001,
            0x3ff0_0000_1000_0000,
            0x3ff0_0000_3000_0000,
            0x3ff0_0200_0000_0000,
            0x40ef_fc00_0000_0000,
            0x40ef_fe00_0000_0000,
            0x41df_ffff_ffff_ffff,
            0x41ef_ffff_ffe0_0000,
            0xc1e0_0000_0000_0000,
            0xc1e0_0000_0020_0000,
            0x4330_0000_0000_0001,
            0x43e0_0000_0000_0000,
            0xc3e0_0000_0000_0000,
            0x43f0_0000_0000_0000,
            0x43ef_ffff_ffff_ffff,
            0x47ef_ffff_e000_0000,
            0x47ef_ffff_f000_0000,
            0x7fef_ffff_ffff_ffff,
            0xffef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff0_0000_0000_0001,
            0x7ff8_0000_0000_0000,
            0xfff8_0000_0000_0000,
            0x7ff8_0000_dead_beef,
            0xffff_ffff_ffff_ffff,
        ],
        Elem::F16 => &[
            0, 0x8000, 1, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x4000,
            0x6400, 0x7800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7fff, 0xffff,
        ],
        Elem::BF16 => &[
            0, 0x8000, 1, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x3f00, 0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x4000,
            0x4300, 0x7f00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xffff,
        ],
        Elem::F32 => &[
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x807f_ffff,
            0x0080_0000,
            0x8080_0000,
            0x3300_0000,
            0x3380_0000,
            0x387f_c000,
            0x3880_0000,
            0x3f00_0000,
            0x3f7f_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x3f80_0001,
            0x3f80_1000,
            0x3f80_3000,
            0x477f_e000,
            0x477f_f000,
            0x4f00_0000,
            0x4f7f_ffff,
            0xcf00_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            0x7fc0_0000,
            0xffc0_0000,
            0x7fff_ffff,
            0xffff_ffff,
        ],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn expands_a_check_to_one_kernel_per_choice() {
        let all = witnesses(r#"[t: f16x2 bf16x2] [r: "" .rz] (%a: $t, %b: $t): %r = fadd$r.$t %a, %b"#).unwrap();
        assert_eq!(all.len(), 4);
        assert_eq!(
            all[1].text,
            "kernel @witness(%a_in: in f16x2, %b_in: in f16x2, %result: out f16x2) {\n^entry:\n  %item = item_id\n  \
             %a = load.f16x2 %a_in[%item]\n  %b = load.f16x2 %b_in[%item]\n  %r = fadd.rz.f16x2 %a, %b\n  \
             store %r, %result[%item]\n  ret\n}\n"
        );
        assert_eq!(all[1].output, 2);
    }

    #[test]
    fn masks_travel_as_integers() {
        let all = witnesses("[t,m: i8x4/i1x4] (%c: $m, %a: $t): %r = icmp.eq.$t %a, %a; %n = and.$m %c, %r").unwrap();
        assert!(all[0].text.contains("icmp.lt_s.i8x4 %c_sign, %c_zero"));
        assert!(all[0].text.contains("%bits_out = mask_expand.i8x4 %n"));
    }

    #[test]
    fn a_bad_check_says_why() {
        for (check, reason) in [
            ("[t i8]: (%a: $t): %r = neg.$t %a", "is not `[name: values]`"),
            ("[t,m: i8] (%a: $t): %r = neg.$t %a", "does not give 2 values"),
            ("(%a: i7): %r = neg.i8 %a", "is not a type"),
            ("(%a: i8): %r = neg %a", "needs its type as suffix"),
            ("(%a: i8): %r = frob.i8 %a", "is not an op"),
            ("(%a: i8)", "a `:` stands between inputs and body"),
            ("[t: @i] (%a: $t): %r = neg.$t %a", "is not a class of types"),
        ] {
            let error = witnesses(check).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn tests_every_pair_of_bytes_in_every_lane() {
        let w = &witnesses("(%a: i8x4, %b: i8x4): %r = add.i8x4 %a, %b").unwrap()[0];
        let [launch, any] = &w.launches(1 << 16, 1)[..] else { panic!("two launches") };
        for lane in 0..4 {
            let mut seen = vec![false; 1 << 16];
            for item in 0..launch.items as usize {
                let [a, b] = [0, 1].map(|p: usize| usize::from(launch.args[p][4 * item + lane]));
                seen[a << 8 | b] = true;
            }
            assert!(seen.iter().all(|&s| s));
        }
        assert_eq!(launch.args[2].len(), 4 * (65536 + 8));
        assert_eq!(any.items, 1 << 16);
        assert_eq!(w.launches(1 << 16, 2)[0], *launch);
        assert_ne!(w.launches(1 << 16, 2)[1], *any);
    }

    #[test]
    fn scalars_change_from_launch_to_launch() {
        let w = &witnesses("(%a: scalar f16x2, %b: f16x2): %r = fadd.f16x2 %a, %b").unwrap()[0];
        let launches = w.launches(1000, 1);
        assert_eq!(launches.len(), 64);
        assert_eq!(launches[0].args[0].len(), 4);
        assert_ne!(launches[0].args[0], launches[1].args[0]);
        assert_eq!(launches, w.launches(1000, 1));
    }
}
