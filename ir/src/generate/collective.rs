//! Generation of barriers, collective operations and shared-memory accesses. All items of the group
//! execute them, and no result depends on the execution order.

use crate::array::Space;
use crate::order::{FenceAttr, MemOrder, Scope};
use crate::{Attr, Op, Type, Value};

use super::palette::is_stored;
use super::{Cooperation, Generator};

/// Maximum number of items of a group in launches of kernels whose items cooperate. Shared arrays
/// have one element per item.
pub const MOST_OF_GROUP: u32 = 256;

/// Number of elements of an array in local memory, a power of two.
const SCRATCH: u32 = 8;

/// Maximum number of arrays of a generated kernel.
const ARRAYS: usize = 6;

/// Number of lanes of a subgroup.
const LANES: i64 = 32;

/// A declared array, which later accesses can use again.
#[derive(Clone, Copy)]
pub(super) struct Array {
    base: Value,
    elem: Type,
    space: Space,
    /// The atomic op by which items modify the array; `None` if the array is not modified
    /// atomically. All modifications of an array with an atomic op use this op.
    by: Option<Op>,
}

impl Generator<'_, '_> {
    /// Returns `true` if control flow is uniform: all items of the group execute the current position equally often.
    fn is_uniform(&self) -> bool {
        self.branches == 0 && self.counters.iter().all(|counter| counter.known)
    }

    /// Generates a barrier, a collective operation or an access to a declared array.
    pub(super) fn meet(&mut self) {
        let among = if self.is_static() { 11 } else { 13 };
        match self.random.below(among) {
            0..=1 => self.scratch(),
            2 => self.fence(),
            _ if !self.is_uniform() => self.scratch(),
            3..=5 => self.pass_on(true),
            6 => self.barrier(),
            7..=8 => self.shuffle(),
            9 => self.ask(),
            10 => self.reduce(),
            11 => self.exchange(),
            _ => self.count_together(),
        }
    }

    /// Generates two unordered accesses to the same element of shared memory.
    pub(super) fn race(&mut self) {
        self.pass_on(false);
    }

    /// Returns `true` if lane masks and source lanes must not depend on data.
    fn is_static(&self) -> bool {
        self.cooperation == Cooperation::Static
    }

    fn int(&mut self, value: i64) -> Value {
        self.builder.int(Type::I32, value)
    }

    fn i32_op(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.builder.op(op, Type::I32, &[a, b])
    }

    /// Returns an earlier value of a type that memory can hold, and its type.
    fn some_stored(&mut self) -> Option<(Value, Type)> {
        let stored: Vec<Value> = self.scope.iter().copied().filter(|&value| is_stored(self.ty(value))).collect();
        let value = self.pick(&stored)?;
        Some((value, self.ty(value)))
    }

    /// Returns an array with the given properties: an earlier array if there is one, else a new one.
    fn array(&mut self, elem: Type, space: Space, count: u32, by: Option<Op>) -> Option<Value> {
        let is_like = |array: &&Array| (array.elem, array.space, array.by) == (elem, space, by);
        let found: Vec<Value> = self.arrays.iter().filter(is_like).map(|array| array.base).collect();
        let may_add = self.arrays.len() < ARRAYS || self.cooperation == Cooperation::Racing;
        if !found.is_empty() && !self.one_in(4) || !may_add {
            return self.pick(&found);
        }
        let name = format!("m{}", self.arrays.len());
        let base = self.builder.array(&name, space, elem, count);
        self.arrays.push(Array { base, elem, space, by });
        Some(base)
    }

