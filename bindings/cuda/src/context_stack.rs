//! The contexts of each thread: a stack, whose top is the current context.

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::Arc;

use crate::context::{Context, bindable};
use crate::entry::{enter, write_out};
use crate::init::initialised;
use crate::status::Status;

/// Stack of contexts.
struct Stack<T> {
    top: Option<T>,
    below: Vec<T>,
}

impl<T> Stack<T> {
    const fn new() -> Stack<T> {
        Stack { top: None, below: Vec::new() }
    }

    /// Adds a context, which becomes the current one.
    fn push(&mut self, context: T) {
        self.below.extend(self.top.replace(context));
    }

    /// Removes and returns the current context, if any. The context below becomes the current one.
    fn pop(&mut self) -> Option<T> {
        let next = self.below.pop();
        std::mem::replace(&mut self.top, next)
    }
}

thread_local! {
    // The stack is not dropped with its thread, because destructors of the program may use the driver after the
    // variables of the main thread are destroyed. A stack of one context has no memory of its own.
    static STACK: ManuallyDrop<RefCell<Stack<Arc<Context>>>> = const { ManuallyDrop::new(RefCell::new(Stack::new())) };
}

/// Returns the context on top of the calling thread's stack, if any. The context may be destroyed.
pub fn top() -> Option<Arc<Context>> {
    STACK.with(|stack| stack.borrow().top.clone())
}

/// Makes a context the current one of the calling thread.
pub fn push(context: Arc<Context>) {
    STACK.with(|stack| stack.borrow_mut().push(context));
}

/// Removes and returns the current context of the calling thread, if any. The context may be destroyed.
pub fn pop() -> Option<Arc<Context>> {
    STACK.with(|stack| stack.borrow_mut().pop())
}

/// Returns `true` if a context is on top of the calling thread's stack.
pub fn is_top(context: &Arc<Context>) -> bool {
    top().is_some_and(|top| Arc::ptr_eq(&top, context))
}

/// Pushes a context on the calling thread's stack.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: *mut c_void) -> Status {
    enter("cuCtxPushCurrent_v2", || {
        initialised()?;
        push(bindable(context)?);
        Ok(())
    })
}

/// Pops the current context, and stores its handle unless `context` is null.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut *mut c_void) -> Status {
    enter("cuCtxPopCurrent_v2", || {
        initialised()?;
        let handle = pop().ok_or(Status::INVALID_CONTEXT)?.handle();
        if !context.is_null() {
            // SAFETY: the pointer is not null, so it is valid for a write by contract.
            unsafe { context.write(handle) };
        }
        Ok(())
    })
}

/// Replaces the current context. Null pops it, if there is one.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> Status {
    enter("cuCtxSetCurrent", || {
        initialised()?;
        let context = if context.is_null() { None } else { Some(bindable(context)?) };
        pop();
        if let Some(context) = context {
            push(context);
        }
        Ok(())
    })
}

/// Stores the handle of the current context, or null if there is none. The context may be destroyed.
///
/// # Safety
/// `context` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> Status {
    enter("cuCtxGetCurrent", || {
        initialised()?;
        let handle = top().map_or(null_mut(), |context| context.handle());
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(context, handle) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_context_is_on_top() {
        let mut stack = Stack::new();
        assert_eq!((stack.top, stack.pop()), (None, None));
        for context in 1..=3 {
            stack.push(context);
            assert_eq!(stack.top, Some(context));
        }
        assert_eq!((stack.pop(), stack.top), (Some(3), Some(2)));
        stack.push(4);
        assert_eq!([stack.pop(), stack.pop(), stack.pop(), stack.pop()], [Some(4), Some(2), Some(1), None]);
    }

    #[test]
    fn one_context_needs_no_memory() {
        let mut stack = Stack::new();
        stack.push(1);
        assert_eq!(stack.below.capacity(), 0);
    }
}
