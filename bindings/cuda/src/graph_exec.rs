//! Executable graphs: copies of graphs whose nodes have a fixed order.

use std::ffi::{c_char, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dependency_graph::DependencyGraph;
use crate::entry::{enter, write_out};
use crate::graph::{self, Graph, Work};
use crate::graph_operation::Operation;
use crate::init::initialised;
use crate::registry::Registry;
use crate::status::{Result, Status};
use crate::stream;

static EXECUTABLES: Registry<Executable> = Registry::new();

/// An executable graph.
pub struct Executable {
    plan: Mutex<Plan>,
    /// Lock that a launch holds while it executes the graph, so that two launches do not run at the same time.
    running: Mutex<()>,
    flags: u64,
}

/// The nodes of an executable graph. The number of a node is the handle of the corresponding node of the original
/// graph.
pub struct Plan {
    pub nodes: DependencyGraph<Step>,
    /// The nodes in the order of their execution.
    order: Vec<usize>,
}

/// Work of a node.
pub enum Step {
    Operation(Operation),
    Child(Plan),
}

/// Returns the executable graph with the given handle.
pub fn checked(executable: *mut c_void) -> Result<Arc<Executable>> {
    initialised()?;
    EXECUTABLES.get(executable).ok_or(Status::INVALID_VALUE)
}

impl Executable {
    /// Locks and returns the plan.
    pub fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes the operations of the graph. After an error of a kernel, the remaining operations are not executed.
    ///
    /// # Safety
    /// As [`Operation::run`], for all operations.
    unsafe fn run(&self) -> Result<()> {
        // The plan is not locked while host functions run.
        let operations = self.plan().operations();
        let contexts = || operations.iter().filter_map(Operation::context);
        if contexts().any(|context| !context.is_alive()) {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        contexts().try_for_each(|context| context.check())?;
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for operation in &operations {
            // SAFETY: the caller upholds this function's contract.
            unsafe { operation.run() }?;
            if operation.context().is_some_and(|context| context.error().is_some()) {
                break;
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Creates a plan from the present nodes of a graph. If there is a cycle, the error is the handle of one of its
    /// nodes.
    pub fn new(graph: &Graph) -> std::result::Result<Plan, usize> {
        let nodes = graph.nodes().map(|node, content| {
            let step = match &content.work {
                Work::Operation(operation) => Step::Operation(operation.clone()),
                Work::Child(child) => Step::Child(Plan::new(child)?),
            };
            Ok::<_, usize>((node, step))
        })?;
        Plan::of_nodes(nodes)
    }

    /// Creates a plan for nodes.
    pub fn of_nodes(nodes: DependencyGraph<Step>) -> std::result::Result<Plan, usize> {
        let order = nodes.order()?;
        Ok(Plan { nodes, order })
    }

    /// Returns the operations in the order of their execution.
    fn operations(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        self.append_operations(&mut operations);
        operations
    }

    fn append_operations(&self, operations: &mut Vec<Operation>) {
        for step in self.order.iter().filter_map(|node| self.nodes.get(*node)) {
            match step {
                Step::Operation(operation) => operations.push(operation.clone()),
                Step::Child(plan) => plan.append_operations(operations),
            }
        }
    }

    /// Returns the step of a node of the graph or of an embedded graph.
    pub fn step_mut(&mut self, node: usize) -> Option<&mut Step> {
        if self.nodes.get(node).is_some() {
            return self.nodes.get_mut(node);
        }
        self.nodes.values_mut().find_map(|step| match step {
            Step::Operation(_) => None,
            Step::Child(plan) => plan.step_mut(node),
        })
    }
}

/// Flags of an executable graph.
mod flags {
    /// Memory of the graph is freed before a launch. Graphs have no memory.
    pub(super) const AUTO_FREE: u64 = 1;
    /// The graph is uploaded when it is instantiated.
    pub(super) const UPLOAD: u64 = 2;
    /// Kernels can launch the graph.
    pub(super) const DEVICE_LAUNCH: u64 = 4;
    /// Nodes have priorities, which have no effect.
    pub(super) const NODE_PRIORITY: u64 = 8;
}

/// Reason why an executable graph was not created.
#[derive(Clone, Copy)]
enum Failure {
    /// An argument is invalid or not supported.
    Argument(Status),
    /// A node is in a cycle.
    Cycle(usize),
}

impl Failure {
    fn status(self) -> Status {
        match self {
            Failure::Argument(status) => status,
            Failure::Cycle(_) => Status::INVALID_VALUE,
        }
    }

    /// Returns the handle of the node in a cycle, or null.
    fn node(self) -> *mut c_void {
        match self {
            Failure::Argument(_) => null_mut(),
            Failure::Cycle(node) => without_provenance_mut(node),
        }
    }
}

/// Creates an executable graph, and returns its handle.
fn instantiate(graph: *mut c_void, flags: u64) -> std::result::Result<*mut c_void, Failure> {
    let graph = graph::checked(graph).map_err(Failure::Argument)?;
    let is_known = flags & !(flags::AUTO_FREE | flags::UPLOAD | flags::DEVICE_LAUNCH | flags::NODE_PRIORITY) == 0;
    if !is_known || flags & flags::AUTO_FREE != 0 && flags & flags::DEVICE_LAUNCH != 0 {
        return Err(Failure::Argument(Status::INVALID_VALUE));
    }
    if flags & flags::DEVICE_LAUNCH != 0 {
        return Err(Failure::Argument(Status::NOT_SUPPORTED));
    }
    let plan = Mutex::new(Plan::new(&graph).map_err(Failure::Cycle)?);
    Ok(EXECUTABLES.insert(Executable { plan, running: Mutex::new(()), flags }))
}

/// Creates an executable graph. If there is a cycle, stores one of its nodes, and writes a message to the log buffer.
///
/// # Safety
/// `executable` and `error_node` are null or valid for a write. `log` is null or valid for writes of `log_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiate_v2(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    error_node: *mut *mut c_void,
    log: *mut c_char,
    log_bytes: usize,
) -> Status {
    enter("cuGraphInstantiate_v2", || {
        if executable.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let created = instantiate(graph, 0);
        let (node, message) = match created {
            Err(Failure::Cycle(node)) => (node, "the graph has a cycle"),
            _ => (0, ""),
        };
        if !error_node.is_null() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { error_node.write(without_provenance_mut(node)) };
        }
        if !log.is_null() && log_bytes != 0 {
            let bytes = message.bytes().take(log_bytes - 1).chain([0]);
            for (number, byte) in bytes.enumerate() {
                // SAFETY: as above.
                unsafe { log.wrapping_add(number).write(byte as c_char) };
            }
        }
        // SAFETY: as above.
        unsafe { write_out(executable, created.map_err(Failure::status)?) }
    })
}

/// Creates an executable graph. Launches from kernels are not supported.
///
/// # Safety
/// `executable` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    flags: u64,
) -> Status {
    enter("cuGraphInstantiateWithFlags", || {
        if executable.is_null() || flags & flags::UPLOAD != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let created = instantiate(graph, flags).map_err(Failure::status)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(executable, created) }
    })
}

/// Parameters of an instantiation, a `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    /// The stream of the upload.
    stream: *mut c_void,
    error_node: *mut c_void,
    result: c_uint,
}

