//! Changes of executable graphs.

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::ptr::without_provenance_mut;

use crate::copy_pitched::Copy3D;
use crate::dependency_graph::Difference;
use crate::entry::enter;
use crate::graph::{self, graph_of};
use crate::graph_exec::{Plan, Step, checked};
use crate::graph_nodes::read;
use crate::graph_operation::{
    CopyOperation, FillOperation, FillParams, HostParams, KernelOperation, KernelParams, KernelParamsV2, Operation,
    update_result,
};
use crate::status::{Result, Status};

/// Reason why an executable graph was not updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Failure {
    result: c_uint,
    /// The handles of a node of the new graph and of its dependency, or 0.
    node: usize,
    dependency: usize,
}

impl Failure {
    fn of_topology(difference: Difference) -> Failure {
        let Difference { node, dependency } = difference;
        let [node, dependency] = [node, dependency].map(Option::unwrap_or_default);
        Failure { result: update_result::TOPOLOGY_CHANGED, node, dependency }
    }

    fn of_node(result: c_uint, node: usize) -> Failure {
        Failure { result, node, dependency: 0 }
    }
}

impl Plan {
    /// Returns the plan with the operations of another one, which has the same nodes and edges.
    fn updated(&self, new: &Plan) -> std::result::Result<Plan, Failure> {
        let pairs = self.nodes.pairs(&new.nodes).map_err(Failure::of_topology)?;
        let counterparts: BTreeMap<usize, usize> = pairs.into_iter().collect();
        let nodes = self.nodes.map(|node, step| {
            let counterpart = counterparts.get(&node).copied().unwrap_or_default();
            let new = new.nodes.get(counterpart).ok_or(Failure::of_topology(Difference::default()))?;
            let step = match (step, new) {
                (Step::Operation(operation), Step::Operation(new)) => {
                    operation.check_update(new).map_err(|result| Failure::of_node(result, counterpart))?;
                    Step::Operation(new.clone())
                }
                (Step::Child(plan), Step::Child(new)) => Step::Child(plan.updated(new)?),
                _ => return Err(Failure::of_node(update_result::NODE_TYPE_CHANGED, counterpart)),
            };
            Ok((node, step))
        })?;
        Plan::of_nodes(nodes).map_err(|node| Failure::of_node(update_result::TOPOLOGY_CHANGED, node))
    }
}

/// Replaces the operations of an executable graph by those of a graph.
fn update(executable: *mut c_void, graph: *mut c_void) -> std::result::Result<(), (Status, Failure)> {
    let invalid = |status| (status, Failure::of_node(update_result::ERROR, 0));
    let executable = checked(executable).map_err(invalid)?;
    let graph = graph::checked(graph).map_err(invalid)?;
    let failed = |failure| (Status::GRAPH_EXEC_UPDATE_FAILURE, failure);
    let in_cycle = |node| failed(Failure::of_node(update_result::TOPOLOGY_CHANGED, node));
    let new = Plan::new(&graph).map_err(in_cycle)?;
    let mut plan = executable.plan();
    *plan = plan.updated(&new).map_err(failed)?;
    Ok(())
}

/// Updates an executable graph with the parameters of a graph that has the same nodes and edges. If that fails, stores
/// the node of the graph that differs.
///
/// # Safety
/// `error_node` and `result` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate(
    executable: *mut c_void,
    graph: *mut c_void,
    error_node: *mut *mut c_void,
    result: *mut c_uint,
) -> Status {
    enter("cuGraphExecUpdate", || {
        let updated = update(executable, graph);
        let (code, node) =
            updated.err().map_or((update_result::SUCCESS, 0), |(_, failure)| (failure.result, failure.node));
        if !error_node.is_null() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { error_node.write(without_provenance_mut(node)) };
        }
        if !result.is_null() {
            // SAFETY: as above.
            unsafe { result.write(code) };
        }
        updated.map_err(|(status, _)| status)
    })
}

