//! Directed graphs of nodes that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::status::{Result, Status};

/// Directed graph, with a value for each node. Nodes are identified by numbers. A node that is inserted later has a
/// larger number.
#[derive(PartialEq, Eq, Debug)]
pub struct DependencyGraph<T> {
    nodes: BTreeMap<usize, Node<T>>,
}

#[derive(PartialEq, Eq, Debug)]
struct Node<T> {
    value: T,
    /// The nodes that precede this node.
    dependencies: Vec<usize>,
    /// The nodes that follow this node.
    dependents: Vec<usize>,
}

/// Reason why two graphs differ. The numbers are those of the second graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Difference {
    /// A node that has no counterpart, if it is known.
    pub node: Option<usize>,
    /// The dependency of `node` that differs, if the node has the same number of dependencies as its counterpart.
    pub dependency: Option<usize>,
}

impl<T> DependencyGraph<T> {
    /// Creates a graph without nodes.
    pub const fn new() -> DependencyGraph<T> {
        DependencyGraph { nodes: BTreeMap::new() }
    }

    /// Checks that nodes exist and are different, so that a node can depend on them.
    pub fn check_dependencies(&self, dependencies: &[usize]) -> Result<()> {
        let mut seen = BTreeSet::new();
        let are_valid = dependencies.iter().all(|node| self.nodes.contains_key(node) && seen.insert(*node));
        if are_valid { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Inserts a node with its dependencies.
    pub fn insert(&mut self, node: usize, dependencies: &[usize], value: T) -> Result<()> {
        self.check_dependencies(dependencies)?;
        for dependency in dependencies {
            if let Some(dependency) = self.nodes.get_mut(dependency) {
                dependency.dependents.push(node);
            }
        }
        self.nodes.insert(node, Node { value, dependencies: dependencies.to_vec(), dependents: Vec::new() });
        Ok(())
    }

    /// Removes a node and its edges, and returns its value.
    pub fn remove(&mut self, node: usize) -> Option<T> {
        let removed = self.nodes.remove(&node)?;
        for neighbour in removed.dependencies.iter().chain(&removed.dependents) {
            if let Some(neighbour) = self.nodes.get_mut(neighbour) {
                neighbour.dependencies.retain(|of| *of != node);
                neighbour.dependents.retain(|of| *of != node);
            }
        }
        Some(removed.value)
    }

    /// Returns `true` if there is an edge between two nodes.
    fn has_edge(&self, (from, to): (usize, usize)) -> bool {
        self.nodes.get(&to).is_some_and(|to| to.dependencies.contains(&from))
    }

    /// Adds edges from dependencies to their dependents. If an edge is invalid or exists already, none is added.
    pub fn add_edges(&mut self, edges: &[(usize, usize)]) -> Result<()> {
        let mut seen = BTreeSet::new();
        for &(from, to) in edges {
            let are_nodes = from != to && self.nodes.contains_key(&from) && self.nodes.contains_key(&to);
            if !are_nodes || self.has_edge((from, to)) || !seen.insert((from, to)) {
                return Err(Status::INVALID_VALUE);
            }
        }
        for (from, to) in edges {
            if let Some(from) = self.nodes.get_mut(from) {
                from.dependents.push(*to);
            }
            if let Some(to) = self.nodes.get_mut(to) {
                to.dependencies.push(*from);
            }
        }
        Ok(())
    }

    /// Removes edges. If an edge does not exist, none is removed.
    pub fn remove_edges(&mut self, edges: &[(usize, usize)]) -> Result<()> {
        let mut seen = BTreeSet::new();
        if !edges.iter().all(|edge| self.has_edge(*edge) && seen.insert(*edge)) {
            return Err(Status::INVALID_VALUE);
        }
        for (from, to) in edges {
            if let Some(from) = self.nodes.get_mut(from) {
                from.dependents.retain(|node| node != to);
            }
            if let Some(to) = self.nodes.get_mut(to) {
                to.dependencies.retain(|node| node != from);
            }
        }
        Ok(())
    }

    /// Returns all nodes with their values, in the order of their insertion.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, &T)> {
        self.nodes.iter().map(|(&node, of)| (node, &of.value))
    }

    /// Returns the value of a node.
    pub fn get(&self, node: usize) -> Option<&T> {
        self.nodes.get(&node).map(|node| &node.value)
    }

    /// Returns the value of a node.
    pub fn get_mut(&mut self, node: usize) -> Option<&mut T> {
        self.nodes.get_mut(&node).map(|node| &mut node.value)
    }

    /// Returns the values of all nodes.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.nodes.values_mut().map(|node| &mut node.value)
    }

