//! Content hashes.

use sha2::{Digest, Sha256};

/// Hash of a sequence of fields. The length of each field is a part of the hash, so that different
/// sequences with the same concatenation have different hashes.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Adds a field.
    pub(crate) fn add(&mut self, field: impl AsRef<[u8]>) {
        let field = field.as_ref();
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
    }

    /// Returns the hash as hexadecimal digits.
    pub(crate) fn digits(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the hash of bytes as hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.add(bytes);
    hasher.digits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart() {
        let of = |fields: &[&str]| {
            let mut hasher = Hasher::default();
            fields.iter().for_each(|field| hasher.add(field));
            hasher.digits()
        };
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&[]), of(&[""]));
        assert_eq!(hash(b"ab"), of(&["ab"]));
        assert_eq!(hash(b"").len(), 64);
    }
}
