//! Reduction of a launch: fewer work items, parameters and buffer elements, and more zero bytes.

use std::ops::Range;

use halfbyte_abi::{Alias, Shape};
use halfbyte_ir::{Kernel, ParamKind, ValueDef};

use super::draft::Draft;
use super::tidy::uses;
use super::{Case, Reducer};

/// Maximum number of parts of a buffer that the reduction tries to zero separately.
const PARTS: usize = 1024;

/// Tries launches without the last work items, and without the first work items and their buffer elements.
pub(super) fn items(reducer: &mut Reducer<'_>) {
    // First, each axis of the shape is made shorter. Then all items are placed along x, if the case
    // still fails with that shape.
    for of_grid in [true, false] {
        for axis in [2, 1, 0] {
            let along =
                |case: &Case| u64::from(count(&mut case.launch().shape.clone(), of_grid, axis).map_or(0, |n| *n));
            reducer.minimise(along, |draft, step| {
                let shape = &mut draft.launch.shape;
                if shape.is_along_x() {
                    return None;
                }
                let count = count(shape, of_grid, axis)?;
                *count = u32::try_from(u64::from(*count).checked_sub(step)?).ok()?;
                Some(())
            });
        }
    }
    let items = |case: &Case| u64::from(case.launch().shape.items().unwrap_or(0));
    reducer.minimise(items, |draft, step| {
        draft.launch.shape = Shape::from(u32::try_from(items_of(draft).checked_sub(step)?).ok()?);
        Some(())
    });
    reducer.minimise(items, without_first);
}

fn items_of(draft: &Draft) -> u64 {
    draft.launch.shape.items().unwrap_or(0).into()
}

/// Returns the number of groups, or of items in a group, along an axis.
fn count(shape: &mut Shape, of_grid: bool, axis: usize) -> Option<&mut u32> {
    let counts = if of_grid { &mut shape.grid } else { &mut shape.block };
    counts.get_mut(axis)
}

/// Removes the first `step` work items of the launch, and their elements in all buffers.
fn without_first(draft: &mut Draft, step: u64) -> Option<()> {
    let items = items_of(draft) as usize;
    let gone = usize::try_from(step).ok()?;
    for (param, arg) in draft.kernel.launch_params().iter().zip(&mut draft.launch.args) {
        if let ParamKind::Buffer { elem, .. } = param.kind {
            let size = elem.bytes() as usize;
            // If a buffer has several elements per item, the elements of one item are assumed to be adjacent.
            let own = arg.len() / size / items.max(1);
            arg.drain(..(gone * own * size).min(arg.len()));
        }
    }
    draft.launch.shape = Shape::from(u32::try_from(items.checked_sub(gone)?).ok()?);
    Some(())
}

/// Removes unused parameters.
pub(super) fn params(reducer: &mut Reducer<'_>) {
    let mut number = reducer.best.kernel().params.len();
    while let Some(param) = number.checked_sub(1) {
        number = param;
        reducer.accepts(|draft| without_param(draft, param));
    }
}

fn without_param(draft: &mut Draft, number: usize) -> Option<()> {
    let kernel: &mut Kernel = &mut draft.kernel;
    let value = kernel.params.get(number)?.value;
    if kernel.packing.is_some() || uses(kernel)[value] > 0 {
        return None;
    }
    let aliases = &mut draft.launch.aliases;
    if aliases.iter().any(|alias| alias.of == number) {
        return None;
    }
    aliases.retain(|alias| alias.param != number);
    for Alias { param, of, .. } in aliases {
        *param -= usize::from(*param > number);
        *of -= usize::from(*of > number);
    }
    kernel.params.remove(number);
    for (number, param) in kernel.params.iter().enumerate() {
        kernel.values[param.value].def = ValueDef::Param(number as u32);
    }
    // A parameter with constant contents has no argument.
    if number < draft.launch.args.len() {
        draft.launch.args.remove(number);
    }
    Some(())
}

/// Tries shorter buffers, and zero bytes in buffers and scalars.
pub(super) fn buffers(reducer: &mut Reducer<'_>) {
    for number in 0..reducer.best.kernel().launch_params().len() {
        let Some(ParamKind::Buffer { elem, .. }) = reducer.best.kernel().params.get(number).map(|param| param.kind)
        else {
            continue;
        };
        let size = elem.bytes() as usize;
        if number >= reducer.best.launch().args.len() {
            let contents = |case: &Case| case.kernel().params.get(number).and_then(|param| param.contents.clone());
            reducer.minimise(
                |case| contents(case).map_or(0, |contents| contents.len() / size) as u64,
                |draft, step| {
                    let contents = &mut draft.kernel.params.get_mut(number)?.contents;
                    let left = contents.as_ref()?.len().checked_sub(usize::try_from(step).ok()?.checked_mul(size)?)?;
                    *contents = Some(contents.as_ref()?.get(..left)?.into());
                    Some(())
                },
            );
            continue;
        }
        let elements = |case: &Case| case.launch().args.get(number).map_or(0, |arg| arg.len() / size) as u64;
        reducer.minimise(elements, |draft, step| {
            let arg = draft.launch.args.get_mut(number)?;
            arg.truncate(arg.len().checked_sub(usize::try_from(step).ok()?.checked_mul(size)?)?);
            Some(())
        });
    }
    for number in 0..reducer.best.launch().args.len() {
        let bytes = |case: &Case| case.launch().args.get(number).map_or(0, Vec::len);
        let least = bytes(&reducer.best) / PARTS;
        reducer.in_parts(least, bytes, |draft, range| zero(draft, number, range));
    }
}

fn zero(draft: &mut Draft, number: usize, range: Range<usize>) -> Option<()> {
    let bytes = draft.launch.args.get_mut(number)?.get_mut(range)?;
    let is_changed = bytes.iter().any(|&byte| byte != 0);
    bytes.fill(0);
    is_changed.then_some(())
}
