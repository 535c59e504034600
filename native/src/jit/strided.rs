//! Accesses that loops make themselves: at a stride that is known, of any width. A loop goes from item to item through the buffer, and
//! where it cannot, through elements that lie one after the other in the rows of the access.

use halfbyte_isa::halu::domain::Width;

use super::access::{Places, Site, each};
use super::context::{CHUNK, Header};
use super::dataflow::{Access, Action, Dataflow, Location, Shape};
use halfbyte_isa::trap::Space;

/// How far apart the elements of an access lie in bytes, where a loop can make it but not as words of a row.
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

/// Where a loop finds what a load loads; how far apart goes to the header.
///
/// # Safety
/// As for [`load_affine`](super::access::load_affine).
pub(super) unsafe extern "C" fn load(header: *mut Header, site: *const Site, base: u64, offset: u32) -> *const u8 {
    // SAFETY: the caller's promise. The site's rows have room for the elements of a row of items.
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

/// Where a loop writes what a store stores: to the buffer, where all of it may be written, or to the site's rows.
///
/// # Safety
/// As for [`load`].
pub(super) unsafe extern "C" fn store(header: *mut Header, site: *const Site, base: u64, offset: u32) -> *mut u8 {
    // SAFETY: the caller's promise.
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

/// Ends a store whose elements are in the site's rows.
///
/// # Safety
/// As for [`load`], after [`store`] gave the site's rows.
pub(super) unsafe extern "C" fn end_store(header: *mut Header, site: *const Site, base: u64, offset: u32) {
    // SAFETY: the caller's promise. Who may not store has left the row.
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
