//! Streams of a packed kernel: their regions of the data store, their cursors and their steps.

use halfbyte_abi::Signature;
use halfbyte_ir::{Direction, Kernel, Op, ParamKind, Reason, Refusal, Span, Type, stream as ir};
use halfbyte_isa::stream::{self as isa, MAX_M_WORDS, MAX_STREAMS, StreamContents};
use halfbyte_isa::vp1::TARGET;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;

/// If the streams of one group need more than the data store, returns the location of the access
/// with the largest stream, and the reason why no launch can be executed.
fn too_large(
    kernel: &Kernel,
    packing: &ir::Packing,
    streams: &[isa::Stream],
    regions: &[u32],
) -> Option<(Span, Reason)> {
    // The minimum trip counts are used, because a launch with higher trip counts needs even more memory.
    let rounds = |stream: &isa::Stream| {
        let trips = stream.steps.iter().map(|step| match step.trips {
            isa::TripCount::Const(trips) => u64::from(trips),
            isa::TripCount::Of { at_least, .. } => at_least.into(),
        });
        trips.fold(1, u64::saturating_mul)
    };
    let bytes = |items: u32| {
        let of_stream = move |(number, region): (usize, &u32)| {
            let first = regions.iter().position(|other| other == region).and_then(|first| streams.get(first))?;
            let items = if first.uniform { 1 } else { items.into() };
            let is_sized = first.holds != StreamContents::Buffer;
            let elements = rounds(first).saturating_mul(items).saturating_mul(is_sized.into());
            Some((number, elements.saturating_mul(first.element_bytes().into())))
        };
        regions.iter().enumerate().filter_map(of_stream)
    };
    let total = |items| bytes(items).fold(0, |sum: u64, (_, bytes)| sum.saturating_add(bytes));
    let (items, store) = (packing.items.max(1), DATA_STORE_BYTES as u64);
    let all = total(items);
    if all <= store {
        return None;
    }
    let (number, most) = bytes(items).max_by_key(|&(_, bytes)| bytes)?;
    let stream = packing.streams.get(number)?;
    let name = stream.buffer.and_then(|param| kernel.params.get(param as usize)).map(|param| param.name.as_str());
    let what =
        name.map_or("hold the conditions of guarded accesses".to_owned(), |name| format!("are accessed in `%{name}`"));
    let who = match items {
        1 => "one item takes".to_owned(),
        _ => format!("{items} items, which run as one group, take"),
    };
    let reason = format!("{who} at least {all} bytes of the data store, which has {store}; {most} of them {what}");
    let narrow = packing.streams.iter().find(|stream| stream.bytes == 1 && stream.buffer.is_some());
    let narrow = narrow.and_then(|stream| kernel.params.get(stream.buffer? as usize));
    let help = match narrow {
        Some(param) if items > ITEMS_WITHOUT_BYTE_ACCESSES && total(ITEMS_WITHOUT_BYTE_ACCESSES) <= store => {
            format!(
                "accesses of one byte make groups of {items}; with elements of 32 bits in `%{}` a group has {ITEMS_WITHOUT_BYTE_ACCESSES}",
                param.name
            )
        }
        _ => "access fewer bytes per item, or split the kernel".to_owned(),
    };
    Some((stream.site, Reason::from(reason).help(help)))
}

/// Number of items in a group of a kernel without one-byte accesses.
const ITEMS_WITHOUT_BYTE_ACCESSES: u32 = 4;

/// Streams of a kernel. The address register `$a` k is the cursor of region k.
pub(crate) struct Streams {
    /// Number of the region of the data store that each stream uses.
    regions: Vec<u32>,
    /// Descriptions of the streams for the emission of the object.
    pub of_tiles: Vec<isa::Stream>,
    /// Number of loads and stores that access each stream.
    accesses: Vec<u32>,
    /// Number of the first `$m` that holds each kernel parameter.
    param_words: Vec<u8>,
    /// Number of the first `$m` that holds the address of a region.
    first_word: u8,
}

