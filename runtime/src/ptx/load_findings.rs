//! Loads from memory of the process that a launch reports, but that do not end the launch.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use halfbyte_abi::{ItemName, Shape};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::program::text_of;
use halfbyte_native::host::{HostLoad, HostMemory};

use super::Kernel;
use super::memory::AccessOrigin;

/// Reason why a load is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LoadFindingKind {
    /// The load reaches the padding of an allocation.
    Padding,
    /// The load reads bytes that nothing has written. Reported only by launches with a record of the written bytes.
    Uninitialised,
}

/// A load from memory of the process whose value is unspecified, at least in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadFinding {
    /// Reason why the load is reported.
    pub kind: LoadFindingKind,
    /// Name of the kernel.
    pub kernel: String,
    /// The work item, if known. Native code does not know the item of a load in the padding.
    pub item: Option<ItemName>,
    /// Address of the instruction in the program.
    pub address: u32,
    /// Text of the instruction.
    pub instruction: String,
    /// Source location of the instruction in the PTX text.
    pub loc: Loc,
    /// Offset of the first loaded byte from the start of the allocation.
    pub offset: u64,
    /// Size of the load in bytes.
    pub bytes: u32,
    /// Size of the allocation in bytes, without its padding.
    pub size: u64,
    /// Number of loaded bytes past the end of the allocation.
    pub excess: u64,
}

impl fmt::Display for LoadFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadFinding { kind, offset, bytes, size, excess, .. } = self;
        write!(f, "load of {bytes} bytes at byte {offset} of an allocation of {size} bytes ")?;
        match kind {
            LoadFindingKind::Padding => write!(f, "reaches {excess} bytes past its end"),
            LoadFindingKind::Uninitialised => f.write_str("reads uninitialised memory"),
        }
    }
}

/// Receiver of loads that a launch reports. It receives at most one load of each kind and instruction, after the last
/// item has run. It receives loads in the padding only after a successful launch, as [`Warn`](super::Warn) does.
#[derive(Clone, Copy)]
pub struct ReportLoad<'a>(pub &'a (dyn Fn(&LoadFinding) + Sync));

impl fmt::Debug for ReportLoad<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReportLoad(..)")
    }
}

/// Record of the bytes of memory of the process that have been written.
pub trait InitialisedBytes: fmt::Debug + Sync {
    /// Returns `true` if all of `count` bytes at an address have been written. Memory without a record counts as
    /// written.
    fn are_initialised(&self, address: u64, count: u64) -> bool;

    /// Records a write of `count` bytes at an address.
    fn initialise(&self, address: u64, count: u64);
}

/// The loads that a launch has found, by instruction.
#[derive(Default)]
pub(super) struct LoadFindings(Mutex<BTreeMap<(u32, LoadFindingKind), ItemLoad>>);

/// A load, with its work item if that is known.
struct ItemLoad {
    item: Option<u32>,
    load: HostLoad,
}

impl LoadFindings {
    /// Adds a load of an item. Keeps one load for each kind and instruction: the load that reaches furthest past the
    /// end of its allocation. The choice depends on the order of threads only if several loads reach equally far.
    pub(super) fn add(&self, kind: LoadFindingKind, item: Option<u32>, load: HostLoad) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match found.entry((load.inst, kind)) {
            Entry::Vacant(place) => {
                place.insert(ItemLoad { item, load });
            }
            Entry::Occupied(mut kept) => {
                if kept.get().load.excess() < load.excess() {
                    kept.insert(ItemLoad { item, load });
                }
            }
        }
    }

    /// Passes the loads to a receiver, in the order of the instructions. If the launch has failed, loads in the padding
    /// are left out.
    pub(super) fn report(&self, kernel: &Kernel, shape: &Shape, has_failed: bool, ReportLoad(report): ReportLoad<'_>) {
        let found = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let is_reported = |kind| !has_failed || kind == LoadFindingKind::Uninitialised;
        for ((address, kind), ItemLoad { item, load }) in found.into_iter().filter(|((_, kind), _)| is_reported(*kind))
        {
            report(&LoadFinding {
                kind,
                kernel: kernel.entry().name.clone(),
                item: item.map(|item| shape.name(item)),
                address,
                instruction: text_of(kernel.entry(), address as usize),
                loc: kernel.loc(address as usize),
                offset: load.offset(),
                bytes: load.bytes,
                size: load.allocation.bytes,
                excess: load.excess(),
            });
        }
    }
}

/// The check of a launch for loads of uninitialised memory of the process.
#[derive(Clone, Copy)]
pub(super) struct InitialisationCheck<'a> {
    pub initialised: &'a dyn InitialisedBytes,
    pub findings: &'a LoadFindings,
}

impl InitialisationCheck<'_> {
    /// Checks that the bytes of a load have been written. Loads without an instruction are not checked.
    pub(super) fn load(&self, host: &HostMemory<'_>, item: u32, address: u64, count: usize, by: AccessOrigin) {
        if let Some(inst) = by.address
            && !self.initialised.are_initialised(address, count as u64)
            && let Some(allocation) = host.around(address)
        {
            let load = HostLoad { inst: inst as u32, address, bytes: count as u32, allocation };
            self.findings.add(LoadFindingKind::Uninitialised, Some(item), load);
        }
    }
}
