//! Copies of rows and of layers of rows, each at a fixed distance from the one before.

use std::ffi::{c_uint, c_void};

use crate::context;
use crate::copy::{Side, copy_unchecked};
use crate::entry::enter;
use crate::status::{Result, Status};
use crate::stream;

/// Types of memory, a `CUmemorytype`.
mod memory_type {
    use std::ffi::c_uint;

    pub(super) const HOST: c_uint = 1;
    pub(super) const DEVICE: c_uint = 2;
    pub(super) const ARRAY: c_uint = 3;
    pub(super) const UNIFIED: c_uint = 4;
}

/// Source or destination of a [`Copy2D`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side2D {
    x_bytes: usize,
    y: usize,
    memory_type: c_uint,
    host: *const c_void,
    device: u64,
    array: *mut c_void,
    pitch: usize,
}

/// Copy of rows, a `CUDA_MEMCPY2D_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy2D {
    from: Side2D,
    to: Side2D,
    width_bytes: usize,
    height: usize,
}

/// Source or destination of a [`Copy3D`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side3D {
    x_bytes: usize,
    y: usize,
    z: usize,
    mipmap_level: usize,
    memory_type: c_uint,
    host: *const c_void,
    device: u64,
    array: *mut c_void,
    /// Context of the memory in a copy between devices. Other copies ignore it.
    context: *mut c_void,
    pitch: usize,
    height: usize,
}

/// Copy of layers of rows, a `CUDA_MEMCPY3D_v2` or a `CUDA_MEMCPY3D_PEER`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    from: Side3D,
    to: Side3D,
    width_bytes: usize,
    height: usize,
    depth: usize,
}

/// Size of the memory that a copy transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extent {
    /// Number of bytes of a row.
    width: u64,
    /// Number of rows of a layer.
    height: u64,
    /// Number of layers.
    depth: u64,
}

impl Extent {
    fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// Location of the rows of a source or destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rows {
    /// Address of the first row.
    first: Side,
    /// Distance between rows in bytes.
    row: u64,
    /// Distance between layers in bytes.
    layer: u64,
    /// Number of bytes from the first byte of the first row to the last byte of the last row.
    span: u64,
}

impl Rows {
    /// Returns the address of a row.
    fn address(self, row: u64, layer: u64) -> u64 {
        self.first.address() + layer * self.layer + row * self.row
    }

    /// Returns `true` if rows of two sides may overlap.
    fn overlaps(self, other: Rows) -> bool {
        let (first, second) = (self.first.address(), other.first.address());
        first < second + other.span && second < first + self.span
    }
}

impl Side3D {
    /// Checks the source or destination, and returns the location of its rows. The extent is not empty.
    fn rows(&self, extent: Extent) -> Result<Rows> {
        if self.mipmap_level != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let base = match self.memory_type {
            memory_type::HOST => Side::Host(self.host.expose_provenance() as u64),
            memory_type::DEVICE => Side::Device(self.device),
            memory_type::UNIFIED => Side::Unified(self.device),
            memory_type::ARRAY => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_VALUE),
        };
        let [x, y, z, pitch, height] = [self.x_bytes, self.y, self.z, self.pitch, self.height].map(|size| size as u64);
        rows(base, [x, y, z], pitch, height, extent)
    }
}

/// Computes the location of rows, and checks their memory. `start` has the numbers of the first byte, row and layer.
/// The pitch of a single row, and the height of a single layer, may be 0.
fn rows(base: Side, start: [u64; 3], pitch: u64, height: u64, extent: Extent) -> Result<Rows> {
    let [x, y, z] = start;
    // A null pointer stays invalid with an offset.
    if base.address() == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let place = || {
        let row_end = x.checked_add(extent.width)?;
        let layer_end = y.checked_add(extent.height)?;
        let is_first_layer = z == 0 && extent.depth == 1;
        let pitch = if pitch == 0 && layer_end == 1 && is_first_layer { row_end } else { pitch };
        let height = if height == 0 && is_first_layer { layer_end } else { height };
        if pitch < row_end || height < layer_end {
            return None;
        }
        let layer = pitch.checked_mul(height)?;
        let offset = z.checked_mul(layer)?.checked_add(y.checked_mul(pitch)?)?.checked_add(x)?;
        let last = (extent.depth - 1).checked_mul(layer)?.checked_add((extent.height - 1).checked_mul(pitch)?)?;
        Some((offset, pitch, layer, last.checked_add(extent.width)?))
    };
    let (offset, row, layer, span) = place().ok_or(Status::INVALID_VALUE)?;
    let first = base.offset(offset)?;
    first.offset(span)?;
    first.checked(span)?;
    Ok(Rows { first, row, layer, span })
}

