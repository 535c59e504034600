//! Example: a compiler that extends halfbyte by a pass of its own, which has state and refuses
//! kernels, and by a rule book of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halfbyte_ir::{Kernel, Op, Refusal};
use halfbyte_lower::{Context, Pass, PassError, Pipeline, Rewriter};

/// The rule book `rules/own.isle`.
pub mod rules {
    halfbyte_lower::rule_book!("own");
}

impl rules::Terms for Rewriter<'_> {
    fn power(&mut self, n: i64) -> Option<i64> {
        n.cast_unsigned().is_power_of_two().then(|| n.trailing_zeros().into())
    }
}

/// A pass that counts the multiplications of all kernels. It refuses a kernel with more than `most` multiplications.
#[derive(Default)]
pub struct Products {
    /// Maximum number of multiplications in one kernel.
    pub most: usize,
    /// Number of multiplications in all kernels so far.
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
