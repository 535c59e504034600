//! Cache of PTX kernels that are loaded for direct execution.

use std::fmt;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache as Hosts;

use super::Host;
use crate::Report;

/// A bounded cache of PTX kernels that are executed directly. It loads each kernel once, for callers that repeatedly
/// receive the same texts. Threads may share it. A [`Host`] caches native code for each block size of its launches.
///
/// If the cache is full, it evicts kernels that have not been requested recently. An evicted kernel lives as long as a
/// caller holds it.
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

/// A cached kernel. The entry is `None` if the kernel has variables that launches may write,
/// because each caller then needs its own instance.
type Cached = Option<Arc<Host>>;

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Arc<str>, Cached> for Bytes {
    fn weight(&self, key: &Arc<str>, _: &Cached) -> u64 {
        key.len() as u64
    }
}

/// Typical size in bytes of a small PTX text, from which the cache estimates its number of entries.
const SMALL: u64 = 1 << 10;

impl Cache {
    /// Creates a cache of kernels whose texts take at most `most_bytes` bytes in total. A text
    /// counts once for each of its kernels. The loaded kernels are not counted. They take about
    /// sixteen times the size of their texts, plus native code after the first launch.
    pub fn new(most_bytes: u64) -> Cache {
        let count = usize::try_from(most_bytes / SMALL).unwrap_or(usize::MAX);
        Cache(Hosts::with_weighter(count.clamp(16, 1 << 16), most_bytes, Bytes))
    }

    /// Returns the kernel `name` of a PTX text. If several threads request the same kernel, one of
    /// them loads it. Errors are not cached.
    ///
    /// A kernel whose text has variables in global memory is loaded separately for each caller, so
    /// that its variables have their initial values.
    ///
    /// # Errors
    /// Returns the errors of [`Host::load`].
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

    /// Removes all kernels from the cache.
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
