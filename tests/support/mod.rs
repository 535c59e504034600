//! Comparison of the evaluator and machine code on the same arguments.

use halfbyte::launch::{Engine, evaluate, execute, given};
use halfbyte::pipeline::{Options, compile};
use halfbyte::report::Report;
use halfbyte::{Module, Shape, TARGETS, Target};
use halfbyte_runtime::Program;
use halfbyte_testkit::compare::compare;

/// Returns compiler options with all passes. The results must be those of [`without_passes`], which
/// only runs the passes that the target needs.
pub fn with_passes(target: Target) -> Options {
    Options { verify: true, ..Options::new(target) }
}

pub fn without_passes(target: Target) -> Options {
    let mut options = with_passes(target);
    options.pipeline.retain(|pass| pass.name() == "pack");
    options
}

/// Compiles the only kernel of a module.
pub fn program(module: &Module, options: &Options) -> Result<Program, String> {
    let binary = compile(module, &module.ir().kernels, options, &mut |_| {})
        .map_err(|errors| Report::new(module.file(), module.text(), errors).to_string())?;
    halfbyte::TARGETS.load(&binary.object).map_err(|error| error.to_string())
}

/// Returns an error if the results of machine code differ from those of the evaluator, in a launch
/// of the module's only kernel.
pub fn agree(module: &Module, program: &Program, shape: impl Into<Shape>, args: &[Vec<u8>]) -> Result<(), String> {
    let shape = shape.into();
    let kernel = module.ir().kernels.first().ok_or("no kernel")?;
    let loaded = program.kernel(&kernel.name).ok_or("the object lacks the kernel")?;
    let mut expected = args.to_vec();
    let writers = evaluate(kernel, shape, &mut expected).map_err(|fault| format!("on ir: {fault}"))?;
    for engine in Engine::ALL.into_iter().filter(|engine| TARGETS.runs(*engine, program.header().target)) {
        let on = format!("{} ({engine})", program.header().target);
        let mut found = args.to_vec();
        execute(loaded, engine, shape, &mut found).map_err(|error| format!("on {on}: {error}"))?;
        let params = given(kernel);
        for (number, ((param, expected), found)) in params.iter().zip(&expected).zip(&found).enumerate() {
            if let Some(difference) =
                compare(&kernel.name, (number, param), ("ir", expected), (&on, found), None, Some(&writers))
            {
                return Err(difference.to_string());
            }
        }
    }
    Ok(())
}
