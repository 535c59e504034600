//! Printer of the IR text. The parser reads the printed text back to the same kernel. The printer
//! omits default values.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter, Write};

use cranelift_entity::{EntityRef, SecondaryMap};
use halfbyte_abi::{ParamKind, Type};

use super::is_name;
use super::literal::lane_text;
use crate::attr::{FlagKind, LaneMap, MemAttr};
use crate::kernel::{Attr, Block, BlockCall, Inst, InstData, Kernel, Module, Value};
use crate::op::{AttrKind, Op};
use crate::order::{AtomicAttr, FenceAttr, MemOrder, Scope};

/// Returns the text of a module, with an empty line between kernels.
pub fn print(module: &Module) -> String {
    module.to_string()
}

/// Returns the text of one instruction of a kernel, without indentation.
pub fn print_inst(kernel: &Kernel, inst: Inst) -> String {
    let shown = Printer::new(kernel);
    struct Line<'a>(Printer<'a>, Inst);
    impl Display for Line<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            self.0.inst(f, self.1)
        }
    }
    Line(shown, inst).to_string()
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, kernel) in self.kernels.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            kernel.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer::new(self).kernel(f)
    }
}

/// Printed names of values or blocks. The printed name is a number if the value or block has no
/// name, or if an earlier value or block has the same name.
struct Labels<K: EntityRef>(SecondaryMap<K, Option<u32>>);

impl<K: EntityRef> Labels<K> {
    fn new<'k>(entities: impl Iterator<Item = K> + Clone, name: impl Fn(K) -> Option<&'k str>) -> Labels<K> {
        let mut taken = HashSet::new();
        let mut labels = SecondaryMap::new();
        let mut nameless = Vec::new();
        for entity in entities {
            if !name(entity).is_some_and(|name| is_name(name) && taken.insert(name)) {
                nameless.push(entity);
            }
        }
        let numbers = taken.iter().any(|name| name.starts_with(|c: char| c.is_ascii_digit()));
        let mut next = 0;
        for entity in nameless {
            while numbers && taken.contains(next.to_string().as_str()) {
                next += 1;
            }
            labels[entity] = Some(next);
            next += 1;
        }
        Labels(labels)
    }

    fn write(&self, f: &mut Formatter<'_>, sigil: char, entity: K, name: Option<&str>) -> fmt::Result {
        f.write_char(sigil)?;
        match (self.0.get(entity), name) {
            (Some(Some(number)), _) => write!(f, "{number}"),
            (_, Some(name)) => f.write_str(name),
            // A value that is in no block has no number.
            _ => write!(f, "v{}", entity.index()),
        }
    }
}

pub(super) struct Printer<'k> {
    pub kernel: &'k Kernel,
    /// Unnamed results without uses, which the printer omits.
    unused: HashSet<Value>,
    values: Labels<Value>,
    blocks: Labels<Block>,
}

impl<'k> Printer<'k> {
    fn new(kernel: &'k Kernel) -> Printer<'k> {
        let blocks = kernel.layout.iter().copied().filter(|&block| kernel.blocks.is_valid(block));
        let of_block = |block: Block| {
            let results = kernel.blocks[block].insts.iter().filter_map(|&inst| kernel.insts.get(inst)?.result.expand());
            kernel.block_params(block).iter().copied().chain(results)
        };
        let unused = unused(kernel);
        let of_block = |block| of_block(block).filter(|value| !unused.contains(value));
        let params = kernel.params.iter().map(|param| param.value);
        let params = params.chain(kernel.arrays.iter().map(|array| array.value));
        Printer {
            kernel,
            unused: unused.clone(),
            values: Labels::new(params.chain(blocks.clone().flat_map(of_block)), |value| kernel.value_name(value)),
            blocks: Labels::new(blocks, |block| kernel.block_name(block)),
        }
    }

    pub(super) fn value(&self, f: &mut Formatter<'_>, value: Value) -> fmt::Result {
        self.values.write(f, '%', value, self.kernel.value_name(value))
    }

    fn block(&self, f: &mut Formatter<'_>, block: Block) -> fmt::Result {
        self.blocks.write(f, '^', block, self.kernel.block_name(block))
    }

    fn kernel(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel;
        write!(f, "kernel @{}(", kernel.name)?;
        for (number, param) in kernel.launch_params().iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            self.value(f, param.value)?;
            match param.kind {
                ParamKind::Scalar(ty) => write!(f, ": {ty}")?,
                ParamKind::Buffer { align, elem, .. } => {
                    write!(f, ": {}", param.kind)?;
                    if align != elem.bytes() {
                        write!(f, " align {align}")?;
                    }
                    if let Some(contents) = &param.contents {
                        contents_text(f, elem, contents)?;
                    }
                }
            }
        }
        match &kernel.packing {
            None => f.write_str(") {\n")?,
            Some(packing) => {
                writeln!(f, ") groups {} {{", packing.items)?;
                self.streams(f, packing)?;
            }
        }
        self.arrays(f)?;
        for &block in &kernel.layout {
            let Some(data) = kernel.blocks.get(block) else { continue };
            self.block(f, block)?;
            let params = kernel.block_params(block);
            for (number, &param) in params.iter().enumerate() {
                f.write_str(if number == 0 { "(" } else { ", " })?;
                self.value(f, param)?;
                if let Some(data) = kernel.values.get(param) {
                    write!(f, ": {}", data.ty)?;
                }
            }
            f.write_str(if params.is_empty() { ":\n" } else { "):\n" })?;
            for &inst in &data.insts {
                f.write_str("  ")?;
                self.inst(f, inst)?;
                f.write_char('\n')?;
            }
        }
        f.write_str("}\n")
    }

