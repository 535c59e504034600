//! Streams: the loads and stores of a converted kernel, by which the target accesses the buffers of a launch.

use halfbyte_ir::{
    Affine, Attr, Block, Inst, Kernel, Known, MemAttr, Op, ParamKind, Reason, Refusal, Step, Stream, StreamContents,
    TripCount, Type, Value, ValueDef,
};

use super::affine::{AffineAnalysis, Linear, as_constant, plus};
use super::if_convert::{Site, SiteStep};

/// A load or store that a packed kernel can execute.
#[derive(Clone)]
pub(super) struct Access {
    pub inst: Inst,
    /// Type of the loaded or stored value.
    pub ty: Type,
    pub stores: bool,
    pub guard: Option<Value>,
    /// Index of the kernel parameter that is the accessed buffer.
    pub buffer: u32,
    pub mem: MemAttr,
    /// `true` if the whole buffer is in a window, in which the kernel computes the address. `scale`
    /// and `index` are zero in this case.
    pub in_window: bool,
    /// `true` if the access has a stream. A load from a window has no stream if its address is
    /// always in a constant table of the kernel.
    pub has_stream: bool,
    /// Scale of the access's stream, as in [`Stream::scale`].
    pub scale: Affine,
    /// Index of the access's stream, as in [`Stream::index`].
    pub index: Affine,
    /// Loops that contain the access, outermost first.
    pub steps: Vec<AccessStep>,
}

/// A loop with a known trip count that contains an access.
#[derive(Clone)]
pub(super) struct AccessStep {
    pub number: u32,
    pub header: Block,
    /// Value of the kernel that is the iteration number of the loop.
    pub counter: Value,
    pub trips: TripCount,
    pub stride: Affine,
}

/// Maximum number of bytes that one load or store of an item accesses.
const MOST_BYTES: u32 = 16;

/// Size in bytes of the largest access to a scalar, which is the highest alignment that an access can have.
const MOST_ALIGN: u32 = 4;

/// Returns the accesses of a converted kernel. The kernel computes the addresses in the buffers of `windows`. If an
/// address in another buffer is not known at launch, the buffer is added to `windows`.
///
/// # Errors
/// A refusal for each load or store that can use neither a stream nor a window.
pub(super) fn accesses(
    kernel: &Kernel,
    sites: &[Site],
    sums: &AffineAnalysis<'_>,
    windows: &mut Vec<u32>,
    target: &'static str,
) -> Result<Vec<Access>, Vec<Refusal>> {
    let mut found = Vec::with_capacity(sites.len());
    for site in sites {
        let place = AccessOperands::of(kernel, site);
        let known = place.as_ref().map_err(Clone::clone).and_then(|place| place.at_launch(kernel, site, sums));
        if let (Ok(place), Err(_)) = (&place, &known)
            && !windows.contains(&place.buffer)
            && place.computed(kernel, site).is_ok()
        {
            windows.push(place.buffer);
        }
        found.push((place, known));
    }
    let (mut accesses, mut refusals) = (Vec::with_capacity(sites.len()), Vec::new());
    for (site, (place, known)) in sites.iter().zip(found) {
        let access = match place {
            Ok(place) if windows.contains(&place.buffer) || known.is_err() => {
                place.computed(kernel, site).map_err(|reason| match known {
                    Err(known) if reason == ACROSS_WORDS => {
                        let why = format!("{}, and it may be unaligned in the data store", known.why);
                        Reason::from(why).help("load single bytes and join them with `concat`, or `split` the value and store its bytes; or let each item process a whole block")
                    }
                    _ => reason,
                })
            }
            _ => known,
        };
        match access {
            Ok(access) => accesses.push(access),
            Err(reason) => refusals.push(refusal(kernel, site.inst, target, reason)),
        }
    }
    if refusals.is_empty() { Ok(accesses) } else { Err(refusals) }
}

