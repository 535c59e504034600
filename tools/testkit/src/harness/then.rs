//! Launches one after the other on the same text and the same buffers.

use super::{Arg, Failure, How, Pointer, Request, Size, launch_on};

/// A launch after the first, of the same text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Then {
    /// The kernel; else the only one, or the first.
    pub entry: Option<String>,
    /// How many work items.
    pub size: Size,
    /// Bytes of shared memory beside what the text declares.
    pub shared: u64,
    /// The arguments, in the order of the kernel's parameters.
    pub args: Vec<ThenArg>,
    /// Backward branches that an item may take.
    pub budget: u64,
}

/// An argument of a launch after the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ThenArg {
    /// An argument of the first launch: its buffer as the launches before have left it, or its value.
    Same {
        /// The argument of the first launch, by number.
        arg: usize,
        /// What of the buffer is to be addresses in this launch.
        pointers: Vec<Pointer>,
    },
    /// One of this launch alone. An alias, like a pointer, names an argument of this launch.
    New(Arg),
}

/// Makes launches one after the other. What it gives is what the buffers hold after the last one: those of the first launch's
/// arguments in their order, then those that later launches brought, in theirs.
///
/// # Errors
/// What [`launch`](super::launch) says, and of which launch: the first is 0.
pub fn launch_all(mut request: Request, then: Vec<Then>, how: &How<'_>) -> Result<Vec<Vec<u8>>, (usize, Failure)> {
    launch_on(&mut request, how).map_err(|failure| (0, failure))?;
    let mut first = std::mem::take(&mut request.args);
    let mut more = Vec::new();
    for (number, then) in (1..).zip(then) {
        let failed = |failure| (number, failure);
        let (args, places) = bind(then.args, &mut first).map_err(failed)?;
        (request.entry, request.size, request.shared) = (then.entry, then.size, then.shared);
        (request.args, request.budget) = (args, then.budget);
        launch_on(&mut request, how).map_err(failed)?;
        for (place, arg) in places.into_iter().zip(std::mem::take(&mut request.args)) {
            match place.map(|place| first.get_mut(place)) {
                Some(Some(same)) => *same = arg,
                Some(None) => {}
                None => more.push(arg),
            }
        }
    }
    Ok(first.into_iter().chain(more).filter_map(Arg::into_bytes).collect())
}

/// The arguments of a launch, and which of the first launch's buffers have been taken for them.
type Bound = (Vec<Arg>, Vec<Option<usize>>);

fn bind(wanted: Vec<ThenArg>, first: &mut [Arg]) -> Result<Bound, Failure> {
    let (mut args, mut places): Bound = (Vec::new(), Vec::new());
    for (number, wanted) in wanted.into_iter().enumerate() {
        let wrong = |what: String| Failure::arguments(format!("argument {number} is to be {what}"));
        let (arg, place) = match wanted {
            ThenArg::New(arg) => (arg, None),
            ThenArg::Same { arg: same, pointers } => {
                if let Some(other) = places.iter().position(|&place| place == Some(same)) {
                    let message = format!("argument {same} of the first launch, as argument {other} is; give `alias`");
                    return Err(wrong(message));
                }
                match first.get_mut(same) {
                    Some(Arg::Buffer { bytes, .. }) => {
                        (Arg::Buffer { bytes: std::mem::take(bytes), pointers }, Some(same))
                    }
                    Some(Arg::Value(value)) if pointers.is_empty() => (Arg::Value(value.clone()), None),
                    Some(Arg::Value(_)) => {
                        return Err(wrong(format!(
                            "argument {same} of the first launch, a value, in which no pointer stands"
                        )));
                    }
                    Some(Arg::Alias { arg: of, .. }) => {
                        let message = format!(
                            "argument {same} of the first launch, an alias; give `same` of argument {of}, and `alias` beside it"
                        );
                        return Err(wrong(message));
                    }
                    None => {
                        let count = first.len();
                        return Err(wrong(format!("argument {same} of the first launch, which has {count}")));
                    }
                }
            }
        };
        args.push(arg);
        places.push(place);
    }
    Ok((args, places))
}
