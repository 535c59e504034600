//! Merging of the variables and functions of several kernels into one module.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ptx::module::{Body, Entry, Functions, Variable, Variables, unused};
use crate::ptx::operand::Operand;

/// The variables and functions that the kernels of a module share.
pub(super) struct Joined {
    pub variables: Variables,
    /// For each source module, its functions and the indices of the functions that the kernels reach.
    pub functions: Vec<(Functions, Vec<u32>)>,
}

/// Merges the variables and functions of kernels from several modules into one module. Equal
/// variables with the same name are merged, and so are equal function lists. Other symbols with the
/// same name are renamed. `names` are the names of all kernels of the new module.
pub(super) fn join<'e>(names: Vec<String>, entries: impl Iterator<Item = &'e mut Entry>) -> Joined {
    let mut entries: Vec<&mut Entry> = entries.collect();
    if entries.is_empty() {
        return Joined { variables: Variables::default(), functions: Vec::new() };
    }
    let mut taken: HashSet<String> = names.into_iter().collect();
    let mut texts = texts(&entries);
    let mut all: Vec<Variable> = Vec::new();
    let mut made: HashMap<String, Vec<u32>> = HashMap::new();
    let mut number = |variable: &Variable, taken: &mut HashSet<String>| {
        let made = made.entry(variable.name.clone()).or_default();
        let is_like = |number: &&u32| all.get(**number as usize).is_some_and(|of| of.is_like(variable));
        if let Some(&number) = made.iter().find(is_like) {
            return number;
        }
        let name = unused(taken, &variable.name);
        let number = all.len() as u32;
        all.push(Variable { name, ..variable.clone() });
        made.push(number);
        number
    };
    for entry in &mut entries {
        let numbers: Vec<u32> = entry.variables.iter().map(|variable| number(variable, &mut taken)).collect();
        renumber(&mut entry.body, &numbers);
    }
    for text in &mut texts {
        let numbers: Vec<u32> = text.variables.iter().map(|variable| number(variable, &mut taken)).collect();
        let functions = text.functions.iter().cloned().zip(0..).map(|(mut function, at)| {
            if let Some(code) = &mut function.code {
                renumber(&mut code.body, &numbers);
                if text.reached.contains(&at) {
                    function.name = unused(&mut taken, &function.name);
                }
            }
            function
        });
        text.functions = functions.collect();
    }
    let variables: Variables = all.into();
    for (number, entry) in entries.iter_mut().enumerate() {
        entry.variables = variables.clone();
        if let Some(text) = texts.iter().find(|text| text.entries.contains(&number)) {
            entry.functions = text.functions.clone();
        }
    }
    let functions = texts.into_iter().map(|text| (text.functions, text.reached)).collect();
    Joined { variables, functions }
}

/// The kernels that come from one source module, and therefore have the same functions and variables.
struct Text {
    entries: Vec<usize>,
    functions: Functions,
    variables: Variables,
    /// The indices of the functions that one of the kernels reaches, in ascending order.
    reached: Vec<u32>,
}

fn texts(entries: &[&mut Entry]) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    for (number, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.functions.is_empty()) {
        let same = |text: &&mut Text| {
            let is_one = Arc::ptr_eq(&text.functions, &entry.functions) || text.functions == entry.functions;
            is_one && text.variables == entry.variables
        };
        let reached = entry.reached_functions();
        match texts.iter_mut().find(same) {
            Some(text) => {
                text.entries.push(number);
                text.reached.extend(reached);
                text.reached.sort_unstable();
                text.reached.dedup();
            }
            None => {
                let (functions, variables) = (entry.functions.clone(), entry.variables.clone());
                texts.push(Text { entries: vec![number], functions, variables, reached });
            }
        }
    }
    texts
}

/// Replaces the variable indices in a body. `numbers` holds the new index for each old one.
fn renumber(body: &mut Body, numbers: &[u32]) {
    for var in body.insts.iter_mut().flat_map(|inst| &mut inst.operands).filter_map(Operand::variable_mut) {
        var.number = numbers.get(var.number as usize).copied().unwrap_or(var.number);
    }
}