impl Copy3D {
    /// Returns a copy of rows as a copy of one layer.
    fn of_2d(copy: &Copy2D) -> Copy3D {
        let side = |side: &Side2D| Side3D {
            x_bytes: side.x_bytes,
            y: side.y,
            z: 0,
            mipmap_level: 0,
            memory_type: side.memory_type,
            host: side.host,
            device: side.device,
            array: side.array,
            context: std::ptr::null_mut(),
            pitch: side.pitch,
            height: 0,
        };
        let Copy2D { from, to, width_bytes, height } = copy;
        Copy3D { from: side(from), to: side(to), width_bytes: *width_bytes, height: *height, depth: 1 }
    }

    /// Checks both sides, and copies. The memory of the sides may overlap.
    ///
    /// # Safety
    /// Host memory is valid for the access. No other code accesses the memory meanwhile.
    pub unsafe fn run(&self) -> Result<()> {
        let [width, height, depth] = [self.width_bytes, self.height, self.depth].map(|size| size as u64);
        let extent = Extent { width, height, depth };
        if extent.is_empty() {
            return Ok(());
        }
        let (to, from) = (self.to.rows(extent)?, self.from.rows(extent)?);
        if !to.overlaps(from) {
            for (row, layer) in numbers(extent) {
                // SAFETY: the rows are in memory that was checked, or that the caller ensures to be valid.
                unsafe { copy_unchecked(to.address(row, layer), from.address(row, layer), self.width_bytes) };
            }
            return Ok(());
        }
        // All rows are read before the first one is written.
        let mut rows: Vec<u8> = Vec::new();
        let bytes = self.width_bytes.checked_mul(self.height).and_then(|bytes| bytes.checked_mul(self.depth));
        let bytes = bytes.ok_or(Status::OUT_OF_MEMORY)?;
        rows.try_reserve_exact(bytes).map_err(|_| Status::OUT_OF_MEMORY)?;
        rows.resize(bytes, 0);
        for ((row, layer), held) in numbers(extent).zip(rows.chunks_exact_mut(self.width_bytes)) {
            let held = held.as_mut_ptr().expose_provenance() as u64;
            // SAFETY: as above, and the held row has this width.
            unsafe { copy_unchecked(held, from.address(row, layer), self.width_bytes) };
        }
        for ((row, layer), held) in numbers(extent).zip(rows.chunks_exact(self.width_bytes)) {
            let held = held.as_ptr().expose_provenance() as u64;
            // SAFETY: as above.
            unsafe { copy_unchecked(to.address(row, layer), held, self.width_bytes) };
        }
        Ok(())
    }
}

/// Returns the numbers of all rows, each with the number of its layer.
fn numbers(extent: Extent) -> impl Iterator<Item = (u64, u64)> {
    (0..extent.depth).flat_map(move |layer| (0..extent.height).map(move |row| (row, layer)))
}

/// Runs a copy of rows in the current context.
///
/// # Safety
/// `copy` is null or valid for a read. Host memory is valid for the access. No other code accesses the memory
/// meanwhile.
unsafe fn copy_2d(copy: *const Copy2D) -> Result<()> {
    context::usable()?;
    // SAFETY: the caller upholds this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: as above.
    unsafe { Copy3D::of_2d(copy).run() }
}

/// Runs a copy of layers in the current context.
///
/// # Safety
/// As [`copy_2d`].
unsafe fn copy_3d(copy: *const Copy3D) -> Result<()> {
    context::usable()?;
    // SAFETY: the caller upholds this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: as above.
    unsafe { copy.run() }
}

/// Runs a copy of layers between devices. All devices share the memory of the process, so the contexts are checked but
/// not used.
///
/// # Safety
/// As [`copy_2d`].
unsafe fn copy_3d_peer(copy: *const Copy3D) -> Result<()> {
    context::usable()?;
    // SAFETY: the caller upholds this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    for side in [&copy.to, &copy.from] {
        if side.memory_type == memory_type::DEVICE {
            context::bindable(side.context)?;
        }
    }
    // SAFETY: as above.
    unsafe { copy.run() }
}

