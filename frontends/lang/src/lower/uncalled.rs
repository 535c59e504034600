//! Checks of functions that nothing calls. They are lowered with assumed arguments, so that their
//! errors are reported even before the first call is written.

use std::cmp::Reverse;

use halfbyte_abi::Type;
use halfbyte_ir::{Diagnostic, Direction};

use super::operand::Operand;
use super::{Buffer, Lower, Lowering};
use crate::ast::{ExprKind, Function, ParamTy};
use crate::symbols::Sym;

/// Limit on the lowering steps for the check of one function. Inlined calls count.
const MAX_OF_ONE: u32 = 1 << 16;
const MAX_OF_ALL: u32 = 1 << 20;

/// Maximum number of values that are tried for the `const` parameters of a function.
const MAX_NUMBERS: usize = 16;

/// Types that are combined in pairs to check functions with two generic types.
const FEW: [Type; 10] = [
    Type::I32,
    Type::F32,
    Type::I8,
    Type::I16,
    Type::F16,
    Type::I8X4,
    Type::I16X2,
    Type::F16X2,
    Type::I8X16,
    Type::I16X16,
];

impl Lower<'_> {
    /// Checks every function that no kernel calls. Must be called after all kernels are lowered.
    pub(crate) fn uncalled(&mut self) {
        let ast = self.ast;
        let mut left = MAX_OF_ALL;
        for (number, function) in ast.functions.iter().enumerate() {
            let is_entered = self.entered.get(number).copied().unwrap_or_default();
            if is_entered || self.files.is_library(function.name.span) {
                continue;
            }
            self.alone(number as u32, function, &mut left);
        }
    }

    /// Checks one function. A generic function is valid if it is valid for at least one type.
    /// Otherwise, the errors of the type with the fewest errors are reported. On a tie, these are
    /// the errors of the type whose first error comes last. If the tried types and numbers do not
    /// cover all arguments, only the errors common to all tries are reported.
    fn alone(&mut self, number: u32, function: &Function, left: &mut u32) {
        let has_numbers = function.params.iter().any(|param| matches!(param.ty, ParamTy::Number(_)));
        let numbers = if has_numbers { self.numbers_of(function) } else { vec![0] };
        let all_types = types_of(function.generics.len());
        let is_all = function.generics.len() <= 1 && !has_numbers;
        let mut said: Option<Vec<Diagnostic>> = None;
        for types in &all_types {
            for &known in &numbers {
                let Some(found) = self.tried(number, function, types, known, left) else {
                    return;
                };
                if found.is_empty() {
                    return;
                }
                said = Some(match said {
                    None => found,
                    Some(before) if is_all && rank(&before) <= rank(&found) => before,
                    Some(_) if is_all => found,
                    Some(before) => before.into_iter().filter(|one| found.iter().any(|two| same(one, two))).collect(),
                });
            }
        }
        for diagnostic in said.unwrap_or_default() {
            if self.errors.len() < halfbyte_ir::verify::MAX_DIAGNOSTICS
                && self.told.insert((diagnostic.span, diagnostic.message.clone()))
            {
                self.errors.push(diagnostic);
            }
        }
    }

    /// Returns the errors of a function for the given generic types and `const` argument. Returns
    /// `None` if the check exceeds the step limit.
    fn tried(
        &mut self,
        number: u32,
        function: &Function,
        types: &[Type],
        known: i128,
        left: &mut u32,
    ) -> Option<Vec<Diagnostic>> {
        let errors = std::mem::take(&mut self.errors);
        let told = std::mem::take(&mut self.told);
        let steps = self.steps;
        let most = MAX_OF_ONE.min(*left);
        self.clear("");
        self.outermost_call = self.files.included_at(function.name.span);
        (self.steps, self.uncalled_step_limit) = (0, Some(most));
        let entry = self.b.begin("entry", &[]);
        let generics: Vec<(Sym, Type)> =
            function.generics.iter().map(|name| name.sym).zip(types.iter().copied()).collect();
        let given: Lowering<Vec<_>> =
            function.params.iter().map(|param| Ok((self.given(param, &generics, known)?, param.span))).collect();
        self.here = Some(entry);
        if let Ok(given) = given {
            let _ = self.enter(number, generics, given, function.name.span);
        }
        *left = left.saturating_sub(self.steps);
        let is_whole = self.steps <= most;
        (self.steps, self.uncalled_step_limit) = (steps, None);
        self.told = told;
        let found = std::mem::replace(&mut self.errors, errors);
        is_whole.then_some(found)
    }

    /// Returns an assumed argument for a parameter of the checked function.
    fn given(&mut self, param: &crate::ast::Param, generics: &[(Sym, Type)], known: i128) -> Lowering<Operand> {
        let name = self.symbols.text(param.name.sym);
        let generic = |sym: Sym| generics.iter().find(|(name, _)| *name == sym).map(|(_, ty)| *ty);
        match param.ty {
            ParamTy::Number(_) => Ok(Operand::whole(known)),
            ParamTy::Value(ty) => {
                let ty = generic(ty.sym).map_or_else(|| self.ty(ty), Ok)?;
                Ok(Operand::Value(self.b.scalar(name, ty)))
            }
            ParamTy::Buffer { direction, elem, .. } => {
                let elem = generic(elem.sym).map_or_else(|| self.elem(elem), |ty| Ok(super::Elem::Type(ty)))?;
                let value = self.b.buffer(name, Direction::InOut, self.stored(elem));
                Ok(Operand::Buffer(Buffer { value, elem, direction: Some(direction) }))
            }
        }
    }

    /// Returns the values to try for the `const` parameters of a function: a few small numbers and
    /// the literals of its body.
    fn numbers_of(&self, function: &Function) -> Vec<i128> {
        let body = self.ast.block(function.body).span;
        let own = self.ast.exprs_in(body).filter_map(|expr| match expr.kind {
            ExprKind::Number(number) => halfbyte_ir::text::magnitude(self.symbols.text(number.text)).map(i128::from),
            _ => None,
        });
        let mut numbers = Vec::new();
        for number in [0, 1, 2, 4, 8].into_iter().chain(own) {
            if !numbers.contains(&number) && numbers.len() < MAX_NUMBERS {
                numbers.push(number);
            }
        }
        numbers
    }
}

/// Returns the combinations of generic types to try. Errors of earlier combinations are preferred in messages.
fn types_of(generics: usize) -> Vec<Vec<Type>> {
    if generics == 0 {
        return vec![Vec::new()];
    }
    let alike = FEW.iter().chain(Type::ALL.iter().filter(|ty| !FEW.contains(ty))).map(|&ty| vec![ty; generics]);
    let pairs = FEW.iter().flat_map(|&a| FEW.iter().map(move |&b| vec![a, b])).filter(|_| generics == 2);
    alike.chain(pairs).collect()
}

fn rank(said: &[Diagnostic]) -> (usize, Reverse<u32>) {
    (said.len(), Reverse(said.first().map_or(0, |first| first.span.start)))
}

fn same(one: &Diagnostic, two: &Diagnostic) -> bool {
    one.span == two.span && one.message == two.message
}
