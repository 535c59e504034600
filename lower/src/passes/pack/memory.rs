//! Streams: what the loads and stores of a converted kernel have to do with the launch's buffers.

use halfbyte_ir::{
    Affine, Attr, Block, Inst, Kernel, MemAttr, Op, ParamKind, Reason, Refusal, Step, Stream, Trips, Type, Value,
    ValueDef,
};

use super::affine::{Linear, Sums, as_constant, plus};
use super::if_convert::{Site, SiteStep};

/// A load or store whose address is known when the kernel is launched.
#[derive(Clone)]
pub(super) struct Access {
    pub inst: Inst,
    /// The type loaded or stored.
    pub ty: Type,
    pub stores: bool,
    pub guard: Option<Value>,
    /// The number of the buffer's parameter.
    pub buffer: u32,
    pub mem: MemAttr,
    /// As [`Stream::scale`] and [`Stream::index`].
    pub scale: Affine,
    pub index: Affine,
    /// The loops around it, the outermost first.
    pub steps: Vec<AccessStep>,
}

/// A counted loop around an access.
#[derive(Clone)]
pub(super) struct AccessStep {
    pub number: u32,
    pub header: Block,
    /// The number of the iteration.
    pub counter: Value,
    pub trips: Trips,
    pub stride: Affine,
}

/// The most bytes of one item's access.
const MOST_BYTES: u32 = 16;

/// The accesses of a converted kernel.
///
/// # Errors
/// Loads and stores whose addresses are not known when the kernel is launched.
pub(super) fn accesses(
    kernel: &Kernel,
    sites: &[Site],
    sums: &Sums<'_>,
    target: &'static str,
) -> Result<Vec<Access>, Vec<Refusal>> {
    let (mut accesses, mut refusals) = (Vec::with_capacity(sites.len()), Vec::new());
    for site in sites {
        match access(kernel, site, sums) {
            Ok(access) => accesses.push(access),
            Err(reason) => refusals.push(refusal(kernel, site.inst, target, reason)),
        }
    }
    if refusals.is_empty() { Ok(accesses) } else { Err(refusals) }
}

/// That a target cannot do an instruction, and why.
pub(super) fn refusal(kernel: &Kernel, inst: Inst, target: &'static str, reason: impl Into<Reason>) -> Refusal {
    let data = &kernel.insts[inst];
    Refusal { op: Some((data.op, data.ty)), span: data.span, target, reason: Some(reason.into()) }
}

