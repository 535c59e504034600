//! The launches in the run lines of kernel files, with their results on the evaluator.

use std::fs;
use std::path::{Path, PathBuf};

use halfbyte::args::Loader;
use halfbyte::args::bind::{RetainedBuffers, bind_after};
use halfbyte::import_ptx::{self, is_ptx};
use halfbyte::include;
use halfbyte::ir::Kernel;
use halfbyte::ir::diag::Lines;
use halfbyte::ir::eval::{DEFAULT_BUDGET, Fault, TrapKind};
use halfbyte::launch::{Evaluation, evaluate, given, may_depend_on_order};
use halfbyte::native::{Machine, Options, object, symbols};
use halfbyte::{HALU, Module, Program, pipeline};
use halfbyte_prove::campaign::{BUDGET, Mix, launches};
use halfbyte_testkit::runlines;
use halfbyte_testkit::trial::{Launch, reads_addresses};

use super::driver::{Call, Unit};
use crate::common::root;

/// Kernels as native objects, with their launches.
#[derive(Default)]
pub struct Corpus {
    pub units: Vec<Unit>,
    pub calls: Vec<Call>,
    /// The name and the expected outcome of each launch.
    pub expected: Vec<(String, Outcome)>,
    /// The kernels that cannot be compiled to objects, with the reasons.
    pub refused: Vec<String>,
}

/// The arguments after a launch, or the position of its trap.
type Outcome = Result<Vec<Vec<u8>>, At>;

/// The position of a trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    pub item: u32,
    pub line: u32,
}

/// Returns the kernel files in a folder and its subfolders.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "hb" || end == "ptx") {
            found.push(path);
        }
    }
    found.sort();
    found
}

impl Corpus {
    /// Adds the kernels of a file with its run lines. Each kernel gets its own object.
    pub fn add(&mut self, path: &Path, machine: &Machine) {
        let (text, name) =
            (fs::read_to_string(path).unwrap(), path.strip_prefix(root()).unwrap().display().to_string());
        // The full path is needed to resolve included files.
        let Ok(module) = include::open_each(path.to_str().unwrap(), text.as_str(), import_ptx::Options::default())
        else {
            return self.refused.push(format!("{name}: it is not read"));
        };
        let lines = if is_ptx(&name) { runlines::read_ptx(&text) } else { runlines::read(&text) };
        let mut objects = Vec::new();
        for kernel in 0..module.ir().kernels.len() {
            objects.push(match self.unit(&module, kernel, machine, DEFAULT_BUDGET.into()) {
                Ok(unit) => {
                    self.units.push(unit);
                    Some(self.units.len() - 1)
                }
                Err(reason) => {
                    let reason = reason.lines().next().unwrap_or_default().to_owned();
                    self.refused.push(format!("{name}: @{}: {reason}", module.ir().kernels[kernel].name));
                    None
                }
            });
        }
        let loader = Loader::within(path.parent().unwrap());
        for run in lines.unwrap_or_default().runs {
            let mut kept = RetainedBuffers::default();
            for line in run.launches() {
                let kernels = &module.ir().kernels;
                let Some(number) = kernels.iter().position(|kernel| kernel.name == line.kernel.0) else { break };
                let (kernel, params) = (&kernels[number], given(&kernels[number]));
                let mut bound = bind_after(&kept, &params, &line.args, &line.results, &loader, line.span).unwrap();
                bound.size_open_buffers(kernel, line.shape, None);
                let launch = Launch { shape: line.shape, args: bound.args, aliases: bound.aliases };
                let at = Lines::new(&text).position(line.span.start).line;
                let name = format!("{name}:{at} @{}", kernel.name);
                let after = self.launch(name, &module, kernel, objects[number], &launch, DEFAULT_BUDGET);
                let Some(after) = after else { break };
                kept.keep(&params, &launch.aliases, after);
            }
        }
    }

    /// Adds a launch of a kernel to the corpus if the kernel has an object. Returns the arguments
    /// after the launch on the evaluator, or `None` if the launch traps.
    fn launch(
        &mut self,
        name: String,
        module: &Module,
        kernel: &Kernel,
        unit: Option<usize>,
        launch: &Launch,
        budget: u32,
    ) -> Option<Vec<Vec<u8>>> {
        let mut after = launch.args.clone();
        let how = Evaluation { budget, aliases: &launch.aliases, ..Evaluation::from(launch.shape) };
        let outcome = match evaluate(kernel, how, &mut after) {
            Ok(_) => Ok(after.clone()),
            // Machine code may take fewer backward branches than the evaluator.
            Err(Fault::Trap(trap)) if matches!(trap.kind, TrapKind::Budget { .. }) => return None,
            Err(Fault::Trap(trap)) => {
                Err(At { item: trap.item, line: Lines::new(module.text()).position(trap.span.start).line as u32 })
            }
            Err(fault) => panic!("{name}: {fault}"),
        };
        let left = outcome.is_ok().then_some(after);
        if let Some(unit) = unit
            && !may_depend_on_order(kernel)
        {
            self.expected.push((name, outcome));
            let Launch { shape, args, aliases } = launch.clone();
            self.calls.push(Call { function: (unit, 0), shape, args, aliases });
        }
        left
    }

    /// Adds a random kernel, by its number, with random launches. Refused kernels are recorded.
    pub fn draw(&mut self, mix: &mut Mix<'_>, seed: u64, number: u64, machine: &Machine) {
        let (text, mut random) = mix.draw(seed, number, None);
        let module = Module::parse(&text).unwrap();
        let kernel = &module.ir().kernels[0];
        let name = format!("random {number} of seed {seed}");
        if reads_addresses(kernel) {
            return self.refused.push(format!("{name}: it takes the bits of addresses"));
        }
        match self.unit(&module, 0, machine, BUDGET.into()) {
            Ok(unit) => self.units.push(unit),
            Err(reason) => return self.refused.push(format!("{name}: {}", reason.lines().next().unwrap_or_default())),
        }
        let unit = self.units.len() - 1;
        for (at, launch) in launches(kernel, &mut random).iter().enumerate() {
            let takes_grid = self.units[unit].functions[0].takes_grid;
            // A function that takes no grid and block supports only launches along x.
            if takes_grid || launch.shape.is_along_x() {
                self.launch(format!("{name}, launch {at}"), &module, kernel, Some(unit), launch, BUDGET);
            }
        }
    }

    fn unit(&self, module: &Module, kernel: usize, machine: &Machine, budget: u64) -> Result<Unit, String> {
        let kernels = module.ir().kernels.get(kernel..=kernel).unwrap_or_default();
        let compiled = pipeline::compile(module, kernels, &pipeline::Options::new(HALU), &mut |_| {});
        let binary = compiled.map_err(|error| error.to_string())?;
        let program = Program::load(&binary.object).map_err(|error| error.to_string())?;
        let kernel = program.kernels().next().ok_or("no kernel")?;
        // Kernels of different files may have the same name.
        let symbol = format!("unit{}_{}", self.units.len(), symbols([kernel.name()]).remove(0));
        let mut options = Options::default();
        options.budget = budget;
        let made = object(&[(symbol.as_str(), kernel)], machine, &options);
        let made = made.map_err(|error| error.to_string())?;
        Ok(Unit { bytes: made.bytes, functions: made.functions })
    }
}
