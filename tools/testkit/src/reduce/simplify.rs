//! Simplification of constants and modifiers.

use halfbyte_ir::eval::{pack, unpack};
use halfbyte_ir::{Attr, Clamp, FlagKind, Inst, Kernel, Op, Rounding, Type};

use super::draft::{Draft, straight};
use super::{Case, Reducer};

/// Tries simpler constants: zero, one, a splat of one lane, one lane set to zero, or fewer significant bits.
pub(super) fn constants(reducer: &mut Reducer<'_>) {
    let mut number = 0;
    while let Some(inst) = constant(&reducer.best, number) {
        let kernel = reducer.best.kernel();
        let ty = kernel.insts[inst].ty;
        let mut lanes = vec![0; ty.lanes()];
        unpack(ty, &kernel.const_bits(inst).unwrap_or_default(), &mut lanes);
        let is_changed = simpler_lanes(ty, &lanes)
            .into_iter()
            .any(|lanes| reducer.accepts(|draft| set(&mut draft.kernel, inst, ty, &lanes)));
        if reducer.is_over() {
            return;
        }
        number += usize::from(!is_changed);
    }
}

/// Returns the constant at an index among the kernel's constants, in the order of the text.
fn constant(case: &Case, number: usize) -> Option<Inst> {
    let kernel = case.kernel();
    let constants = straight(kernel).into_iter().map(|(_, inst)| inst);
    constants.filter(|&inst| kernel.insts[inst].op == Op::Const).nth(number)
}

/// Returns simpler lanes to try for a constant, the simplest first.
fn simpler_lanes(ty: Type, lanes: &[u64]) -> Vec<Vec<u64>> {
    let all = |lane: u64| vec![lane; lanes.len()];
    let mut plainer = vec![all(0), all(1)];
    if !ty.is_scalar() {
        plainer.extend(lanes.iter().map(|&lane| all(lane)));
        let without =
            |gone: usize| lanes.iter().enumerate().map(|(at, &lane)| if at == gone { 0 } else { lane }).collect();
        plainer.extend((0..lanes.len()).map(without));
    }
    plainer.extend([1, 4].map(|by| lanes.iter().map(|&lane| lane >> by).collect()));
    plainer.push(lanes.iter().map(|&lane| lane & !0xff).collect());
    plainer
}

fn set(kernel: &mut Kernel, inst: Inst, ty: Type, lanes: &[u64]) -> Option<()> {
    let attr = kernel.const_attr(ty, pack(ty, lanes));
    kernel.insts[inst].attr = attr;
    Some(())
}

/// Tries to remove the modifiers of ops, and the offsets and indices of accesses, one by one.
pub(super) fn modifiers(reducer: &mut Reducer<'_>) {
    let mut number = 0;
    while let Some(&(_, inst)) = straight(reducer.best.kernel()).get(number) {
        for kind in FlagKind::ALL {
            reducer.accepts(|draft| without(&mut draft.kernel, inst, kind));
        }
        reducer.accepts(|draft| at_the_start(&mut draft.kernel, inst));
        reducer.accepts(|draft| without_index(draft, inst));
        if reducer.is_over() {
            return;
        }
        number += 1;
    }
}

/// Removes the modifier of a kind from an instruction.
fn without(kernel: &mut Kernel, inst: Inst, kind: FlagKind) -> Option<()> {
    match &mut kernel.insts[inst].attr {
        Attr::Float(flags) => {
            flags.word(kind)?;
            match kind {
                FlagKind::Rounding => flags.rounding = Rounding::Rn,
                FlagKind::Ftz => flags.ftz = false,
                FlagKind::Clamp => flags.clamp = Clamp::None,
                FlagKind::Contract => flags.contract = false,
                FlagKind::Nan => flags.nan = false,
            }
        }
        Attr::FloatCC { ftz, .. } if kind == FlagKind::Ftz => *ftz = false,
        _ => return None,
    }
    Some(())
}

/// Removes the constant offset of an access.
fn at_the_start(kernel: &mut Kernel, inst: Inst) -> Option<()> {
    match &mut kernel.insts[inst].attr {
        Attr::Mem(mem) if mem.offset != 0 => mem.offset = 0,
        _ => return None,
    }
    Some(())
}

/// Removes the index of an access.
fn without_index(draft: &mut Draft, inst: Inst) -> Option<()> {
    let kernel = &mut draft.kernel;
    let data = &mut kernel.insts[inst];
    let Attr::Mem(mem) = &mut data.attr else { return None };
    let without = data.op.row().args.len();
    if data.args.len(&kernel.pool) <= without {
        return None;
    }
    mem.wide = false;
    data.args.truncate(without, &mut kernel.pool);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_tried_from_the_plainest_on() {
        let tried = simpler_lanes(Type::F16X2, &[0x3c00, 0xffff]);
        assert_eq!(tried.first(), Some(&vec![0, 0]));
        assert!(tried.contains(&vec![0x3c00, 0x3c00]) && tried.contains(&vec![0, 0xffff]));
        assert!(tried.contains(&vec![0x1e00, 0x7fff]) && tried.contains(&vec![0x3c00, 0xff00]));
        assert_eq!(simpler_lanes(Type::I1, &[1]).first(), Some(&vec![0]));
    }
}
