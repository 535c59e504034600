//! Compile-time evaluation of constants, and of expressions whose operands are all constant. The
//! evaluator of the IR computes them.

use halfbyte_abi::{Limits, Type, Watchdog};
use halfbyte_ir::eval::{self, Accessed, Launch, Observer, Prepared, fold, pack, unpack};
use halfbyte_ir::{Attr, Block, Diagnostic, Kernel, MemAttr, Op, Span, Value, ValueDef};
use rustc_hash::FxHashMap;

use super::operand::{Operand, splat};
use super::place::Lvalue;
use super::{Failed, Global, Lower, Lowering};
use crate::ast::{ExprId, ExprKind, ParamTy, StmtKind};

/// Maximum number of loop iterations that one compile-time call may execute.
const MAX_ITERATIONS: u32 = 1 << 16;

/// Maximum number of instructions that all compile-time calls of a module together may execute.
const MAX_WORK: u64 = 4 << 20;

/// Number of steps that one evaluation counts in addition to its instructions, because its kernel
/// is verified and prepared.
const STEPS_OF_EVALUATION: u32 = 64;

/// Number of lanes of the widest type.
const MAX_LANES: usize = 16;

/// Properties of a function that decide whether calls are evaluated at compile time.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Purity {
    /// `true` if the results depend on nothing but the operands.
    pub is_closed: bool,
    /// `true` if the body has a loop, which constant folding cannot evaluate.
    pub has_loop: bool,
}

/// Returns a watchdog with the limits of compile-time evaluation.
pub(super) fn watchdog() -> Watchdog {
    Watchdog::new(Limits { work: MAX_WORK, ..Limits::NONE })
}

/// Observer that records the last lanes of a call's results.
struct Results {
    found: FxHashMap<Value, Option<[u64; MAX_LANES]>>,
}

impl Observer for Results {
    fn block(&mut self, _: u32, _: Block) {}

    fn value(&mut self, _: u32, value: Value, lanes: &[u64]) {
        if let Some(slot) = self.found.get_mut(&value) {
            let mut all = [0; MAX_LANES];
            all.iter_mut().zip(lanes).for_each(|(to, from)| *to = *from);
            *slot = Some(all);
        }
    }

    fn access(&mut self, _: u32, _: &Accessed<'_>) {}
}

/// Returns the value as a constant operand if a constant instruction defines the value.
fn constant_in(kernel: &Kernel, value: Value) -> Option<Operand> {
    let words = kernel.const_bits(kernel.def_inst(value)?)?;
    Some(constant(kernel.ty(value), words))
}

fn constant(ty: Type, words: [u64; 8]) -> Operand {
    match (ty, words) {
        (Type::I1, [truth, ..]) => Operand::Bool(truth & 1 != 0),
        _ => Operand::Const(ty, words),
    }
}

impl Lower<'_> {
    /// Returns the type and bits of an operand, if the operand is a constant with a type.
    pub(super) fn constant_of(&self, operand: &Operand) -> Option<(Type, [u64; 8])> {
        match *operand {
            Operand::Const(ty, words) => Some((ty, words)),
            Operand::Bool(truth) => Some((Type::I1, splat(Type::I1, u64::from(truth)))),
            Operand::Value(value) => self.constant_of(&constant_in(self.b.kernel(), value)?),
            _ => None,
        }
    }

    /// Returns the value of an operand, if the operand is an integer known at compile time.
    pub(super) fn whole_number(&self, operand: &Operand) -> Option<i128> {
        if let Operand::Number(number) = operand {
            return number.whole;
        }
        let (ty, [word, ..]) = self.constant_of(operand)?;
        let unused = 64 - ty.elem().bits();
        (ty.is_int() && ty.is_scalar() && ty != Type::I1).then(|| (((word << unused) as i64) >> unused).into())
    }