    fn inst(&self, f: &mut Formatter<'_>, inst: Inst) -> fmt::Result {
        let kernel = self.kernel;
        let Some(data) = kernel.insts.get(inst) else { return f.write_char('?') };
        let row = data.op.row();
        let args = kernel.args(inst);
        if let Some(result) = data.result.expand().filter(|result| !self.unused.contains(result)) {
            self.value(f, result)?;
            f.write_str(" = ")?;
        }
        f.write_str(row.name)?;
        self.modifiers(f, data.attr)?;
        if row.types.is_some() && !self.is_implied(data.op, data.ty, args) {
            write!(f, ".{}", data.ty)?;
        }
        match data.attr {
            Attr::Mem(mem) | Attr::Atomic(AtomicAttr { mem, .. }) => {
                let (value, address) = args.split_at(row.args.len().saturating_sub(1).min(args.len()));
                self.list(f, " ", value)?;
                f.write_str(if value.is_empty() { " " } else { ", " })?;
                self.address(f, data, mem, address)
            }
            Attr::Intrinsic(intrinsic) => {
                if let Some(intrinsic) = kernel.intrinsics.get(intrinsic) {
                    let text = intrinsic.text.replace('\\', "\\\\").replace('"', "\\\"");
                    write!(f, " {} \"{text}\"", intrinsic.target)?;
                }
                self.list(f, ", ", args)
            }
            Attr::Targets(range) => {
                self.list(f, " ", args)?;
                let calls = kernel.calls(range);
                if data.op == Op::Switch { self.cases(f, calls) } else { self.calls(f, args.is_empty(), calls) }
            }
            Attr::Bits(_) | Attr::Wide(_) => {
                f.write_char(' ')?;
                self.constant(f, inst, data.ty)
            }
            Attr::Lane(lane) => {
                self.list(f, " ", args)?;
                write!(f, ", {lane}")
            }
            Attr::Lanes(map) => {
                self.list(f, " ", args)?;
                f.write_str(", ")?;
                lanes(f, map, data.ty)
            }
            _ => self.list(f, " ", args),
        }
    }

