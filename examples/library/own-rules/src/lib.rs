//! Example: a custom pass, with state and a refusal, and a custom rule book, as a compiler on top
//! of halfbyte adds them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halfbyte_ir::{Kernel, Op, Refusal};
use halfbyte_lower::{Context, Pass, PassError, Pipeline, Rewriter};

/// The rules of `rules/own.isle`.
pub mod rules {
    halfbyte_lower::rule_book!("own");
}

impl rules::Terms for Rewriter<'_> {
    fn power(&mut self, n: i64) -> Option<i64> {
        n.cast_unsigned().is_power_of_two().then(|| n.trailing_zeros().into())
    }
}

/// Pass that counts the multiplications of all kernels, and refuses a kernel with too many.
#[derive(Default)]
pub struct Products {
    /// Maximum number of multiplications of a kernel.
    pub most: usize,
    /// Number of multiplications of all kernels.
    pub seen: AtomicUsize,
}

impl Pass for Products {
    fn name(&self) -> &str {
        "products"
    }

    fn run(&self, kernel: &mut Kernel, context: &mut Context<'_>) -> Result<bool, PassError> {
        let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
        let products: Vec<_> = insts.map(|&inst| kernel.insts[inst]).filter(|data| data.op == Op::Mul).collect();
        self.seen.fetch_add(products.len(), Ordering::Relaxed);
        let Some(data) = products.get(self.most) else { return Ok(false) };
        let reason = Some(format!("a kernel may have {}", self.most).into());
        Err(Refusal { op: Some((data.op, data.ty)), span: data.span, target: context.legality.target(), reason }.into())
    }
}

/// Returns the default pipeline with the custom rules, followed by the custom pass.
pub fn pipeline(products: Arc<Products>) -> Pipeline {
    let mut pipeline = Pipeline::default().with_rules(&rules::BOOK);
    pipeline.push(products);
    pipeline
}
