//! Dead code: nodes without a use, and cells that no code reads.

use super::{Block, End, Function, ITEMS, Node};

impl Block {
    /// Returns, by node, `true` if the node has an effect or its value is read.
    pub fn live(&self) -> Vec<bool> {
        let mut is_live: Vec<bool> = self.nodes.iter().map(|node| !node.has_value()).collect();
        if let End::Branch { condition, .. } = self.end
            && let Some(condition) = is_live.get_mut(condition.index())
        {
            *condition = true;
        }
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if is_live.get(at) == Some(&true) {
                node.operands(|value| {
                    if let Some(operand) = is_live.get_mut(value.index()) {
                        *operand = true;
                    }
                });
            }
        }
        is_live
    }
}

impl Function {
    /// Removes writes of cells that no live node reads.
    pub fn prune(&mut self) {
        let order = self.order();
        loop {
            let mut is_read = vec![false; self.cells as usize];
            for block in order.iter().filter_map(|&number| self.blocks.get(number)) {
                for (node, is_live) in block.nodes.iter().zip(block.live()) {
                    if let (&Node::Cell(cell), true) = (node, is_live)
                        && let Some(is_read) = is_read.get_mut(cell.0 as usize)
                    {
                        *is_read = true;
                    }
                }
            }
            let mut is_changed = false;
            for node in self.blocks.iter_mut().flat_map(|block| &mut block.nodes) {
                if matches!(node, Node::SetCell(cell, _) if is_read.get(cell.0 as usize) == Some(&false)) {
                    // Values keep their numbers.
                    *node = Node::Constant([0; ITEMS as usize]);
                    is_changed = true;
                }
            }
            if !is_changed {
                return;
            }
        }
    }
}