/// Result of an update, a `CUgraphExecUpdateResultInfo`.
#[repr(C)]
pub struct UpdateInfo {
    result: c_uint,
    node: *mut c_void,
    dependency: *mut c_void,
}

/// Updates an executable graph with the parameters of a graph that has the same nodes and edges. If that fails, stores
/// the node of the graph that differs, and its dependency that differs.
///
/// # Safety
/// `info` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate_v2(
    executable: *mut c_void,
    graph: *mut c_void,
    info: *mut UpdateInfo,
) -> Status {
    enter("cuGraphExecUpdate_v2", || {
        let updated = update(executable, graph);
        let failure = updated.err().map_or(Failure::of_node(update_result::SUCCESS, 0), |(_, failure)| failure);
        let Failure { result, node, dependency } = failure;
        let [node, dependency] = [node, dependency].map(without_provenance_mut);
        if !info.is_null() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { info.write(UpdateInfo { result, node, dependency }) };
        }
        updated.map_err(|(status, _)| status)
    })
}

/// Calls a function with the step of a node of an executable graph. The node must still be in the original graph.
fn change(executable: *mut c_void, node: *mut c_void, run: impl FnOnce(&mut Step) -> Result<()>) -> Result<()> {
    let executable = checked(executable)?;
    graph_of(node)?;
    let mut plan = executable.plan();
    run(plan.step_mut(node.addr()).ok_or(Status::INVALID_VALUE)?)
}

/// Replaces the operation of a node of an executable graph.
fn set(executable: *mut c_void, node: *mut c_void, new: Operation) -> Result<()> {
    change(executable, node, |step| match step {
        Step::Operation(operation) if operation.check_update(&new).is_ok() => {
            *operation = new;
            Ok(())
        }
        _ => Err(Status::INVALID_VALUE),
    })
}

/// Sets the parameters of a kernel node of an executable graph.
///
/// # Safety
/// As [`cuGraphExecKernelNodeSetParams_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const KernelParams,
) -> Status {
    enter("cuGraphExecKernelNodeSetParams", || {
        checked(executable)?;
        // SAFETY: the caller upholds this function's contract.
        let operation = unsafe { KernelOperation::new(&read(params)?.into()) }?;
        set(executable, node, Operation::Kernel(operation))
    })
}

/// Sets the parameters of a kernel node of an executable graph. The parameters of the kernel are copied.
///
/// # Safety
/// `params` is null or valid for a read, and has the parameters of the kernel as `cuLaunchKernel` expects them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams_v2(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const KernelParamsV2,
) -> Status {
    enter("cuGraphExecKernelNodeSetParams_v2", || {
        checked(executable)?;
        // SAFETY: the caller upholds this function's contract.
        let operation = unsafe { KernelOperation::new(&read(params)?) }?;
        set(executable, node, Operation::Kernel(operation))
    })
}

/// Sets the parameters of a copy node of an executable graph.
///
/// # Safety
/// `params` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemcpyNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const Copy3D,
    context: *mut c_void,
) -> Status {
    enter("cuGraphExecMemcpyNodeSetParams", || {
        checked(executable)?;
        // SAFETY: the caller upholds this function's contract.
        let operation = CopyOperation::new(unsafe { read(params) }?, context)?;
        set(executable, node, Operation::Copy(operation))
    })
}

/// Sets the parameters of a fill node of an executable graph. The size of several rows cannot change.
///
/// # Safety
/// `params` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemsetNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const FillParams,
    context: *mut c_void,
) -> Status {
    enter("cuGraphExecMemsetNodeSetParams", || {
        checked(executable)?;
        // SAFETY: the caller upholds this function's contract.
        let operation = FillOperation::new(unsafe { read(params) }?, context)?;
        set(executable, node, Operation::Fill(operation))
    })
}

