//! Accesses of any width at a known stride, which loops execute themselves. A loop steps through
//! the elements in the buffer. If this is impossible, the loop steps through contiguous elements in
//! the access's rows.

use halfbyte_isa::halu::domain::Width;

use super::access::{Places, Site, each};
use super::context::{CHUNK, Header};
use super::dataflow::{Access, Action, Dataflow, Location, Shape};
use halfbyte_isa::trap::Space;

/// Returns the stride of an access in bytes, if a loop can execute the access but not as words of a row.
pub(super) fn stride(dataflow: &Dataflow, access: &Access) -> Option<u32> {
    let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = &access.action else { return None };
    let is_one = match place {
        Location::Global { base, .. } => base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform),
        Location::Own { space, .. } => *space == Space::Shared,
        Location::Constant { .. } | Location::Flat { .. } => false,
    };
    let Some(Shape::Affine(stride)) = place.stride_shape(dataflow) else { return None };
    let is_taken = match width {
        Width::B8 | Width::B16 => stride == width.bytes(),
        Width::B32 => stride != 4,
        Width::B64 | Width::B128 => true,
    };
    let is_all = access.guard.is_none() && !access.yields && cfg!(target_endian = "little");
    (is_one && is_all && is_taken).then_some(stride)
}

/// Returns the address of the first element of a load, and sets the stride in the header.
///
/// # Safety
/// As for [`load_affine`](super::access::load_affine).
pub(super) unsafe extern "C" fn load(header: *mut Header, site: *const Site, base: u64, offset: u32) -> *const u8 {
    // SAFETY: the caller guarantees valid arguments. The site's rows have room for the elements of all items of a row.
    unsafe {
        let site = &*site;
        let width = site.width.bytes() as usize;
        let own = header.byte_add(site.row).cast::<u8>();
        let chunks = (*header).items.next_multiple_of(CHUNK);
        if let Some(at) = site.whole_chunks(&*header, base, offset, chunks) {
            (*header).step = i64::from(site.stride.cast_signed());
            return at;
        }
        match site.whole(&*header, base, offset) {
            Some(at) if site.stride as usize == width => {
                own.copy_from_nonoverlapping(at, (*header).items as usize * width);
            }
            Some(at) => {
                for k in 0..(*header).items as usize {
                    let from = at.offset(site.stride.cast_signed() as isize * k as isize);
                    own.add(k * width).copy_from_nonoverlapping(from, width);
                }
            }
            None => {
                let places = Places::Affine { base, offset, step: site.step };
                each(header, site, places, None, |item, at, _| {
                    own.add(item as usize * width).copy_from_nonoverlapping(at, width);
                });
            }
        }
        (*header).step = width as i64;
        own
    }
}

/// Returns the address to which a loop writes the elements of a store. The address is in the buffer if all items may be
/// written there, and in the site's rows otherwise.
///
/// # Safety
/// As for [`load`].
pub(super) unsafe extern "C" fn store(header: *mut Header, site: *const Site, base: u64, offset: u32) -> *mut u8 {
    // SAFETY: the caller guarantees valid arguments.
    unsafe {
        let site = &*site;
        match site.whole(&*header, base, offset) {
            Some(at) if (*header).items.is_multiple_of(CHUNK) => {
                (*header).step = i64::from(site.stride.cast_signed());
                return at;
            }
            Some(_) => {}
            None => each(header, site, Places::Affine { base, offset, step: site.step }, None, |_, _, _| {}),
        }
        (*header).step = i64::from(site.width.bytes());
        header.byte_add(site.row).cast()
    }
}

/// Completes a store whose elements are in the site's rows.
///
/// # Safety
/// As for [`load`], after [`store`] has returned the site's rows.
pub(super) unsafe extern "C" fn end_store(header: *mut Header, site: *const Site, base: u64, offset: u32) {
    // SAFETY: the caller guarantees valid arguments. Items that may not store have left the row.
    unsafe {
        let site = &*site;
        let width = site.width.bytes() as usize;
        let own = header.byte_add(site.row).cast::<u8>();
        if let Some(at) = site.whole(&*header, base, offset) {
            if site.stride as usize == width {
                at.copy_from_nonoverlapping(own, (*header).items as usize * width);
                return;
            }
            for k in 0..(*header).items as usize {
                let to = at.offset(site.stride.cast_signed() as isize * k as isize);
                to.copy_from_nonoverlapping(own.add(k * width), width);
            }
            return;
        }
        each(header, site, Places::Affine { base, offset, step: site.step }, None, |item, at, _| {
            at.copy_from_nonoverlapping(own.add(item as usize * width), width);
        });
    }
}