    /// Generates a value that each item passes to another item through shared memory.
    fn pass_on(&mut self, ordered: bool) {
        let Some((value, ty)) = self.some_stored().or_else(|| Some((self.item?, Type::I32))) else { return };
        let Some(base) = self.array(ty, Space::Shared, MOST_OF_GROUP, None) else { return };
        let (own, size) = (self.builder.here(Op::LocalId), self.builder.here(Op::GroupSize));
        self.builder.store(ty, value, base, own);
        self.barrier();
        if !ordered {
            // A second store of the same value races with the load below, but does not change the result.
            self.builder.store(ty, value, base, own);
        }
        let far = if ordered { self.random.below(7) as i64 } else { 1 };
        let by = self.int(far);
        let sum = self.i32_op(Op::Add, own, by);
        let other = self.i32_op(Op::RemU, sum, size);
        let taken = self.builder.load(ty, base, other);
        self.scope.push(taken);
        // This barrier prevents a later store from overtaking the load of a slow item.
        self.barrier();
    }

    /// Generates a barrier of all items, in one of its forms, chosen at random.
    fn barrier(&mut self) {
        let id = match self.random.below(3) {
            0 => None,
            _ => {
                let id = self.random.below(16) as i64;
                Some(self.int(id))
            }
        };
        let count = id.filter(|_| self.one_in(2)).map(|_| {
            let (size, most, mask) = (self.builder.here(Op::GroupSize), self.int(LANES - 1), self.int(-LANES));
            let up = self.i32_op(Op::Add, size, most);
            self.i32_op(Op::And, up, mask)
        });
        let op = match self.random.below(6) {
            0 => Op::BarrierCount,
            1 => Op::BarrierAll,
            2 => Op::BarrierAny,
            _ => Op::Barrier,
        };
        let says = if op == Op::Barrier { None } else { self.operand(Type::I1) };
        if op != Op::Barrier && says.is_none() {
            self.builder.barrier();
            return;
        }
        let args: Vec<Value> = says.into_iter().chain(id).chain(count).collect();
        let aligned = Attr::Aligned(!self.one_in(3));
        let inst = self.builder.inst(op, Type::I32, aligned, &args);
        let result = self.builder.kernel().result(inst);
        self.scope.extend(result);
    }

    fn fence(&mut self) {
        let orders = [MemOrder::Acquire, MemOrder::Release, MemOrder::AcqRel, MemOrder::SeqCst];
        let scopes = [Scope::Group, Scope::Device, Scope::System];
        if let (Some(order), Some(scope)) = (self.pick(&orders), self.pick(&scopes)) {
            self.builder.inst(Op::Fence, Type::I32, Attr::Fence(FenceAttr { order, scope }), &[]);
        }
    }

    /// Generates the number of lanes of the item's subgroup. The last subgroup of a group can have fewer than 32 lanes.
    fn lanes(&mut self) -> Value {
        let (size, subgroup) = (self.builder.here(Op::GroupSize), self.builder.here(Op::SubgroupId));
        let lanes = self.int(LANES);
        let before = self.i32_op(Op::Mul, subgroup, lanes);
        let left = self.i32_op(Op::Sub, size, before);
        self.i32_op(Op::MinU, left, lanes)
    }

    /// Generates the mask of participating lanes: all lanes, or all lanes with the same parity.
    fn mask(&mut self) -> Value {
        let all = self.int(-1);
        if self.is_static() || !self.one_in(4) {
            return all;
        }
        let (lane, one, even) = (self.builder.here(Op::LaneId), self.int(1), self.int(0x5555_5555));
        let is_odd = self.i32_op(Op::And, lane, one);
        self.i32_op(Op::Shl, even, is_odd)
    }

