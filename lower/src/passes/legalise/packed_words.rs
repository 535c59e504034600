//! Vectors of sixteen bytes as four 32-bit words, for targets whose packed ops work on one word.
//!
//! A lane-wise op is executed on each word. The result vector is then assembled from its words. If nothing uses the
//! vector as a whole, dead code elimination removes this assembly. A mask of sixteen lanes cannot be assembled from
//! words, so the original mask is kept, too. A shuffle of vectors becomes shuffles of two words each.

use halfbyte_ir::{Attr, Inst, LaneMap, Op, Type, Value};

use crate::passes::legalise::Legaliser;

/// Number of byte lanes in a 32-bit word.
const WORD: usize = 4;

/// Legalises an instruction on vectors by 32-bit words. Returns `false` if the target does not
/// support the resulting ops.
pub(super) fn by_words(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    let data = legaliser.kernel().insts[inst];
    if !matches!(data.ty, Type::I8X16 | Type::I1X16) {
        return false;
    }
    let done = legaliser.attempt(|legaliser| match data.op {
        Op::Any | Op::All => whole_mask(legaliser, inst),
        Op::Shuffle => shuffled(legaliser, inst),
        Op::Insert => inserted(legaliser, inst),
        op if op.row().lanewise => lanewise(legaliser, inst),
        _ => None,
    });
    done.is_some()
}

fn word_type(vector: Type) -> Option<Type> {
    match vector {
        Type::I8X16 => Some(Type::I8X4),
        Type::I1X16 => Some(Type::I1X4),
        _ => None,
    }
}

/// Returns the four 32-bit words of a vector, or of a mask that is constant or was computed by words.
pub(super) fn words(legaliser: &mut Legaliser<'_, '_, '_>, vector: Value) -> Option<[Value; 4]> {
    let known = [&legaliser.words, &legaliser.words_here].into_iter().find_map(|words| words.get(&vector));
    if let Some(&words) = known {
        return Some(words);
    }
    let kernel = legaliser.kernel();
    let ty = word_type(kernel.ty(vector))?;
    if let Some(def) = kernel.def_inst(vector)
        && kernel.insts[def].op == Op::Concat
        && let &[a, b, c, d] = kernel.args(def)
        && kernel.ty(a) == Type::I8X4
    {
        return Some([a, b, c, d]);
    }
    let constant = kernel.def_inst(vector).and_then(|def| kernel.const_bits(def));
    let mut words = [vector; 4];
    for (number, word) in (0..).zip(&mut words) {
        *word = match constant {
            Some([low, high, ..]) => {
                let bits = u128::from(high) << 64 | u128::from(low);
                let bits = (bits >> (ty.bits() * u32::from(number))) as u64 & (u64::MAX >> (64 - ty.bits()));
                legaliser.place(Op::Const, ty, Attr::Bits(bits), &[])?
            }
            None if ty.is_mask() => return None,
            None => legaliser.place(Op::Split, ty, Attr::Lane(number), &[vector])?,
        };
    }
    legaliser.words_here.insert(vector, words);
    Some(words)
}

/// Records the four 32-bit words of an instruction's result, and assembles the result vector from them.
fn whole(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst, words: [Value; 4]) -> Option<()> {
    let result = legaliser.kernel().result(inst)?;
    if legaliser.kernel().ty(result) == Type::I8X16 {
        let whole = legaliser.place(Op::Concat, Type::I8X16, Attr::None, &words)?;
        legaliser.replace(result, whole);
        legaliser.words.insert(whole, words);
    } else {
        legaliser.keep(inst);
        legaliser.words.insert(result, words);
    }
    Some(())
}

fn lanewise(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let data = legaliser.kernel().insts[inst];
    let ty = word_type(data.ty)?;
    word_type(data.op.row().result_type(data.ty)?)?;
    let args = legaliser.kernel().args(inst).to_vec();
    let mut by_word = [const { Vec::new() }; 4];
    for arg in args {
        let parts = match legaliser.kernel().ty(arg) {
            Type::I8X16 | Type::I1X16 => words(legaliser, arg)?,
            // A scalar condition is used for all four words.
            Type::I1 => [arg; 4],
            _ => return None,
        };
        for (args, part) in by_word.iter_mut().zip(parts) {
            args.push(part);
        }
    }
    let mut results = [Value::from_u32(0); 4];
    for (result, args) in results.iter_mut().zip(&by_word) {
        *result = legaliser.place(data.op, ty, data.attr, args)?;
    }
    whole(legaliser, inst, results)
}

