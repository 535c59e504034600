//! Atomic changes of memory.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrayvec::ArrayVec;
use halfbyte_isa::atomic::{AtomicOp, apply_atomic_to_element, apply_atomic_to_registers};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::Width;

/// Returns the value that an atomic operation writes if the memory holds `old`. `flushes` is `true` for global memory.
#[inline(always)]
pub(super) fn becomes(change: AtomicOp, width: Width, old: u64, operands: [[u32; 2]; 2], flushes: bool) -> u64 {
    let old = [old as u32, (old >> 32) as u32];
    let bits = 8 * width.bytes();
    let [low, high] = apply_atomic_to_element(&mut Concrete, change, bits, old, operands, flushes);
    u64::from(high) << 32 | u64::from(low)
}

/// Changes memory that no other thread accesses, and returns the old value.
///
/// # Safety
/// `at` is valid for reads and writes of the width.
#[inline(always)]
pub(super) unsafe fn change(at: *mut u8, width: Width, becomes: impl Fn(u64) -> u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match width {
            Width::B16 => {
                let at = at.cast::<u16>();
                let old = u16::from_le(at.read_unaligned()).into();
                at.write_unaligned((becomes(old) as u16).to_le());
                old
            }
            Width::B64 => {
                let at = at.cast::<u64>();
                let old = u64::from_le(at.read_unaligned());
                at.write_unaligned(becomes(old).to_le());
                old
            }
            // 128-bit operations use `change_128`, and no atomic instruction has 8 bits.
            Width::B8 | Width::B32 | Width::B128 => {
                let at = at.cast::<u32>();
                let old = u32::from_le(at.read_unaligned()).into();
                at.write_unaligned((becomes(old) as u32).to_le());
                old
            }
        }
    }
}

/// Changes memory that other threads may change at the same time, and returns the old value.
///
/// # Safety
/// As for [`change`].
pub(super) unsafe fn change_among_threads(at: *mut u8, width: Width, becomes: impl Fn(u64) -> u64) -> u64 {
    // The caller has lent memory at a misaligned address.
    if !at.addr().is_multiple_of(width.bytes() as usize) {
        let _lock = lock();
        // SAFETY: the caller's promise.
        return unsafe { change(at, width, becomes) };
    }
    macro_rules! exchange {
        ($word:ty, $atomic:ty) => {{
            // SAFETY: the caller's promise, and the address is aligned.
            let place = unsafe { <$atomic>::from_ptr(at.cast()) };
            let new = |old: $word| Some((becomes(<$word>::from_le(old).into()) as $word).to_le());
            let (Ok(old) | Err(old)) = place.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new);
            <$word>::from_le(old).into()
        }};
    }
    match width {
        Width::B16 => exchange!(u16, AtomicU16),
        Width::B64 => exchange!(u64, AtomicU64),
        Width::B8 | Width::B32 | Width::B128 => exchange!(u32, AtomicU32),
    }
}

/// Changes 128 bits, and returns the old words. Every change of such memory covers all 128 bits, so a lock makes the
/// change atomic.
///
/// # Safety
/// `at` is valid for reads and writes of 16 bytes.
pub(super) unsafe fn change_128(
    at: *mut u8,
    change: AtomicOp,
    operands: &[u32],
    flushes: bool,
    is_among_threads: bool,
) -> [u32; 4] {
    let _lock = is_among_threads.then(lock);
    let at = at.cast::<[u32; 4]>();
    // SAFETY: the caller's promise.
    let old = unsafe { at.read_unaligned() }.map(u32::from_le);
    let new: ArrayVec<u32, 4> = apply_atomic_to_registers(&mut Concrete, change, Width::B128, &old, operands, flushes);
    if let Ok(new) = new.into_inner() {
        // SAFETY: the caller's promise.
        unsafe { at.write_unaligned(new.map(u32::to_le)) };
    }
    old
}

/// Returns a lock for changes that no instruction of the host performs atomically.
fn lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
