//! Nodes and edges of graphs.

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use crate::entry::enter;
use crate::graph::{checked, graph_of};
use crate::status::{Result, Status};

/// Properties of an edge, a `CUgraphEdgeData`. All edges have the default properties, which are zeros.
pub type EdgeData = [u8; 8];

/// Reads a list of handles.
///
/// # Safety
/// `handles` is null or has `count` elements.
pub unsafe fn list(handles: *const *mut c_void, count: usize) -> Result<Vec<usize>> {
    match count {
        0 => Ok(Vec::new()),
        _ if handles.is_null() => Err(Status::INVALID_VALUE),
        // SAFETY: the caller upholds this function's contract.
        _ => Ok(unsafe { std::slice::from_raw_parts(handles, count) }.iter().map(|handle| handle.addr()).collect()),
    }
}

/// Reads a list of edges, each a dependency and its dependent.
///
/// # Safety
/// `from`, `to` and `data` are null or have `count` elements.
unsafe fn edge_list(
    from: *const *mut c_void,
    to: *const *mut c_void,
    data: *const EdgeData,
    count: usize,
) -> Result<Vec<(usize, usize)>> {
    // SAFETY: the caller upholds this function's contract.
    let (from, to) = unsafe { (list(from, count)?, list(to, count)?) };
    if !data.is_null() && count != 0 {
        // SAFETY: as above.
        let data = unsafe { std::slice::from_raw_parts(data, count) };
        if data.iter().any(|data| *data != EdgeData::default()) {
            return Err(Status::NOT_SUPPORTED);
        }
    }
    Ok(from.into_iter().zip(to).collect())
}

/// Stores rows of handles in one array per column. If all arrays are null, stores only the number of rows in `count`.
/// Otherwise `count` holds the size of the arrays, and receives the number of stored rows. Unused elements become null.
///
/// # Safety
/// `count` is null, or valid for a read and a write. `columns` and `data` are null or valid for as many writes as
/// `count` says.
unsafe fn write_out_rows<const N: usize>(
    rows: &[[usize; N]],
    columns: [*mut *mut c_void; N],
    data: *mut EdgeData,
    count: *mut usize,
) -> Result<()> {
    // SAFETY: the caller upholds this function's contract.
    let count = unsafe { count.as_mut() }.ok_or(Status::INVALID_VALUE)?;
    if columns.iter().all(|column| column.is_null()) && data.is_null() {
        *count = rows.len();
        return Ok(());
    }
    if columns.iter().any(|column| column.is_null()) {
        return Err(Status::INVALID_VALUE);
    }
    for number in 0..*count {
        let row = rows.get(number).copied().map_or([null_mut(); N], |row| row.map(without_provenance_mut));
        for (column, handle) in columns.into_iter().zip(row) {
            // SAFETY: the number is less than the size of the array.
            unsafe { column.wrapping_add(number).write(handle) };
        }
        if !data.is_null() {
            // SAFETY: as above.
            unsafe { data.wrapping_add(number).write(EdgeData::default()) };
        }
    }
    *count = rows.len().min(*count);
    Ok(())
}

/// Stores a list of nodes, as [`give_rows`] does.
///
/// # Safety
/// As [`give_rows`].
unsafe fn give_nodes(nodes: &[usize], to: *mut *mut c_void, data: *mut EdgeData, count: *mut usize) -> Result<()> {
    let rows: Vec<[usize; 1]> = nodes.iter().map(|node| [*node]).collect();
    // SAFETY: the caller upholds this function's contract.
    unsafe { write_out_rows(&rows, [to], data, count) }
}

/// Stores the nodes of a graph in the order in which they were added. If `nodes` is null, stores only their number.
///
/// # Safety
/// `count` is null, or valid for a read and a write. `nodes` is null, or valid for as many writes as `count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) -> Status {
    enter("cuGraphGetNodes", || {
        let found: Vec<usize> = checked(graph)?.nodes().nodes().map(|(node, _)| node).collect();
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, null_mut(), count) }
    })
}

