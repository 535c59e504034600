//! Functions of gangs, made from vector IR, and the calls of these functions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value};
use cranelift_module::FuncId;
use halfbyte_isa::halu::domain::Domain;

use crate::aot::item::Item;
use crate::aot::known::{Flow, param_of};
use crate::aot::library::Library;
use crate::aot::memory::here;
use crate::aot::runs::Ways;
use crate::aot::scalar::Scalar;
use crate::jit::{Access, Block, Cells, Gang, Unit};
use crate::vir::{self, Facts, ITEMS, Input};

/// Maximum size in bytes of a table. The table is on the stack.
const MAX_TABLE: u32 = 1 << 16;

/// Function, and the size and the inputs of its table.
struct Version {
    id: FuncId,
    /// Bytes of the table.
    table: u32,
    inputs: Vec<Input>,
}

/// Functions of a kernel. The first function may check accesses and decide branches once for all items. The second
/// function checks and decides in each gang. The second function runs all items after a failed check, and one gang if
/// the first function finishes no gang.
pub(in crate::aot) struct GangCode {
    hoisted: Option<Version>,
    each: Version,
}

/// Makes the functions of a kernel. Returns `None` if an operation has no form in vector IR.
pub(in crate::aot) fn code(
    library: &mut Library<'_>,
    (gang, cells, blocks): (&Gang, &Cells, &[Block]),
    flow: &Flow,
    (pointers, stored): (&[Option<u32>], &[bool]),
    budget: u64,
) -> Option<GangCode> {
    let has_fp16 = library.features.fp16;
    let param =
        |block: usize, unit: &Unit, access: &Access| param_of(access, &unit.dataflow, flow.before(block)?, pointers);
    let mut facts = Facts {
        gang,
        cells,
        blocks,
        known: &flow.before,
        param: &param,
        pointers,
        stored,
        budget,
        has_fp16,
        hoists: true,
    };
    let first = vir::function(&facts)?;
    facts.hoists = false;
    let (hoisted, each) = match first.hoisted.is_empty() && first.setup.is_empty() {
        true => (None, first),
        false => (Some(first), vir::function(&facts)?),
    };
    let mut version = |function: vir::Function| {
        let (id, table) = library.gang_function(&function)?;
        (table <= MAX_TABLE).then_some(Version { id, table, inputs: function.inputs })
    };
    let hoisted = match hoisted {
        Some(function) => Some(version(function)?),
        None => None,
    };
    Some(GangCode { hoisted, each: version(each)? })
}

/// Calls the functions for the items of a run. `item` has the cells of the first item.
pub(in crate::aot) fn call<'b, 'f, 'm>(
    mut item: Item<'_, 'b, 'f, 'm>,
    GangCode { hoisted, each }: &GangCode,
    ways: Ways,
) -> Scalar<'b, 'f, 'm> {
    /// Size and alignment of a vector in bytes. Stack slots are aligned to 16 bytes.
    const VECTOR: u32 = 32;
    let bytes = hoisted.iter().chain([each]).map(|version| version.table).max().unwrap_or(0);
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes + VECTOR, 4);
    let slot = item.s.b.create_sized_stack_slot(slot);
    let table = item.s.b.ins().stack_addr(I64, slot, 0);
    let table = item.s.b.ins().iadd_imm_s(table, i64::from(VECTOR) - 1);
    let table = item.s.b.ins().band_imm_s(table, -i64::from(VECTOR));
    let count = item.s.b.ins().uextend(I64, ways.count);
    let mut items = count;
    if let Some(hoisted) = hoisted {
        let made = call_version(&mut item, hoisted, [table, count]);
        let next = item.s.b.create_block();
        let is_made = item.s.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, made, 0);
        let made_items = item.s.b.ins().ireduce(I32, made);
        item.s.b.ins().brif(is_made, ways.some, &[made_items.into()], next, &[]);
        item.s.b.switch_to_block(next);
        // If no gang is done, the next function runs one gang. After a failed check, the next function runs all items.
        let is_begun = item.s.b.ins().icmp_imm_s(IntCC::Equal, made, 0);
        let gang = item.s.constant(I64, ITEMS.into());
        items = item.s.b.ins().select(is_begun, gang, count);
    }
    let made = call_version(&mut item, each, [table, items]);
    let is_all = item.s.b.ins().icmp(IntCC::Equal, made, items);
    let made = item.s.b.ins().ireduce(I32, made);
    item.s.b.ins().brif(is_all, ways.some, &[made.into()], ways.stuck, &[made.into()]);
    item.s
}

/// Calls a function. Returns the number of items that are done, or -1 if the check of a hoisted row fails.
fn call_version(item: &mut Item<'_, '_, '_, '_>, Version { id, inputs, .. }: &Version, args: [Value; 2]) -> Value {
    let [table, _] = args;
    for (number, &input) in (0..).zip(inputs) {
        let buffer = |param: usize| item.frame.buffers.get(param).copied().flatten();
        let value = match input {
            Input::Bank(word) => item.frame.words.get(word as usize).copied(),
            Input::Start(param) => buffer(param).map(|buffer| buffer.start),
            Input::Bytes(param) => buffer(param).map(|buffer| buffer.bytes),
            Input::Own => None,
            Input::Cell(cell) => item.frame.cells.get(cell.index()).map(|&variable| item.s.b.use_var(variable)),
        };
        let value = value.unwrap_or_else(|| item.s.word(0));
        item.s.b.ins().store(here(), value, table, 8 * number);
    }
    let function = item.s.library.import(*id, item.s.b.func);
    let called = item.s.b.ins().call(function, &args);
    item.s.b.inst_results(called).first().copied().unwrap_or_else(|| item.s.constant(I64, 0))
}
