//! Access to the memory of contexts on other devices. All contexts share the memory of the process, so an access
//! succeeds even if peer access is not enabled.

use std::ffi::{c_uint, c_void};

use crate::context::{Context, current, find};
use crate::entry::enter;
use crate::status::{Result, Status};

/// Checks that a context can access the memory of another context: the two are on different devices.
fn check(context: &Context, peer: &Context) -> Result<()> {
    if context.id() == peer.id() {
        return Err(Status::INVALID_CONTEXT);
    }
    if context.device == peer.device { Err(Status::PEER_ACCESS_UNSUPPORTED) } else { Ok(()) }
}

/// Enables access of the current context to the memory of another context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxEnablePeerAccess(peer: *mut c_void, flags: c_uint) -> Status {
    enter("cuCtxEnablePeerAccess", || {
        let (context, peer) = (current()?, find(peer)?);
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        check(&context, &peer)?;
        if context.peers().insert(peer.id()) { Ok(()) } else { Err(Status::PEER_ACCESS_ALREADY_ENABLED) }
    })
}

/// Disables access of the current context to the memory of another context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDisablePeerAccess(peer: *mut c_void) -> Status {
    enter("cuCtxDisablePeerAccess", || {
        let (context, peer) = (current()?, find(peer)?);
        if context.peers().remove(&peer.id()) { Ok(()) } else { Err(Status::PEER_ACCESS_NOT_ENABLED) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_on_different_devices() {
        let [context, other, peer] = [0, 0, 1].map(|device| Context::register(device, 0, false));
        assert_eq!(check(&context, &peer), Ok(()));
        assert_eq!(check(&context, &other), Err(Status::PEER_ACCESS_UNSUPPORTED));
        assert_eq!(check(&context, &context), Err(Status::INVALID_CONTEXT));
    }
}