    fn modifiers(&self, f: &mut Formatter<'_>, attr: Attr) -> fmt::Result {
        match attr {
            Attr::IntCC(cc) => write!(f, ".{cc}"),
            Attr::Axis(axis) => write!(f, ".{axis}"),
            Attr::Fence(FenceAttr { order, scope }) => write!(f, ".{order}.{scope}"),
            Attr::Aligned(aligned) => f.write_str(if aligned { "" } else { ".unaligned" }),
            Attr::Atomic(AtomicAttr { order, scope, .. }) => {
                if order != MemOrder::default() {
                    write!(f, ".{order}")?;
                }
                if scope != Scope::default() {
                    write!(f, ".{scope}")?;
                }
                Ok(())
            }
            Attr::FloatCC { cc, ftz } => write!(f, ".{cc}{}", if ftz { ".ftz" } else { "" }),
            Attr::Float(flags) => {
                let mut words = FlagKind::ALL.into_iter().filter_map(|kind| flags.word(kind));
                words.try_for_each(|word| write!(f, ".{word}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if the type of a memory access equals the element type of its buffer, so that
    /// the type suffix is omitted.
    fn is_implied(&self, op: Op, ty: Type, args: &[Value]) -> bool {
        let row = op.row();
        if !matches!(row.attr, AttrKind::Mem | AttrKind::Atomic) {
            return false;
        }
        let base = args.get(row.args.len().saturating_sub(1));
        base.and_then(|&base| self.kernel.elements(base)).is_some_and(|(elem, _)| elem == ty)
    }

    fn list(&self, f: &mut Formatter<'_>, before: &str, values: &[Value]) -> fmt::Result {
        for (number, &value) in values.iter().enumerate() {
            f.write_str(if number == 0 { before } else { ", " })?;
            self.value(f, value)?;
        }
        Ok(())
    }

    fn address(&self, f: &mut Formatter<'_>, data: &InstData, mem: MemAttr, address: &[Value]) -> fmt::Result {
        let Some((&base, index)) = address.split_first() else { return f.write_char('?') };
        self.value(f, base)?;
        let mut implied = self.kernel.default_mem(base, data.ty);
        if data.op.row().attr == AttrKind::Atomic {
            implied.align = data.ty.bytes();
        }
        // Without an index, every scale that divides the offset has the same meaning.
        let unscaled = index.is_empty() && mem.offset % implied.scale.max(1) as i32 == 0;
        let scale = if unscaled { implied.scale } else { mem.scale };
        let steps = mem.offset / scale.max(1) as i32;
        match (index.first(), steps) {
            (None, 0) => {}
            (None, _) => write!(f, "[{steps}]")?,
            (Some(&index), _) => {
                f.write_char('[')?;
                self.value(f, index)?;
                if mem.wide {
                    f.write_str(" wide")?;
                }
                match steps {
                    0 => {}
                    1.. => write!(f, " + {steps}")?,
                    _ => write!(f, " - {}", steps.unsigned_abs())?,
                }
                f.write_char(']')?;
            }
        }
        if scale != implied.scale {
            write!(f, " step {scale}")?;
        }
        if mem.align != implied.align {
            write!(f, " align {}", mem.align)?;
        }
        Ok(())
    }

    fn calls(&self, f: &mut Formatter<'_>, first: bool, calls: &[BlockCall]) -> fmt::Result {
        for (number, call) in calls.iter().enumerate() {
            f.write_str(if first && number == 0 { " " } else { ", " })?;
            self.call(f, call)?;
        }
        Ok(())
    }

    fn cases(&self, f: &mut Formatter<'_>, calls: &[BlockCall]) -> fmt::Result {
        let Some((default, cases)) = calls.split_first() else { return Ok(()) };
        self.calls(f, false, std::slice::from_ref(default))?;
        f.write_str(", [")?;
        for (number, call) in cases.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{}: ", call.case as i32)?;
            self.call(f, call)?;
        }
        f.write_char(']')
    }

    fn call(&self, f: &mut Formatter<'_>, call: &BlockCall) -> fmt::Result {
        self.block(f, call.block)?;
        let args = self.kernel.call_args(call);
        self.list(f, "(", args)?;
        f.write_str(if args.is_empty() { "" } else { ")" })
    }

    fn constant(&self, f: &mut Formatter<'_>, inst: Inst, ty: Type) -> fmt::Result {
        constant(f, &self.kernel.const_bits(inst).unwrap_or_default(), ty)
    }
}

/// Returns the results that the printer omits: unnamed results without uses, of ops that allow the omission.
fn unused(kernel: &Kernel) -> HashSet<Value> {
    let insts = || kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|data| &data.insts);
    let datas = || insts().filter_map(|&inst| Some((inst, kernel.insts.get(inst)?)));
    let droppable = datas().filter(|(_, data)| data.op.may_drop_result()).filter_map(|(_, data)| data.result.expand());
    let mut unused: HashSet<Value> = droppable.filter(|&value| kernel.value_name(value).is_none()).collect();
    if unused.is_empty() {
        return unused;
    }
    for (inst, _) in datas() {
        for value in kernel.args(inst).iter().chain(kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call)))
        {
            unused.remove(value);
        }
    }
    unused
}

/// Prints the constant contents of a buffer, one number per element.
fn contents_text(f: &mut Formatter<'_>, elem: Type, contents: &[u8]) -> fmt::Result {
    f.write_str(" = [")?;
    for (number, bytes) in contents.chunks(elem.bytes().max(1) as usize).enumerate() {
        let mut words = [0u64; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        f.write_str(if number == 0 { "" } else { ", " })?;
        constant(f, &words, elem)?;
    }
    f.write_char(']')
}

/// Prints the lanes of a constant. If all lanes are equal and print as a decimal number, prints
/// this number once. A single hexadecimal number would mean the bits of the whole vector.
fn constant(f: &mut Formatter<'_>, words: &[u64; 8], ty: Type) -> fmt::Result {
    let width = ty.elem().bits() as usize;
    let lane = |i: usize| {
        let word = words.get(i * width / 64).copied().unwrap_or_default();
        lane_text(word >> (i * width % 64) & ty.elem().mask(), ty.elem())
    };
    let first = lane(0);
    let alone = ty.is_scalar() || !first.starts_with("0x");
    if alone && (1..ty.lanes()).all(|i| lane(i) == first) {
        return f.write_str(&first);
    }
    write!(f, "[{first}")?;
    (1..ty.lanes()).try_for_each(|i| write!(f, ", {}", lane(i)))?;
    f.write_char(']')
}

fn lanes(f: &mut Formatter<'_>, map: LaneMap, ty: Type) -> fmt::Result {
    f.write_char('[')?;
    for i in 0..ty.lanes() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{}", map.get(i))?;
    }
    f.write_char(']')
}
