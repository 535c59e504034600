//! Interpreter of the syntax trees of random programs.

use super::tree::{Expr, Program, Stmt, Ty};

pub const ITEMS: u32 = 3;
pub const WORDS: usize = 32;

/// A value: its type and lanes. Compile-time numbers have type `i32` here, because they occur only
/// in indices and next to `i32` operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub ty: Ty,
    pub lanes: Vec<u64>,
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(Vec<Value>),
}

pub struct Machine<'p> {
    program: &'p Program,
    names: Vec<(String, Value)>,
    scratch: [u32; 8],
    x: &'p [u8],
    s: &'p [u8],
    out: [u8; 64],
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

fn int(ty: Ty, value: u64) -> Value {
    Value { ty, lanes: vec![value & mask(ty.bits()); ty.lanes()] }
}

fn truth(value: bool) -> Value {
    int(Ty::I1, u64::from(value))
}

fn float(value: f32) -> Value {
    let bits = if value.is_nan() { 0x7fff_ffff } else { value.to_bits() };
    int(Ty::F32, bits.into())
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, item: u32, a: u32, b: u8, x: &'p [u8], s: &'p [u8]) -> Self {
        let names = vec![
            ("a".to_owned(), int(Ty::I32, a.into())),
            ("b".to_owned(), int(Ty::I8, b.into())),
            ("item".to_owned(), int(Ty::I32, item.into())),
        ];
        Machine { program, names, scratch: [0; 8], x, s, out: [0; 64] }
    }

    pub fn run(mut self, out: &mut [u8; 64]) {
        self.block(&self.program.body);
        *out = self.out;
    }

    fn get(&self, name: &str) -> Value {
        self.names.iter().rev().find(|(of, _)| of == name).unwrap().1.clone()
    }

    fn set(&mut self, name: &str, value: Value) {
        self.names.iter_mut().rev().find(|(of, _)| of == name).unwrap().1 = value;
    }

    fn block(&mut self, body: &[Stmt]) -> Flow {
        let names = self.names.len();
        let flow = self.lines(body);
        self.names.truncate(names);
        flow
    }

    fn lines(&mut self, body: &[Stmt]) -> Flow {
        for stmt in body {
            match self.stmt(stmt) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn index(&mut self, expr: &Expr, most: u64) -> usize {
        (self.expr(expr).lanes[0] & most) as usize
    }

    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match stmt {
            Stmt::Let(name, _, _, _, value) => {
                let value = self.expr(value);
                self.names.push((name.clone(), value));
            }
            Stmt::Pair(names, function, args) => {
                let values = self.call(*function, args);
                self.names.extend(names.iter().cloned().zip(values));
            }
            Stmt::Assign(name, "", value) => {
                let value = self.expr(value);
                self.set(name, value);
            }
            Stmt::Assign(name, op, value) => {
                let before = self.get(name);
                let value = self.expr(value);
                self.set(name, binary(op, &before, &value));
            }
            Stmt::Scratch(index, "", value) => {
                let value = self.expr(value);
                let at = self.index(index, 7);
                self.scratch[at] = value.lanes[0] as u32;
            }
            Stmt::Scratch(index, op, value) => {
                let at = self.index(index, 7);
                let before = int(Ty::I32, self.scratch[at].into());
                let value = self.expr(value);
                self.scratch[at] = binary(op, &before, &value).lanes[0] as u32;
            }
            Stmt::Store(at, value) => {
                let value = self.expr(value).lanes[0] as u32;
                self.out[*at as usize * 4..][..4].copy_from_slice(&value.to_le_bytes());
            }
            Stmt::If(condition, then, otherwise) => {
                if self.expr(condition).lanes[0] != 0 {
                    return self.block(then);
                }
                if let Some(otherwise) = otherwise {
                    return self.block(otherwise);
                }
            }
            Stmt::For(name, from, to, step, body) => {
                let from = self.expr(from);
                let bits = from.ty.bits();
                let to = self.expr(to).lanes[0];
                let mut at = signed(from.lanes[0], bits);
                while at < signed(to, bits) {
                    self.names.push((name.clone(), int(from.ty, at as u64)));
                    let flow = self.block(body);
                    self.names.pop();
                    match flow {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => at += step,
                    }
                }
            }
            Stmt::Unroll(name, from, to, step, body) => {
                let mut at = *from;
                while if *step > 0 { at < *to } else { at > *to } {
                    self.names.push((name.clone(), int(Ty::I32, at as u64)));
                    let flow = self.block(body);
                    self.names.pop();
                    match flow {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => at += step,
                    }
                }
            }
            Stmt::While(counter, most, condition, body) => {
                self.names.push((counter.clone(), int(Ty::I32, 0)));
                while self.get(counter).lanes[0] < u64::from(*most) && self.expr(condition).lanes[0] != 0 {
                    match self.counted(counter, body) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Stmt::Do(counter, most, body, condition) => {
                self.names.push((counter.clone(), int(Ty::I32, 0)));
                loop {
                    match self.counted(counter, body) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => {}
                    }
                    if self.get(counter).lanes[0] >= u64::from(*most) || self.expr(condition).lanes[0] == 0 {
                        break;
                    }
                }
            }
            Stmt::Break => return Flow::Break,
            Stmt::Continue => return Flow::Continue,
            Stmt::Return(value) => {
                let value = value.as_ref().map(|value| self.expr(value));
                return Flow::Return(value.into_iter().collect());
            }
        }
        Flow::Next
    }

    /// Executes one iteration of a loop: increments the counter, then executes the body.
    fn counted(&mut self, counter: &str, body: &[Stmt]) -> Flow {
        let count = self.get(counter).lanes[0];
        self.set(counter, int(Ty::I32, count + 1));
        self.block(body)
    }

    fn call(&mut self, number: usize, args: &[Expr]) -> Vec<Value> {
        let function = &self.program.functions[number];
        let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
        let params = function.params.iter().map(|(name, _)| name.clone());
        let outer = std::mem::replace(&mut self.names, params.zip(args).collect());
        let values = match self.lines(&function.body) {
            Flow::Return(values) => values,
            _ => function.values.iter().map(|value| self.expr(value)).collect(),
        };
        self.names = outer;
        values
    }

    fn expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Number { ty: Ty::F32, value, .. } => float(*value as f32),
            Expr::Number { ty, value, .. } => int(*ty, *value as u64),
            Expr::Bool(value) => truth(*value),
            Expr::Name(name) => self.get(name),
            Expr::Unary(op, operand) => {
                let value = self.expr(operand);
                let bits = value.ty.bits();
                let each = |lane: u64| match (*op, value.ty) {
                    ("-", Ty::F32) => lane ^ 0x8000_0000,
                    ("-", _) => lane.wrapping_neg() & mask(bits),
                    _ => !lane & mask(bits),
                };
                Value { ty: value.ty, lanes: value.lanes.iter().copied().map(each).collect() }
            }
            Expr::Binary("&&", a, b) => {
                if self.expr(a).lanes[0] == 0 {
                    truth(false)
                } else {
                    self.expr(b)
                }
            }
            Expr::Binary("||", a, b) => {
                if self.expr(a).lanes[0] != 0 {
                    truth(true)
                } else {
                    self.expr(b)
                }
            }
            Expr::Binary(op, a, b) => {
                let a = self.expr(a);
                let b = self.expr(b);
                binary(op, &a, &b)
            }
            Expr::Op(name, suffix, args, _, numbers) => {
                let args: Vec<Value> = args.iter().map(|arg| self.expr(arg)).collect();
                named(name, suffix, &args, numbers)
            }
            Expr::Vector(ty, lanes) => {
                let lanes: Vec<u64> = lanes.iter().map(|lane| self.expr(lane).lanes[0]).collect();
                let lanes = if lanes.len() == 1 { vec![lanes[0]; ty.lanes()] } else { lanes };
                Value { ty: *ty, lanes }
            }
            Expr::Call(number, args) => self.call(*number, args).remove(0),
            Expr::If(condition, then, a, otherwise, b) => {
                let names = self.names.len();
                let (body, value) = if self.expr(condition).lanes[0] != 0 { (then, a) } else { (otherwise, b) };
                self.lines(body);
                let value = self.expr(value);
                self.names.truncate(names);
                value
            }
            Expr::Element(index, offset) => {
                let at = self.index(index, 15);
                let offset = match offset.trim_start_matches([' ', '+']) {
                    "" => 0,
                    text => text.parse().unwrap_or_else(|_| self.get(text).lanes[0] as usize),
                };
                let bytes = &self.x[4 * (at + offset)..][..4];
                int(Ty::I32, u32::from_le_bytes(bytes.try_into().unwrap()).into())
            }
            Expr::Field(index, name, at) => {
                let base = 16 * self.index(index, 3);
                match *name {
                    "a" => int(Ty::I8, self.s[base].into()),
                    "b" => int(Ty::I32, u32::from_le_bytes(self.s[base + 4..][..4].try_into().unwrap()).into()),
                    _ => {
                        let at = self.index(at.as_ref().unwrap(), 7);
                        int(Ty::I8, self.s[base + 8 + at].into())
                    }
                }
            }
            Expr::Scratch(index) => {
                let at = self.index(index, 7);
                int(Ty::I32, self.scratch[at].into())
            }
        }
    }
}

