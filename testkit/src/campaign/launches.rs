//! Launches of drawn kernels.

use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, ParamKind};

use crate::trial::Launch;
use halfbyte_ir::generate::arguments;

/// Random launches of each kernel: of few items, and of more than engines do at once.
const ITEMS: [[u32; 8]; 2] = [[1, 2, 3, 4, 4, 5, 6, 8], [0, 9, 15, 16, 17, 24, 33, 40]];

/// Random launches of a kernel, now and then with a buffer that is too short.
pub fn launches(kernel: &Kernel, random: &mut Random) -> Vec<Launch> {
    let launch = |items: &[u32; 8]| {
        let items = items.get(random.below(items.len())).copied().unwrap_or(1);
        let mut args = arguments(kernel, items, random);
        let number = random.below(8 * args.len());
        if let (Some(arg), Some(param)) = (args.get_mut(number), kernel.params.get(number))
            && let ParamKind::Buffer { elem, .. } = param.kind
        {
            let bytes = elem.bytes() as usize;
            arg.truncate(random.below(arg.len() / bytes) * bytes);
        }
        Launch { items, args }
    };
    ITEMS.iter().map(launch).collect()
}
