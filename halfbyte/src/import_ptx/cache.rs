//! Kernels in PTX, loaded once.

use std::fmt;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache as Hosts;

use super::Host;
use crate::Report;

/// Loads each kernel of a text once: a bounded cache of kernels that are run as they stand, for who is given the same texts again and again.
/// Threads may share it. A [`Host`] keeps its native code by the layout that the shape of a launch asks for.
///
/// Kernels that are not asked for are dropped for others; one that was given out lives as long as it is held.
///
/// ```
/// use halfbyte::import_ptx::Cache;
/// let text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
/// let cache = Cache::new(64 << 20);
/// let (first, second) = (cache.host("k.ptx", text, "k")?, cache.host("k.ptx", text, "k")?);
/// assert!(std::sync::Arc::ptr_eq(&first, &second));
/// assert!(cache.host("k.ptx", text, "other").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cache(Hosts<Arc<str>, Cached, Bytes>);

/// A kernel; none of one that has variables which a launch may write, so that each is given one of its own.
type Cached = Option<Arc<Host>>;

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Arc<str>, Cached> for Bytes {
    fn weight(&self, key: &Arc<str>, _: &Cached) -> u64 {
        key.len() as u64
    }
}

/// Bytes of a small text.
const SMALL: u64 = 1 << 10;

impl Cache {
    /// A cache of kernels whose texts have so many bytes together at most, a text for each kernel of it. What is made of them comes on
    /// top: some sixteen times as much, and native code from the first launch on.
    pub fn new(most_bytes: u64) -> Cache {
        let count = usize::try_from(most_bytes / SMALL).unwrap_or(usize::MAX);
        Cache(Hosts::with_weighter(count.clamp(16, 1 << 16), most_bytes, Bytes))
    }

    /// The kernel of that name in a text. What is asked for by several threads at once is loaded by one of them; errors are not kept.
    ///
    /// A kernel whose text has variables in global memory is loaded for each who asks: it finds in them what the text says.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub fn host(&self, file: &str, text: &str, name: &str) -> Result<Arc<Host>, Report> {
        let key: Arc<str> = format!("{file}\0{name}\0{text}").into();
        let mut own = None;
        let load = || {
            let host = Arc::new(Host::load(file, text, name)?);
            let is_shared = !host.has_variables();
            own = (!is_shared).then(|| host.clone());
            Ok::<Cached, Report>(is_shared.then_some(host))
        };
        match self.0.get_or_insert_with(&key, load)?.or(own) {
            Some(host) => Ok(host),
            None => Ok(Arc::new(Host::load(file, text, name)?)),
        }
    }

    /// Drops all.
    pub fn clear(&self) {
        self.0.clear();
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("kernels", &self.0.len()).field("bytes", &self.0.weight()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

    #[test]
    fn kernels_with_variables_begin_as_the_text_says() {
        let text = format!(
            "{HEAD}.visible .global .u32 count = 3;\n.visible .entry k(.param .u64 .ptr .global .align 4 y) {{\n.reg .u32 %a; .reg .u64 %d; \
             ld.param.u64 %d, [y]; ld.global.u32 %a, [count]; st.global.u32 [%d], %a; add.u32 %a, %a, 1; st.global.u32 [count], %a; ret; }}\n"
        );
        let cache = Cache::new(1 << 20);
        for _ in 0..2 {
            let mut y = vec![0; 4];
            cache.host("k.ptx", &text, "k").unwrap().launch((1, 1), std::slice::from_mut(&mut y)).unwrap();
            assert_eq!(y, [3, 0, 0, 0]);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let cache = Cache::new(4 << 10);
        for number in 0..200 {
            let text = format!("{HEAD}// {number}\n.visible .entry k() {{ ret; }}\n");
            cache.host("k.ptx", &text, "k").unwrap();
        }
        assert!(cache.0.weight() <= 4 << 10 && !cache.0.is_empty());
    }

    #[test]
    fn threads_are_given_one_kernel() {
        let cache = Cache::new(1 << 20);
        let text = format!("{HEAD}.visible .entry k() {{ ret; }}\n");
        let ask = || cache.host("k.ptx", &text, "k").unwrap();
        let hosts = std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(ask)).map(|thread| thread.join().unwrap()));
        assert!(hosts.iter().all(|host| Arc::ptr_eq(host, &hosts[0])));
    }
}