/// Copies rows.
///
/// # Safety
/// `copy` is null or valid for a read. Host memory is valid for the access. No other code accesses the memory
/// meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2D_v2(copy: *const Copy2D) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpy2D_v2", || unsafe { copy_2d(copy) })
}

/// Copies rows with any pitch.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(copy: *const Copy2D) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpy2DUnaligned_v2", || unsafe { copy_2d(copy) })
}

/// Copies rows, on a stream.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: *mut c_void) -> Status {
    enter("cuMemcpy2DAsync_v2", || {
        context::usable()?;
        stream::checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy_2d(copy) }
    })
}

/// Copies layers of rows.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2(copy: *const Copy3D) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpy3D_v2", || unsafe { copy_3d(copy) })
}

/// Copies layers of rows, on a stream.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DAsync_v2(copy: *const Copy3D, stream: *mut c_void) -> Status {
    enter("cuMemcpy3DAsync_v2", || {
        context::usable()?;
        stream::checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy_3d(copy) }
    })
}

/// Copies layers of rows between devices.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeer(copy: *const Copy3D) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemcpy3DPeer", || unsafe { copy_3d_peer(copy) })
}

/// Copies layers of rows between devices, on a stream.
///
/// # Safety
/// As [`cuMemcpy2D_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeerAsync(copy: *const Copy3D, stream: *mut c_void) -> Status {
    enter("cuMemcpy3DPeerAsync", || {
        context::usable()?;
        stream::checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy_3d_peer(copy) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_LAYER: Extent = Extent { width: 8, height: 3, depth: 1 };

    fn place(start: [u64; 3], pitch: u64, height: u64, extent: Extent) -> Option<(u64, u64, u64, u64)> {
        let rows = rows(Side::Host(0x1000), start, pitch, height, extent).ok()?;
        Some((rows.first.address() - 0x1000, rows.row, rows.layer, rows.span))
    }

    #[test]
    fn rows_start_at_their_offsets() {
        assert_eq!(place([4, 2, 0], 16, 0, ONE_LAYER), Some((36, 16, 80, 40)));
        let layers = Extent { depth: 2, ..ONE_LAYER };
        assert_eq!(place([4, 2, 1], 16, 5, layers), Some((116, 16, 80, 120)));
    }

    #[test]
    fn a_single_row_needs_no_pitch() {
        let row = Extent { width: 8, height: 1, depth: 1 };
        assert_eq!(place([4, 0, 0], 0, 0, row), Some((4, 12, 12, 8)));
        assert_eq!(place([0, 1, 0], 0, 0, row), None);
        assert_eq!(place([0, 0, 0], 0, 0, ONE_LAYER), None);
    }

    #[test]
    fn rows_do_not_overlap_the_next_row_or_layer() {
        assert_eq!(place([0, 0, 0], 7, 0, ONE_LAYER), None);
        assert_eq!(place([1, 0, 0], 8, 0, ONE_LAYER), None);
        let layers = Extent { depth: 2, ..ONE_LAYER };
        assert_eq!(place([0, 0, 0], 8, 2, layers), None);
        assert_eq!(place([0, 1, 0], 8, 3, layers), None);
        assert_eq!(place([0, 0, 0], 8, 0, layers), None);
        assert_eq!(place([0, 0, 0], 8, 3, layers), Some((0, 8, 24, 48)));
    }

    #[test]
    fn sizes_that_overflow_are_invalid() {
        let huge = u64::MAX / 2;
        assert_eq!(place([0, 0, 0], huge, 0, ONE_LAYER), None);
        assert_eq!(place([0, huge, 0], 16, 0, ONE_LAYER), None);
        assert_eq!(place([u64::MAX - 16, 0, 0], u64::MAX, 0, Extent { height: 1, ..ONE_LAYER }), None);
        assert_eq!(rows(Side::Host(0), [8, 0, 0], 16, 0, ONE_LAYER), Err(Status::INVALID_VALUE));
    }

    #[test]
    fn structures_have_the_sizes_of_the_interface() {
        assert_eq!((size_of::<Side2D>(), size_of::<Copy2D>()), (56, 128));
        assert_eq!((size_of::<Side3D>(), size_of::<Copy3D>()), (88, 200));
    }
}
