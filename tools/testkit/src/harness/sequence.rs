//! Sequences of launches on one text and shared buffers.

use super::{Arg, Failure, LaunchOptions, Pointer, Request, Size, launch_on};

/// A launch after the first, of the same text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextLaunch {
    /// The kernel's name; `None` for the first kernel.
    pub entry: Option<String>,
    /// The number of work items.
    pub size: Size,
    /// The size of dynamic shared memory in bytes, in addition to the shared memory that the text declares.
    pub shared: u64,
    /// The arguments, in the order of the kernel's parameters.
    pub args: Vec<NextArg>,
    /// The number of backward branches that an item may take.
    pub budget: u64,
    /// `true` for a cooperative launch, in which blocks can wait for each other.
    pub cooperative: bool,
}

/// An argument of a launch after the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextArg {
    /// An argument of the first launch: the buffer that the earlier launches have left, or the value.
    Same {
        /// The index of the argument in the first launch.
        arg: usize,
        /// The positions in the buffer at which addresses are stored for this launch.
        pointers: Vec<Pointer>,
    },
    /// A new argument. The aliases and pointers of the argument refer to arguments of the same
    /// launch.
    New(Arg),
}

/// Executes launches one after another. Returns the contents of all buffers after the last launch:
/// first the buffers of the first launch's arguments, then the buffers that later launches added.
///
/// # Errors
/// Fails with the error of [`launch`](super::launch) and the index of the failing launch, from 0.
pub fn launch_all(
    mut request: Request,
    then: Vec<NextLaunch>,
    how: &LaunchOptions<'_>,
) -> Result<Vec<Vec<u8>>, (usize, Failure)> {
    let mut parsed = None;
    launch_on(&mut request, &mut parsed, how).map_err(|failure| (0, failure))?;
    let mut first = std::mem::take(&mut request.args);
    let mut more = Vec::new();
    for (number, then) in (1..).zip(then) {
        let failed = |failure| (number, failure);
        let (args, places) = bind(then.args, &mut first).map_err(failed)?;
        (request.entry, request.size, request.shared) = (then.entry, then.size, then.shared);
        (request.args, request.budget, request.cooperative) = (args, then.budget, then.cooperative);
        launch_on(&mut request, &mut parsed, how).map_err(failed)?;
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

/// The arguments of a later launch. For each argument, the second list has the index of the first
/// launch's argument whose buffer was taken, or `None` for a new argument and for a value.
type Bound = (Vec<Arg>, Vec<Option<usize>>);

fn bind(wanted: Vec<NextArg>, first: &mut [Arg]) -> Result<Bound, Failure> {
    let (mut args, mut places): Bound = (Vec::new(), Vec::new());
    for (number, wanted) in wanted.into_iter().enumerate() {
        let wrong = |what: String| Failure::arguments(format!("argument {number} cannot be {what}"));
        let (arg, place) = match wanted {
            NextArg::New(arg) => (arg, None),
            NextArg::Same { arg: same, pointers } => {
                if let Some(other) = places.iter().position(|&place| place == Some(same)) {
                    let message = format!(
                        "argument {same} of the first launch, because argument {other} already is; give `alias`"
                    );
                    return Err(wrong(message));
                }
                match first.get_mut(same) {
                    Some(Arg::Buffer { bytes, .. }) => {
                        (Arg::Buffer { bytes: std::mem::take(bytes), pointers }, Some(same))
                    }
                    Some(Arg::Value(value)) if pointers.is_empty() => (Arg::Value(value.clone()), None),
                    Some(Arg::Value(_)) => {
                        return Err(wrong(format!(
                            "argument {same} of the first launch with `pointers`, because that argument is a value"
                        )));
                    }
                    Some(Arg::Alias { arg: of, .. }) => {
                        let message = format!(
                            "argument {same} of the first launch, because that argument is an alias; give `same` for argument {of}, and an `alias` of it"
                        );
                        return Err(wrong(message));
                    }
                    None => {
                        let count = first.len();
                        return Err(wrong(format!("argument {same} of the first launch, which has {count} arguments")));
                    }
                }
            }
        };
        args.push(arg);
        places.push(place);
    }
    Ok((args, places))
}