/// Stores the nodes of a graph that have no dependencies. If `nodes` is null, stores only their number.
///
/// # Safety
/// As [`cuGraphGetNodes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetRootNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) -> Status {
    enter("cuGraphGetRootNodes", || {
        let found = checked(graph)?.nodes().roots();
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, null_mut(), count) }
    })
}

/// Stores the edges of a graph.
///
/// # Safety
/// As [`cuGraphGetEdges_v2`].
unsafe fn give_edges(
    graph: *mut c_void,
    from: *mut *mut c_void,
    to: *mut *mut c_void,
    data: *mut EdgeData,
    count: *mut usize,
) -> Result<()> {
    let edges = checked(graph)?.nodes().edges();
    let rows: Vec<[usize; 2]> = edges.into_iter().map(<[usize; 2]>::from).collect();
    // SAFETY: the caller upholds this function's contract.
    unsafe { write_out_rows(&rows, [from, to], data, count) }
}

/// Stores the edges of a graph. If `from` and `to` are null, stores only their number.
///
/// # Safety
/// As [`cuGraphGetEdges_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges(
    graph: *mut c_void,
    from: *mut *mut c_void,
    to: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphGetEdges", || unsafe { give_edges(graph, from, to, null_mut(), count) })
}

/// Stores the edges of a graph with their properties. If all arrays are null, stores only the number of edges.
///
/// # Safety
/// `count` is null, or valid for a read and a write. The arrays are null, or valid for as many writes as `count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges_v2(
    graph: *mut c_void,
    from: *mut *mut c_void,
    to: *mut *mut c_void,
    data: *mut EdgeData,
    count: *mut usize,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGraphGetEdges_v2", || unsafe { give_edges(graph, from, to, data, count) })
}

/// Returns the dependencies of a node, or the nodes that depend on it.
fn neighbours(node: *mut c_void, are_dependents: bool) -> Result<Vec<usize>> {
    let graph = graph_of(node)?;
    let nodes = graph.nodes();
    let found = if are_dependents { nodes.dependents(node.addr()) } else { nodes.dependencies(node.addr()) };
    Ok(found.ok_or(Status::INVALID_VALUE)?.to_vec())
}

/// Stores the dependencies of a node. If `nodes` is null, stores only their number.
///
/// # Safety
/// As [`cuGraphGetNodes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    enter("cuGraphNodeGetDependencies", || {
        let found = neighbours(node, false)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, null_mut(), count) }
    })
}

/// Stores the dependencies of a node, with the properties of their edges. If both arrays are null, stores only the
/// number of dependencies.
///
/// # Safety
/// As [`cuGraphGetEdges_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies_v2(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    data: *mut EdgeData,
    count: *mut usize,
) -> Status {
    enter("cuGraphNodeGetDependencies_v2", || {
        let found = neighbours(node, false)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, data, count) }
    })
}

/// Stores the nodes that depend on a node. If `nodes` is null, stores only their number.
///
/// # Safety
/// As [`cuGraphGetNodes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    enter("cuGraphNodeGetDependentNodes", || {
        let found = neighbours(node, true)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, null_mut(), count) }
    })
}

/// Stores the nodes that depend on a node, with the properties of their edges. If both arrays are null, stores only the
/// number of nodes.
///
/// # Safety
/// As [`cuGraphGetEdges_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes_v2(
    node: *mut c_void,
    nodes: *mut *mut c_void,
    data: *mut EdgeData,
    count: *mut usize,
) -> Status {
    enter("cuGraphNodeGetDependentNodes_v2", || {
        let found = neighbours(node, true)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_nodes(&found, nodes, data, count) }
    })
}

/// Adds edges to a graph. A cycle becomes an error when the graph is instantiated.
///
/// # Safety
/// `from` and `to` are null or have `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    count: usize,
) -> Status {
    enter("cuGraphAddDependencies", || {
        // SAFETY: the caller upholds this function's contract.
        let edges = unsafe { edge_list(from, to, std::ptr::null(), count) }?;
        checked(graph)?.nodes().add_edges(&edges)
    })
}

