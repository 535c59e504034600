//! Parser for a whole text, which parses its kernels one after another with [`super::read`].

use hashbrown::HashMap;

use super::read::Reader;
use crate::diag::Diagnostic;
use crate::kernel::{Kernel, Module};
use crate::span::Span;
use crate::wellformed::MAX_DIAGNOSTICS;

/// Parses a module and verifies its kernels.
///
/// # Errors
/// All errors of the text, in source order. The parser stops after [`MAX_DIAGNOSTICS`] errors.
pub fn read(source: &str) -> Result<Module, Vec<Diagnostic>> {
    let mut module = Module::default();
    let mut kernels = Kernels::new(source);
    while let Some(kernel) = kernels.read() {
        module.kernels.push(kernel.take());
    }
    kernels.finish().map(|()| module)
}

/// Typical size in bytes of the text of a kernel with a few dozen instructions.
const USUAL_KERNEL: usize = 1000;

/// Parser that returns the kernels of a text one by one. Each kernel is parsed and verified in the memory of the
/// previous kernel. A text with many kernels therefore needs little more memory than a text with few.
pub struct Kernels<'s> {
    reader: Reader<'s>,
    names: HashMap<&'s str, Span>,
}

impl<'s> Kernels<'s> {
    /// Creates a parser for a text.
    pub fn new(source: &'s str) -> Kernels<'s> {
        // Spans have 32-bit offsets, so a longer text is an error.
        let is_too_long = u32::try_from(source.len()).is_err();
        let mut reader = Reader::new(if is_too_long { "" } else { source });
        if is_too_long {
            let message = "the text has 4 GiB or more";
            reader.report(Diagnostic::new(Span::default(), message).expected("a shorter text"));
        }
        reader.version();
        Kernels { reader, names: HashMap::with_capacity(source.len() / USUAL_KERNEL) }
    }

    /// Returns the next kernel, which the caller may modify. Returns `None` at the end of the text
    /// and after the first error.
    pub fn read(&mut self) -> Option<&mut Kernel> {
        let is_kernel = self.next();
        (is_kernel && !self.reader.has_faults()).then_some(&mut self.reader.body.kernel)
    }

    /// Parses the remaining kernels, and checks that the text has no errors.
    ///
    /// # Errors
    /// See [`read`].
    pub fn finish(mut self) -> Result<(), Vec<Diagnostic>> {
        while self.next() {}
        let mut diagnostics = self.reader.into_diagnostics();
        if diagnostics.is_empty() {
            return Ok(());
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        diagnostics.truncate(MAX_DIAGNOSTICS);
        Err(diagnostics)
    }

    /// Parses the next kernel. Returns `false` if there is no next kernel.
    fn next(&mut self) -> bool {
        let Kernels { reader, names } = self;
        if !reader.find_kernel() {
            return false;
        }
        let (name, span) = reader.kernel_with_parts();
        if let Some(&first) = names.get(name) {
            let diagnostic = Diagnostic::new(span, format!("kernel @{name} is defined twice"));
            reader.report(diagnostic.expected("a name that is not in use").note(Some(first), "the first is here"));
        }
        names.entry(name).or_insert(span);
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const GOOD: &str = "kernel @a(%x: i32) {\n^entry:\n  ret\n}\nkernel @b() {\n^entry:\n  %i = item_id\n  ret\n}\n";

    #[test]
    fn returns_the_same_kernels_as_read() {
        let module = read(GOOD).unwrap();
        let mut kernels = Kernels::new(GOOD);
        for expected in &module.kernels {
            let kernel = kernels.read().unwrap();
            assert_eq!(kernel.to_string(), expected.to_string());
            let block = kernel.add_block();
            kernel.set_block_name(block, "other");
            kernel.layout.reverse();
        }
        assert!(kernels.read().is_none());
        assert_eq!(kernels.finish(), Ok(()));
    }

    #[test]
    fn rejects_an_unsupported_version() {
        for head in ["halfbyte 1\n", "; axpy\n\nhalfbyte 1 ; the first\n"] {
            assert_eq!(read(&format!("{head}{GOOD}")).unwrap().to_string(), read(GOOD).unwrap().to_string());
        }
        assert_eq!(read("halfbyte 1").unwrap().kernels.len(), 0);
        let wrong = |text: &str| read(text).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(wrong("halfbyte 2\nkernel <T> @a(%x: i4)"), ["version 2 of the language; expected version 1"]);
        assert_eq!(wrong("halfbyte"), ["unexpected end of the text; expected the version of the language"]);
        let twice = ["unexpected `kernel`; expected the end of the line"];
        assert_eq!(wrong(&format!("halfbyte 1 {GOOD}"))[..1], twice);
        assert_eq!(wrong(&format!("{GOOD}halfbyte 1\n")), ["unexpected `halfbyte`; expected `kernel`"]);
    }

    #[test]
    fn reports_errors_of_kernels_after_a_faulty_kernel() {
        let text =
            format!("{GOOD}kernel @a() {{\n^entry:\n  ret\n}}\nkernel @c() {{\n^entry:\n  %i = item\n  ret\n}}\n");
        let mut kernels = Kernels::new(&text);
        assert_eq!(kernels.read().unwrap().name, "a");
        assert_eq!(kernels.read().unwrap().name, "b");
        assert!(kernels.read().is_none());
        assert!(kernels.read().is_none());
        let errors = kernels.finish().unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(errors, read(&text).unwrap_err());
        assert_eq!(errors[0].message, "kernel @a is defined twice");
        // `finish` finds the errors even if the caller has requested no kernel.
        assert_eq!(Kernels::new(&text).finish(), Err(errors));
    }
}