/// Returns a refusal of an instruction, with the given reason.
pub(super) fn refusal(kernel: &Kernel, inst: Inst, target: &'static str, reason: impl Into<Reason>) -> Refusal {
    let data = &kernel.insts[inst];
    Refusal { op: Some((data.op, data.ty)), span: data.span, target, reason: Some(reason.into()) }
}

fn has_unknown_trips(site: &Site) -> bool {
    site.steps.iter().any(|step| step.counted.is_none())
}

/// Operands of a load or store.
struct AccessOperands {
    ty: Type,
    stores: bool,
    buffer: u32,
    mem: MemAttr,
    index: Option<Value>,
}

impl AccessOperands {
    fn of(kernel: &Kernel, site: &Site) -> Result<AccessOperands, Reason> {
        let data = &kernel.insts[site.inst];
        let stores = data.op == Op::Store;
        let args = kernel.args(site.inst).get(usize::from(stores)..).unwrap_or_default();
        let (Some(&base), Attr::Mem(mem)) = (args.first(), data.attr) else {
            return Err(Reason::new("the access has no address"));
        };
        let buffer = match (kernel.values[base].def, kernel.param(base).map(|param| param.kind)) {
            (ValueDef::Param(number), Some(ParamKind::Buffer { .. })) => number,
            _ => return Err(NO_BUFFER),
        };
        if data.ty.bytes() > MOST_BYTES {
            let why = Reason::from(format!("an access has at most {MOST_BYTES} bytes"));
            return Err(why.help(
                "narrow the lanes to bytes first (`trunc` or `narrow_sat`), or access it in parts: `split` and `concat`",
            ));
        }
        Ok(AccessOperands { ty: data.ty, stores, buffer, mem, index: args.get(1).copied() })
    }

    /// Returns the access by a stream, if its address is known at launch.
    fn at_launch(&self, kernel: &Kernel, site: &Site, sums: &AffineAnalysis<'_>) -> Result<Access, Reason> {
        let &AccessOperands { mem, .. } = self;
        if has_unknown_trips(site) {
            return Err(UNKNOWN_TRIPS);
        }
        let (mut scale, mut index, mut counters) = (Affine::default(), Affine::default(), Vec::new());
        if let Some(by) = self.index {
            let sum = sums.of(by).ok_or_else(|| not_affine(kernel, sums, by))?;
            if mem.wide && !stays_narrow(site, mem, &sum) {
                return Err(WIDE);
            }
            scale = plus(&Affine::default(), &sum.item, mem.scale);
            index = plus(&Affine::default(), &sum.launch_term, mem.scale);
            counters = sum.counters.into_vec();
        }
        let is_around = |header: Block| site.steps.iter().any(|step| step.header == header);
        if !counters.iter().all(|(header, _)| is_around(*header)) {
            return Err(Reason::with_help(
                "its index depends on the final counter of an earlier loop",
                "use the loop's bound instead of its counter",
            ));
        }
        let stride = |header: Block| {
            let stride = counters.iter().find(|(of, _)| *of == header);
            stride.map_or_else(Affine::default, |(_, stride)| plus(&Affine::default(), stride, mem.scale))
        };
        Ok(Access { scale, index, ..self.access(site, stride) })
    }

    /// Returns the access in a window, at an address that the kernel computes.
    fn computed(&self, kernel: &Kernel, site: &Site) -> Result<Access, Reason> {
        let &AccessOperands { ty, mem, .. } = self;
        let has_stream = self.stores || !self.is_in_table(kernel);
        if has_stream && has_unknown_trips(site) {
            return Err(UNKNOWN_TRIPS);
        }
        if self.index.is_some() && mem.wide && mem.scale > 1 {
            return Err(WIDE);
        }
        if mem.align < ty.bytes().min(MOST_ALIGN) || ty.bytes() == MOST_BYTES && mem.align < MOST_BYTES {
            return Err(ACROSS_WORDS);
        }
        Ok(Access { in_window: true, has_stream, ..self.access(site, |_| Affine::default()) })
    }

