//! The functions that the kernels of a module can call.

use std::collections::BTreeSet;

use super::module::{Body, Entry, Function, Module, Symbol, Targets, Variable};
use super::operand::{Callee, Operand};

/// Returns the indices of the functions that a body names as operands or in target lists.
fn named(body: &Body) -> impl Iterator<Item = u32> {
    let operands = body.insts.iter().flat_map(|inst| &inst.operands).filter_map(Operand::function);
    let listed = body.tables.iter().flat_map(|table| match &table.of {
        Targets::Functions(all) => all.as_slice(),
        _ => &[],
    });
    operands.chain(listed.copied())
}

fn calls_indirectly(body: &Body) -> bool {
    let is_indirect = |operand: &Operand| matches!(operand, Operand::Call { callee: Callee::Register(_), .. });
    body.insts.iter().any(|inst| inst.operands.first().is_some_and(is_indirect))
}

/// Returns the indices of the functions whose addresses variables store. An indirect call may load
/// its target from any variable.
fn stored(variables: &[Variable]) -> impl Iterator<Item = u32> {
    variables.iter().flat_map(|variable| &variable.addresses).filter_map(|address| match address.of {
        Symbol::Function(number) => Some(number),
        Symbol::Variable(_) => None,
    })
}

impl Entry {
    /// Returns the indices of the functions that the kernel can call, directly or indirectly, in
    /// the order of the module.
    pub fn reached_functions(&self) -> Vec<u32> {
        let mut found = BTreeSet::new();
        let mut work = vec![&self.body];
        let mut has_stored = false;
        while let Some(body) = work.pop() {
            let needs_stored = !has_stored && calls_indirectly(body);
            has_stored |= needs_stored;
            let variables = if needs_stored { &*self.variables } else { &[] };
            for number in named(body).chain(stored(variables)) {
                let Some(function) = self.functions.get(number as usize) else { continue };
                if found.insert(number) {
                    work.extend(function.definition().map(|code| &code.body));
                }
            }
        }
        found.into_iter().collect()
    }

    /// Returns the kernel's body and the bodies of the reachable functions.
    pub fn reached_bodies(&self) -> impl Iterator<Item = &Body> {
        std::iter::once(&self.body).chain(self.reached_functions().into_iter().filter_map(|number| {
            let function = self.functions.get(number as usize)?;
            Some(&function.definition()?.body)
        }))
    }
}

impl Module {
    /// Returns for each kernel `true` if `has` returns `true` for the kernel's body, or for the
    /// body of a function that the kernel can call.
    pub fn kernels_with(&self, has: impl Fn(&Body) -> bool) -> Vec<bool> {
        let called = self.first_reached(|_, function| function.definition().is_some_and(|code| has(&code.body)));
        self.entries.iter().zip(called).map(|(entry, called)| called.is_some() || has(&entry.body)).collect()
    }

    /// Returns for each kernel the first function, in the order of the module, that the kernel can
    /// call and for which `is_wanted` returns `true`. Visits each function once, however many kernels
    /// call it.
    pub(super) fn first_reached(&self, is_wanted: impl Fn(u32, &Function) -> bool) -> Vec<Option<u32>> {
        let count = self.functions.len();
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut indirect_callers = Vec::new();
        for (number, function) in (0..).zip(self.functions.iter()) {
            let Some(code) = function.definition() else { continue };
            for callee in named(&code.body) {
                callers.get_mut(callee as usize).into_iter().for_each(|callers| callers.push(number));
            }
            if calls_indirectly(&code.body) {
                indirect_callers.push(number);
            }
        }
        let mut is_stored = vec![false; count];
        for number in stored(&self.variables) {
            is_stored.get_mut(number as usize).into_iter().for_each(|is_stored| *is_stored = true);
        }
        // The wanted functions are visited in ascending order, so the first wanted function that a
        // caller reaches has the lowest index.
        let mut first: Vec<Option<u32>> = vec![None; count];
        let mut first_of_stored = None;
        for (wanted, _) in (0..).zip(self.functions.iter()).filter(|(number, function)| is_wanted(*number, function)) {
            let mut work = vec![wanted];
            while let Some(number) = work.pop() {
                let Some(first @ None) = first.get_mut(number as usize) else { continue };
                *first = Some(wanted);
                work.extend(callers.get(number as usize).into_iter().flatten());
                if first_of_stored.is_none() && is_stored.get(number as usize) == Some(&true) {
                    first_of_stored = Some(wanted);
                    work.extend(&indirect_callers);
                }
            }
        }
        let of_entry = |entry: &Entry| {
            let named = named(&entry.body).filter_map(|number| first.get(number as usize).copied().flatten());
            named.chain(first_of_stored.filter(|_| calls_indirectly(&entry.body))).min()
        };
        self.entries.iter().map(of_entry).collect()
    }
}
