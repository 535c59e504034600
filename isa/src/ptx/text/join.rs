//! Merging of the variables and functions of several kernels into one module.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::ptx::module::{Body, Entry, Functions, UsedNames, Variable, Variables};
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
    let (mut texts, text_of) = texts(&entries);
    let mut merged = MergedVariables { names: names.into_iter().collect(), ..MergedVariables::default() };
    for entry in &mut entries {
        let numbers = merged.numbers(&entry.variables);
        renumber(&mut entry.body, &numbers);
    }
    for text in &mut texts {
        let numbers = merged.numbers(&text.variables);
        let functions = text.functions.iter().cloned().zip(0..).map(|(mut function, at)| {
            if let Some(code) = &mut function.code {
                renumber(&mut code.body, &numbers);
                if text.reached.contains(&at) {
                    function.name = merged.names.unused(&function.name);
                }
            }
            function
        });
        text.functions = functions.collect();
    }
    let variables: Variables = merged.all.into();
    for (entry, text) in entries.iter_mut().zip(text_of) {
        entry.variables = variables.clone();
        if let Some(text) = text.and_then(|text| texts.get(text)) {
            entry.functions = text.functions.clone();
        }
    }
    let functions = texts.into_iter().map(|text| (text.functions, text.reached.into_iter().collect())).collect();
    Joined { variables, functions }
}

/// The variables of the new module.
#[derive(Default)]
struct MergedVariables {
    /// The names in use in the new module.
    names: UsedNames,
    all: Vec<Variable>,
    /// The number of each variable in the new module.
    by_variable: HashMap<Variable, u32>,
    /// The numbers of the variables of each source module, by the address of its variables.
    by_module: HashMap<*const Variable, Rc<[u32]>>,
}

impl MergedVariables {
    /// Returns the numbers that the variables of a source module have in the new module.
    fn numbers(&mut self, variables: &Variables) -> Rc<[u32]> {
        if let Some(numbers) =
            self.by_module.get(&variables.as_ptr()).filter(|numbers| numbers.len() == variables.len())
        {
            return numbers.clone();
        }
        let numbers: Rc<[u32]> = variables.iter().map(|variable| self.number(variable)).collect();
        self.by_module.insert(variables.as_ptr(), numbers.clone());
        numbers
    }

    fn number(&mut self, variable: &Variable) -> u32 {
        if let Some(&number) = self.by_variable.get(variable) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(Variable { name: self.names.unused(&variable.name), ..variable.clone() });
        self.by_variable.insert(variable.clone(), number);
        number
    }
}

/// The kernels that come from one source module, and therefore have the same functions and variables.
struct Text {
    functions: Functions,
    variables: Variables,
    /// The indices of the functions that one of the kernels reaches.
    reached: BTreeSet<u32>,
}

/// Returns the source modules that have functions, and the index of the source module of each kernel.
fn texts(entries: &[&mut Entry]) -> (Vec<Text>, Vec<Option<usize>>) {
    let mut texts: Vec<Text> = Vec::new();
    let text_of = entries.iter().map(|entry| {
        if entry.functions.is_empty() {
            return None;
        }
        let is_of = |text: &Text| text.functions == entry.functions && text.variables == entry.variables;
        let number = texts.iter().position(is_of).unwrap_or_else(|| {
            let (functions, variables) = (entry.functions.clone(), entry.variables.clone());
            texts.push(Text { functions, variables, reached: BTreeSet::new() });
            texts.len() - 1
        });
        texts.get_mut(number).into_iter().for_each(|text| text.reached.extend(entry.reached_functions()));
        Some(number)
    });
    let text_of = text_of.collect();
    (texts, text_of)
}

/// Replaces the variable indices in a body. `numbers` holds the new index for each old one.
fn renumber(body: &mut Body, numbers: &[u32]) {
    for var in body.insts.iter_mut().flat_map(|inst| &mut inst.operands).filter_map(Operand::variable_mut) {
        var.number = numbers.get(var.number as usize).copied().unwrap_or(var.number);
    }
}