    /// Returns `true` if every address of the access is in a constant table of the kernel.
    fn is_in_table(&self, kernel: &Kernel) -> bool {
        let &AccessOperands { ty, mem, .. } = self;
        let table = kernel.params.get(self.buffer as usize).and_then(|param| param.contents.as_ref());
        let range = self.index.map_or(0..=0, |index| Known::of(kernel, index).signed());
        let first = range.start() * i128::from(mem.scale) + i128::from(mem.offset);
        let end = range.end() * i128::from(mem.scale) + i128::from(mem.offset) + i128::from(ty.bytes());
        let is_aligned = mem.scale.is_multiple_of(mem.align) && mem.offset.cast_unsigned().is_multiple_of(mem.align);
        *range.start() >= 0 && first >= 0 && table.is_some_and(|table| end <= table.len() as i128) && is_aligned
    }

    fn access(&self, site: &Site, stride: impl Fn(Block) -> Affine) -> Access {
        let &AccessOperands { ty, stores, buffer, mem, .. } = self;
        let step = |step: &SiteStep| {
            let (counter, trips) = step.counted.clone()?;
            Some(AccessStep { number: step.number, header: step.header, counter, trips, stride: stride(step.header) })
        };
        Access {
            inst: site.inst,
            ty,
            stores,
            guard: site.guard,
            buffer,
            mem,
            in_window: false,
            has_stream: true,
            scale: Affine::default(),
            index: Affine::default(),
            steps: site.steps.iter().filter_map(step).collect(),
        }
    }
}

/// Returns `true` if a `wide` index gives the same address when it is scaled modulo 2^32, as in a stream.
///
/// This is the case if the scaled index is always below 2^32. It is also the case if every item accesses the element of
/// its own index: a buffer has fewer than 2^32 bytes, so an earlier item would trap.
fn stays_narrow(site: &Site, mem: MemAttr, sum: &Linear) -> bool {
    let Some(first) = as_constant(&sum.launch_term) else { return false };
    let mut most = u64::from(first);
    for (header, stride) in &sum.counters {
        let step = site.steps.iter().find(|step| step.header == *header).and_then(|step| step.counted.as_ref());
        let (Some(stride), Some((_, TripCount::Const(trips)))) = (as_constant(stride), step) else { return false };
        most = most.saturating_add(u64::from(stride) * u64::from(trips.saturating_sub(1)));
    }
    let own = as_constant(&sum.item) == Some(1) && sum.counters.is_empty() && site.guard.is_none();
    (sum.item.is_zero() || own) && most.saturating_mul(mem.scale.into()) <= u32::MAX.into()
}

/// Returns the reason why an index is not affine, with the value that causes it.
fn not_affine(kernel: &Kernel, sums: &AffineAnalysis<'_>, index: Value) -> Reason {
    let blamed = sums.blame(index);
    let name = kernel.value_name(blamed).map(|name| format!("`%{name}`"));
    let inst = kernel.def_inst(blamed);
    let op = inst.map(|inst| {
        let data = &kernel.insts[inst];
        match data.op.row().types {
            Some(_) => format!("`{}.{}`", data.op.name(), data.ty),
            None => format!("`{}`", data.op.name()),
        }
    });
    let value = op.unwrap_or_else(|| "a value that depends on the path taken".into());
    let (what, help) = match inst.map(|inst| (kernel.insts[inst].op, kernel.args(inst))) {
        Some((Op::Mul, &[a, b])) => match (sums.of(a), sums.of(b)) {
            (Some(a), Some(b)) if a.at_launch().is_some() && b.at_launch().is_some() => {
                ("a product of two parameters", "pass the product as a parameter of its own")
            }
            (Some(a), Some(b)) if a.at_launch().is_some() || b.at_launch().is_some() => (
                "a product of two parameters and the item's number or a counter",
                "pass the product as a parameter of its own",
            ),
            _ => ("a product of two values that differ from item to item", SUMS),
        },
        Some((Op::Load, _)) => {
            ("", "compute the index from `item_id` instead of loading it; for a small table, `select` the entry")
        }
        Some((Op::Select, _)) | None => ("", "load with each index and `select` one of the loaded values"),
        Some(_) => ("", SUMS),
    };
    let why = "its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on";
    let more = match (name.as_deref(), what) {
        (None, "") => String::new(),
        (Some(only), "") | (None, only) => format!(" ({only})"),
        (Some(name), what) => format!(" ({name}, {what})"),
    };
    Reason::from(format!("{why} {value}{more}")).help(help)
}

