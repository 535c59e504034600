//! Generator of random programs. Loops have a bounded trip count and indices are masked, so that no work item traps.

use super::tree::{Expr, Function, Program, Stmt, Ty};

pub struct Random(u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns a random byte, often an edge value.
    pub fn edge(&mut self) -> u8 {
        if self.one_in(3) { self.pick(&[0, 1, 127, 128, 255]) } else { self.next() as u8 }
    }
}

/// Name that is in scope.
#[derive(Clone)]
struct Name {
    name: String,
    ty: Ty,
    mutable: bool,
    /// `true` for a compile-time constant.
    known: bool,
}

pub struct Draw {
    random: Random,
    names: Vec<Name>,
    functions: Vec<Function>,
    fresh: u32,
    /// Number of enclosing loops, in which `break` and `continue` are valid.
    loops: u32,
    /// Product of the trip counts of the enclosing loops, which is bounded so that programs end soon.
    trips: u64,
    /// Result types of the function that is generated; `None` in the kernel. A function does not
    /// see the kernel's buffers.
    result: Option<Vec<Ty>>,
    in_kernel: bool,
}

const INTS: [Ty; 6] = [Ty::I32, Ty::I32, Ty::I8, Ty::I16, Ty::I64, Ty::I32];

impl Draw {
    pub fn program(seed: u64) -> (Program, Random) {
        let mut draw = Draw {
            random: Random(seed),
            names: Vec::new(),
            functions: Vec::new(),
            fresh: 0,
            loops: 0,
            trips: 1,
            result: None,
            in_kernel: false,
        };
        for _ in 0..draw.random.below(4) {
            let function = draw.function();
            draw.functions.push(function);
        }
        draw.in_kernel = true;
        draw.names = vec![
            Name { name: "a".into(), ty: Ty::I32, mutable: false, known: false },
            Name { name: "b".into(), ty: Ty::I8, mutable: false, known: false },
            Name { name: "item".into(), ty: Ty::I32, mutable: false, known: false },
        ];
        let mut body = Vec::new();
        for _ in 0..2 + draw.random.below(3) {
            body.push(draw.binding(2));
        }
        for _ in 0..3 + draw.random.below(8) {
            body.push(draw.stmt(3));
            if ends(&body) {
                break;
            }
        }
        if !ends(&body) {
            for at in 0..4 {
                let value = draw.expr(Ty::I32, 3);
                body.push(Stmt::Store(12 + at, value));
            }
        }
        let program = Program { functions: draw.functions, body };
        (program, draw.random)
    }

    fn name(&mut self) -> String {
        self.fresh += 1;
        // An existing name is sometimes used again, to test shadowing.
        if self.random.one_in(8)
            && let Some(name) = self.names.get(3..).filter(|names| !names.is_empty())
        {
            let at = self.random.below(name.len() as u64) as usize;
            return name[at].name.clone();
        }
        format!("v{}", self.fresh)
    }

    fn declare(&mut self, name: &str, ty: Ty, mutable: bool) {
        self.names.push(Name { name: name.into(), ty, mutable, known: false });
    }

    fn function(&mut self) -> Function {
        let params: Vec<(String, Ty)> =
            (0..1 + self.random.below(3)).map(|at| (format!("p{at}"), self.random.pick(&Ty::ALL))).collect();
        let results: Vec<Ty> = (0..1 + self.random.below(2)).map(|_| self.random.pick(&Ty::ALL)).collect();
        self.names = params
            .iter()
            .map(|(name, ty)| Name { name: name.clone(), ty: *ty, mutable: false, known: false })
            .collect();
        self.result = Some(results.clone());
        let trips = std::mem::replace(&mut self.trips, 8);
        let mut body = Vec::new();
        for _ in 0..self.random.below(4) {
            let names = self.names.len();
            body.push(self.stmt(2));
            if ends(&body) {
                body.pop();
                self.names.truncate(names);
                break;
            }
        }
        let values = results.iter().map(|&ty| self.expr(ty, 2)).collect();
        self.result = None;
        self.trips = trips;
        Function { params, results, body, values, generic: self.random.one_in(2) }
    }

    fn visible(&mut self, fits: impl Fn(&Name) -> bool) -> Option<Name> {
        let seen: Vec<Name> = self.names.iter().filter(|name| fits(name)).cloned().collect();
        let at = self.random.below(seen.len().max(1) as u64) as usize;
        let found = seen.get(at)?.clone();
        // A name that is shadowed by another declaration of the same name is not used.
        let last = self.names.iter().rev().find(|name| name.name == found.name)?;
        (last.ty == found.ty && last.mutable == found.mutable && last.known == found.known).then(|| found.clone())
    }

