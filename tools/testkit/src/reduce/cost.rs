//! The cost function of a reduction.

use halfbyte_ir::{Attr, Kernel, Rounding};

use crate::trial::Launch;

/// Size of a test case, which a reduction minimises. Costs are compared lexicographically, in the
/// order of the fields. Every step of a reduction lowers the cost, so the reduction terminates.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cost {
    /// The number of ops.
    pub ops: usize,
    /// The number of parameters of the kernel and of its blocks.
    params: usize,
    /// The complexity of the ops: the number of modifiers, offsets, indices and branch targets, and
    /// of significant bits in constants.
    detail: u64,
    /// The number of work items.
    items: u32,
    /// The total number of bytes in the arguments and buffers.
    bytes: usize,
    /// The number of bytes in the arguments and buffers that are not zero.
    set_bytes: usize,
}

impl Cost {
    pub(super) fn of(kernel: &Kernel, launch: &Launch) -> Cost {
        let blocks = kernel.layout.iter().map(|&block| &kernel.blocks[block]);
        let insts = blocks.clone().flat_map(|block| &block.insts).copied();
        let detail = |inst| {
            let data = &kernel.insts[inst];
            match data.attr {
                Attr::Bits(_) | Attr::Wide(_) => {
                    constant(data.ty.elem().bits(), &kernel.const_bits(inst).unwrap_or_default())
                }
                Attr::Float(flags) => {
                    let set = [flags.rounding != Rounding::Rn, flags.ftz, flags.contract, flags.nan];
                    let clamped = flags.clamp != halfbyte_ir::Clamp::None;
                    set.iter().filter(|&&set| set).count() as u64 + u64::from(clamped)
                }
                Attr::FloatCC { ftz, .. } => ftz.into(),
                Attr::Mem(mem) => {
                    data.args.len(&kernel.pool) as u64 + u64::from(32 - mem.offset.unsigned_abs().leading_zeros())
                }
                Attr::Targets(range) => kernel.calls(range).len() as u64,
                _ => 0,
            }
        };
        let contents = || kernel.params.iter().filter_map(|param| param.contents.as_deref()).flatten();
        let bytes = || launch.args.iter().flatten().chain(contents());
        Cost {
            ops: insts.clone().count(),
            params: kernel.params.len() + blocks.map(|block| block.params.len(&kernel.pool)).sum::<usize>(),
            detail: insts.map(detail).sum(),
            items: launch.shape.items().unwrap_or(u32::MAX),
            bytes: bytes().count(),
            set_bytes: bytes().filter(|&&byte| byte != 0).count(),
        }
    }
}

/// Returns the total number of significant bits in a constant's lanes.
fn constant(width: u32, words: &[u64; 8]) -> u64 {
    let mask = u64::MAX >> (64 - width);
    let lanes = words.iter().flat_map(|&word| (0..64 / width).map(move |lane| word >> (lane * width) & mask));
    lanes.map(|lane| u64::from(64 - lane.leading_zeros())).sum()
}
