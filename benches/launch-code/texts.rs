//! The kernels of the launch benchmark.

use halfbyte::{Module, Program, Target};

/// Type and op of a kernel that adds a scalar to each element of a buffer.
pub struct Text {
    pub target: Target,
    /// The element type.
    pub ty: &'static str,
    /// The IR op that adds.
    pub op: &'static str,
}

pub const HALU: Text = Text { target: halfbyte::HALU, ty: "i32", op: "add" };
pub const VP1: Text = Text { target: halfbyte::VP1, ty: "i32", op: "add" };
pub const HALVES: Text = Text { target: halfbyte::HALU, ty: "f16x2", op: "fadd" };
pub const BYTES: Text = Text { target: halfbyte::HALU, ty: "i8x4", op: "add_sat_u" };

impl Text {
    /// Returns the text of the kernel `@k` with the parameters `%a`, `in %x` and `inout %y`.
    /// `number` is a constant in the kernel, so that different numbers give different kernels.
    pub fn kernel(&self, number: usize) -> String {
        let Text { ty, op, .. } = self;
        format!(
            "kernel @k(%a: {ty}, %x: in {ty}, %y: inout {ty}, %z: out i32) {{
             ^entry:
               %i = item_id
               %n = const.i32 {number}
               store %n, %z[%i]
               %v = load %x[%i]
               %w = load %y[%i]
               %s = {op}.{ty} %v, %a
               %t = {op}.{ty} %w, %s
               store %t, %y[%i]
               ret
             }}"
        )
    }

    /// Compiles and loads the kernel with the constant `number`.
    pub fn program(&self, number: usize) -> Result<Program, String> {
        let module = Module::parse(&self.kernel(number)).map_err(|error| error.to_string())?;
        let binary = module.compile(self.target).map_err(|error| error.to_string())?;
        Program::load(&binary.object).map_err(|error| error.to_string())
    }
}