    /// Returns the value of an operand, if the operand is a truth value known at compile time.
    pub(super) fn known_truth(&self, operand: &Operand) -> Option<bool> {
        match self.constant_of(operand)? {
            (Type::I1, [truth, ..]) => Some(truth & 1 != 0),
            _ => None,
        }
    }

    /// Evaluates an expression to a compile-time number that fits a `u32`. `what` names the number in errors.
    pub(super) fn small(&mut self, expr: ExprId, what: &str) -> Lowering<u32> {
        let span = self.ast.expr(expr).span;
        let value = self.known_number(expr, what)?;
        u32::try_from(value)
            .map_err(|_| self.error(span, format!("{value} is not {what}"), format!("0 to {}", u32::MAX)))
    }

    /// Evaluates an expression to a compile-time number. `what` names the number in errors.
    pub(super) fn known_number(&mut self, expr: ExprId, what: &str) -> Lowering<i128> {
        let span = self.ast.expr(expr).span;
        let operand = self.expr(expr, None)?;
        self.whole_number(&operand).ok_or(()).map_err(|()| self.not_known(&operand, span, what))
    }

    /// Returns the element at a constant offset of a buffer with constant contents. Returns `None`
    /// for other buffers, and for an access that is misaligned or out of bounds.
    pub(super) fn element_of_table(&self, place: &Lvalue, ty: Type, mem: MemAttr) -> Option<Operand> {
        let contents = self.b.kernel().param(place.base)?.contents.as_deref()?;
        let offset = u32::try_from(mem.offset).ok().filter(|offset| offset % mem.align.max(1) == 0)?;
        let bytes = contents.get(offset as usize..)?.get(..ty.bytes() as usize)?;
        let mut words = [0u64; 8];
        for (at, &byte) in bytes.iter().enumerate() {
            *words.get_mut(at / 8)? |= u64::from(byte) << (at % 8 * 8);
        }
        (mem.align <= ty.bytes()).then_some(Operand::Const(ty, words))
    }

    /// Reports an operand that is not a compile-time constant, and names the part of it that is not constant.
    pub(super) fn not_known(&mut self, operand: &Operand, span: Span, expected: impl Into<String>) -> Failed {
        if matches!(operand, Operand::Failed | Operand::Never) {
            return Failed;
        }
        if self.constant_of(operand).is_some() || !matches!(operand, Operand::Value(_)) {
            let message = format!("this is {}", self.described(operand));
            return self.error(span, message, expected);
        }
        let help = "compile-time constants are numbers, `const` items and parameters, the variable of an `unroll for`, and expressions of these";
        let mut diagnostic =
            Diagnostic::new(span, "this value is not a compile-time constant").expected(expected).help(help);
        if let Operand::Value(value) = *operand {
            let (at, message) = self.unknown_part(value);
            diagnostic = diagnostic.note(at, message);
        }
        self.report(diagnostic)
    }

    /// Returns the position of the first part of a value that is not a compile-time constant, and the reason.
    fn unknown_part(&self, value: Value) -> (Option<Span>, String) {
        let kernel = self.b.kernel();
        let mut value = value;
        loop {
            if let Some((span, why)) = self.too_long.get(&value) {
                return (Some(*span), why.clone());
            }
            let name = kernel.value_name(value).map_or("this".to_owned(), |name| format!("`{name}`"));
            match kernel.values.get(value).map(|data| data.def) {
                Some(ValueDef::Param(number)) => {
                    let span = kernel.params.get(number as usize).map(|param| param.span);
                    return (span, format!("{name} is an argument of the launch"));
                }
                Some(ValueDef::BlockParam(block, number)) => {
                    let why = match (kernel.block_name(block), number) {
                        (Some("for"), 0) => "is the variable of a `for` that is not unrolled",
                        _ => "depends on a loop or on a condition that is not known",
                    };
                    return (None, format!("{name} {why}"));
                }
                Some(ValueDef::Result(inst)) => {
                    let unknown = |arg: &&Value| constant_in(kernel, **arg).is_none();
                    let Some(data) = kernel.insts.get(inst) else { return (None, format!("{name} is not known")) };
                    match kernel.args(inst).iter().find(unknown) {
                        Some(&arg) if data.op.is_pure() => value = arg,
                        _ => return (Some(data.span), format!("the result of `{}` is not known", data.op.name())),
                    }
                }
                _ => return (None, format!("{name} is an address")),
            }
        }
    }