const SUMS: &str =
    "compute indices from `item_id`, `i32` parameters and loop counters with `add`, `sub`, and `mul` by constants";

const WIDE: Reason = Reason::with_help(
    "its `wide` index may exceed 2^32 bytes, but streams use 32-bit offsets",
    "remove `wide` if the index stays below 2^32 bytes; a `wide` index `item_id` is allowed if every item executes the access",
);

/// Reason to refuse an access through a pointer that the kernel computes.
pub(super) const NO_BUFFER: Reason = Reason::with_help(
    "its address is not in a buffer parameter of the kernel",
    "access the buffer by its parameter and an index: `%x[%i + 8]`",
);

const ACROSS_WORDS: Reason = Reason::with_help(
    "its buffer is accessed at run-time addresses, and the access may be unaligned in the data store",
    "load single bytes and join them with `concat`, or `split` the value and store its bytes; or let each item process a whole block",
);

const UNKNOWN_TRIPS: Reason = Reason::with_help(
    "the trip count of an enclosing loop is not known at launch",
    "use a counted loop with `i32` parameters or constants as bounds and a constant step, and handle the rest with `select`",
);

impl Access {
    /// Returns the stream of an access. `uniform` is `true` if all items read the same value. `guard` and `window` are
    /// the indices of the streams that hold the guard and the window of the access, if any.
    pub(super) fn stream(&self, kernel: &Kernel, uniform: bool, guard: Option<u32>, window: Option<u32>) -> Stream {
        let step = |step: &AccessStep| Step {
            loop_number: step.number,
            trips: step.trips.clone(),
            stride: step.stride.clone(),
        };
        Stream {
            buffer: Some(self.buffer),
            holds: window
                .map_or(StreamContents::Elements, |window| StreamContents::Offsets { window, stores: self.stores }),
            bytes: self.ty.bytes(),
            align: self.mem.align,
            uniform,
            scale: self.scale.clone(),
            index: self.index.clone(),
            offset: self.mem.offset,
            steps: self.steps.iter().map(step).collect(),
            guard,
            site: kernel.insts[self.inst].span,
        }
    }
}

/// Returns the stream that holds the guard of another stream. The guard's elements have `bytes` bytes.
pub(super) fn guard_of(stream: &Stream, bytes: u32) -> Stream {
    let steps = stream.steps.iter().map(|step| Step { stride: Affine::default(), ..step.clone() });
    Stream {
        buffer: None,
        holds: StreamContents::Elements,
        bytes,
        align: 1,
        uniform: stream.uniform,
        scale: Affine::default(),
        index: Affine::default(),
        offset: 0,
        steps: steps.collect(),
        guard: None,
        site: stream.site,
    }
}

/// Returns the stream that copies the whole buffer into its window.
pub(super) fn window_of(kernel: &Kernel, buffer: u32, accesses: &[Access]) -> Stream {
    let first = accesses.iter().find(|access| access.in_window && access.buffer == buffer);
    Stream {
        buffer: Some(buffer),
        holds: StreamContents::Buffer,
        bytes: 1,
        align: 1,
        uniform: true,
        site: first.map(|access| kernel.insts[access.inst].span).unwrap_or_default(),
        ..Stream::default()
    }
}
