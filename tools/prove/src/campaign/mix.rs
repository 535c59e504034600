//! Selection of random kernels for a campaign: their target, types and control flow.

use halfbyte_abi::Sm;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, Type};

use crate::random_intrinsics;
use halfbyte::Module;
use halfbyte::pipeline::{Compiler, Options};
use halfbyte_ir::generate::{Addresses, Cooperation, Palette, Shape};

/// Element types of kernels that VP1 can execute. A type that is listed several times is drawn more often.
const BYTES: [Type; 19] = [
    Type::I8X4,
    Type::I8X4,
    Type::I8X4,
    Type::I8X4,
    Type::I8X4,
    Type::I8X16,
    Type::I8X16,
    Type::I8X16,
    Type::I16X16,
    Type::I32X16,
    Type::I8,
    Type::I8,
    Type::I32,
    Type::I32,
    Type::I16,
    Type::I16X2,
    Type::F16X2,
    Type::BF16X2,
    Type::F16,
];

/// Compiler options for each target. A palette compiles ops with these options to find out which
/// ops the target accepts.
pub struct Targets {
    module: Module,
    halu: Options,
    vp1: Options,
    ptx: Options,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets::new()
    }
}

impl Targets {
    /// Returns the options of each target, with the default passes.
    pub fn new() -> Targets {
        let module = Module::from_kernels([]);
        let options = |target| Options { verify: false, ..Options::new(target) };
        Targets {
            module,
            halu: options(halfbyte::HALU),
            vp1: options(halfbyte::VP1),
            ptx: options(halfbyte::ptx(Sm::DEFAULT)),
        }
    }
}

/// A source of random kernels. Some kernels use only ops that both HALU and VP1 accept, the others
/// use the ops of one target.
pub struct Mix<'t> {
    both: Palette<'t>,
    halu: Palette<'t>,
    vp1: Palette<'t>,
    ptx: Palette<'t>,
}

impl<'t> Mix<'t> {
    /// Creates the palettes: the lists of ops and types that the targets accept.
    pub fn new(targets: &'t Targets) -> Mix<'t> {
        let takes = |options: &'t Options| {
            let mut compiler = Compiler::new(&targets.module, options);
            move |kernel: &Kernel| compiler.compile(kernel, &mut |_| {}).is_ok()
        };
        let (mut on_halu, mut on_vp1) = (takes(&targets.halu), takes(&targets.vp1));
        let both = Palette::new(move |kernel| on_vp1(kernel) && on_halu(kernel));
        let vp1 = Palette::new(takes(&targets.vp1)).with_intrinsics(&[random_intrinsics::vp1]);
        // `f64` is listed more often, because few ops produce the `f64` operands that other ops need.
        let types = [Type::ALL, &[Type::F64; 2]].concat();
        Mix {
            both: both.with_types(&BYTES).with_addresses(Addresses::Affine),
            halu: Palette::new(takes(&targets.halu))
                .with_types(&types)
                .with_intrinsics(&[random_intrinsics::halu_intrinsic]),
            ptx: Palette::new(takes(&targets.ptx)).with_types(&types).with_intrinsics(&[random_intrinsics::ptx]),
            vp1: vp1.with_types(&BYTES).with_addresses(Addresses::Affine),
        }
    }

    /// Returns kernel `number` of a campaign as text, and the random generator for the arguments of
    /// its launches. If `cooperation` is `None`, one kernel in eight is cooperative.
    pub fn draw(&mut self, seed: u64, number: u64, cooperation: Option<Cooperation>) -> (String, Random) {
        let start = Random(Random(seed).bits() ^ number).bits();
        let mut random = Random(start);
        let mut shape = Shape { traps: random.below(6) == 0, ..Shape::random(&mut random) };
        let choice = random.below(20);
        let often = if random.below(8) == 0 { Cooperation::Ordered } else { Cooperation::Never };
        shape.cooperation = cooperation.unwrap_or(often);
        if shape.cooperation == Cooperation::Ordered && random.below(2) == 0 {
            // Nested control flow is rare in these kernels, because the items at a barrier must not depend on data.
            (shape.cooperation, shape.depth) = (Cooperation::Static, shape.depth * usize::from(random.below(4) == 0));
        }
        // A trap ends a launch while other items are still running. In a cooperative kernel, the
        // memory would then depend on how far those items are.
        shape.traps &= shape.cooperation == Cooperation::Never;
        let palette = match choice {
            0..=9 if shape.cooperation != Cooperation::Never => &mut self.halu,
            _ if shape.cooperation != Cooperation::Never => &mut self.ptx,
            0..=10 => &mut self.both,
            11..=15 => &mut self.halu,
            16..=18 => &mut self.ptx,
            _ => &mut self.vp1,
        };
        if palette.addresses() == Addresses::Affine {
            // VP1 has few vector registers: the 32-bit values of four items fill one register.
            shape.live /= 4;
        }
        (palette.kernel("random", &shape, &mut random).to_string(), random)
    }
}