    fn number(&mut self, ty: Ty, bare: bool) -> Expr {
        let value = match self.random.below(4) {
            0 => self.random.pick(&[0, 1, -1, 2, 127, -128]),
            _ if ty == Ty::I8 || ty == Ty::V4 || ty == Ty::F32 => self.random.next() as i8 as i64,
            _ if ty == Ty::I16 || ty == Ty::V2 => self.random.next() as i16 as i64,
            1 => self.random.next() as i32 as i64,
            _ => self.random.below(40) as i64 - 8,
        };
        match ty {
            Ty::I1 => Expr::Bool(self.random.one_in(2)),
            // The minus sign is an operator on a positive literal, and the least number of a type
            // has no positive counterpart.
            _ => Expr::Number { ty, value: if value < 0 && !bare { -(value + 1) } else { value }, bare },
        }
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        if !self.random.one_in(4)
            && let Some(name) = self.visible(|name| name.ty == ty && !name.known)
        {
            return Expr::Name(name.name);
        }
        self.number(ty, false)
    }

    /// Returns an expression whose type does not depend on the context.
    fn typed(&mut self, ty: Ty, depth: u32) -> Expr {
        match self.expr(ty, depth) {
            Expr::Number { ty, value, .. } => Expr::Number { ty, value, bare: false },
            expr => expr,
        }
    }

    /// Returns an expression for the right operand of an operator whose left operand has type `ty`.
    fn other(&mut self, ty: Ty, depth: u32) -> Expr {
        match self.random.below(4) {
            0 if ty != Ty::I1 => self.number(ty, true),
            1 if ty == Ty::I32 => match self.visible(|name| name.known) {
                Some(name) => Expr::Name(name.name),
                None => self.typed(ty, depth),
            },
            _ => self.typed(ty, depth),
        }
    }

    fn expr(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let less = depth - 1;
        if self.random.one_in(12) {
            return self.choice(ty, less);
        }
        if self.random.one_in(10)
            && let Some(call) = self.call(ty, less)
        {
            return call;
        }
        match ty {
            Ty::I1 => self.truth(less),
            Ty::F32 => match self.random.below(5) {
                0 => self.leaf(ty),
                1 => Expr::Unary("-", self.typed(ty, less).into()),
                2 => Expr::Op("fcvt_from_s", ".f32".into(), vec![self.typed(Ty::I32, less)], None, vec![]),
                _ => self.binary(&["+", "-", "*", "/"], ty, less),
            },
            _ => self.integer(ty, less),
        }
    }