impl Streams {
    /// Collects the streams of a packed kernel.
    ///
    /// # Errors
    /// Fails if the kernel has more parameters or streams than the machine supports.
    pub(super) fn new(kernel: &Kernel, packing: &ir::Packing, signature: &Signature) -> Result<Streams, Refusal> {
        let params = kernel.launch_params();
        let refuse = |span, reason: Reason| Refusal { op: None, span, target: TARGET.name(), reason: Some(reason) };
        let mut next = 0;
        let mut param_words = Vec::with_capacity(params.len());
        for (param, at_launch) in params.iter().zip(signature.params()) {
            param_words.push(next as u8);
            next += isa::m_words(at_launch.kind);
            if next > MAX_M_WORDS {
                let reason =
                    format!("its scalar parameters take more than {MAX_M_WORDS} words from `%{}` on", param.name);
                let reason = Reason::from(reason).help("pass several of them in one `in` buffer");
                return Err(refuse(param.span, reason));
            }
        }
        let mut accesses = vec![0; packing.streams.len()];
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let base = match (kernel.insts[inst].op, kernel.args(inst)) {
                (Op::Load, &[base, ..]) | (Op::Store, &[_, base, ..]) => base,
                _ => continue,
            };
            if let Some(count) = kernel.stream(base).and_then(|n| accesses.get_mut(n)) {
                *count += 1;
            }
        }
        let of_tiles = packing.streams.iter().enumerate().map(|(k, stream)| {
            let written = kernel.params.get(params.len() + k).is_some_and(|param| {
                matches!(param.kind, ParamKind::Buffer { direction: Direction::Out | Direction::InOut, .. })
            });
            let written = match stream.holds {
                StreamContents::Offsets { stores, .. } => stores,
                _ => written,
            };
            stream.clone().at(isa::AccessSite { word: 0, written })
        });
        let of_tiles: Vec<isa::Stream> = of_tiles.collect();
        let regions = isa::regions_of(&of_tiles, signature);
        let most = isa::most_regions(signature);
        let beyond = (0..).zip(&regions).find(|&(number, &region)| region as usize >= most || number == MAX_STREAMS);
        if let Some(stream) = beyond.and_then(|(number, _)| packing.streams.get::<usize>(number)) {
            return Err(refuse(
                stream.site,
                Reason::from(format!(
                    "too many streams: this access needs stream {most}, but streams are numbered below {most}"
                ))
                .help("split the kernel, or load more bytes at once and extract the parts"),
            ));
        }
        if let Some((site, reason)) = too_large(kernel, packing, &of_tiles, &regions) {
            return Err(refuse(site, reason));
        }
        Ok(Streams { regions, of_tiles, accesses, param_words, first_word: next as u8 })
    }

    fn get(&self, number: u32) -> Option<&isa::Stream> {
        self.of_tiles.get(number as usize)
    }

    /// Returns the number of streams.
    pub(super) fn count(&self) -> u32 {
        self.of_tiles.len() as u32
    }

    /// Returns `true` if the stream holds a single element that is only loaded. Such loads can be
    /// hoisted before the loop over groups.
    pub(super) fn is_read_once(&self, number: u32) -> bool {
        let is_read = |stream: &isa::Stream| stream.holds == StreamContents::Elements && !stream.site.written;
        self.get(number).is_some_and(|stream| stream.uniform && stream.steps.is_empty() && is_read(stream))
    }

    /// Returns `true` if the stream is accessed element by element and is the first one in its
    /// region, so that it sets the region's cursor.
    pub(super) fn has_cursor(&self, number: u32) -> bool {
        let first = self.regions.iter().position(|&region| region == self.region(number));
        first == Some(number as usize) && self.get(number).is_some_and(|stream| stream.holds != StreamContents::Buffer)
    }

    /// Returns `true` if each group of items begins again at the first element of the stream.
    pub(super) fn starts_again(&self, number: u32) -> bool {
        self.get(number).is_some_and(|stream| stream.uniform) && !self.is_read_once(number)
    }

    /// Returns `true` if the stream has one element and a single access, so that the cursor does not move.
    pub(super) fn has_fixed_cursor(&self, number: u32) -> bool {
        self.get(number).is_some_and(|stream| stream.uniform && stream.steps.is_empty())
            && self.accesses.get(number as usize) == Some(&1)
    }

    /// Returns the number of the region that a stream uses.
    pub(super) fn region(&self, number: u32) -> u32 {
        self.regions.get(number as usize).copied().unwrap_or(number)
    }

    /// Returns the number of the `$m` with the start of the region that a stream uses.
    pub(super) fn method_register(&self, number: u32) -> u8 {
        self.first_word + self.region(number) as u8
    }

    /// Returns the numbers of the `$m` that hold a scalar parameter.
    pub(super) fn param_words(&self, number: u32, ty: Type) -> Option<std::ops::Range<u8>> {
        let first = *self.param_words.get(number as usize)?;
        Some(first..first + ty.bits().div_ceil(32) as u8)
    }
}
