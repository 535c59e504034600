//! Copies of a few kilobytes within the caches, between buffers and the data store of a tile. On some computers the C
//! library copies 2 to 4 KiB by `rep movsb` and `rep stosb`, which take twice as long as loops of vector instructions.

use std::hint::black_box;

/// Number of bytes that one loop iteration copies.
const BYTES: usize = 256;

type Block = [u8; BYTES];

/// Block of zeros, from which `clear` copies.
static ZEROS: Lines = Lines([0; BYTES]);

/// A block that is aligned to a cache line.
#[repr(align(64))]
struct Lines(Block);

/// Copies `from` to `to`. Does nothing if the lengths differ.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    if to.len() == from.len() {
        let ((to, last), (from, rest)) = (to.as_chunks_mut::<BYTES>(), from.as_chunks::<BYTES>());
        each(to.iter_mut().zip(from));
        last.copy_from_slice(rest);
    }
}

/// Fills `bytes` with zeros. At the same time prefetches an equal number of bytes of `next`, which
/// is written afterwards. The prefetch costs nothing, because the load units are idle.
pub(super) fn clear(bytes: &mut [u8], next: &[u8]) {
    let ((blocks, last), (next, _)) = (bytes.as_chunks_mut::<BYTES>(), next.as_chunks::<BYTES>());
    let (beside, alone) = blocks.split_at_mut(blocks.len().min(next.len()));
    // `black_box` prevents the compiler from replacing the loop by a call of the C library.
    let zeros = black_box(&ZEROS.0);
    each(beside.iter_mut().zip(next).map(|(block, next)| {
        prefetch(next);
        (block, zeros)
    }));
    each(alone.iter_mut().map(|block| (block, zeros)));
    last.fill(0);
}

/// Prefetches a block into the L1 cache.
#[inline(always)]
fn prefetch(block: &Block) {
    #[cfg(target_arch = "x86_64")]
    for line in block.as_chunks::<64>().0 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch does not access memory, and the address is valid anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = block;
}

/// Copies each block to its destination with the widest vectors that the computer supports.
#[inline]
fn each<'a>(blocks: impl Iterator<Item = (&'a mut Block, &'a Block)>) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn by_64<'a>(blocks: impl Iterator<Item = (&'a mut Block, &'a Block)>) {
            blocks.for_each(|(to, from)| *to = *from);
        }
        #[target_feature(enable = "avx2")]
        fn by_32<'a>(blocks: impl Iterator<Item = (&'a mut Block, &'a Block)>) {
            blocks.for_each(|(to, from)| *to = *from);
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the computer supports AVX-512F.
            return unsafe { by_64(blocks) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the computer supports AVX2.
            return unsafe { by_32(blocks) };
        }
    }
    blocks.for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_bytes_is_copied_wherever_it_begins() {
        let from: Vec<u8> = (0..3 * BYTES + 9).map(|k| (k % 251) as u8).collect();
        for start in [0, 1, 63] {
            for count in [0, 1, BYTES - 1, BYTES, BYTES + 1, 3 * BYTES - 64, 2 * BYTES + 5] {
                let source = &from[start..start + count];
                let mut to = vec![0xa5; start + count + 1];
                copy(&mut to[start..start + count], source);
                assert_eq!(&to[start..start + count], source);
                clear(&mut to[start..start + count], &from);
                assert!(to[start..start + count].iter().all(|&byte| byte == 0));
                assert!(to[..start].iter().chain(to.last()).all(|&byte| byte == 0xa5), "{start} {count}");
            }
        }
    }
}