/// Evaluates a binary operator.
fn binary(op: &str, a: &Value, b: &Value) -> Value {
    assert_eq!(a.ty, b.ty, "{op}");
    let (ty, bits) = (a.ty, a.ty.bits());
    if ty == Ty::F32 {
        let [x, y] = [a, b].map(|value| f32::from_bits(value.lanes[0] as u32));
        return match op {
            "+" => float(x + y),
            "-" => float(x - y),
            "*" => float(x * y),
            "/" => float(x / y),
            "==" => truth(x == y),
            "!=" => truth(x != y),
            "<" => truth(x < y),
            "<=" => truth(x <= y),
            ">" => truth(x > y),
            _ => truth(x >= y),
        };
    }
    let compare = |test: &dyn Fn(u64, u64) -> bool| truth(test(a.lanes[0], b.lanes[0]));
    let less = |x: u64, y: u64, sign: bool| if sign { signed(x, bits) < signed(y, bits) } else { x < y };
    let sign = op.ends_with("_s");
    match op.trim_end_matches("_s").trim_end_matches("_u") {
        "==" => return compare(&|x, y| x == y),
        "!=" => return compare(&|x, y| x != y),
        "<" => return compare(&|x, y| less(x, y, sign)),
        ">" => return compare(&|x, y| less(y, x, sign)),
        "<=" => return compare(&|x, y| !less(y, x, sign)),
        ">=" => return compare(&|x, y| !less(x, y, sign)),
        _ => {}
    }
    let each = |(&x, &y): (&u64, &u64)| {
        let count = (y % u64::from(bits)) as u32;
        let value = match op {
            "+" => x.wrapping_add(y),
            "-" => x.wrapping_sub(y),
            "*" => x.wrapping_mul(y),
            "&" => x & y,
            "|" => x | y,
            "^" => x ^ y,
            "<<" => x << count,
            ">>_u" => x >> count,
            ">>_s" => (signed(x, bits) >> count) as u64,
            "/_u" => x.checked_div(y).unwrap_or(u64::MAX),
            _ if y == 0 => u64::MAX,
            _ => signed(x, bits).wrapping_div(signed(y, bits)) as u64,
        };
        value & mask(bits)
    };
    Value { ty, lanes: a.lanes.iter().zip(&b.lanes).map(each).collect() }
}