    fn binary(&mut self, ops: &[&'static str], ty: Ty, less: u32) -> Expr {
        let op = self.random.pick(ops);
        let first = self.typed(ty, less);
        Expr::Binary(op, first.into(), self.other(ty, less).into())
    }

    fn op(&mut self, name: &'static str, suffix: &str, args: Vec<Expr>) -> Expr {
        Expr::Op(name, suffix.into(), args, None, vec![])
    }

    fn truth(&mut self, less: u32) -> Expr {
        match self.random.below(8) {
            0 => self.leaf(Ty::I1),
            1 => Expr::Unary("!", self.typed(Ty::I1, less).into()),
            2 => self.binary(&["&", "|", "^"], Ty::I1, less),
            3 | 4 => {
                let op = self.random.pick(&["&&", "||"]);
                Expr::Binary(op, self.expr(Ty::I1, less).into(), self.expr(Ty::I1, less).into())
            }
            5 => self.binary(&["==", "!=", "<", "<=", ">", ">="], Ty::F32, less),
            _ => {
                let ty = self.random.pick(&INTS);
                self.binary(&["==", "!=", "<_s", "<_u", "<=_s", "<=_u", ">_s", ">_u", ">=_s", ">=_u"], ty, less)
            }
        }
    }

    fn integer(&mut self, ty: Ty, less: u32) -> Expr {
        const ARITHMETIC: [&str; 9] = ["+", "-", "*", "&", "|", "^", "<<", ">>_s", ">>_u"];
        let scalar = ty.lanes() == 1;
        match self.random.below(14) {
            0 => self.leaf(ty),
            1 => {
                let op = self.random.pick(&["-", "!"]);
                Expr::Unary(op, self.typed(ty, less).into())
            }
            2 if scalar => self.binary(&["/_s", "/_u"], ty, less),
            3 => {
                let narrow = ["add_sat_u", "sub_sat_u", "add_sat_s", "avg_u", "absdiff_u"];
                let any = ["min_s", "max_s", "min_u", "max_u", "rotl"];
                let name = if ty == Ty::I64 || self.random.one_in(2) {
                    self.random.pick(&any)
                } else {
                    self.random.pick(&narrow)
                };
                let args = vec![self.typed(ty, less), self.other(ty, less)];
                self.op(name, "", args)
            }
            4 => {
                let name = self.random.pick(&["popcount", "clz"]);
                let args = vec![self.typed(ty, less)];
                self.op(name, "", args)
            }
            5 => {
                let args = vec![self.expr(Ty::I1, less), self.typed(ty, less), self.other(ty, less)];
                self.op("select", "", args)
            }
            6 | 7 if ty == Ty::I32 && self.in_kernel => self.memory(less),
            8 if ty == Ty::I8 && self.in_kernel => {
                let index = self.typed(Ty::I32, less);
                if self.random.one_in(2) {
                    return Expr::Field(index.into(), "a", None);
                }
                let at = self.typed(Ty::I32, less);
                Expr::Field(index.into(), "q", Some(at.into()))
            }
            9 => self.converted(ty, less),
            10 if !scalar => {
                let lane = ty.lane();
                let lanes = if self.random.one_in(3) { 1 } else { ty.lanes() };
                let lanes = (0..lanes).map(|_| self.typed(lane, less)).collect();
                Expr::Vector(ty, lanes)
            }
            11 if !scalar => {
                let lane = self.random.below(ty.lanes() as u64) as u32;
                let args = vec![self.typed(ty, less), self.other(ty.lane(), less)];
                Expr::Op("insert", String::new(), args, None, vec![lane])
            }
            12 if !scalar => {
                let lanes: Vec<u32> =
                    (0..ty.lanes()).map(|_| self.random.below(2 * ty.lanes() as u64) as u32).collect();
                let args = vec![self.typed(ty, less), self.other(ty, less)];
                Expr::Op("shuffle", String::new(), args, Some(format!("{lanes:?}")), lanes)
            }
            13 if scalar => {
                let args = vec![self.typed(ty, less), self.other(ty, less)];
                self.op("rem_u", "", args)
            }
            _ => self.binary(&ARITHMETIC, ty, less),
        }
    }

    fn memory(&mut self, less: u32) -> Expr {
        let index = self.typed(Ty::I32, less).into();
        match self.random.below(4) {
            0 => Expr::Field(index, "b", None),
            1 => Expr::Scratch(index),
            2 => match self.visible(|name| name.known) {
                Some(name) => Expr::Element(index, format!(" + {}", name.name)),
                None => Expr::Element(index, String::new()),
            },
            _ => Expr::Element(index, format!(" + {}", self.random.below(16))),
        }
    }

    fn converted(&mut self, ty: Ty, less: u32) -> Expr {
        let suffix = format!(".{}", ty.name());
        match ty {
            Ty::I64 => {
                let from = self.random.pick(&[Ty::I8, Ty::I16, Ty::I32]);
                let args = vec![self.typed(from, less)];
                let name = self.random.pick(&["zext", "sext"]);
                self.op(name, &suffix, args)
            }
            Ty::I32 => match self.random.below(4) {
                0 => {
                    let from = self.random.pick(&[Ty::I8, Ty::I16]);
                    let args = vec![self.typed(from, less)];
                    let name = self.random.pick(&["zext", "sext"]);
                    self.op(name, &suffix, args)
                }
                1 => {
                    let args = vec![self.typed(Ty::I64, less)];
                    self.op("trunc", &suffix, args)
                }
                2 => {
                    let args = vec![self.typed(Ty::F32, less)];
                    self.op("fcvt_to_s", &suffix, args)
                }
                _ => {
                    let from = self.random.pick(&[Ty::V4, Ty::V2, Ty::F32]);
                    let args = vec![self.typed(from, less)];
                    self.op("bitcast", &suffix, args)
                }
            },
            Ty::V4 | Ty::V2 => {
                let args = vec![self.typed(Ty::I32, less)];
                self.op("bitcast", &suffix, args)
            }
            _ => {
                if self.random.one_in(2) {
                    let args = vec![self.typed(Ty::I32, less)];
                    return self.op("trunc", &suffix, args);
                }
                let from = if ty == Ty::I8 { Ty::V4 } else { Ty::V2 };
                let lane = self.random.below(from.lanes() as u64) as u32;
                Expr::Op("extract", String::new(), vec![self.typed(from, less)], None, vec![lane])
            }
        }
    }

    fn choice(&mut self, ty: Ty, less: u32) -> Expr {
        let condition = self.expr(Ty::I1, less).into();
        let (then, a) = self.arm(ty, less);
        let (otherwise, b) = self.arm(ty, less);
        Expr::If(condition, then, a.into(), otherwise, b.into())
    }

    fn arm(&mut self, ty: Ty, less: u32) -> (Vec<Stmt>, Expr) {
        let names = self.names.len();
        let mut body = Vec::new();
        if self.random.one_in(3) {
            body.push(self.simple(less.min(1)));
        }
        let value = self.typed(ty, less);
        self.names.truncate(names);
        (body, value)
    }

    fn call(&mut self, ty: Ty, less: u32) -> Option<Expr> {
        let fits: Vec<usize> = (0..self.functions.len()).filter(|&at| self.functions[at].results == [ty]).collect();
        let at = *fits.get(self.random.below(fits.len().max(1) as u64) as usize)?;
        Some(Expr::Call(at, self.args(at, less)))
    }

    fn args(&mut self, function: usize, less: u32) -> Vec<Expr> {
        let params = self.functions[function].params.clone();
        params.iter().map(|(_, ty)| self.typed(*ty, less.min(1))).collect()
    }

    fn binding(&mut self, depth: u32) -> Stmt {
        let ty = self.random.pick(&Ty::ALL);
        let (mutable, said) = (self.random.one_in(2), self.random.one_in(3));
        let value = self.typed(ty, depth);
        let name = self.name();
        self.declare(&name, ty, mutable);
        Stmt::Let(name, mutable, ty, said, value)
    }

    /// Returns a statement without nested statements.
    fn simple(&mut self, depth: u32) -> Stmt {
        match self.random.below(8) {
            0 | 1 => self.binding(depth),
            2 if self.in_kernel => {
                let op = self.random.pick(&["", "+", "^"]);
                Stmt::Scratch(self.typed(Ty::I32, 1), op, self.other(Ty::I32, depth))
            }
            3 if self.in_kernel => Stmt::Store(self.random.below(12) as u32, self.expr(Ty::I32, depth)),
            4 => {
                let pairs: Vec<usize> =
                    (0..self.functions.len()).filter(|&at| self.functions[at].results.len() == 2).collect();
                let Some(&at) = pairs.get(self.random.below(pairs.len().max(1) as u64) as usize) else {
                    return self.binding(depth);
                };
                let args = self.args(at, depth);
                let names = [self.name(), self.name()];
                let [a, b] = names.clone();
                let (first, second) = (self.functions[at].results[0], self.functions[at].results[1]);
                self.declare(&a, first, false);
                self.declare(&b, second, false);
                Stmt::Pair(names, at, args)
            }
            _ => {
                let Some(name) = self.visible(|name| name.mutable) else { return self.binding(depth) };
                let op = match name.ty {
                    Ty::I1 => self.random.pick(&["", "&", "|", "^"]),
                    Ty::F32 => self.random.pick(&["", "+", "-", "*"]),
                    _ => self.random.pick(&["", "+", "-", "*", "&", "^", ">>_u"]),
                };
                Stmt::Assign(name.name, op, self.other(name.ty, depth))
            }
        }
    }

    fn block(&mut self, depth: u32) -> Vec<Stmt> {
        let names = self.names.len();
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            body.push(self.stmt(depth));
            if ends(&body) {
                break;
            }
        }
        self.names.truncate(names);
        body
    }