/// Sets the parameters of a host node of an executable graph.
///
/// # Safety
/// `params` is null or valid for a read. The function can be called with its data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecHostNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    params: *const HostParams,
) -> Status {
    enter("cuGraphExecHostNodeSetParams", || {
        // SAFETY: the caller upholds this function's contract.
        let params = unsafe { read(params) }?.checked()?;
        set(executable, node, Operation::Host(params))
    })
}

/// Updates a node of an executable graph with a graph, as [`cuGraphExecUpdate`] does. The node executes an embedded
/// graph.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecChildGraphNodeSetParams(
    executable: *mut c_void,
    node: *mut c_void,
    child: *mut c_void,
) -> Status {
    enter("cuGraphExecChildGraphNodeSetParams", || {
        let child = graph::checked(child)?;
        let new = Plan::new(&child).map_err(|_| Status::INVALID_VALUE)?;
        change(executable, node, |step| match step {
            Step::Child(plan) => {
                *plan = plan.updated(&new).map_err(|_| Status::INVALID_VALUE)?;
                Ok(())
            }
            Step::Operation(_) => Err(Status::INVALID_VALUE),
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use crate::dependency_graph::DependencyGraph;

    fn empty() -> Step {
        Step::Operation(Operation::Empty)
    }

    fn host() -> Step {
        unsafe extern "C" fn function(_data: *mut c_void) {}
        Step::Operation(Operation::Host(HostParams { function: Some(function), data: std::ptr::null_mut() }))
    }

    fn plan(steps: impl IntoIterator<Item = (usize, Step)>, edges: &[(usize, usize)]) -> Plan {
        let mut nodes = DependencyGraph::new();
        for (node, step) in steps {
            assert_eq!(nodes.insert(node, &[], step), Ok(()));
        }
        assert_eq!(nodes.add_edges(edges), Ok(()));
        Plan::of_nodes(nodes).expect("there is no cycle")
    }

    #[test]
    fn an_update_keeps_the_nodes_of_the_executable_graph() {
        let old = plan([(1, empty()), (2, host())], &[(2, 1)]);
        let new = plan([(10, host()), (20, empty())], &[(10, 20)]);
        let updated = old.updated(&new).expect("the graphs are equal");
        assert_eq!(updated.nodes.nodes().map(|(node, _)| node).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(updated.nodes.edges(), [(2, 1)]);
    }

    #[test]
    fn an_update_does_not_change_edges_or_types() {
        let old = plan([(1, empty()), (2, host())], &[(1, 2)]);
        let fails = |new: Plan| old.updated(&new).err();
        let of_node = |result, node| Some(Failure::of_node(result, node));
        let separate = plan([(10, empty()), (20, host())], &[]);
        assert_eq!(fails(separate), of_node(update_result::TOPOLOGY_CHANGED, 20));
        let single = plan([(10, host())], &[]);
        assert_eq!(fails(single), of_node(update_result::TOPOLOGY_CHANGED, 0));
        let other = plan([(10, host()), (20, host())], &[(10, 20)]);
        assert_eq!(fails(other), of_node(update_result::NODE_TYPE_CHANGED, 10));
        let child = plan([(10, empty()), (20, Step::Child(plan([], &[])))], &[(10, 20)]);
        assert_eq!(fails(child), of_node(update_result::NODE_TYPE_CHANGED, 20));
    }

    #[test]
    fn embedded_graphs_are_updated_with_their_nodes() {
        let child = |step| Step::Child(plan([(7, step)], &[]));
        let old = plan([(1, child(empty()))], &[]);
        assert!(old.updated(&plan([(10, child(empty()))], &[])).is_ok());
        let failure = old.updated(&plan([(10, child(host()))], &[])).err();
        assert_eq!(failure, Some(Failure::of_node(update_result::NODE_TYPE_CHANGED, 7)));
    }

    #[test]
    fn results_have_the_size_of_the_interface() {
        assert_eq!(size_of::<UpdateInfo>(), 24);
    }
}