    /// Adds an instruction on typed operands. If all operands are constants, folds the instruction instead.
    pub(super) fn instruction(
        &mut self,
        (op, ty, attr): (Op, Type, Attr),
        operands: Vec<(Operand, Span)>,
        span: Span,
    ) -> Lowering<Operand> {
        if let Some(known) = self.computed((op, ty, attr), &operands) {
            return Ok(known);
        }
        let values: Lowering<Vec<Value>> = operands.into_iter().map(|(operand, at)| self.emit(operand, at)).collect();
        let values = values?;
        self.at(span);
        let inst = self.b.inst(op, ty, attr, &values);
        Ok(self.b.kernel().result(inst).map_or(Operand::NOTHING, Operand::Value))
    }

    /// Returns the result of an op on constant operands. Returns `None` if the op cannot be folded.
    fn computed(&self, (op, ty, attr): (Op, Type, Attr), operands: &[(Operand, Span)]) -> Option<Operand> {
        // A product with `contract` may be fused into a sum with one rounding, so it is not folded.
        let is_part = op == Op::Fmul && matches!(attr, Attr::Float(flags) if flags.contract);
        if !op.is_pure() || is_part {
            return None;
        }
        let row = op.row();
        let result = row.result_type(row.fixed_type().unwrap_or(ty))?;
        let mut lanes = Vec::with_capacity(operands.len());
        for (operand, _) in operands {
            let (ty, words) = self.constant_of(operand)?;
            let mut all = [0; MAX_LANES];
            unpack(ty, &words, all.get_mut(..ty.lanes())?);
            lanes.push((ty, all));
        }
        let args: Option<Vec<eval::Operand<'_>>> =
            lanes.iter().map(|(ty, all)| Some(eval::Operand { ty: *ty, lanes: all.get(..ty.lanes())? })).collect();
        let mut out = [0; MAX_LANES];
        let out = out.get_mut(..result.lanes())?;
        fold(op, attr, &args?, result, out).then(|| constant(result, pack(result, out)))
    }