    /// Generates a shuffle.
    fn shuffle(&mut self) {
        let words: Vec<Value> = self.scope.iter().copied().filter(|&value| self.ty(value).bits() == 32).collect();
        let words: Vec<Value> = words.into_iter().filter(|&value| is_stored(self.ty(value))).collect();
        let by = match self.is_static() && !self.one_in(4) {
            true => {
                let by = self.random.below(LANES as usize) as i64;
                Some(self.int(by))
            }
            false => self.operand(Type::I32),
        };
        let (Some(value), Some(by)) = (self.pick(&words), by) else { return };
        let ty = self.ty(value);
        let all = self.int(-1);
        let (op, segment) = match self.random.below(4) {
            0 => {
                let width = LANES >> self.random.below(6);
                (Op::SubgroupShuffleUp, self.int((LANES - width) << 8))
            }
            number => {
                // The segment ends at the last existing lane.
                let (lanes, one) = (self.lanes(), self.int(1));
                let last = self.i32_op(Op::Sub, lanes, one);
                let ops = [Op::SubgroupShuffle, Op::SubgroupShuffleDown, Op::SubgroupShuffleXor];
                (ops.get(number - 1).copied().unwrap_or(Op::SubgroupShuffle), last)
            }
        };
        let taken = self.builder.op(op, ty, &[value, by, segment, all]);
        self.scope.push(taken);
    }

    /// Generates a vote, a match or an election.
    fn ask(&mut self) {
        let mask = self.mask();
        let ops = [Op::VoteAll, Op::VoteAny, Op::VoteUniform, Op::Ballot, Op::Elect, Op::MatchAny, Op::MatchAll];
        let few = ops.first_chunk::<5>().filter(|_| self.is_static());
        let Some(op) = self.pick(few.map_or(&ops[..], |few| few)) else { return };
        let answer = match op {
            Op::MatchAny | Op::MatchAll => {
                let ty = if self.one_in(3) { Type::I64 } else { Type::I32 };
                let value = if self.one_in(2) { self.small() } else { self.operand(Type::I32) };
                let Some(value) = value else { return };
                let value = if ty == Type::I64 { self.builder.op(Op::Sext, ty, &[value]) } else { value };
                self.builder.op(op, ty, &[value, mask])
            }
            Op::Elect => {
                // The mask of an election must not include missing lanes.
                let (lanes, most, all) = (self.lanes(), self.int(LANES), self.int(-1));
                let none = self.i32_op(Op::Sub, most, lanes);
                let mask = self.i32_op(Op::ShrU, all, none);
                self.builder.op(op, Type::I32, &[mask])
            }
            _ => {
                let Some(says) = self.operand(Type::I1) else { return };
                self.builder.op(op, Type::I32, &[says, mask])
            }
        };
        self.scope.push(answer);
    }

    fn reduce(&mut self) {
        if self.one_in(6) {
            let mask = self.mask();
            self.builder.inst(Op::SubgroupBarrier, Type::I32, Attr::None, &[mask]);
            return;
        }
        let ops = [
            Op::SubgroupReduceAdd,
            Op::SubgroupReduceMinS,
            Op::SubgroupReduceMinU,
            Op::SubgroupReduceMaxS,
            Op::SubgroupReduceMaxU,
            Op::SubgroupReduceAnd,
            Op::SubgroupReduceOr,
            Op::SubgroupReduceXor,
        ];
        let (Some(op), Some(value)) = (self.pick(&ops), self.operand(Type::I32)) else { return };
        let mask = self.mask();
        let reduced = self.builder.op(op, Type::I32, &[value, mask]);
        self.scope.push(reduced);
    }

    /// Generates atomic updates of shared memory by all items, with one op whose result does not depend on the order.
    fn count_together(&mut self) {
        let ops = [
            Op::AtomicAdd,
            Op::AtomicSub,
            Op::AtomicMinS,
            Op::AtomicMinU,
            Op::AtomicMaxS,
            Op::AtomicMaxU,
            Op::AtomicAnd,
            Op::AtomicOr,
            Op::AtomicXor,
            Op::AtomicInc,
        ];
        let Some(op) = self.pick(&ops) else { return };
        let ty = if op != Op::AtomicInc && self.one_in(3) { Type::I64 } else { Type::I32 };
        let (Some(start), Some(at), Some(value)) =
            (self.operand(Type::I32), self.operand(Type::I32), self.operand(Type::I32))
        else {
            return;
        };
        let wide = |generator: &mut Self, value: Value| match ty {
            Type::I64 => generator.builder.op(Op::Sext, ty, &[value]),
            _ => value,
        };
        let start = wide(self, start);
        // All items use the same upper bound for the counter.
        let value = if op == Op::AtomicInc { self.int(5) } else { wide(self, value) };
        let Some(base) = self.array(ty, Space::Shared, MOST_OF_GROUP, Some(op)) else { return };
        let (own, size) = (self.builder.here(Op::LocalId), self.builder.here(Op::GroupSize));
        self.builder.store(ty, start, base, own);
        self.barrier();
        let at = self.i32_op(Op::RemU, at, size);
        let Some(ordering) = self.ordering() else { return };
        self.builder.atomic(op, ty, ordering, &[value], base, at);
        self.barrier();
        let sum = self.builder.load(ty, base, own);
        self.scope.push(sum);
        self.barrier();
    }