/// Evaluates an op by its name.
fn named(name: &str, suffix: &str, args: &[Value], numbers: &[u32]) -> Value {
    let first = &args[0];
    let (ty, bits) = (first.ty, first.ty.bits());
    let target = Ty::ALL.into_iter().find(|ty| suffix.strip_prefix('.') == Some(ty.name()));
    let clamp = |value: i128, least: i128, most: i128| value.clamp(least, most) as u64 & mask(bits);
    let lanes = |f: &dyn Fn(u64, u64) -> u64| {
        let second = args.get(1).unwrap_or(first);
        let lanes = first.lanes.iter().zip(&second.lanes).map(|(&x, &y)| f(x, y) & mask(bits)).collect();
        Value { ty, lanes }
    };
    let s = |x: u64| signed(x, bits);
    match name {
        "min_s" => lanes(&|x, y| if s(x) < s(y) { x } else { y }),
        "max_s" => lanes(&|x, y| if s(x) > s(y) { x } else { y }),
        "min_u" => lanes(&|x, y| x.min(y)),
        "max_u" => lanes(&|x, y| x.max(y)),
        "add_sat_u" => lanes(&|x, y| clamp(i128::from(x) + i128::from(y), 0, mask(bits).into())),
        "sub_sat_u" => lanes(&|x, y| x.saturating_sub(y)),
        "add_sat_s" => lanes(&|x, y| {
            let most = i128::from(mask(bits)) / 2;
            clamp(i128::from(s(x)) + i128::from(s(y)), -most - 1, most)
        }),
        "avg_u" => lanes(&|x, y| (u128::from(x) + u128::from(y)).div_ceil(2) as u64),
        "absdiff_u" => lanes(&|x, y| x.abs_diff(y)),
        "rem_u" => lanes(&|x, y| x.checked_rem(y).unwrap_or(u64::MAX)),
        "rotl" => lanes(&|x, y| {
            let count = (y % u64::from(bits)) as u32;
            if count == 0 { x } else { x << count | x >> (bits - count) }
        }),
        "popcount" => lanes(&|x, _| x.count_ones().into()),
        "clz" => lanes(&|x, _| u64::from(x.leading_zeros() - (64 - bits))),
        "select" => {
            if first.lanes[0] != 0 {
                args[1].clone()
            } else {
                args[2].clone()
            }
        }
        "zext" | "trunc" => int(target.unwrap(), first.lanes[0]),
        "sext" => int(target.unwrap(), s(first.lanes[0]) as u64),
        "fcvt_from_s" => float(s(first.lanes[0]) as i32 as f32),
        "fcvt_to_s" => int(Ty::I32, f32::from_bits(first.lanes[0] as u32) as i32 as u64),
        "bitcast" => {
            let ty = target.unwrap();
            let whole = first.lanes.iter().rev().fold(0, |whole, lane| whole << bits | lane);
            Value { ty, lanes: (0..ty.lanes()).map(|at| whole >> (at as u32 * ty.bits()) & mask(ty.bits())).collect() }
        }
        "extract" => int(ty.lane(), first.lanes[numbers[0] as usize]),
        "insert" => {
            let mut value = first.clone();
            value.lanes[numbers[0] as usize] = args[1].lanes[0];
            value
        }
        "shuffle" => {
            let all: Vec<u64> = first.lanes.iter().chain(&args[1].lanes).copied().collect();
            Value { ty, lanes: numbers.iter().map(|&lane| all[lane as usize]).collect() }
        }
        other => panic!("{other}"),
    }
}