    /// Finds the closed functions, whose results depend only on their operands. A closed function
    /// has no buffers, and calls only pure ops and closed functions.
    pub(super) fn find_closed(&mut self) {
        let ast = self.ast;
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); ast.functions.len()];
        let mut open = Vec::new();
        self.purity = vec![Purity { is_closed: true, has_loop: false }; ast.functions.len()];
        for (number, function) in (0..).zip(&ast.functions) {
            let body = ast.block(function.body).span;
            let mut is_open = function.params.iter().any(|param| matches!(param.ty, ParamTy::Buffer { .. }));
            for expr in ast.exprs_in(body) {
                let ExprKind::Call { name, .. } = expr.kind else { continue };
                match self.globals.get(&name.sym) {
                    Some(&Global::Function(callee)) => callers[callee as usize].push(number),
                    _ => is_open |= Op::from_name(self.symbols.text(name.sym)).is_some_and(|op| !is_evaluated(op)),
                }
            }
            let is_loop =
                |kind: &StmtKind| matches!(kind, StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. });
            if let Some(purity) = self.purity.get_mut(number as usize) {
                purity.has_loop = ast.stmts_in(body).any(|stmt| is_loop(&stmt.kind));
            }
            if is_open {
                open.push(number);
            }
        }
        while let Some(number) = open.pop() {
            let Some(purity) = self.purity.get_mut(number as usize).filter(|purity| purity.is_closed) else { continue };
            purity.is_closed = false;
            open.extend(callers.get(number as usize).into_iter().flatten());
        }
    }

    /// Returns `true` if a call with these operands is evaluated at compile time. Calls of
    /// functions without loops are folded while they are inlined instead.
    pub(super) fn is_to_evaluate(&self, function: u32, operands: &[Operand]) -> bool {
        let is_known = |operand: &Operand| matches!(operand, Operand::Number(_)) || self.constant_of(operand).is_some();
        self.purity.get(function as usize).is_some_and(|purity| purity.is_closed && purity.has_loop)
            && operands.iter().all(is_known)
            && self.watchdog.poll().is_ok()
    }

    /// Evaluates a function with constant arguments. Returns `None` if the evaluation exceeds its limits.
    pub(super) fn evaluated(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut Self) -> Lowering<Operand>,
    ) -> Lowering<Option<Operand>> {
        self.steps = self.steps.saturating_add(STEPS_OF_EVALUATION);
        let (made, kernel) = self.apart(name, |lower| {
            let made = body(lower)?;
            if lower.here.is_some() {
                lower.b.ret();
            }
            Ok(made)
        });
        let made = made?;
        if halfbyte_ir::verify(&kernel).is_err() {
            return Ok(None);
        }
        let parts = match made {
            Operand::Tuple(parts) => parts,
            one => vec![one],
        };
        let values = parts.iter().filter_map(|part| match part {
            Operand::Value(value) => Some((*value, None)),
            _ => None,
        });
        let mut results = Results { found: values.collect() };
        let launch = Launch { budget: MAX_ITERATIONS, watchdog: Some(&self.watchdog), ..Launch::new(1u32) };
        if Prepared::new(&kernel).run_observed(&launch, &mut [], &mut results).is_err() {
            return Ok(None);
        }
        let known = |part: Operand| match part {
            Operand::Value(value) => constant_in(&kernel, value).or_else(|| {
                let ty = kernel.ty(value);
                let lanes = (*results.found.get(&value)?)?;
                Some(constant(ty, pack(ty, lanes.get(..ty.lanes())?)))
            }),
            Operand::Never => None,
            known => Some(known),
        };
        let mut parts = parts.into_iter().map(known).collect::<Option<Vec<Operand>>>().unwrap_or_default();
        Ok(match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(Operand::Tuple(parts)),
        })
    }

    /// Records that the results of a call are not constants because its evaluation exceeds the limits.
    pub(super) fn not_evaluated(&mut self, name: &str, results: &Operand, span: Span) {
        let why = match self.watchdog.poll() {
            Ok(()) => format!("this call of `{name}` takes more than {MAX_ITERATIONS} iterations"),
            Err(_) => format!("the calls up to this one of `{name}` take more than {MAX_WORK} steps"),
        };
        let parts = match results {
            Operand::Tuple(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        for part in parts {
            if let Operand::Value(value) = part {
                self.too_long.insert(*value, (span, why.clone()));
            }
        }
    }

    /// Calls `inside`, which lowers code into a separate kernel. That kernel cannot refer to values
    /// of the current kernel.
    pub(super) fn apart<T>(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> T) -> (T, Kernel) {
        let b = std::mem::replace(&mut self.b, halfbyte_ir::builder::Builder::new(name));
        let entry = self.b.begin("entry", &[]);
        let here = self.here.replace(entry);
        let (vars, too_long) = (std::mem::take(&mut self.vars), std::mem::take(&mut self.too_long));
        let made = inside(self);
        (self.here, self.vars, self.too_long) = (here, vars, too_long);
        (made, std::mem::replace(&mut self.b, b).finish())
    }
}

/// Returns `true` if the result of an op depends only on its operands and attribute.
fn is_evaluated(op: Op) -> bool {
    op.is_pure() && op != Op::Intrinsic && !op.row().args.is_empty()
}