    /// Returns a random memory order and a random scope for an atomic access.
    fn ordering(&mut self) -> Option<(MemOrder, Scope)> {
        let orders = [MemOrder::Relaxed, MemOrder::Acquire, MemOrder::Release, MemOrder::AcqRel];
        let scopes = [Scope::Group, Scope::Device, Scope::System];
        self.pick(&orders).zip(self.pick(&scopes))
    }

    /// Generates an atomic update of another item's element with an op whose result depends on the
    /// order. Only one item updates each element, so the order is fixed.
    fn exchange(&mut self) {
        let ops = [Op::AtomicExchange, Op::AtomicCompareExchange, Op::AtomicFadd, Op::AtomicDec];
        let Some(op) = self.pick(&ops) else { return };
        let takes = |ty: Type| op.row().types.is_some_and(|types| types.contains(ty));
        let values: Vec<Value> = self.scope.iter().copied().filter(|&value| takes(self.ty(value))).collect();
        let Some(held) = self.pick(&values) else { return };
        let ty = self.ty(held);
        let (Some(first), Some(second)) = (self.operand(ty), self.operand(ty)) else { return };
        let Some(base) = self.array(ty, Space::Shared, MOST_OF_GROUP, Some(op)) else { return };
        let (own, size) = (self.builder.here(Op::LocalId), self.builder.here(Op::GroupSize));
        self.builder.store(ty, held, base, own);
        self.barrier();
        let far = self.random.below(7) as i64;
        let by = self.int(far);
        let sum = self.i32_op(Op::Add, own, by);
        let other = self.i32_op(Op::RemU, sum, size);
        let Some(ordering) = self.ordering() else { return };
        let (both, one) = ([first, second], [first]);
        let values = if op == Op::AtomicCompareExchange { &both[..] } else { &one };
        let was = self.builder.atomic(op, ty, ordering, values, base, other);
        let is_wanted = !self.one_in(3);
        self.scope.extend(was.filter(|_| is_wanted));
        self.barrier();
        let is = self.builder.load(ty, base, own);
        self.scope.push(is);
        self.barrier();
    }

    /// Generates stores to and loads from an array in local memory, at data-dependent indices.
    fn scratch(&mut self) {
        let Some((value, ty)) = self.some_stored() else { return };
        let Some(base) = self.array(ty, Space::Scratch, SCRATCH, None) else { return };
        let mask = self.int(i64::from(SCRATCH) - 1);
        let place = |generator: &mut Self| {
            let data = match generator.is_static() {
                true => generator.builder.here(Op::LocalId),
                false => generator.operand(Type::I32)?,
            };
            Some(generator.i32_op(Op::And, data, mask))
        };
        if let Some(at) = place(self) {
            self.builder.store(ty, value, base, at);
        }
        if let Some(at) = place(self) {
            let loaded = self.builder.load(ty, base, at);
            self.scope.push(loaded);
        }
    }

    /// Returns `true` if the items of the kernel cooperate.
    pub(super) fn cooperates(&self) -> bool {
        self.cooperation != Cooperation::Never
    }
}