fn access(kernel: &Kernel, site: &Site, sums: &Sums<'_>) -> Result<Access, Reason> {
    let data = &kernel.insts[site.inst];
    let stores = data.op == Op::Store;
    let args = kernel.args(site.inst).get(usize::from(stores)..).unwrap_or_default();
    let (Some(&base), Attr::Mem(mem)) = (args.first(), data.attr) else {
        return Err(Reason::new("it has no address"));
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
    if site.steps.iter().any(|step| step.counted.is_none()) {
        return Err(UNKNOWN_TRIPS);
    }
    let (mut scale, mut index, mut counters) = (Affine::default(), Affine::default(), Vec::new());
    if let Some(&by) = args.get(1) {
        let sum = sums.of(by).ok_or_else(|| not_affine(kernel, sums, by))?;
        if mem.wide && !stays_narrow(site, mem, &sum) {
            return Err(WIDE);
        }
        scale = plus(&Affine::default(), &sum.item, mem.scale);
        index = plus(&Affine::default(), &sum.known, mem.scale);
        counters = sum.counters.into_vec();
    }
    let is_around = |header: Block| site.steps.iter().any(|step| step.header == header);
    if !counters.iter().all(|(header, _)| is_around(*header)) {
        return Err(Reason::with_help(
            "its index depends on how often a loop before it was taken",
            "use the bound that the loop counts to in place of its counter",
        ));
    }
    let step = |step: &SiteStep| {
        let (counter, trips) = step.counted.clone()?;
        let stride = counters.iter().find(|(header, _)| *header == step.header);
        let stride = stride.map_or_else(Affine::default, |(_, stride)| plus(&Affine::default(), stride, mem.scale));
        Some(AccessStep { number: step.number, header: step.header, counter, trips, stride })
    };
    let steps = site.steps.iter().filter_map(step).collect();
    Ok(Access { inst: site.inst, ty: data.ty, stores, guard: site.guard, buffer, mem, scale, index, steps })
}

/// Whether a `wide` index is the same when it is scaled modulo 2^32, as streams do it: where it is shown to stay below that, or
/// where each item makes the access at its own number. No buffer goes that far, so that an item before traps there.
fn stays_narrow(site: &Site, mem: MemAttr, sum: &Linear) -> bool {
    let Some(first) = as_constant(&sum.known) else { return false };
    let mut most = u64::from(first);
    for (header, stride) in &sum.counters {
        let step = site.steps.iter().find(|step| step.header == *header).and_then(|step| step.counted.as_ref());
        let (Some(stride), Some((_, Trips::Const(trips)))) = (as_constant(stride), step) else { return false };
        most = most.saturating_add(u64::from(stride) * u64::from(trips.saturating_sub(1)));
    }
    let own = as_constant(&sum.item) == Some(1) && sum.counters.is_empty() && site.guard.is_none();
    (sum.item.is_zero() || own) && most.saturating_mul(mem.scale.into()) <= u32::MAX.into()
}

/// What keeps an index from being a sum that is known at the launch.
fn not_affine(kernel: &Kernel, sums: &Sums<'_>, index: Value) -> Reason {
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
            ("", "an index that is computed of `item_id`, not loaded; of a table of few entries `select` the entry")
        }
        Some((Op::Select, _)) | None => ("", "load by each of the indices, and `select` one of the loaded values"),
        Some(_) => ("", SUMS),
    };
    let why = "its index is not affine in the item's number, `i32` parameters and loop counters: it depends on";
    let more = match (name.as_deref(), what) {
        (None, "") => String::new(),
        (Some(only), "") | (None, only) => format!(" ({only})"),
        (Some(name), what) => format!(" ({name}, {what})"),
    };
    Reason::from(format!("{why} {value}{more}")).help(help)
}

const SUMS: &str =
    "make indices of `item_id`, `i32` parameters and loop counters by `add`, `sub`, and `mul` by constants";

const WIDE: Reason = Reason::with_help(
    "its index is `wide`, and may be 2^32 bytes and more, which streams count modulo 2^32",
    "leave `wide` out, where the index stays below that; `item_id` itself, where every item makes the access, may be `wide`",
);

/// An access by a computed address.
pub(super) const NO_BUFFER: Reason = Reason::with_help(
    "its address is not in a buffer of the signature",
    "name the buffer's parameter, and let the index say where: `%x[%i + 8]`",
);

const UNKNOWN_TRIPS: Reason = Reason::with_help(
    "the number of trips of a loop around it is not known when the kernel is launched",
    "let the loop count from an `i32` parameter or constant by a constant step to another, and do the rest by `select`",
);

impl Access {
    /// The access as a stream. `uniform` says that all items read the same value.
    pub fn stream(&self, kernel: &Kernel, uniform: bool, guard: Option<u32>) -> Stream {
        let step = |step: &AccessStep| Step {
            loop_number: step.number,
            trips: step.trips.clone(),
            stride: step.stride.clone(),
        };
        Stream {
            buffer: Some(self.buffer),
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

/// The guard of a stream, whose elements have so many bytes.
pub(super) fn guard_of(stream: &Stream, bytes: u32) -> Stream {
    let steps = stream.steps.iter().map(|step| Step { stride: Affine::default(), ..step.clone() });
    Stream {
        buffer: None,
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
