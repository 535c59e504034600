//! A pass of one's own, with a state and a refusal, and a rule book of one's own: what a compiler on top of halfbyte adds to it.

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

/// Counts the products of all kernels, and refuses a kernel that has too many.
#[derive(Default)]
pub struct Products {
    /// The most that a kernel may have.
    pub most: usize,
    /// How many all of them had.
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

/// All passes with our rules, and the pass after them.
pub fn pipeline(products: Arc<Products>) -> Pipeline {
    let mut pipeline = Pipeline::default().with_rules(&rules::BOOK);
    pipeline.push(products);
    pipeline
}
