//! Graphs: operations with dependencies, which a program prepares and then launches together.

use std::convert::Infallible;
use std::ffi::{c_uint, c_void};
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::dependency_graph::DependencyGraph;
use crate::entry::{enter, write_out};
use crate::graph_operation::{Operation, node_type};
use crate::init::initialised;
use crate::registry::Registry;
use crate::status::{Result, Status};

/// All graphs, including those that are embedded in nodes.
static GRAPHS: Registry<Graph> = Registry::new();

/// The nodes of all graphs.
static NODES: Registry<Node> = Registry::new();

/// A graph.
pub struct Graph {
    handle: usize,
    /// `true` if the graph belongs to a node of another graph.
    is_embedded: bool,
    /// The nodes, by handle.
    nodes: Mutex<DependencyGraph<Content>>,
}

/// The registry entry of a node: the graph that contains the node.
struct Node {
    graph: Weak<Graph>,
}

/// Content of a node.
pub struct Content {
    pub work: Work,
    /// Handle of the node of which this node is a clone; 0 for other nodes.
    original: usize,
}

/// Work that a node does.
pub enum Work {
    Operation(Operation),
    /// The operations of an embedded graph.
    Child(Arc<Graph>),
}

/// Returns the graph with the given handle.
pub fn checked(graph: *mut c_void) -> Result<Arc<Graph>> {
    initialised()?;
    GRAPHS.get(graph).ok_or(Status::INVALID_VALUE)
}

/// Returns the graph of a node.
pub fn graph_of(node: *mut c_void) -> Result<Arc<Graph>> {
    initialised()?;
    NODES.get(node).and_then(|node| node.graph.upgrade()).ok_or(Status::INVALID_VALUE)
}

/// Calls a function with the content of a node.
pub fn with_node<T>(node: *mut c_void, run: impl FnOnce(&mut Content) -> Result<T>) -> Result<T> {
    run(graph_of(node)?.nodes().get_mut(node.addr()).ok_or(Status::INVALID_VALUE)?)
}

impl Graph {
    /// Creates a graph without nodes.
    fn create(is_embedded: bool) -> Arc<Graph> {
        GRAPHS.insert_with(|handle| Graph { handle, is_embedded, nodes: Mutex::new(DependencyGraph::new()) })
    }

    /// Locks and returns the nodes.
    pub fn nodes(&self) -> MutexGuard<'_, DependencyGraph<Content>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node, and returns its handle.
    pub fn add(self: &Arc<Graph>, dependencies: &[usize], work: Work) -> Result<*mut c_void> {
        let mut nodes = self.nodes();
        nodes.check_dependencies(dependencies)?;
        let node = NODES.insert(Node { graph: Arc::downgrade(self) });
        nodes.insert(node.addr(), dependencies, Content { work, original: 0 })?;
        Ok(node)
    }

    /// Returns a copy of the graph, with copies of its embedded graphs.
    pub fn cloned(&self, is_embedded: bool) -> Arc<Graph> {
        let clone = Graph::create(is_embedded);
        let Ok(nodes) = self.nodes().map(|original, content| {
            let work = match &content.work {
                Work::Operation(operation) => Work::Operation(operation.clone()),
                Work::Child(child) => Work::Child(child.cloned(true)),
            };
            let node = NODES.insert(Node { graph: Arc::downgrade(&clone) });
            Ok::<_, Infallible>((node.addr(), Content { work, original }))
        });
        *clone.nodes() = nodes;
        clone
    }

    /// Makes the handles of the graph, of its nodes, and of its embedded graphs invalid.
    pub fn destroy(&self) {
        GRAPHS.remove(without_provenance_mut(self.handle));
        let nodes = self.nodes().take();
        for (node, content) in nodes {
            content.destroy(node);
        }
    }
}

impl Content {
    /// Makes the handle of the node invalid, and destroys its embedded graph.
    fn destroy(&self, node: usize) {
        NODES.remove(without_provenance_mut(node));
        if let Work::Child(child) = &self.work {
            child.destroy();
        }
    }
}

/// Creates a graph without nodes. `flags` must be 0.
///
/// # Safety
/// `graph` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphCreate(graph: *mut *mut c_void, flags: c_uint) -> Status {
    enter("cuGraphCreate", || {
        initialised()?;
        if graph.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(graph, without_provenance_mut(Graph::create(false).handle)) }
    })
}

/// Destroys a graph with its nodes. Executable graphs that were created from it stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroy(graph: *mut c_void) -> Status {
    enter("cuGraphDestroy", || {
        let graph = checked(graph)?;
        if graph.is_embedded {
            return Err(Status::INVALID_VALUE);
        }
        graph.destroy();
        Ok(())
    })
}

/// Creates a copy of a graph.
///
/// # Safety
/// `clone` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphClone(clone: *mut *mut c_void, graph: *mut c_void) -> Status {
    enter("cuGraphClone", || {
        let graph = checked(graph)?;
        if clone.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(clone, without_provenance_mut(graph.cloned(false).handle)) }
    })
}

/// Stores the node of a cloned graph that is the copy of a node of the original graph.
///
/// # Safety
/// `node` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeFindInClone(
    node: *mut *mut c_void,
    original: *mut c_void,
    clone: *mut c_void,
) -> Status {
    enter("cuGraphNodeFindInClone", || {
        graph_of(original)?;
        let clone = checked(clone)?;
        let nodes = clone.nodes();
        let found = nodes.nodes().find(|(_, content)| content.original == original.addr());
        let (found, _) = found.ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(node, without_provenance_mut(found)) }
    })
}

/// Destroys a node, and removes it from its graph.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroyNode(node: *mut c_void) -> Status {
    enter("cuGraphDestroyNode", || {
        let removed = graph_of(node)?.nodes().remove(node.addr());
        removed.ok_or(Status::INVALID_VALUE)?.destroy(node.addr());
        Ok(())
    })
}

/// Stores the type of a node.
///
/// # Safety
/// `kind` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetType(node: *mut c_void, kind: *mut c_uint) -> Status {
    enter("cuGraphNodeGetType", || {
        let found = with_node(node, |content| {
            Ok(match &content.work {
                Work::Operation(operation) => operation.node_type(),
                Work::Child(_) => node_type::GRAPH,
            })
        })?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(kind, found) }
    })
}

/// Stores the graph that is embedded in a node. Changes of the graph change the node.
///
/// # Safety
/// `graph` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphChildGraphNodeGetGraph(node: *mut c_void, graph: *mut *mut c_void) -> Status {
    enter("cuGraphChildGraphNodeGetGraph", || {
        let handle = with_node(node, |content| match &content.work {
            Work::Operation(_) => Err(Status::INVALID_VALUE),
            Work::Child(child) => Ok(child.handle),
        })?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(graph, without_provenance_mut(handle)) }
    })
}