    /// Returns the dependencies of a node, in the order in which they were added.
    pub fn dependencies(&self, node: usize) -> Option<&[usize]> {
        self.nodes.get(&node).map(|node| &*node.dependencies)
    }

    /// Returns the nodes that depend on a node, in the order in which they were added.
    pub fn dependents(&self, node: usize) -> Option<&[usize]> {
        self.nodes.get(&node).map(|node| &*node.dependents)
    }

    /// Returns the nodes that have no dependencies.
    pub fn roots(&self) -> Vec<usize> {
        let is_root = |(&node, of): (&usize, &Node<T>)| of.dependencies.is_empty().then_some(node);
        self.nodes.iter().filter_map(is_root).collect()
    }

    /// Returns the nodes that have no dependents.
    fn exits(&self) -> Vec<usize> {
        let is_exit = |(&node, of): (&usize, &Node<T>)| of.dependents.is_empty().then_some(node);
        self.nodes.iter().filter_map(is_exit).collect()
    }

    /// Returns all edges, each as a dependency and its dependent.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        self.nodes.iter().flat_map(|(&to, of)| of.dependencies.iter().map(move |&from| (from, to))).collect()
    }

    /// Returns a graph with the same edges. `place` maps each node and its value to a node and a value of the new
    /// graph, in insertion order.
    pub fn map<U, E>(
        &self,
        mut place: impl FnMut(usize, &T) -> std::result::Result<(usize, U), E>,
    ) -> std::result::Result<DependencyGraph<U>, E> {
        let placed = self.nodes().map(|(node, value)| place(node, value));
        let placed: Vec<(usize, U)> = placed.collect::<std::result::Result<_, E>>()?;
        let numbers = self.nodes.keys().zip(&placed).map(|(&old, (new, _))| (old, *new));
        let numbers: BTreeMap<usize, usize> = numbers.collect();
        let renumbered =
            |nodes: &[usize]| nodes.iter().filter_map(|node| numbers.get(node).copied()).collect::<Vec<usize>>();
        let node = |(old, (number, value)): (&Node<T>, (usize, U))| {
            let (dependencies, dependents) = (renumbered(&old.dependencies), renumbered(&old.dependents));
            (number, Node { value, dependencies, dependents })
        };
        Ok(DependencyGraph { nodes: self.nodes.values().zip(placed).map(node).collect() })
    }

    /// Returns the nodes in an order in which each node follows its dependencies. If several nodes are ready, the
    /// earliest inserted one comes first. If the graph has a cycle, the error is a node of the cycle.
    pub fn order(&self) -> std::result::Result<Vec<usize>, usize> {
        // Number of dependencies of each node that are not in the order yet.
        let dependencies = self.nodes.iter().map(|(&node, of)| (node, of.dependencies.len()));
        let mut missing: BTreeMap<usize, usize> = dependencies.collect();
        let mut ready: BTreeSet<usize> = self.roots().into_iter().collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(node) = ready.pop_first() {
            order.push(node);
            missing.remove(&node);
            for dependent in self.dependents(node).unwrap_or_default() {
                let Some(count) = missing.get_mut(dependent) else { continue };
                *count -= 1;
                if *count == 0 {
                    ready.insert(*dependent);
                }
            }
        }
        self.cycle(&missing).map_or(Ok(order), Err)
    }

    /// Returns a node of a cycle. Every node in `nodes` must depend on a node in `nodes`. Returns `None` if `nodes` is
    /// empty.
    fn cycle<V>(&self, nodes: &BTreeMap<usize, V>) -> Option<usize> {
        let mut node = *nodes.first_key_value()?.0;
        // From each node, the walk always takes the same edge. After `nodes.len()` steps it is therefore in a cycle.
        for _ in 0..nodes.len() {
            node = *self.dependencies(node)?.iter().find(|dependency| nodes.contains_key(*dependency))?;
        }
        Some(node)
    }

    /// Matches the nodes of this graph with those of another graph, and returns the pairs. The nodes without dependents
    /// are paired in the order of their insertion. The dependencies of paired nodes are paired in the order in which
    /// they were added.
    pub fn pairs<U>(&self, other: &DependencyGraph<U>) -> std::result::Result<Vec<(usize, usize)>, Difference> {
        let (exits, other_exits) = (self.exits(), other.exits());
        if let Some(&node) = other_exits.get(exits.len()) {
            return Err(Difference { node: Some(node), dependency: None });
        }
        if self.nodes.len() != other.nodes.len() || exits.len() != other_exits.len() {
            return Err(Difference::default());
        }
        let mut pairs: Vec<(usize, usize)> = exits.into_iter().zip(other_exits).collect();
        let mut paired: BTreeSet<usize> = pairs.iter().map(|pair| pair.0).collect();
        let mut counterparts: BTreeMap<usize, usize> = pairs.iter().map(|&(mine, theirs)| (theirs, mine)).collect();
        let mut next = 0;
        while let Some(&(mine, theirs)) = pairs.get(next) {
            next += 1;
            let dependencies = self.dependencies(mine).unwrap_or_default();
            let other_dependencies = other.dependencies(theirs).unwrap_or_default();
            if dependencies.len() != other_dependencies.len() {
                return Err(Difference { node: Some(theirs), dependency: None });
            }
            for (&mine, &dependency) in dependencies.iter().zip(other_dependencies) {
                match counterparts.get(&dependency) {
                    Some(&counterpart) if counterpart == mine => {}
                    None if paired.insert(mine) => {
                        counterparts.insert(dependency, mine);
                        pairs.push((mine, dependency));
                    }
                    _ => return Err(Difference { node: Some(theirs), dependency: Some(dependency) }),
                }
            }
        }
        // A node that the walk does not reach is in a cycle, or a cycle depends on the node.
        if pairs.len() == self.nodes.len() { Ok(pairs) } else { Err(Difference::default()) }
    }

    /// Removes all nodes, and returns them with their values.
    pub fn take(&mut self) -> impl Iterator<Item = (usize, T)> + use<T> {
        std::mem::take(&mut self.nodes).into_iter().map(|(node, of)| (node, of.value))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    /// Creates a graph of the nodes 1 to `count`, each with its number as its value.
    fn graph(count: usize, edges: &[(usize, usize)]) -> DependencyGraph<usize> {
        let mut graph = DependencyGraph::new();
        for node in 1..=count {
            assert_eq!(graph.insert(node, &[], node), Ok(()));
        }
        assert_eq!(graph.add_edges(edges), Ok(()));
        graph
    }

    #[test]
    fn nodes_follow_their_dependencies() {
        assert_eq!(graph(0, &[]).order(), Ok(vec![]));
        assert_eq!(graph(4, &[(4, 1), (1, 3)]).order(), Ok(vec![2, 4, 1, 3]));
        assert_eq!(graph(4, &[(4, 3), (3, 2), (2, 1)]).order(), Ok(vec![4, 3, 2, 1]));
        assert_eq!(graph(4, &[(1, 2), (1, 3), (2, 4), (3, 4)]).order(), Ok(vec![1, 2, 3, 4]));
    }

    #[test]
    fn independent_nodes_stay_in_the_order_of_their_insertion() {
        assert_eq!(graph(4, &[]).order(), Ok(vec![1, 2, 3, 4]));
        assert_eq!(graph(4, &[(3, 2)]).order(), Ok(vec![1, 3, 2, 4]));
    }

    #[test]
    fn cycles_have_no_order() {
        assert_eq!(graph(2, &[(1, 2), (2, 1)]).order(), Err(1));
        // The nodes 1 and 5 are not in the cycle.
        let error = graph(5, &[(1, 2), (2, 3), (3, 4), (4, 2), (4, 5)]).order();
        assert!(matches!(error, Err(2..=4)), "{error:?}");
    }

    #[test]
    fn dependencies_exist_and_are_different() {
        let mut graph = graph(2, &[]);
        assert_eq!(graph.insert(3, &[1, 1], 3), Err(Status::INVALID_VALUE));
        assert_eq!(graph.insert(3, &[1, 4], 3), Err(Status::INVALID_VALUE));
        assert_eq!(graph.get(3), None);
        assert_eq!(graph.insert(3, &[2, 1], 3), Ok(()));
        assert_eq!((graph.dependencies(3), graph.dependents(1)), (Some(&[2, 1][..]), Some(&[3][..])));
    }

    #[test]
    fn edges_are_added_and_removed_together_or_not_at_all() {
        let mut graph = graph(3, &[(1, 2)]);
        for edges in [[(2, 3), (1, 2)], [(2, 3), (2, 3)], [(2, 3), (3, 3)], [(2, 3), (3, 4)]] {
            assert_eq!(graph.add_edges(&edges), Err(Status::INVALID_VALUE));
            assert_eq!(graph.edges(), [(1, 2)]);
        }
        assert_eq!(graph.add_edges(&[(2, 3), (1, 3)]), Ok(()));
        for edges in [[(1, 2), (2, 1)], [(1, 2), (1, 2)]] {
            assert_eq!(graph.remove_edges(&edges), Err(Status::INVALID_VALUE));
            assert_eq!(graph.edges(), [(1, 2), (2, 3), (1, 3)]);
        }
        assert_eq!(graph.remove_edges(&[(1, 3), (1, 2)]), Ok(()));
        assert_eq!((graph.edges(), graph.roots(), graph.exits()), (vec![(2, 3)], vec![1, 2], vec![1, 3]));
    }

    #[test]
    fn the_edges_of_a_node_are_removed_with_it() {
        let mut graph = graph(4, &[(1, 2), (2, 3), (1, 4)]);
        assert_eq!((graph.remove(2), graph.remove(2)), (Some(2), None));
        assert_eq!((graph.edges(), graph.roots()), (vec![(1, 4)], vec![1, 3]));
        assert_eq!(graph.order(), Ok(vec![1, 3, 4]));
    }

    #[test]
    fn a_mapped_graph_has_the_same_edges() {
        let graph = graph(3, &[(3, 1), (1, 2), (3, 2)]);
        let mapped = graph.map(|node, value| Ok::<_, Status>((node + 10, value * 2))).expect("all nodes are mapped");
        assert_eq!(mapped.nodes().collect::<Vec<_>>(), [(11, &2), (12, &4), (13, &6)]);
        assert_eq!((mapped.edges(), mapped.order()), (vec![(13, 11), (11, 12), (13, 12)], Ok(vec![13, 11, 12])));
        assert_eq!(graph.map(|_, _| Err::<(usize, ()), _>(Status::NOT_FOUND)), Err(Status::NOT_FOUND));
    }

    #[test]
    fn equal_graphs_have_pairs() {
        let edges = [(1, 2), (1, 3), (2, 4), (3, 4)];
        let other = graph(4, &edges).map(|node, _| Ok::<_, Status>((node * 10, ()))).expect("all nodes are mapped");
        let mut pairs = graph(4, &edges).pairs(&other).expect("the graphs are equal");
        pairs.sort_unstable();
        assert_eq!(pairs, [(1, 10), (2, 20), (3, 30), (4, 40)]);
        assert_eq!(graph(0, &[]).pairs(&graph(0, &[])), Ok(vec![]));
    }

    #[test]
    fn the_insertion_order_of_nodes_with_dependents_is_irrelevant() {
        let pairs = graph(3, &[(1, 3), (2, 3)]).pairs(&graph(3, &[(2, 3), (1, 3)]));
        assert_eq!(pairs, Ok(vec![(3, 3), (1, 2), (2, 1)]));
    }

    #[test]
    fn differences_of_graphs_are_found() {
        let first = graph(3, &[(1, 2), (2, 3)]);
        let difference = |node, dependency| Err(Difference { node, dependency });
        assert_eq!(first.pairs(&graph(2, &[(1, 2)])), difference(None, None));
        assert_eq!(first.pairs(&graph(3, &[(1, 2)])), difference(Some(3), None));
        assert_eq!(first.pairs(&graph(3, &[(1, 2), (2, 3), (1, 3)])), difference(Some(3), None));
        let fork = graph(4, &[(1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(fork.pairs(&graph(4, &[(1, 2), (3, 2), (2, 4), (3, 4)])), difference(Some(2), None));
        let (first, second) = ([(1, 3), (2, 3), (1, 4), (2, 4)], [(1, 3), (2, 3), (2, 4), (1, 4)]);
        assert_eq!(graph(4, &first).pairs(&graph(4, &second)), difference(Some(4), Some(2)));
        assert_eq!(graph(2, &[]).pairs(&graph(2, &[(1, 2), (2, 1)])), difference(None, None));
    }
}