    fn looped(&mut self, trips: u64, depth: u32, known: Option<(&str, Ty, bool)>) -> Vec<Stmt> {
        let names = self.names.len();
        if let Some((name, ty, known)) = known {
            self.names.push(Name { name: name.into(), ty, mutable: false, known });
        }
        self.trips *= trips;
        self.loops += 1;
        let body = self.block(depth);
        self.loops -= 1;
        self.trips /= trips;
        self.names.truncate(names);
        body
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        if depth == 0 || self.trips > 200 {
            return self.simple(depth.min(2));
        }
        let less = depth - 1;
        match self.random.below(16) {
            0..=2 => {
                let condition = self.expr(Ty::I1, less);
                let then = self.block(less);
                let otherwise = self.random.one_in(2).then(|| self.block(less));
                Stmt::If(condition, then, otherwise)
            }
            3 | 4 => {
                let name = self.name();
                let ty = self.random.pick(&[Ty::I32, Ty::I32, Ty::I8]);
                let (from, to) = match self.random.below(3) {
                    0 => (self.number(ty, false), self.number(ty, false)),
                    _ => {
                        let bounded = |expr: Expr| {
                            Expr::Binary("&", expr.into(), Expr::Number { ty, value: 7, bare: true }.into())
                        };
                        (Expr::Number { ty, value: 0, bare: false }, bounded(self.typed(ty, less)))
                    }
                };
                let [from, to] = [from, to].map(|bound| match bound {
                    Expr::Number { value, .. } => Expr::Number { ty, value: value.clamp(-4, 8), bare: false },
                    other => other,
                });
                let step = 1 + self.random.below(3) as i64;
                let body = self.looped(8, less, Some((&name, ty, false)));
                Stmt::For(name, from, to, step, body)
            }
            5 => {
                let name = self.name();
                let (from, to) = (self.random.below(4) as i64, self.random.below(6) as i64);
                let step = if from > to { -1 } else { 1 + self.random.below(2) as i64 };
                let body = self.looped(6, less.min(1), Some((&name, Ty::I32, true)));
                Stmt::Unroll(name, from, to, step, body)
            }
            6 => {
                let counter = format!("c{}", self.fresh);
                self.fresh += 1;
                let most = self.random.below(6) as u32;
                self.declare(&counter, Ty::I32, false);
                let condition = self.expr(Ty::I1, less);
                Stmt::While(counter, most, condition, self.looped(6, less, None))
            }
            7 => {
                let counter = format!("c{}", self.fresh);
                self.fresh += 1;
                let most = self.random.below(6) as u32;
                self.declare(&counter, Ty::I32, false);
                let body = self.looped(6, less, None);
                let condition = self.expr(Ty::I1, less);
                Stmt::Do(counter, most, body, condition)
            }
            8 if self.loops > 0 => {
                if self.random.one_in(2) {
                    Stmt::Break
                } else {
                    Stmt::Continue
                }
            }
            9 if self.random.one_in(3) => match self.result.clone() {
                None => Stmt::Return(None),
                Some(results) if results.len() == 1 => Stmt::Return(Some(self.typed(results[0], less))),
                Some(_) => self.simple(depth),
            },
            _ => self.simple(depth),
        }
    }
}

