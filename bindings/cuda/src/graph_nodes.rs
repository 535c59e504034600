//! Nodes of graphs: their creation, and the parameters of their operations.

use std::ffi::c_void;

use crate::copy_pitched::Copy3D;
use crate::entry::{enter, write_out};
use crate::graph::{Work, checked, with_node};
use crate::graph_edges::list;
use crate::graph_operation::{
    CopyOperation, FillOperation, FillParams, HostParams, KernelOperation, KernelParams, KernelParamsV2, Operation,
};
use crate::status::{Result, Status};

/// Reads parameters.
///
/// # Safety
/// `params` is null or valid for a read.
pub unsafe fn read<T: Copy>(params: *const T) -> Result<T> {
    // SAFETY: the caller upholds this function's contract.
    unsafe { params.as_ref() }.copied().ok_or(Status::INVALID_VALUE)
}

/// Adds a node to a graph, and stores its handle.
///
/// # Safety
/// `node` is null or valid for a write. `dependencies` is null or has `count` elements.
unsafe fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    operation: impl FnOnce() -> Result<Operation>,
) -> Result<()> {
    let graph = checked(graph)?;
    if node.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller upholds this function's contract.
    let dependencies = unsafe { list(dependencies, count) }?;
    let added = graph.add(&dependencies, Work::Operation(operation()?))?;
    // SAFETY: as above.
    unsafe { write_out(node, added) }
}

/// Changes the operation of a node.
fn change(node: *mut c_void, run: impl FnOnce(&mut Operation) -> Result<()>) -> Result<()> {
    with_node(node, |content| match &mut content.work {
        Work::Operation(operation) => run(operation),
        Work::Child(_) => Err(Status::INVALID_VALUE),
    })
}

/// Adds a kernel node to a graph.
///
/// # Safety
/// As [`cuGraphAddKernelNode_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    params: *const KernelParams,
) -> Status {
    enter("cuGraphAddKernelNode", || {
        // SAFETY: the caller upholds this function's contract.
        let operation = || unsafe { KernelOperation::new(&read(params)?.into()) }.map(Operation::Kernel);
        // SAFETY: as above.
        unsafe { add(node, graph, dependencies, count, operation) }
    })
}

/// Adds a kernel node to a graph. The parameters of the kernel are copied.
///
/// # Safety
/// `node` is null or valid for a write. `dependencies` is null or has `count` elements. `params` is null or valid for a
/// read, and has the parameters of the kernel as `cuLaunchKernel` expects them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode_v2(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    params: *const KernelParamsV2,
) -> Status {
    enter("cuGraphAddKernelNode_v2", || {
        // SAFETY: the caller upholds this function's contract.
        let operation = || unsafe { KernelOperation::new(&read(params)?) }.map(Operation::Kernel);
        // SAFETY: as above.
        unsafe { add(node, graph, dependencies, count, operation) }
    })
}

/// Adds a node to a graph that copies memory when the graph is launched.
///
/// # Safety
/// `node` is null or valid for a write. `dependencies` is null or has `count` elements. `params` is null or valid for a
/// read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemcpyNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    params: *const Copy3D,
    context: *mut c_void,
) -> Status {
    enter("cuGraphAddMemcpyNode", || {
        // SAFETY: the caller upholds this function's contract.
        let operation = || CopyOperation::new(unsafe { read(params) }?, context).map(Operation::Copy);
        // SAFETY: as above.
        unsafe { add(node, graph, dependencies, count, operation) }
    })
}

/// Adds a node to a graph that fills memory when the graph is launched.
///
/// # Safety
/// As [`cuGraphAddMemcpyNode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemsetNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    params: *const FillParams,
    context: *mut c_void,
) -> Status {
    enter("cuGraphAddMemsetNode", || {
        // SAFETY: the caller upholds this function's contract.
        let operation = || FillOperation::new(unsafe { read(params) }?, context).map(Operation::Fill);
        // SAFETY: as above.
        unsafe { add(node, graph, dependencies, count, operation) }
    })
}

/// Adds a node to a graph that calls a host function when the graph is launched.
///
/// # Safety
/// As [`cuGraphAddMemcpyNode`]. The function can be called with its data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddHostNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    params: *const HostParams,
) -> Status {
    enter("cuGraphAddHostNode", || {
        // SAFETY: the caller upholds this function's contract.
        let operation = || unsafe { read(params) }?.checked().map(Operation::Host);
        // SAFETY: as above.
        unsafe { add(node, graph, dependencies, count, operation) }
    })
}

/// Adds a node without an operation to a graph.
///
/// # Safety
/// `node` is null or valid for a write. `dependencies` is null or has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEmptyNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphAddEmptyNode", || unsafe { add(node, graph, dependencies, count, || Ok(Operation::Empty)) })
}

/// Adds a node to a graph that executes a copy of another graph.
///
/// # Safety
/// As [`cuGraphAddEmptyNode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddChildGraphNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    child: *mut c_void,
) -> Status {
    enter("cuGraphAddChildGraphNode", || {
        let (graph, child) = (checked(graph)?, checked(child)?);
        if node.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        let dependencies = unsafe { list(dependencies, count) }?;
        let embedded = child.cloned(true);
        let added = graph.add(&dependencies, Work::Child(embedded.clone())).inspect_err(|_| embedded.destroy())?;
        // SAFETY: as above.
        unsafe { write_out(node, added) }
    })
}