/// Results of an instantiation, a `CUgraphInstantiateResult`.
mod instantiate_result {
    use std::ffi::c_uint;

    pub(super) const SUCCESS: c_uint = 0;
    pub(super) const ERROR: c_uint = 1;
    pub(super) const INVALID_STRUCTURE: c_uint = 2;
}

/// Creates an executable graph, and stores the reason if that fails. Launches from kernels are not supported.
///
/// # Safety
/// `executable` is null or valid for a write. `params` is null, or valid for a read and a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithParams(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    params: *mut InstantiateParams,
) -> Status {
    enter("cuGraphInstantiateWithParams", || {
        // SAFETY: the caller upholds this function's contract.
        let params = unsafe { params.as_mut() }.ok_or(Status::INVALID_VALUE)?;
        (params.result, params.error_node) = (instantiate_result::ERROR, null_mut());
        if executable.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        if params.flags & flags::UPLOAD != 0 {
            stream::usable(params.stream)?;
        }
        let created = instantiate(graph, params.flags).map_err(|failure| {
            if let Failure::Cycle(_) = failure {
                params.result = instantiate_result::INVALID_STRUCTURE;
            }
            params.error_node = failure.node();
            failure.status()
        })?;
        params.result = instantiate_result::SUCCESS;
        // SAFETY: as above.
        unsafe { write_out(executable, created) }
    })
}

/// Stores the flags with which an executable graph was created.
///
/// # Safety
/// `flags` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecGetFlags(executable: *mut c_void, flags: *mut u64) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphExecGetFlags", || unsafe { write_out(flags, checked(executable)?.flags) })
}

/// Destroys an executable graph.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecDestroy(executable: *mut c_void) -> Status {
    enter("cuGraphExecDestroy", || {
        initialised()?;
        EXECUTABLES.remove(executable).map(drop).ok_or(Status::INVALID_VALUE)
    })
}

/// Prepares a launch of an executable graph, which needs no preparation.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphUpload(executable: *mut c_void, stream: *mut c_void) -> Status {
    enter("cuGraphUpload", || {
        stream::usable(stream)?;
        checked(executable).map(drop)
    })
}

/// Executes a graph on a stream. All operations are complete when the call returns.
///
/// # Safety
/// Host memory is valid for the copies of the graph, and its host functions can be called with their data. Until
/// the launch ends, no other code accesses memory that the graph writes, or writes memory that it accesses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> Status {
    enter("cuGraphLaunch", || {
        stream::usable(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { checked(executable)?.run() }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    /// Creates a plan of nodes without an operation. Each node depends on the next one, and a node with a plan executes
    /// it.
    fn chain(nodes: [(usize, Option<Plan>); 2]) -> Plan {
        let (mut graph, [(first, _), (second, _)]) = (DependencyGraph::new(), &nodes);
        let edge = (*second, *first);
        for (node, child) in nodes {
            let step = child.map_or(Step::Operation(Operation::Empty), Step::Child);
            assert_eq!(graph.insert(node, &[], step), Ok(()));
        }
        assert_eq!(graph.add_edges(&[edge]), Ok(()));
        Plan::of_nodes(graph).expect("there is no cycle")
    }

    #[test]
    fn the_operations_of_an_embedded_graph_belong_to_the_plan() {
        let mut plan = chain([(1, Some(chain([(3, None), (4, None)]))), (2, None)]);
        assert_eq!(plan.order, [2, 1]);
        assert_eq!(plan.operations().len(), 3);
        assert!(matches!(plan.step_mut(1), Some(Step::Child(_))));
        assert!(matches!(plan.step_mut(4), Some(Step::Operation(_))));
        assert!(plan.step_mut(5).is_none());
    }

    #[test]
    fn a_failure_names_the_node_in_a_cycle() {
        assert_eq!((Failure::Cycle(16).status(), Failure::Cycle(16).node().addr()), (Status::INVALID_VALUE, 16));
        let failure = Failure::Argument(Status::NOT_SUPPORTED);
        assert_eq!((failure.status(), failure.node().addr()), (Status::NOT_SUPPORTED, 0));
    }

    #[test]
    fn parameters_have_the_size_of_the_interface() {
        assert_eq!(size_of::<InstantiateParams>(), 32);
    }
}