/// Adds edges with their properties to a graph. Only the default properties are supported.
///
/// # Safety
/// `from`, `to` and `data` are null or have `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies_v2(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    data: *const EdgeData,
    count: usize,
) -> Status {
    enter("cuGraphAddDependencies_v2", || {
        // SAFETY: the caller upholds this function's contract.
        let edges = unsafe { edge_list(from, to, data, count) }?;
        checked(graph)?.nodes().add_edges(&edges)
    })
}

/// Removes edges from a graph.
///
/// # Safety
/// As [`cuGraphAddDependencies`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    count: usize,
) -> Status {
    enter("cuGraphRemoveDependencies", || {
        // SAFETY: the caller upholds this function's contract.
        let edges = unsafe { edge_list(from, to, std::ptr::null(), count) }?;
        checked(graph)?.nodes().remove_edges(&edges)
    })
}

/// Removes edges with their properties from a graph.
///
/// # Safety
/// As [`cuGraphAddDependencies_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies_v2(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    data: *const EdgeData,
    count: usize,
) -> Status {
    enter("cuGraphRemoveDependencies_v2", || {
        // SAFETY: the caller upholds this function's contract.
        let edges = unsafe { edge_list(from, to, data, count) }?;
        checked(graph)?.nodes().remove_edges(&edges)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the handles of an array of three elements, and the count, after rows were stored in it.
    fn stored(rows: &[[usize; 1]], mut count: usize) -> ([usize; 3], usize) {
        let mut handles = [without_provenance_mut(7); 3];
        // SAFETY: the count is at most 3.
        assert_eq!(unsafe { write_out_rows(rows, [handles.as_mut_ptr()], null_mut(), &raw mut count) }, Ok(()));
        (handles.map(|handle| handle.addr()), count)
    }

    #[test]
    fn an_array_has_as_many_elements_as_the_count_says() {
        assert_eq!(stored(&[[16], [32]], 3), ([16, 32, 0], 2));
        assert_eq!(stored(&[[16], [32]], 1), ([16, 7, 7], 1));
        assert_eq!(stored(&[], 0), ([7, 7, 7], 0));
    }

    #[test]
    fn without_arrays_the_rows_are_counted() {
        let mut count = 0;
        // SAFETY: the count is valid.
        let given = unsafe { write_out_rows(&[[16, 32]], [null_mut(); 2], null_mut(), &raw mut count) };
        assert_eq!((given, count), (Ok(()), 1));
        let mut handle = null_mut();
        for columns in [[&raw mut handle, null_mut()], [null_mut(), &raw mut handle]] {
            // SAFETY: the count and the column are valid.
            let given = unsafe { write_out_rows(&[[16, 32]], columns, null_mut(), &raw mut count) };
            assert_eq!(given, Err(Status::INVALID_VALUE));
        }
        // SAFETY: all pointers are null.
        let given = unsafe { write_out_rows(&[[16, 32]], [null_mut(); 2], null_mut(), null_mut()) };
        assert_eq!(given, Err(Status::INVALID_VALUE));
    }

    #[test]
    fn edges_have_default_properties() {
        let (from, to) = ([without_provenance_mut(16)], [without_provenance_mut(32)]);
        // SAFETY: the arrays have one element.
        let read = |data: *const EdgeData| unsafe { edge_list(from.as_ptr(), to.as_ptr(), data, 1) };
        assert_eq!(read(std::ptr::null()), Ok(vec![(16, 32)]));
        assert_eq!(read(&[0; 8]), Ok(vec![(16, 32)]));
        assert_eq!(read(&[0, 0, 1, 0, 0, 0, 0, 0]), Err(Status::NOT_SUPPORTED));
        // SAFETY: all pointers are null.
        let none = |count| unsafe { edge_list(std::ptr::null(), std::ptr::null(), std::ptr::null(), count) };
        assert_eq!((none(0), none(1)), (Ok(vec![]), Err(Status::INVALID_VALUE)));
    }
}