/// Returns the parameters of a kernel node.
fn kernel_params(node: *mut c_void) -> Result<KernelParamsV2> {
    let mut params = Err(Status::INVALID_VALUE);
    change(node, |operation| {
        if let Operation::Kernel(kernel) = operation {
            params = Ok(kernel.params());
        }
        Ok(())
    })?;
    params
}

/// Sets the parameters of a kernel node.
///
/// # Safety
/// As [`KernelOperation::new`].
unsafe fn set_kernel_params(node: *mut c_void, params: &KernelParamsV2) -> Result<()> {
    change(node, |operation| match operation {
        Operation::Kernel(kernel) => {
            // SAFETY: the caller upholds this function's contract.
            *kernel = unsafe { KernelOperation::new(params) }?;
            Ok(())
        }
        _ => Err(Status::INVALID_VALUE),
    })
}

/// Stores the parameters of a kernel node. They belong to the node, and stay valid until its parameters are changed.
///
/// # Safety
/// `params` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams(node: *mut c_void, params: *mut KernelParams) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphKernelNodeGetParams", || unsafe { write_out(params, kernel_params(node)?.base) })
}

/// Stores the parameters of a kernel node. They belong to the node, and stay valid until its parameters are changed.
///
/// # Safety
/// `params` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams_v2(node: *mut c_void, params: *mut KernelParamsV2) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphKernelNodeGetParams_v2", || unsafe { write_out(params, kernel_params(node)?) })
}

/// Sets the parameters of a kernel node.
///
/// # Safety
/// As [`cuGraphKernelNodeSetParams_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams(node: *mut c_void, params: *const KernelParams) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphKernelNodeSetParams", || unsafe { set_kernel_params(node, &read(params)?.into()) })
}

/// Sets the parameters of a kernel node. The parameters of the kernel are copied.
///
/// # Safety
/// `params` is null or valid for a read, and has the parameters of the kernel as `cuLaunchKernel` expects them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams_v2(node: *mut c_void, params: *const KernelParamsV2) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphKernelNodeSetParams_v2", || unsafe { set_kernel_params(node, &read(params)?) })
}

/// Stores the parameters of a copy node.
///
/// # Safety
/// `params` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeGetParams(node: *mut c_void, params: *mut Copy3D) -> Status {
    enter("cuGraphMemcpyNodeGetParams", || {
        change(node, |operation| match operation {
            // SAFETY: the caller upholds this function's contract.
            Operation::Copy(copy) => unsafe { write_out(params, *copy.params) },
            _ => Err(Status::INVALID_VALUE),
        })
    })
}

/// Sets the parameters of a copy node. Its context stays the same.
///
/// # Safety
/// `params` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeSetParams(node: *mut c_void, params: *const Copy3D) -> Status {
    enter("cuGraphMemcpyNodeSetParams", || {
        // SAFETY: the caller upholds this function's contract.
        let params = unsafe { read(params) }?;
        change(node, |operation| match operation {
            Operation::Copy(copy) => {
                *copy.params = params;
                Ok(())
            }
            _ => Err(Status::INVALID_VALUE),
        })
    })
}

/// Stores the parameters of a fill node.
///
/// # Safety
/// `params` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeGetParams(node: *mut c_void, params: *mut FillParams) -> Status {
    enter("cuGraphMemsetNodeGetParams", || {
        change(node, |operation| match operation {
            // SAFETY: the caller upholds this function's contract.
            Operation::Fill(fill) => unsafe { write_out(params, fill.params) },
            _ => Err(Status::INVALID_VALUE),
        })
    })
}

/// Sets the parameters of a fill node. Its context stays the same.
///
/// # Safety
/// `params` is null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeSetParams(node: *mut c_void, params: *const FillParams) -> Status {
    enter("cuGraphMemsetNodeSetParams", || {
        // SAFETY: the caller upholds this function's contract.
        let params = unsafe { read(params) }?;
        change(node, |operation| match operation {
            Operation::Fill(fill) => fill.set(params),
            _ => Err(Status::INVALID_VALUE),
        })
    })
}

/// Stores the parameters of a host node.
///
/// # Safety
/// `params` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeGetParams(node: *mut c_void, params: *mut HostParams) -> Status {
    enter("cuGraphHostNodeGetParams", || {
        change(node, |operation| match operation {
            // SAFETY: the caller upholds this function's contract.
            Operation::Host(host) => unsafe { write_out(params, *host) },
            _ => Err(Status::INVALID_VALUE),
        })
    })
}

/// Sets the parameters of a host node.
///
/// # Safety
/// `params` is null or valid for a read. The function can be called with its data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeSetParams(node: *mut c_void, params: *const HostParams) -> Status {
    enter("cuGraphHostNodeSetParams", || {
        // SAFETY: the caller upholds this function's contract.
        let params = unsafe { read(params) }?.checked()?;
        change(node, |operation| match operation {
            Operation::Host(host) => {
                *host = params;
                Ok(())
            }
            _ => Err(Status::INVALID_VALUE),
        })
    })
}
