//! Additional rules of packed kernels: valid stream declarations, and memory accesses only through streams.

use std::collections::HashSet;

use halfbyte_abi::stream::{Affine, AffineVariable, Step, StreamContents, TripCount};
use halfbyte_abi::{Direction, ParamKind, Type};

use super::{InstPart, StreamPart, Subject, Verifier, is_alignment};
use crate::kernel::{Attr, Block, Inst, Value};
use crate::op::Op;
use crate::stream::{Packing, Stream};
use crate::wellformed::MAX_ALIGN;

/// Alignment in bytes of the first byte of a stream.
const STREAM_ALIGN: u32 = 16;

/// Stream or buffer whose address a value is.
#[derive(Clone, Copy)]
enum Pointer {
    /// The stream with this number.
    Stream(usize),
    /// A buffer of the launch.
    Buffer,
}

fn is_read(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::Buffer { direction: Direction::In, .. })
}

fn is_written(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::Buffer { direction: Direction::Out, .. })
}

/// Returns `true` if two streams have the same enclosing loops.
fn same_loops(a: &Stream, b: &Stream) -> bool {
    let same = |(a, b): (&Step, &Step)| a.loop_number == b.loop_number && a.trips == b.trips;
    a.steps.len() == b.steps.len() && a.steps.iter().zip(&b.steps).all(same)
}

