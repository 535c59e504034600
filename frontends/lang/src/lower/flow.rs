//! Lowering of conditionals and loops. The variables that they assign become block parameters of
//! the blocks where paths join.

use halfbyte_abi::Type;
use halfbyte_ir::{Block, IntCC, Op, Span, Value};

use super::operand::Operand;
use super::{Edge, Failed, LoopFrame, Lower, Lowering};
use crate::ast::{BlockId, ExprId, ExprKind, For};

/// Maximum trip count of an unrolled loop.
const MAX_UNROLLED: i128 = 65536;

impl Lower<'_> {
    /// Returns the current values of all variables.
    fn values(&self) -> Vec<Value> {
        self.vars.iter().map(|var| var.value).collect()
    }

    fn set_values(&mut self, values: &[Value]) {
        for (var, &value) in self.vars.iter_mut().zip(values) {
            var.value = value;
        }
    }

    fn values_of(&self, vars: &[u32]) -> Vec<Value> {
        vars.iter().filter_map(|&var| Some(self.vars.get(var as usize)?.value)).collect()
    }

    fn set_values_of(&mut self, vars: &[u32], values: &[Value]) {
        for (&var, &value) in vars.iter().zip(values) {
            if let Some(var) = self.vars.get_mut(var as usize) {
                var.value = value;
            }
        }
    }

    fn types_of(&self, vars: &[u32]) -> Vec<Type> {
        vars.iter().filter_map(|&var| Some(self.vars.get(var as usize)?.ty)).collect()
    }

    /// Adds a block. Its parameters have the types `others`, followed by one parameter for each variable in `vars`.
    fn block_of(&mut self, name: &str, others: &[Type], vars: &[u32]) -> Block {
        let types: Vec<Type> = others.iter().copied().chain(self.types_of(vars)).collect();
        let block = self.b.block(name, &types);
        let params: Vec<Value> = self.b.params(block).iter().skip(others.len()).copied().collect();
        for (&var, value) in vars.iter().zip(params) {
            if let Some(var) = self.vars.get(var as usize) {
                self.b.name(value, self.symbols.text(var.name));
            }
        }
        block
    }

    /// Returns the parameters of a block that hold variables: all after the first `others`.
    fn params_of(&self, block: Block, others: usize) -> Vec<Value> {
        self.b.params(block).iter().skip(others).copied().collect()
    }

    /// Lowers a condition to a compile-time truth value or to an `i1`.
    fn condition(&mut self, condition: ExprId) -> Lowering<Result<bool, Value>> {
        let span = self.ast.expr(condition).span;
        let operand = self.expr(condition, Some(Type::I1))?;
        if operand == Operand::Never {
            return Ok(Ok(false));
        }
        if let Some(known) = self.known_truth(&operand) {
            return Ok(Ok(known));
        }
        if self.type_of(&operand).is_some_and(|ty| ty.is_mask() && !ty.is_scalar()) {
            let message = format!("this is {}, with one truth value per lane", self.described(&operand));
            return Err(self.error_help(
                span,
                message,
                "`i1`",
                "write `any(m)` or `all(m)`, or `select(m, a, b)` for each lane",
            ));
        }
        if self.type_of(&operand) != Some(Type::I1) {
            let message = format!("this is {}", self.described(&operand));
            return Err(self.error_help(span, message, "`i1`", "as in `x != 0`"));
        }
        self.emit(operand, span).map(Err)
    }

    /// Lowers an `if`. `wanted` is `true` if the value of the `if` is used.
    pub(super) fn choice(
        &mut self,
        condition: ExprId,
        then: BlockId,
        otherwise: Option<ExprId>,
        expected: Option<Type>,
        wanted: bool,
        span: Span,
    ) -> Lowering<Operand> {
        let condition = match self.condition(condition)? {
            Ok(known) => {
                let taken = match (known, otherwise) {
                    (true, _) => self.block(then, expected, wanted),
                    (false, Some(otherwise)) => self.arm(otherwise, expected, wanted),
                    (false, None) => Ok(Operand::NOTHING),
                };
                self.is_unreachable_by_constant |= self.here.is_none();
                return taken;
            }
            Err(value) => value,
        };
        let Some(head) = self.here else { return Ok(Operand::Never) };
        let before = self.values();
        let then_block = self.b.block("then", &[]);
        let mut first = self.lower_arm(then_block, |lower| lower.block(then, expected, wanted));
        self.set_values(&before);
        let (mut second, else_block) = match otherwise {
            Some(otherwise) => {
                let block = self.b.block("else", &[]);
                let way = self.lower_arm(block, |lower| lower.arm(otherwise, expected, wanted));
                self.set_values(&before);
                (way, Some(block))
            }
            None => (Ok((Some((head, before.clone())), Operand::NOTHING)), None),
        };
        if let (Err(_), _) | (_, Err(_)) = (&first, &second) {
            // Lowering continues after an `if` with an error, so that later errors are reported, too.
            self.here = Some(head);
            return Err(Failed);
        }
        let (Ok((first_end, first_value)), Ok((second_end, second_value))) = (&mut first, &mut second) else {
            return Err(Failed);
        };
        let (values, result) = match (first_end.is_some(), second_end.is_some()) {
            (true, true) => {
                let ends = (first_end.as_ref().map(|(end, _)| *end), second_end.as_ref().map(|(end, _)| *end));
                let values =
                    (std::mem::replace(first_value, Operand::Never), std::mem::replace(second_value, Operand::Never));
                let (a, b) = match self.merged(values, ends, expected, wanted, span) {
                    Ok(merged) => merged,
                    Err(failed) => {
                        self.here = Some(head);
                        return Err(failed);
                    }
                };
                ((a, b), None)
            }
            (true, false) => ((Vec::new(), Vec::new()), Some(std::mem::replace(first_value, Operand::Never))),
            (false, true) => ((Vec::new(), Vec::new()), Some(std::mem::replace(second_value, Operand::Never))),
            (false, false) => ((Vec::new(), Vec::new()), Some(Operand::Never)),
        };
        // Variables with different values at the ends of the two arms become parameters of the join block.
        let none = Vec::new();
        let first_vars = first_end.as_ref().map_or(&none, |(_, values)| values);
        let second_vars = second_end.as_ref().map_or(&none, |(_, values)| values);
        let both = first_end.is_some() && second_end.is_some();
        let differ = |var: &u32| first_vars.get(*var as usize) != second_vars.get(*var as usize);
        let changed: Vec<u32> = if both { (0..before.len() as u32).filter(differ).collect() } else { Vec::new() };
        let pick =
            |vars: &[Value]| changed.iter().filter_map(|&var| vars.get(var as usize).copied()).collect::<Vec<_>>();
        let (first_args, second_args) = (pick(first_vars), pick(second_vars));
        let after = match (both, first_end.is_some()) {
            // If both arms reach the join block, unchanged variables have the same values in both.
            // Changed variables become block parameters below.
            (true, _) | (false, true) => first_vars.clone(),
            (false, false) => second_vars.clone(),
        };
        let ends = (first_end.as_ref().map(|(end, _)| *end), second_end.as_ref().map(|(end, _)| *end));
        self.at(span);
        let result_types: Vec<Type> = values.0.iter().map(|&value| self.b.kernel().ty(value)).collect();
        let needs_join = both || else_block.is_none();
        let join = if needs_join { Some(self.block_of("join", &result_types, &changed)) } else { None };
        let go = |lower: &mut Self, from: Option<Block>, results: &[Value], args: &[Value]| {
            if let (Some(from), Some(join)) = (from, join) {
                lower.b.go_to(from);
                let args: Vec<Value> = results.iter().chain(args).copied().collect();
                lower.b.br(join, &args);
            }
        };
        match else_block {
            Some(else_block) => {
                go(self, ends.0, &values.0, &first_args);
                go(self, ends.1, &values.1, &second_args);
                self.b.go_to(head);
                self.b.br_if(condition, (then_block, &[]), (else_block, &[]));
            }
            None => {
                go(self, ends.0, &values.0, &first_args);
                if let Some(join) = join {
                    self.b.go_to(head);
                    let args: Vec<Value> = if both { second_args.clone() } else { Vec::new() };
                    self.b.br_if(condition, (then_block, &[]), (join, &args));
                }
            }
        }
        self.set_values(&after);
        match join {
            Some(join) => {
                self.b.go_to(join);
                self.here = Some(join);
                let params = self.params_of(join, result_types.len());
                self.set_values_of(&changed, &params);
                if let Some(result) = result {
                    return Ok(result);
                }
                let mut results = self.b.params(join).iter().take(result_types.len()).copied().map(Operand::Value);
                Ok(match (results.len(), wanted) {
                    (1, true) => results.next().unwrap_or(Operand::Never),
                    _ => Operand::Tuple(results.collect()),
                })
            }
            None => {
                self.here = ends.0.or(ends.1);
                if let Some(here) = self.here {
                    self.b.go_to(here);
                }
                Ok(result.unwrap_or(Operand::Never))
            }
        }
    }

    /// Lowers the block or `if` after `else`.
    fn arm(&mut self, arm: ExprId, expected: Option<Type>, wanted: bool) -> Lowering<Operand> {
        let expr = self.ast.expr(arm);
        match expr.kind {
            ExprKind::Block(block) => self.block(block, expected, wanted),
            ExprKind::If { condition, then, otherwise } => {
                self.step(expr.span)?;
                self.deeper(expr.span, |lower| lower.choice(condition, then, otherwise, expected, wanted, expr.span))
            }
            _ => self.expr(arm, expected),
        }
    }

    /// Lowers one arm of an `if` into `block`. Returns the block in which the arm ends, the values of the variables
    /// there, and the value of the arm. Returns `None` in place of the block if the arm does not reach its end.
    #[allow(clippy::type_complexity)]
    fn lower_arm(
        &mut self,
        block: Block,
        go: impl FnOnce(&mut Self) -> Lowering<Operand>,
    ) -> Lowering<(Option<(Block, Vec<Value>)>, Operand)> {
        self.b.go_to(block);
        self.here = Some(block);
        let value = go(self)?;
        Ok((self.here.map(|end| (end, self.values())), value))
    }

    /// Converts the values of the two arms of an `if` to common types. Returns the arguments that
    /// each arm passes to the join block.
    fn merged(
        &mut self,
        (first, second): (Operand, Operand),
        ends: (Option<Block>, Option<Block>),
        expected: Option<Type>,
        wanted: bool,
        span: Span,
    ) -> Lowering<(Vec<Value>, Vec<Value>)> {
        if !wanted {
            return Ok((Vec::new(), Vec::new()));
        }
        let (firsts, seconds) = match (first, second) {
            (Operand::Tuple(a), Operand::Tuple(b)) if a.len() == b.len() => (a, b),
            (a @ Operand::Tuple(_), b) | (a, b @ Operand::Tuple(_)) => {
                let message = format!("one branch gives {}, the other {}", self.described(&a), self.described(&b));
                return Err(self.error_help(
                    span,
                    message,
                    "a value in both branches, or in neither",
                    "write the value as the last line of the block",
                ));
            }
            (a, b) => (vec![a], vec![b]),
        };
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for (a, b) in firsts.into_iter().zip(seconds) {
            let ty = self.type_of(&a).or(self.type_of(&b)).or(expected);
            let ty = match ty {
                Some(ty) => ty,
                None => {
                    let typed = self.typed(a.clone(), None, span)?;
                    self.type_of(&typed).ok_or(Failed)?
                }
            };
            if let (Some(x), Some(y)) = (self.type_of(&a), self.type_of(&b))
                && x != y
            {
                let message = format!("one branch gives `{x}`, the other `{y}`");
                return Err(self.error(span, message, "the same type in both branches"));
            }
            for (operand, end, values) in [(a, ends.0, &mut one), (b, ends.1, &mut two)] {
                if let Some(end) = end {
                    self.b.go_to(end);
                }
                values.push(self.value(operand, ty, span)?);
            }
        }
        Ok((one, two))
    }

    /// Lowers `a && b` or `a || b`. The right side is evaluated conditionally, unless it may
    /// be evaluated speculatively.
    pub(super) fn short_circuit(
        &mut self,
        both: bool,
        left: Operand,
        left_id: ExprId,
        right: ExprId,
        span: Span,
    ) -> Lowering<Operand> {
        let at = (self.ast.expr(left_id).span, self.ast.expr(right).span);
        let mark = if both { "&&" } else { "||" };
        match (&left, self.known_truth(&left)) {
            (Operand::Never, _) => return Ok(Operand::Never),
            (_, Some(value)) if value != both => return Ok(Operand::Bool(value)),
            (_, Some(_)) => {
                let operand = self.expr(right, Some(Type::I1))?;
                return self.truth(operand, mark, at.1);
            }
            _ => {}
        }
        let left = self.truth(left, mark, at.0)?;
        let left = self.emit(left, at.0)?;
        let op = if both { Op::And } else { Op::Or };
        if self.is_free(right) {
            let operand = self.expr(right, Some(Type::I1))?;
            let operand = self.truth(operand, mark, at.1)?;
            let operand = self.emit(operand, at.1)?;
            self.at(span);
            return Ok(Operand::Value(self.b.op(op, Type::I1, &[left, operand])));
        }
        let Some(head) = self.here else { return Ok(Operand::Never) };
        let before = self.values();
        let block = self.b.block(if both { "and" } else { "or" }, &[]);
        self.b.go_to(block);
        self.here = Some(block);
        let operand = self.expr(right, Some(Type::I1)).and_then(|operand| self.truth(operand, mark, at.1));
        let Ok(operand) = operand else {
            self.here = Some(head);
            self.b.go_to(head);
            return Err(Failed);
        };
        let operand = self.emit(operand, at.1)?;
        let changed: Vec<u32> = {
            let now = self.values();
            let differ = |var: &u32| now.get(*var as usize) != before.get(*var as usize);
            (0..before.len() as u32).filter(differ).collect()
        };
        let now = self.values_of(&changed);
        self.set_values(&before);
        let then = self.values_of(&changed);
        let end = self.here;
        self.at(span);
        let join = self.block_of("join", &[Type::I1], &changed);
        if let Some(end) = end {
            self.b.go_to(end);
            let args: Vec<Value> = [operand].into_iter().chain(now).collect();
            self.b.br(join, &args);
        }
        self.b.go_to(head);
        let args: Vec<Value> = [left].into_iter().chain(then).collect();
        match both {
            true => self.b.br_if(left, (block, &[]), (join, &args)),
            false => self.b.br_if(left, (join, &args), (block, &[])),
        };
        self.b.go_to(join);
        self.here = Some(join);
        let params = self.params_of(join, 1);
        self.set_values_of(&changed, &params);
        Ok(self.b.params(join).first().copied().map_or(Operand::Never, Operand::Value))
    }

    /// Checks that an operand of `&&` or `||` is an `i1`.
    fn truth(&mut self, operand: Operand, mark: &str, span: Span) -> Lowering<Operand> {
        match self.type_of(&operand) {
            Some(Type::I1) => Ok(operand),
            Some(ty) if ty.is_mask() => {
                let other = if mark == "&&" { "&" } else { "|" };
                let message = format!("`{mark}` does not take {}", self.described(&operand));
                Err(self.error_help(span, message, "`i1`", format!("use `{other}` for each lane")))
            }
            _ => {
                let message = format!("this is {}", self.described(&operand));
                Err(self.error_help(span, message, "`i1`", "as in `x != 0`"))
            }
        }
    }

    /// Returns `true` if an expression may be evaluated speculatively: it does not access memory,
    /// is no collective operation, and contains no branch.
    fn is_free(&self, expr: ExprId) -> bool {
        let ast = self.ast;
        match ast.expr(expr).kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Name(_) => true,
            ExprKind::Unary(_, operand) => self.is_free(operand),
            ExprKind::Binary(_, mut left, right) => {
                if !self.is_free(right) {
                    return false;
                }
                while let ExprKind::Binary(_, next, right) = ast.expr(left).kind {
                    if !self.is_free(right) {
                        return false;
                    }
                    left = next;
                }
                self.is_free(left)
            }
            ExprKind::Call { name, args, .. } => {
                let is_pure = Op::from_name(self.symbols.text(name.sym)).is_some_and(Op::is_pure);
                is_pure
                    && ast.args(args).iter().all(|arg| match arg {
                        crate::ast::Arg::Value(value) => self.is_free(*value),
                        _ => true,
                    })
            }
            _ => false,
        }
    }

    /// Lowers an `unroll for`: the body is lowered once for each iteration.
    pub(super) fn unrolled(&mut self, numbers: For) -> Lowering<()> {
        let what = "a constant expression";
        let (from, to) = (self.known_number(numbers.from, what)?, self.known_number(numbers.to, what)?);
        let step = match numbers.step {
            Some(step) => self.known_number(step, what)?,
            None => 1,
        };
        if step == 0 {
            let step = numbers.step.unwrap_or(numbers.from);
            return Err(self.error(self.ast.expr(step).span, "the step of the loop is 0", "a number other than 0"));
        }
        let distance = if step > 0 { to - from } else { from - to };
        let trips = if distance <= 0 { 0 } else { (distance + step.abs() - 1) / step.abs() };
        let at = self.ast.expr(numbers.to).span;
        if trips > MAX_UNROLLED {
            let message = format!("the loop is unrolled {trips} times");
            return Err(self.error_help(
                at,
                message,
                format!("at most {MAX_UNROLLED}"),
                "use `for` instead of `unroll for`",
            ));
        }
        let vars = self.assigned(numbers.body, None, Some(numbers.name.sym));
        self.loops.push(LoopFrame { vars, breaks: Vec::new(), continues: Vec::new() });
        let mut done = Ok(());
        for trip in 0..trips {
            let scopes = self.scopes.len();
            self.scopes.push((numbers.name.sym, super::Binding::Fixed(Operand::whole(from + trip * step))));
            done = self.step(at).and_then(|()| self.block(numbers.body, None, false).map(|_| ()));
            self.scopes.truncate(scopes);
            let continues = self.loops.last_mut().map(|frame| std::mem::take(&mut frame.continues)).unwrap_or_default();
            self.join("next", continues);
            if done.is_err() || self.here.is_none() {
                break;
            }
        }
        let breaks = self.loops.last_mut().map(|frame| std::mem::take(&mut frame.breaks)).unwrap_or_default();
        self.join("done", breaks);
        self.loops.pop();
        done
    }

    /// Joins edges of the innermost loop with the current block. The join block becomes the current block.
    fn join(&mut self, name: &str, mut edges: Vec<Edge>) {
        if edges.is_empty() {
            return;
        }
        let vars = self.loops.last().map(|frame| frame.vars.clone()).unwrap_or_default();
        if let Some(here) = self.here {
            edges.push(Edge { from: here, values: self.values_of(&vars) });
        }
        if let [Edge { from, values }] = edges.as_slice() {
            self.b.go_to(*from);
            self.here = Some(*from);
            self.set_values_of(&vars, values);
            return;
        }
        let block = self.block_of(name, &[], &vars);
        for edge in &edges {
            self.b.go_to(edge.from);
            self.b.br(block, &edge.values);
        }
        self.b.go_to(block);
        self.here = Some(block);
        let params = self.params_of(block, 0);
        self.set_values_of(&vars, &params);
    }

    /// Lowers a `for`. The exit test is at the end of the body. A branch before the loop skips the
    /// loop if it has zero iterations, unless the trip count is known to be positive.
    pub(super) fn counted(&mut self, numbers: For, span: Span) -> Lowering<()> {
        let ast = self.ast;
        let spans = (ast.expr(numbers.from).span, ast.expr(numbers.to).span);
        let from = self.expr(numbers.from, None)?;
        let to = self.expr(numbers.to, None)?;
        let ty = self.type_of(&from).or(self.type_of(&to)).unwrap_or(Type::I32);
        if !(ty.is_int() && ty.is_scalar()) {
            return Err(self.error(spans.0, format!("cannot loop over a range of `{ty}`"), "a scalar integer type"));
        }
        let known = self.whole_number(&from).zip(self.whole_number(&to));
        let step = match numbers.step {
            Some(step) => self.expr(step, Some(ty))?,
            None => Operand::whole(1),
        };
        let step_span = numbers.step.map_or(numbers.name.span, |step| ast.expr(step).span);
        let step_known = self.whole_number(&step);
        if let Some(step) = step_known.filter(|step| *step <= 0) {
            let help = "`for` only counts up: use `unroll for` or `while` to count down";
            return Err(self.error_help(step_span, format!("the step of the loop is {step}"), "a step above 0", help));
        }
        let from = self.value(from, ty, spans.0)?;
        let to = self.value(to, ty, spans.1)?;
        if let (Some((first, last)), Some(step)) = (known, step_known) {
            if first >= last {
                return Ok(());
            }
            let most = i128::from(ty.elem().mask()) / 2;
            if first + (last - first + step - 1) / step * step > most {
                return Err(self.error(
                    spans.1,
                    format!("the loop variable overflows `{ty}` after the last iteration"),
                    "a smaller end of the range",
                ));
            }
        }
        let step = self.value(step, ty, step_span)?;
        let Some(head) = self.here else { return Ok(()) };
        let vars = self.assigned(numbers.body, None, Some(numbers.name.sym));
        let before = self.values_of(&vars);
        self.at(span);
        let guard = match known {
            Some(_) => None,
            None => Some(self.b.icmp(IntCC::LtS, ty, from, to)),
        };
        let body = self.block_of("for", &[ty], &vars);
        let number = self.b.params(body).first().copied().unwrap_or(from);
        self.b.name(number, self.symbols.text(numbers.name.sym));
        let params = self.params_of(body, 1);
        self.set_values_of(&vars, &params);
        let name = numbers.name;
        let read = self.looped(body, vars.clone(), |lower| {
            let scopes = lower.scopes.len();
            lower.scopes.push((name.sym, super::Binding::Fixed(Operand::Value(number))));
            let read = lower.block(numbers.body, None, false).map(|_| ());
            lower.scopes.truncate(scopes);
            read
        });
        let (mut exits, read) = read;
        let mut latch = None;
        self.at(span);
        if let Some(end) = self.here {
            let next = self.b.op(Op::Add, ty, &[number, step]);
            let again = self.b.icmp(IntCC::LtS, ty, next, to);
            latch = Some((end, again, next, self.values_of(&vars)));
        }
        let edges = exits.len() + usize::from(guard.is_some()) + usize::from(latch.is_some());
        let only = edges == 1;
        let done = (edges > 0).then(|| self.block_of("done", &[], if only { &[] } else { &vars }));
        let out = |values: &[Value]| if only { Vec::new() } else { values.to_vec() };
        let mut after = before.clone();
        let first: Vec<Value> = [from].into_iter().chain(before.iter().copied()).collect();
        self.b.go_to(head);
        match (guard, done) {
            (Some(guard), Some(done)) => {
                self.b.br_if(guard, (body, &first), (done, &out(&before)));
            }
            _ => {
                self.b.br(body, &first);
            }
        }
        if let (Some((end, again, next, values)), Some(done)) = (latch, done) {
            let args: Vec<Value> = [next].into_iter().chain(values.iter().copied()).collect();
            self.b.go_to(end);
            self.b.br_if(again, (body, &args), (done, &out(&values)));
            after = values;
        }
        self.leave(done, only, &mut exits, &vars, after);
        read
    }

    /// Lowers the body of a loop from the body's first block, and joins the edges of `continue`
    /// statements at its end. Returns the edges of `break` statements.
    fn looped(
        &mut self,
        body: Block,
        vars: Vec<u32>,
        read: impl FnOnce(&mut Self) -> Lowering<()>,
    ) -> (Vec<Edge>, Lowering<()>) {
        self.b.go_to(body);
        self.here = Some(body);
        self.loops.push(LoopFrame { vars, breaks: Vec::new(), continues: Vec::new() });
        let read = read(self);
        let continues = self.loops.last_mut().map(|frame| std::mem::take(&mut frame.continues)).unwrap_or_default();
        self.join("next", continues);
        let frame = self.loops.pop();
        (frame.map(|frame| frame.breaks).unwrap_or_default(), read)
    }

    /// Branches from the loop's exits to the block after the loop, which becomes the current block.
    fn leave(&mut self, done: Option<Block>, only: bool, exits: &mut Vec<Edge>, vars: &[u32], mut after: Vec<Value>) {
        for edge in exits.drain(..) {
            if let Some(done) = done {
                self.b.go_to(edge.from);
                self.b.br(done, if only { &[] } else { &edge.values });
                after = edge.values;
            }
        }
        if let Some(done) = done {
            self.b.go_to(done);
            if !only {
                after = self.params_of(done, 0);
            }
        }
        self.here = done;
        self.set_values_of(vars, &after);
    }

    /// Lowers a `while`: the exit test is before the body.
    pub(super) fn tested(&mut self, condition: ExprId, body: BlockId, span: Span) -> Lowering<()> {
        let Some(head) = self.here else { return Ok(()) };
        let vars = self.assigned(body, Some(condition), None);
        let before = self.values_of(&vars);
        let test = self.block_of("while", &[], &vars);
        self.at(span);
        self.b.go_to(head);
        self.b.br(test, &before);
        self.b.go_to(test);
        self.here = Some(test);
        let params = self.params_of(test, 0);
        self.set_values_of(&vars, &params);
        let holds = self.condition(condition)?;
        self.is_unreachable_by_constant |= holds.is_ok() && !matches!(self.ast.expr(condition).kind, ExprKind::Bool(_));
        let Some(tested) = self.here else { return Ok(()) };
        let at_test = self.values_of(&vars);
        if holds == Ok(false) {
            return Ok(());
        }
        let inside = self.b.block("body", &[]);
        let (mut exits, read) = self.looped(inside, vars.clone(), |lower| lower.block(body, None, false).map(|_| ()));
        self.at(span);
        if let Some(end) = self.here {
            let values = self.values_of(&vars);
            self.b.go_to(end);
            self.b.br(test, &values);
        }
        let edges = exits.len() + usize::from(holds.is_err());
        let only = edges == 1;
        let done = (edges > 0).then(|| self.block_of("done", &[], if only { &[] } else { &vars }));
        self.b.go_to(tested);
        match (holds, done) {
            (Err(value), Some(done)) => {
                let args = if only { Vec::new() } else { at_test.clone() };
                self.b.br_if(value, (inside, &[]), (done, &args));
            }
            _ => {
                self.b.br(inside, &[]);
            }
        }
        self.leave(done, only, &mut exits, &vars, at_test);
        read
    }

    /// Lowers a `do .. while`: the exit test is after the body, which runs at least once.
    pub(super) fn repeated(&mut self, body: BlockId, condition: ExprId, span: Span) -> Lowering<()> {
        let Some(head) = self.here else { return Ok(()) };
        let vars = self.assigned(body, Some(condition), None);
        let before = self.values_of(&vars);
        let inside = self.block_of("do", &[], &vars);
        self.at(span);
        self.b.go_to(head);
        self.b.br(inside, &before);
        let params = self.params_of(inside, 0);
        self.set_values_of(&vars, &params);
        let mut holds = Ok(false);
        let (mut exits, read) = self.looped(inside, vars.clone(), |lower| lower.block(body, None, false).map(|_| ()));
        read?;
        if self.here.is_some() {
            holds = self.condition(condition)?;
            self.is_unreachable_by_constant |=
                holds.is_ok() && !matches!(self.ast.expr(condition).kind, ExprKind::Bool(_));
        }
        self.at(span);
        let latch = self.here.map(|end| (end, self.values_of(&vars)));
        let leaves = latch.is_some() && holds != Ok(true);
        let edges = exits.len() + usize::from(leaves);
        let only = edges == 1;
        let done = (edges > 0).then(|| self.block_of("done", &[], if only { &[] } else { &vars }));
        let mut after = before;
        if let Some((end, values)) = latch {
            self.b.go_to(end);
            let out = if only { Vec::new() } else { values.clone() };
            match (holds, done) {
                (Err(value), Some(done)) => {
                    self.b.br_if(value, (inside, &values), (done, &out));
                }
                (Ok(false), Some(done)) => {
                    self.b.br(done, &out);
                }
                _ => {
                    self.b.br(inside, &values);
                }
            }
            after = values;
        }
        self.leave(done, only, &mut exits, &vars, after);
        Ok(())
    }

    /// Lowers a `break` or `continue`.
    pub(super) fn jump(&mut self, is_break: bool, span: Span) -> Lowering<()> {
        let own = self.frames.last().map_or(0, |frame| frame.loops);
        let word = if is_break { "break" } else { "continue" };
        if self.loops.len() <= own {
            return Err(self.error(span, format!("`{word}` outside of a loop"), "a statement inside a loop"));
        }
        let Some(from) = self.here.take() else { return Ok(()) };
        let vars = self.loops.last().map(|frame| frame.vars.clone()).unwrap_or_default();
        let edge = Edge { from, values: self.values_of(&vars) };
        if let Some(frame) = self.loops.last_mut() {
            if is_break { frame.breaks.push(edge) } else { frame.continues.push(edge) }
        }
        Ok(())
    }
}
