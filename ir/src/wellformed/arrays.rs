//! Checks of array declarations, memory orders and atomic accesses.

use std::collections::HashSet;

use halfbyte_abi::Type;

use super::{InstPart, MAX_ALIGN, Subject, Verifier, is_alignment, mnemonic, one_of};
use crate::array::{MAX_STATIC_BYTES, Space};
use crate::attr::MemAttr;
use crate::kernel::{Inst, InstData, Value, is_name};
use crate::order::MemOrder;

impl Verifier<'_> {
    pub(super) fn arrays(&mut self) {
        let kernel = self.kernel;
        if kernel.arrays.is_empty() {
            return;
        }
        let mut taken: HashSet<&str> = kernel.params.iter().map(|param| param.name.as_str()).collect();
        for (number, array) in kernel.arrays.iter().enumerate() {
            let place = Subject::Array(number);
            let name = &array.name;
            if kernel.packing.is_some() {
                self.found(place, format!("a packed kernel declares `%{name}`"), "no arrays");
            }
            if array.elem == Type::PTR {
                self.found(place, format!("`%{name}` is an array of pointers"), "an element type other than `ptr`");
            }
            if !is_alignment(array.align) {
                self.found(place, format!("alignment {}", array.align), format!("a power of two up to {MAX_ALIGN}"));
            }
            match (array.space, array.count) {
                (_, Some(0)) => self.found(place, format!("`%{name}` has no elements"), "at least 1"),
                (Space::Scratch, None) => {
                    let message = format!("`%{name}` has no size; only the size of shared memory can be set at launch");
                    self.found(place, message, "a number of elements");
                }
                _ => {}
            }
            // In a text, the parser has already rejected invalid and duplicate names.
            if !self.partial.is_text && !is_name(name) {
                self.found(place, format!("{name:?} is not a valid array name"), "letters, digits and `_`");
            } else if !self.partial.is_text && !taken.insert(name) {
                self.found(place, format!("`%{name}` is declared twice"), "distinct names");
            }
        }
        for space in Space::ALL {
            self.static_bytes(space);
        }
    }

    /// Reports the first array that does not fit in its memory space.
    fn static_bytes(&mut self, space: Space) {
        let most = u64::from(MAX_STATIC_BYTES);
        let placed = self.kernel.placement(space);
        let ends = self
            .kernel
            .arrays
            .iter()
            .zip(&placed.starts)
            .map(|(array, start)| if array.space == space { start.saturating_add(array.bytes()) } else { 0 });
        let over = ends.enumerate().find(|&(_, end)| end > most);
        if let Some((number, end)) = over {
            let message = format!("{end} bytes of {space} memory up to the end of this array");
            self.found(Subject::Array(number), message, format!("at most {most}"));
        }
    }

    pub(super) fn order(&mut self, inst: Inst, data: &InstData, order: MemOrder) {
        let orders = data.op.orders();
        if !orders.contains(&order) {
            let message = format!("{} is not `{order}`", mnemonic(data));
            self.found(Subject::Inst(inst, InstPart::Order), message, one_of(orders));
        }
    }

    /// Checks that an atomic access is aligned to its size, and that it is not in local memory,
    /// which no other item can access.
    pub(super) fn atomic(&mut self, inst: Inst, data: &InstData, mem: MemAttr, args: &[Value]) {
        if mem.align != data.ty.bytes() {
            let message = format!("the alignment of {} is {}", mnemonic(data), mem.align);
            self.found(Subject::Inst(inst, InstPart::Align), message, data.ty.bytes().to_string());
        }
        let base = data.op.row().args.len().saturating_sub(1);
        let array = args.get(base).and_then(|&base| self.kernel.array(base));
        if let Some(array) = array.filter(|array| array.space == Space::Scratch) {
            let message = format!("{} cannot access `%{}`, which is local to the item", mnemonic(data), array.name);
            self.related(
                Subject::Inst(inst, InstPart::Arg(base as u32)),
                message,
                "a buffer or a shared array",
                Some(array.value),
            );
        }
    }
}