impl Verifier<'_> {
    /// Checks the stream declarations of a packed kernel.
    pub(super) fn packing(&mut self) {
        let kernel = self.kernel;
        let Some(packing) = &kernel.packing else { return };
        if !matches!(packing.items, 1 | 4 | 16) {
            let message = format!("the group has {} work items", packing.items);
            self.found(Subject::Groups, message, "1, 4 or 16");
        }
        let (streams, params) = (packing.streams.len(), kernel.params.len());
        if streams > params {
            let message = format!("{streams} streams of @{}, which has {params} parameters", kernel.name);
            return self.found(Subject::Kernel, message, "a parameter a stream");
        }
        for (number, stream) in packing.streams.iter().enumerate() {
            self.stream(packing, number, stream);
        }
        self.loops(packing);
    }

    fn stream_name(&self, number: usize) -> String {
        let param = self.kernel.params.get(self.kernel.launch_params().len() + number);
        param.map_or_else(|| format!("stream {number}"), |param| format!("`%{}`", param.name))
    }

    fn stream(&mut self, packing: &Packing, number: usize, stream: &Stream) {
        let kernel = self.kernel;
        let place = |part| Subject::Stream(number, part);
        let name = self.stream_name(number);
        let Some(param) = kernel.params.get(kernel.launch_params().len() + number) else { return };
        let has_size = matches!(stream.bytes, 1 | 2 | 4 | 8 | 16);
        if !has_size {
            let message = format!("the size of the access is {} bytes", stream.bytes);
            self.found(place(StreamPart::Bytes), message, "1, 2, 4, 8 or 16");
        }
        match param.kind {
            ParamKind::Buffer { align: STREAM_ALIGN, may_alias: false, .. }
                if stream.holds == StreamContents::Buffer => {}
            ParamKind::Buffer {
                direction: Direction::In | Direction::Out,
                elem,
                align: STREAM_ALIGN,
                may_alias: false,
            } => {
                let items = if stream.uniform { 1 } else { packing.items };
                let group = u64::from(stream.element_bytes()) * u64::from(items);
                if has_size && group % u64::from(elem.bytes()) != 0 {
                    let message = format!("values of `{elem}` in groups of {group} bytes");
                    self.found(place(StreamPart::Type), message, "a type whose size divides that");
                }
            }
            _ => {
                let expected = format!("an `in` or `out` buffer aligned to {STREAM_ALIGN}");
                self.found(place(StreamPart::Type), format!("{name} is not a stream"), expected);
            }
        }
        if !is_alignment(stream.align) && stream.align != stream.bytes {
            let message = format!("alignment {}", stream.align);
            self.found(place(StreamPart::Align), message, format!("a power of two up to {MAX_ALIGN}"));
        }
        match stream.buffer {
            Some(buffer) => {
                let stores = !matches!(stream.holds, StreamContents::Offsets { stores: false, .. });
                if stores
                    && is_written(param.kind)
                    && let Some(of) = kernel.params.get(buffer as usize)
                    && kernel.may_overlap(of)
                {
                    let message = format!("{name} is copied out to `%{}`, which may overlap another buffer", of.name);
                    self.found(place(StreamPart::Buffer), message, "a buffer without `may_alias`");
                }
                let param = kernel.params.get(buffer as usize);
                let is_launched = (buffer as usize) < kernel.launch_params().len();
                if !param.is_some_and(|param| is_launched && matches!(param.kind, ParamKind::Buffer { .. })) {
                    let what =
                        param.map_or_else(|| format!("parameter {buffer}"), |param| format!("`%{}`", param.name));
                    self.found(
                        place(StreamPart::Buffer),
                        format!("{what} is not a buffer parameter of the launch"),
                        "a buffer parameter",
                    );
                }
            }
            None => self.guard(number, stream, param.kind),
        }
        if stream.uniform && !stream.scale.is_zero() {
            self.found(
                place(StreamPart::Address),
                match stream.scale.terms.is_empty() {
                    true => format!("{name} is uniform but steps by {} bytes an item", stream.scale.constant as i32),
                    false => format!("{name} is uniform but steps from item to item"),
                },
                "no multiple of `item`",
            );
        }
        self.affine(place(StreamPart::Address), &stream.scale);
        self.affine(place(StreamPart::Address), &stream.index);
        for (depth, step) in stream.steps.iter().enumerate() {
            let place = place(StreamPart::Loop(depth as u32));
            self.affine(place, &step.stride);
            if let TripCount::Of { count, at_least, .. } = &step.trips {
                self.affine(place, count);
                if *at_least > 1 {
                    self.found(
                        place,
                        format!("the minimum trip count is {at_least}"),
                        "0, or 1 for a loop tested at its end",
                    );
                }
            }
        }
        if let (Some(guard), Some(_)) = (stream.guard, stream.buffer) {
            self.guarded(packing, number, stream, guard);
        }
        if let StreamContents::Offsets { window, .. } = stream.holds {
            self.in_window(packing, number, stream, window);
        }
    }

    /// Checks a stream of offsets into a window, a stream that holds a whole buffer. The two
    /// streams must belong to the same buffer.
    fn in_window(&mut self, packing: &Packing, number: usize, stream: &Stream, window: u32) {
        let place = |part| Subject::Stream(number, part);
        let name = self.stream_name(number);
        let kind = |number: usize| {
            let param = self.kernel.params.get(self.kernel.launch_params().len() + number);
            param.map(|param| param.kind)
        };
        let is_window = |window: &&Stream| {
            window.holds == StreamContents::Buffer && window.buffer == stream.buffer && window.guard.is_none()
        };
        if packing.streams.get(window as usize).filter(is_window).is_none() {
            let message = format!("the window of {name} does not exist");
            self.found(place(StreamPart::Address), message, "a `whole` stream of the same buffer");
        }
        if !kind(number).is_some_and(is_written) {
            let message = format!("{name} is read, where offsets are stored");
            self.found(place(StreamPart::Type), message, "an `out` stream");
        }
        let unmoved = stream.steps.iter().all(|step| step.stride.is_zero());
        if !stream.scale.is_zero() || !stream.index.is_zero() || !unmoved {
            let message = format!("{name} has an address beside its offsets");
            self.found(place(StreamPart::Address), message, "no other address");
        }
    }

    /// Checks a stream without a buffer, which must be a guard stream.
    fn guard(&mut self, number: usize, stream: &Stream, kind: ParamKind) {
        let name = self.stream_name(number);
        let place = |part| Subject::Stream(number, part);
        if is_read(kind) {
            self.found(
                place(StreamPart::Name),
                format!("{name} is an `in` stream without a buffer"),
                "`of` and a buffer parameter, or an `out` stream, which is a guard",
            );
        }
        let unmoved = stream.steps.iter().all(|step| step.stride.is_zero());
        let addressed = !stream.scale.is_zero() || !stream.index.is_zero() || stream.offset != 0 || !unmoved;
        if addressed {
            self.found(
                place(StreamPart::Address),
                format!("{name} has an address but no buffer"),
                "a guard without an address",
            );
        } else if stream.align != 1 {
            self.found(
                place(StreamPart::Align),
                format!("{name} has an alignment but no buffer"),
                "a guard without an alignment",
            );
        }
        if stream.guard.is_some() {
            self.found(place(StreamPart::Guard), format!("guard {name} has a guard itself"), "");
        }
    }

    /// Checks the guard of a stream, which must have one element for each element of the stream.
    fn guarded(&mut self, packing: &Packing, number: usize, stream: &Stream, guard: u32) {
        let place = Subject::Stream(number, StreamPart::Guard);
        let name = self.stream_name(guard as usize);
        let Some(guard) = packing.streams.get(guard as usize) else {
            return self.found(place, format!("the guard is stream {guard}, which does not exist"), "");
        };
        if guard.buffer.is_some() {
            self.found(place, format!("{name} is not a guard"), "an `out` stream without a buffer");
        } else if guard.uniform != stream.uniform {
            let is = |uniform| if uniform { "uniform" } else { "not uniform" };
            let message = format!("{name} is {}", is(guard.uniform));
            self.found(place, message, format!("a guard that is {}, like the guarded stream", is(stream.uniform)));
        } else if !same_loops(guard, stream) {
            self.found(
                place,
                format!("{name} is not in the loops of the guarded stream"),
                "a guard in the same loops as the guarded stream",
            );
        }
    }

    /// Checks that the variables of an affine expression are known at launch.
    fn affine(&mut self, place: Subject, sum: &Affine) {
        let mut seen = HashSet::new();
        for &(factor, by) in &sum.terms {
            let name = match factor {
                AffineVariable::ItemCount => "`item_count`".to_owned(),
                AffineVariable::Param(number) => {
                    let param = self.kernel.params.get(number as usize);
                    let name =
                        param.map_or_else(|| format!("parameter {number}"), |param| format!("`%{}`", param.name));
                    if !param.is_some_and(|param| param.kind == ParamKind::Scalar(Type::I32)) {
                        self.found(
                            place,
                            format!("{name} is not an `i32` parameter of the launch"),
                            "an `i32` parameter",
                        );
                    }
                    name
                }
            };
            if by == 0 {
                self.found(place, format!("{name} is multiplied by 0"), "no such term");
            }
            if !seen.insert(factor) {
                self.found(place, format!("{name} occurs twice in the sum"), "one term for each variable");
            }
        }
    }

    /// Checks that the streams of a loop are consecutive and have the same enclosing loops and trip
    /// counts. Guard streams can be anywhere.
    fn loops(&mut self, packing: &Packing) {
        let mut open: Vec<&Step> = Vec::new();
        let mut seen = HashSet::new();
        for (number, stream) in packing.streams.iter().enumerate().filter(|(_, stream)| stream.is_of_accesses()) {
            let same = open.iter().zip(&stream.steps).take_while(|(a, b)| a.loop_number == b.loop_number).count();
            for (depth, step) in stream.steps.iter().enumerate() {
                let place = Subject::Stream(number, StreamPart::Loop(depth as u32));
                let outer = open.get(depth).filter(|_| depth < same);
                if outer.is_some_and(|outer| outer.trips != step.trips) {
                    let message = format!("loop {} has another trip count in an earlier stream", step.loop_number);
                    self.found(place, message, "the same trip count");
                } else if outer.is_none() && !seen.insert(step.loop_number) {
                    let message = format!("an earlier stream is outside loop {}", step.loop_number);
                    self.found(place, message, "consecutive declarations of all streams in a loop");
                }
            }
            open.truncate(same);
            open.extend(stream.steps.iter().skip(same));
        }
    }

    /// Checks that all memory accesses go through streams, and that a stream is accessed only in one block.
    pub(super) fn stream_uses(&mut self) {
        let kernel = self.kernel;
        let Some(packing) = &kernel.packing else { return };
        let mut users: Vec<Option<Block>> = vec![None; packing.streams.len()];
        for &block in &kernel.layout {
            let insts = kernel.blocks.get(block).map_or(&[][..], |data| &data.insts);
            for &inst in insts.iter().filter(|&&inst| kernel.insts.is_valid(inst)) {
                let data = &kernel.insts[inst];
                if matches!(data.op, Op::LocalId | Op::GroupId) || data.attr.axis().is_some() {
                    let axis = data.attr.axis().map_or(String::new(), |axis| format!(".{axis}"));
                    let message = format!("`{}{axis}` is not valid in a packed kernel", data.op.name());
                    self.found(
                        Subject::Inst(inst, InstPart::Op),
                        message,
                        "`item_id`, the number of the group of items",
                    );
                }
                let base = match (data.op, data.attr) {
                    (Op::Load, Attr::Mem(_)) => Some(0),
                    (Op::Store, Attr::Mem(_)) => Some(1),
                    _ => None,
                };
                for (number, &arg) in kernel.args(inst).iter().enumerate() {
                    let part = InstPart::Arg(number as u32);
                    match (self.pointer(arg), base == Some(number)) {
                        (Some(Pointer::Stream(stream)), true) => {
                            self.stream_access(inst, stream, arg);
                            let is_window =
                                packing.streams.get(stream).is_some_and(|of| of.holds == StreamContents::Buffer);
                            if let Some(user) = users.get_mut(stream)
                                && !(is_window && user.is_some())
                                && user.replace(block).is_some_and(|user| user != block)
                            {
                                let message = format!("{} is accessed in several blocks", self.stream_name(stream));
                                self.found(Subject::Inst(inst, part), message, "accesses in one block");
                            }
                        }
                        (Some(pointer), _) => self.escape(Subject::Inst(inst, part), pointer, arg),
                        (None, _) => {}
                    }
                }
                for (target, call) in kernel.targets(inst).iter().enumerate() {
                    for (number, &arg) in kernel.call_args(call).iter().enumerate() {
                        if let Some(pointer) = self.pointer(arg) {
                            let part = InstPart::TargetArg(target as u32, number as u32);
                            self.escape(Subject::Inst(inst, part), pointer, arg);
                        }
                    }
                }
            }
        }
        if !self.partial.incomplete {
            for number in (0..users.len()).filter(|&number| users.get(number) == Some(&None)) {
                let message = format!("{} is not accessed", self.stream_name(number));
                self.found(Subject::Stream(number, StreamPart::Name), message, "a load or store of the kernel");
            }
        }
    }

    fn pointer(&self, value: Value) -> Option<Pointer> {
        match (self.kernel.stream(value), self.kernel.param(value)?.kind) {
            (Some(stream), _) => Some(Pointer::Stream(stream)),
            (None, ParamKind::Buffer { .. }) => Some(Pointer::Buffer),
            (None, ParamKind::Scalar(_)) => None,
        }
    }

    /// Reports the address of a stream or buffer that is used as a value.
    fn escape(&mut self, place: Subject, pointer: Pointer, value: Value) {
        let name = self.kernel.param(value).map(|param| param.name.as_str()).unwrap_or_default();
        let (message, expected) = match pointer {
            Pointer::Stream(_) => {
                (format!("the address of stream `%{name}` is used as a value"), "a load or store of the stream")
            }
            Pointer::Buffer => {
                (format!("a packed kernel cannot access the buffer `%{name}`"), "a stream of the buffer")
            }
        };
        self.related(place, message, expected, Some(value));
    }

    fn stream_access(&mut self, inst: Inst, stream: usize, base: Value) {
        let kernel = self.kernel;
        let Some(param) = kernel.param(base) else { return };
        // A store to an `in` stream is reported together with stores to any `in` buffer.
        let streams = kernel.packing.as_ref().map_or(&[][..], |packing| &packing.streams);
        let is_window = streams.get(stream).is_some_and(|of| of.holds == StreamContents::Buffer);
        if kernel.insts[inst].op == Op::Load && is_written(param.kind) && !is_window {
            let message = format!("cannot load from {}, which is an `out` stream", self.stream_name(stream));
            self.related(Subject::Inst(inst, InstPart::Arg(0)), message, "an `in` stream", Some(base));
        }
    }
}