/// Computes `any` or `all` of a mask of sixteen lanes, from the OR or the AND of the masks of its four words.
fn whole_mask(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let op = legaliser.kernel().insts[inst].op;
    let &[mask] = legaliser.kernel().args(inst) else { return None };
    let [a, b, c, d] = words(legaliser, mask)?;
    let join = if op == Op::Any { Op::Or } else { Op::And };
    let low = legaliser.place(join, Type::I1X4, Attr::None, &[a, b])?;
    let high = legaliser.place(join, Type::I1X4, Attr::None, &[c, d])?;
    let all = legaliser.place(join, Type::I1X4, Attr::None, &[low, high])?;
    let value = legaliser.place(op, Type::I1X4, Attr::None, &[all])?;
    let result = legaliser.kernel().result(inst)?;
    legaliser.replace(result, value);
    Some(())
}

fn inserted(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let &[vector, scalar] = legaliser.kernel().args(inst) else { return None };
    let data = legaliser.kernel().insts[inst];
    let (Attr::Lane(lane), Some(ty)) = (data.attr, word_type(data.ty)) else { return None };
    let mut words = words(legaliser, vector)?;
    let (number, lane) = (usize::from(lane) / WORD, lane % WORD as u8);
    let word = words.get_mut(number)?;
    *word = legaliser.place(Op::Insert, ty, Attr::Lane(lane), &[*word, scalar])?;
    whole(legaliser, inst, words)
}

/// Position of a lane: the index of its 32-bit word among the words of both operands, and the index
/// of the lane in this word.
type LanePosition = (usize, usize);

fn shuffled(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let &[x, y] = legaliser.kernel().args(inst) else { return None };
    let Attr::Lanes(map) = legaliser.kernel().insts[inst].attr else { return None };
    if legaliser.kernel().ty(x) != Type::I8X16 {
        return None;
    }
    let sources = [words(legaliser, x)?, words(legaliser, y)?].concat();
    let mut results = [x; 4];
    for (number, result) in results.iter_mut().enumerate() {
        let lanes: [LanePosition; WORD] = std::array::from_fn(|i| {
            let lane = map.get(WORD * number + i);
            (lane / WORD, lane % WORD)
        });
        *result = gather(legaliser, &sources, lanes)?;
    }
    whole(legaliser, inst, results)
}

/// Assembles a 32-bit word from lanes of any words. Lanes of up to two words take one shuffle,
/// lanes of more words take nested shuffles.
fn gather(legaliser: &mut Legaliser<'_, '_, '_>, sources: &[Value], lanes: [LanePosition; WORD]) -> Option<Value> {
    let mut from: Vec<usize> = lanes.iter().map(|&(word, _)| word).collect();
    from.sort_unstable();
    from.dedup();
    let source = |i: usize| sources.get(*from.get(i)?).copied();
    if let (&[only], true) = (from.as_slice(), lanes.iter().enumerate().all(|(i, &(_, lane))| lane == i)) {
        return sources.get(only).copied();
    }
    if let (&[_] | &[_, _], Some(first)) = (from.as_slice(), source(0)) {
        let second = source(1).unwrap_or(first);
        let map = lanes.map(|(word, lane)| (lane + if from.first() == Some(&word) { 0 } else { WORD }) as u8);
        return legaliser.place(Op::Shuffle, Type::I8X4, Attr::Lanes(LaneMap::new(&map)), &[first, second]);
    }
    // The first shuffle provides lanes 0 and 1, the second one lanes 2 and 3. Their other two lanes are not used.
    let [a, b, c, d] = lanes;
    let low = gather(legaliser, sources, [a, b, a, b])?;
    let high = gather(legaliser, sources, [c, d, c, d])?;
    let map = LaneMap::new(&[0, 1, 4, 5]);
    legaliser.place(Op::Shuffle, Type::I8X4, Attr::Lanes(map), &[low, high])
}
