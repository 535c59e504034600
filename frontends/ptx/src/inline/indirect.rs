//! Inlining of indirect calls. An indirect call becomes a chain of comparisons with the addresses
//! of the functions that the call may reach.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::meaning::function_address;
use halfbyte_isa::ptx::module::{Entry, Formal, Prototype, Symbol, Targets};
use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Address, Base, Guard, Inst, Opcode, Operand, Reg};

use super::{Inliner, branch, mov};

/// Sizes in bytes of the results and parameters of a function. Prototypes of equal sizes are compatible.
type Sizes = (Vec<u32>, Vec<u32>);

/// Functions whose addresses the kernel or a module variable contains.
pub(super) struct Addressed {
    numbers: BTreeSet<u32>,
    by_sizes: HashMap<Sizes, Rc<[u32]>>,
    /// Functions that a call with a target list or prototype may reach. The key is the number of the table.
    of_table: HashMap<u32, Rc<[u32]>>,
}

impl Addressed {
    fn new(entry: &Entry) -> Addressed {
        let operands = entry.reached_bodies().flat_map(|body| &body.insts).flat_map(|inst| &inst.operands);
        let named = operands.filter_map(|operand| match operand {
            Operand::Function(number) => Some(*number),
            _ => None,
        });
        let addresses = entry.variables.iter().flat_map(|variable| &variable.addresses);
        let stored = addresses.filter_map(|address| match address.of {
            Symbol::Function(number) => Some(number),
            Symbol::Variable(_) => None,
        });
        let numbers: BTreeSet<u32> = named.chain(stored).collect();
        let mut by_sizes: HashMap<Sizes, Vec<u32>> = HashMap::new();
        for &number in &numbers {
            if let Some(function) = entry.functions.get(number as usize) {
                by_sizes.entry(sizes(&function.prototype)).or_default().push(number);
            }
        }
        let by_sizes = by_sizes.into_iter().map(|(sizes, numbers)| (sizes, numbers.into())).collect();
        Addressed { numbers, by_sizes, of_table: HashMap::new() }
    }

    /// Returns the functions that a call with these targets may reach.
    fn of(&self, targets: &Targets) -> Rc<[u32]> {
        match targets {
            Targets::Labels(_) => Rc::default(),
            Targets::Prototype(prototype) => self.by_sizes.get(&sizes(prototype)).cloned().unwrap_or_default(),
            Targets::Functions(all) => {
                let listed: BTreeSet<u32> =
                    all.iter().copied().filter(|number| self.numbers.contains(number)).collect();
                listed.into_iter().collect()
            }
        }
    }
}

fn sizes(prototype: &Prototype) -> Sizes {
    let bytes = |formals: &[Formal]| formals.iter().map(Formal::bytes).collect();
    (bytes(&prototype.results), bytes(&prototype.params))
}

impl Inliner<'_> {
    /// Inlines a call of the function at `address`. The operands are already renumbered for the new
    /// body. If no function is at the address, the item accesses address 0, which traps. Returns
    /// `None` if the call cannot be inlined.
    pub(super) fn indirect_call(&mut self, inst: &Inst, address: Reg, loc: Loc) -> Option<()> {
        let functions = self.functions_of(inst)?;
        let is_other = self.body.registers.declare("%is_other", Type::Pred, None)?;
        let null = self.body.registers.declare("%null", Type::B64, None)?;
        let done = self.label("called");
        if let Some(guard) = inst.guard {
            self.push(branch(Some(Guard { not: !guard.not, ..guard }), done), loc);
        }
        let call = Inst { guard: None, ..inst.clone() };
        for &number in functions.iter() {
            let other = self.label("other");
            let compared = [is_other, address].map(Operand::Register).into_iter();
            let operands = compared.chain([Operand::Number(function_address(number))]).collect();
            let modifiers = [Token::Ne, Token::Type(Type::B64)].into_iter().collect();
            self.push(Inst { opcode: Opcode::SETP_BITS, modifiers, guard: None, operands }, loc);
            self.push(branch(Some(Guard { reg: is_other, not: false }), other), loc);
            self.call(&call, number, loc)?;
            self.push(branch(None, done), loc);
            self.place(other);
        }
        self.push(mov(null, Operand::Number(0), Type::B64, None), loc);
        let place = Operand::Memory(Address { base: Base::Register(null), offset: 0 });
        let modifiers = [Token::Global, Token::Type(Type::B8)].into_iter().collect();
        let operands = [place, Operand::Number(0)].into_iter().collect();
        self.push(Inst { opcode: Opcode::ST, modifiers, guard: None, operands }, loc);
        self.place(done);
        Some(())
    }

    /// Returns the functions that an indirect call may reach.
    fn functions_of(&mut self, inst: &Inst) -> Option<Rc<[u32]>> {
        let table = inst.operands.iter().find_map(|operand| match operand {
            Operand::Table(table) => Some(*table),
            _ => None,
        })?;
        let targets = &self.body.tables.get(table as usize)?.of;
        let addressed = self.addressed.get_or_insert_with(|| Addressed::new(self.entry));
        if let Some(known) = addressed.of_table.get(&table) {
            return Some(known.clone());
        }
        let functions = addressed.of(targets);
        addressed.of_table.insert(table, functions.clone());
        Some(functions)
    }
}
