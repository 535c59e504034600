//! Objects behind the opaque handles of the interface.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// First number. Smaller handles have a fixed meaning, such as those of the default streams.
const FIRST_NUMBER: usize = 0x10000;
/// Difference between consecutive numbers.
const STEP: usize = 16;

/// Returns a number that this function has not returned before in this process.
pub fn unique_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(FIRST_NUMBER);
    NEXT.fetch_add(STEP, Ordering::Relaxed)
}

/// Objects of a type, by handle. A handle is a number that is unique in the process. The registry therefore detects
/// handles of other types and handles of removed objects.
pub struct Registry<T> {
    objects: Mutex<BTreeMap<usize, Arc<T>>>,
}

impl<T> Registry<T> {
    /// Creates an empty registry.
    pub const fn new() -> Registry<T> {
        Registry { objects: Mutex::new(BTreeMap::new()) }
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<T>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an object, and returns its handle.
    pub fn insert(&self, value: T) -> *mut c_void {
        self.insert_arc(Arc::new(value))
    }

    /// Adds a shared object, and returns its handle.
    pub fn insert_arc(&self, value: Arc<T>) -> *mut c_void {
        let handle = unique_number();
        self.objects().insert(handle, value);
        without_provenance_mut(handle)
    }

    /// Adds an object that is created from its handle, and returns it.
    pub fn insert_with(&self, create: impl FnOnce(usize) -> T) -> Arc<T> {
        let handle = unique_number();
        let value = Arc::new(create(handle));
        self.objects().insert(handle, value.clone());
        value
    }

    /// Returns the object with the given handle, or `None` if the handle is invalid.
    pub fn get(&self, handle: *mut c_void) -> Option<Arc<T>> {
        self.objects().get(&handle.addr()).cloned()
    }

    /// Removes the object with the given handle, and returns it. Returns `None` if the handle is invalid.
    pub fn remove(&self, handle: *mut c_void) -> Option<Arc<T>> {
        self.objects().remove(&handle.addr())
    }

    /// Removes the objects for which `keep` returns `false`.
    pub fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        // The objects are dropped after the lock is released.
        let removed: Vec<_> = self.objects().extract_if(.., |_, value| !keep(value)).collect();
        drop(removed);
    }

    /// Returns all objects with their handles, from the oldest to the newest.
    pub fn all(&self) -> Vec<(usize, Arc<T>)> {
        self.objects().iter().map(|(&handle, value)| (handle, value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_valid_until_its_object_is_removed() {
        let names = Registry::new();
        let (first, second) = (names.insert("first"), names.insert_arc(Arc::new("second")));
        assert_eq!(names.get(first).as_deref(), Some(&"first"));
        assert_eq!(names.remove(first).as_deref(), Some(&"first"));
        assert_eq!((names.get(first), names.remove(first)), (None, None));
        assert_eq!(names.all(), [(second.addr(), Arc::new("second"))]);
    }

    #[test]
    fn handles_of_two_registries_differ() {
        let (names, numbers) = (Registry::new(), Registry::new());
        let (name, number) = (names.insert("name"), numbers.insert(7));
        assert_eq!((names.get(number), numbers.get(name)), (None, None));
        assert!(name.addr() >= FIRST_NUMBER && number.addr() >= FIRST_NUMBER);
    }

    #[test]
    fn objects_are_created_from_their_handles() {
        let handles = Registry::new();
        let handle = *handles.insert_with(|handle| handle);
        assert_eq!(handles.get(without_provenance_mut(handle)).as_deref(), Some(&handle));
    }

    #[test]
    fn retained_objects_keep_their_handles() {
        let numbers = Registry::new();
        let handles = [1, 2, 3].map(|number| numbers.insert(number));
        numbers.retain(|number| number % 2 == 1);
        assert_eq!(handles.map(|handle| numbers.get(handle).as_deref().copied()), [Some(1), None, Some(3)]);
    }
}
