//! Test cases that a reduction makes smaller.

use halfbyte_ir::Kernel;

use crate::runlines::{binding, size};
use crate::trial::Launch;
use halfbyte::Module;

/// A test case: a kernel with a launch.
#[derive(Clone, Debug)]
pub struct Case {
    text: String,
    kernel: Kernel,
    launch: Launch,
}

impl Case {
    /// Creates a case from a kernel. Returns `None` if the kernel is malformed.
    pub fn new(kernel: &Kernel, launch: Launch) -> Option<Case> {
        Case::read(kernel.to_string(), launch)
    }

    /// Creates a case from the text of one kernel. Returns `None` if the text is invalid or has several kernels.
    pub fn read(text: String, launch: Launch) -> Option<Case> {
        let mut kernels = halfbyte_ir::text::read(&text).ok()?.kernels;
        let kernel = kernels.pop().filter(|_| kernels.is_empty())?;
        Some(Case { text, kernel, launch })
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns the launch.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Returns the kernel's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns a module with only this kernel.
    pub fn module(&self) -> Module {
        Module::from_kernels([self.kernel.clone()]).with_text("<reduced>", &self.text)
    }

    /// Returns the number of ops in the kernel.
    pub fn ops(&self) -> usize {
        self.kernel.layout.iter().map(|&block| self.kernel.blocks[block].insts.len()).sum()
    }

    /// Returns the text of a kernel file: the kernel, and the launch as a run line for the named targets.
    pub fn file(&self, targets: &str) -> String {
        let size = size(&self.launch.shape);
        let mut text = format!("{}; run: {targets}: @{} {size}", self.text, self.kernel.name);
        let params = self.kernel.given_params();
        for (number, (param, bytes)) in params.iter().zip(&self.launch.args).enumerate() {
            text.push(' ');
            let alias = self.launch.aliases.iter().find(|alias| alias.param == number);
            text += &match alias.and_then(|alias| Some((params.get(alias.of)?, alias.offset))) {
                Some((of, offset)) => format!("{}=&{}+{offset}", param.name, of.name),
                None => binding(&param.name, param.kind, bytes),
            };
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use halfbyte_abi::{Alias, Shape};

    #[test]
    fn a_launch_is_written_as_a_run_line() {
        let text = "kernel @k(%a: i32, %x: in f16x2, %b: out i32) {\n^entry:\n  store %a, %b\n  ret\n}\n";
        let launch = Launch {
            shape: Shape::from(1),
            args: vec![vec![1; 4], vec![0, 60, 0, 64], vec![0; 8]],
            aliases: Vec::new(),
        };
        let file = Case::read(text.to_owned(), launch).map(|case| (case.ops(), case.file("halu")));
        assert_eq!(file, Some((2, format!("{text}; run: halu: @k items=1 a=0x01010101 x=[0x40003c00] b=zeros(2)\n"))));
    }

    #[test]
    fn an_argument_in_the_buffer_of_another_is_its_address() {
        let text = "kernel @k(%x: in i32, %y: inout may_alias i32) {\n^entry:\n  ret\n}\n";
        let args = vec![Vec::new(), vec![0; 8]];
        let launch = Launch { shape: Shape::from(1), args, aliases: vec![Alias { param: 0, of: 1, offset: 4 }] };
        let file = Case::read(text.to_owned(), launch).unwrap().file("halu");
        assert_eq!(file, format!("{text}; run: halu: @k items=1 x=&y+4 y=zeros(2)\n"));
    }

    #[test]
    fn rejects_malformed_kernels() {
        for text in ["", "kernel @k() {\n}\n", "kernel @k() {\n^a:\n  ret\n}\nkernel @l() {\n^a:\n  ret\n}\n"] {
            assert!(
                Case::read(text.to_owned(), Launch { shape: Shape::from(1), args: Vec::new(), aliases: Vec::new() })
                    .is_none(),
                "{text}"
            );
        }
    }
}