/// Returns `true` if a statement after the statements of `body` would be unreachable.
fn ends(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Break | Stmt::Continue | Stmt::Return(_)) => true,
        Some(Stmt::If(condition, then, otherwise)) => match known(condition) {
            Some(true) => ends(then),
            Some(false) => otherwise.as_ref().is_some_and(|body| ends(body)),
            None => ends(then) && otherwise.as_ref().is_some_and(|body| ends(body)),
        },
        Some(Stmt::Unroll(_, from, to, _, body)) => from != to && ends_with_return(body),
        Some(Stmt::For(_, from, to, _, body)) => match (from, to) {
            (Expr::Number { value: from, .. }, Expr::Number { value: to, .. }) => from < to && ends_with_return(body),
            _ => false,
        },
        Some(Stmt::Do(_, _, body, _)) => ends_with_return(body),
        _ => false,
    }
}

/// Returns `true` if every path through the body of a loop returns from the function.
fn ends_with_return(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Return(_)) => !leaves(body),
        Some(Stmt::If(..) | Stmt::Unroll(..) | Stmt::For(..) | Stmt::Do(..)) => ends(body) && !leaves(body),
        _ => false,
    }
}

/// Returns `true` if the body of a loop has a `break` or `continue` of this loop.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break | Stmt::Continue => true,
        Stmt::If(_, then, otherwise) => leaves(then) || otherwise.as_ref().is_some_and(|body| leaves(body)),
        _ => false,
    })
}

/// Returns the truth value of a condition, if it is known at compile time.
fn known(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Bool(value) => Some(*value),
        Expr::Unary("!", operand) => known(operand).map(|value| !value),
        Expr::Binary("&", a, b) => Some(known(a)? & known(b)?),
        Expr::Binary("|", a, b) => Some(known(a)? | known(b)?),
        Expr::Binary("^", a, b) => Some(known(a)? ^ known(b)?),
        Expr::Binary("&&", a, b) => match known(a)? {
            false => Some(false),
            true => known(b),
        },
        Expr::Binary("||", a, b) => match known(a)? {
            true => Some(true),
            false => known(b),
        },
        _ => None,
    }
}
