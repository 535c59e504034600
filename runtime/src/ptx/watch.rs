//! Looks for items that meet in memory. Items are independent: a byte that one writes no other may access.

use halfbyte_abi::{Shape, buffer_of};

use crate::trap::{Access, Space, TrapKind};

/// Several items.
const SEVERAL: u32 = u32::MAX;

/// Who has accessed each byte so far. It takes eight bytes of memory for each byte that is accessed.
pub(super) struct Watch {
    /// The launch.
    shape: Shape,
    /// The number of the item that runs, from 1.
    item: u32,
    /// By buffer and byte.
    seen: Vec<Vec<Seen>>,
}

/// The items, by their numbers from 1, that have written and read a byte; 0 where none has.
type Seen = [u32; 2];

impl Watch {
    /// Of a launch.
    pub fn new(shape: Shape) -> Watch {
        Watch { shape, item: 0, seen: Vec::new() }
    }

    /// Says which item runs from now on.
    pub fn start(&mut self, item: u32) {
        self.item = item.saturating_add(1);
    }

    /// Takes note of an access that is made, in a buffer of so many bytes.
    pub fn access(&mut self, access: Access, address: u64, count: usize, size: usize) -> Result<(), TrapKind> {
        let Some((buffer, offset)) = buffer_of(address) else { return Ok(()) };
        if self.seen.len() <= buffer {
            self.seen.resize_with(buffer + 1, Vec::new);
        }
        let Some(seen) = self.seen.get_mut(buffer) else { return Ok(()) };
        if seen.is_empty() {
            *seen = vec![[0; 2]; size];
        }
        for (place, [writer, reader]) in seen.iter_mut().enumerate().skip(offset as usize).take(count) {
            let is_other = |item: u32| item != 0 && item != self.item;
            let (other, is_written) = match access {
                _ if is_other(*writer) => (*writer, true),
                Access::Store if is_other(*reader) => (*reader, false),
                _ => (0, false),
            };
            if other != 0 {
                let other = (other != SEVERAL).then(|| self.shape.name(other - 1));
                let space = Space::Global;
                let address = address - offset + place as u64;
                return Err(TrapKind::Race { access, space, address, other, is_written });
            }
            match access {
                Access::Store => *writer = self.item,
                Access::Load if *reader == 0 => *reader = self.item,
                Access::Load if *reader != self.item => *reader = SEVERAL,
                Access::Load => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfbyte_abi::buffer_base;

    /// Whether the last of some accesses, by item, kind and byte, meets another item.
    fn races(accesses: &[(u32, Access, u64)]) -> bool {
        let mut watch = Watch::new(Shape::from((1, 16)));
        let mut last = Ok(());
        for &(item, access, byte) in accesses {
            assert_eq!(last, Ok(()), "only the last may race");
            watch.start(item);
            last = watch.access(access, buffer_base(1) + byte, 4, 16);
        }
        last.is_err()
    }

    #[test]
    fn two_items_meet_where_one_writes() {
        use Access::{Load, Store};
        assert!(races(&[(0, Store, 0), (1, Store, 0)]));
        assert!(races(&[(0, Store, 0), (1, Load, 3)]));
        assert!(races(&[(0, Load, 0), (1, Store, 0)]));
        assert!(races(&[(0, Load, 0), (1, Load, 0), (1, Store, 0)]));
        assert!(races(&[(0, Load, 0), (1, Load, 0), (0, Store, 0)]));
    }

    #[test]
    fn what_only_one_item_writes_and_reads_is_its_own() {
        use Access::{Load, Store};
        assert!(!races(&[(0, Store, 0), (0, Store, 0), (0, Load, 0)]));
        assert!(!races(&[(0, Load, 0), (1, Load, 0), (2, Load, 2)]));
        assert!(!races(&[(0, Store, 0), (1, Store, 4), (1, Load, 8), (0, Load, 8)]));
        assert!(!races(&[(0, Load, 0), (0, Store, 0), (1, Store, 12)]));
    }

    #[test]
    fn the_byte_and_the_other_item_are_named() {
        let mut watch = Watch::new(Shape::from((1, 16)));
        watch.start(7);
        assert_eq!(watch.access(Access::Store, buffer_base(0) + 6, 2, 16), Ok(()));
        watch.start(9);
        let found = watch.access(Access::Load, buffer_base(0) + 4, 4, 16);
        let (space, address) = (Space::Global, buffer_base(0) + 6);
        assert_eq!(
            found,
            Err(TrapKind::Race {
                access: Access::Load,
                space,
                address,
                other: Some(Shape::from(8).name(7)),
                is_written: true
            })
        );
    }
}
