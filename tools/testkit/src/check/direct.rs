//! Launches of PTX kernels that are only executed directly.

use halfbyte::TARGETS;
use halfbyte::args::bind::{RetainedBuffers, bind_after};
use halfbyte::import_ptx::{Globals, Host, text_order_dependence};
use halfbyte::launch::{Engine, LaunchOptions, OrderDependence, launch_diagnostic};
use halfbyte_ir::diag::Diagnostic;

use super::{Checker, EvaluatedLaunch, TEXT, is_entry};
use crate::runlines::{LaunchLine, RunLine};

impl Checker<'_> {
    /// Returns `true` if a launch is only executed directly. This is the case if the kernel cannot be imported, or if
    /// an earlier launch of the run line has changed variables. An import would reset these variables.
    pub(super) fn is_only_direct(&self, line: &LaunchLine, globals: &[Globals]) -> bool {
        let (Some(read), name) = (self.read, line.kernel.0.as_str()) else { return false };
        match self.imported.contains_key(name) {
            true => globals.iter().any(|globals| globals.are_written(read)),
            false => self.refused.contains_key(name) && is_entry(read, name),
        }
    }

    /// Executes a launch directly on every engine, if the run line names PTX. The first engine must
    /// give the results of the run line, and every further engine must give the results of the
    /// first engine. `globals` holds the variables of each engine, which launches change. Returns
    /// `None` if the first engine does not complete the launch, or if the result depends on the
    /// order of the items.
    pub(super) fn launch_directly<'l>(
        &mut self,
        run: &RunLine,
        line: &'l LaunchLine,
        kept: &RetainedBuffers,
        globals: &[Globals],
    ) -> Option<EvaluatedLaunch<'l>> {
        self.refuse_import(run, line);
        if !run.targets.iter().any(|target| target.sm().is_some()) {
            return None;
        }
        let engines = self.engines.iter().copied().zip(globals);
        let mut engines = engines.filter(|(engine, _)| TARGETS.runs(*engine, TEXT));
        let (first, of_first) = engines.next()?;
        let launch = self.launch_on_first(line, kept, (first, of_first))?;
        let first = format!("ptx ({first})");
        for (engine, globals) in engines {
            if self.is_over() {
                break;
            }
            let before = self.failures.len();
            if let Some(host) = self.host(line, globals)
                && let Some(found) = self.execute(&host, engine, &launch)
            {
                let on = format!("ptx ({engine})");
                for (number, (expected, found)) in launch.results.iter().zip(&found).enumerate() {
                    self.compare(&launch, (number, launch.near_on(engine, number)), (&first, expected), (&on, found));
                }
            }
            self.result(line, TEXT.name(), Some(engine), before);
        }
        Some(launch)
    }

    /// Reports each target of a run line that needs the import of the kernel.
    fn refuse_import(&mut self, run: &RunLine, line: &LaunchLine) {
        let (name, span) = (&line.kernel.0, line.kernel.1);
        let Some(refused) = self.refused_kernel(name) else { return };
        let first = refused.errors.first().map_or(refused.span, |first| first.span);
        let targets = run.targets.iter().filter(|target| target.sm().is_none()).map(|target| target.name());
        for target in run.names_ir.then_some("ir").into_iter().chain(targets) {
            let before = self.failures.len();
            let message = format!("`@{name}` cannot be imported, so it cannot be run on {target}");
            self.failures.push(Diagnostic::new(span, message).note(Some(first), "the reason is here"));
            self.result(line, target, None, before);
        }
    }

    /// Executes a launch on the first engine, and compares its results with those in the run line.
    fn launch_on_first<'l>(
        &mut self,
        line: &'l LaunchLine,
        kept: &RetainedBuffers,
        (engine, globals): (Engine, &Globals),
    ) -> Option<EvaluatedLaunch<'l>> {
        let (before, variables) = (self.failures.len(), globals.snapshot());
        let host = self.host(line, globals);
        let launch = host.as_ref().and_then(|host| self.bind_directly(line, host, kept));
        let (Some(host), Some(mut launch)) = (host, launch) else {
            self.result(line, TEXT.name(), None, before);
            return None;
        };
        self.outcome.runs += 1;
        let mut depends = None;
        let found = self.execute(&host, engine, &launch);
        if let Some(found) = &found {
            let on = format!("ptx ({engine})");
            for (param, bytes) in &launch.bound.results {
                let Some(found) = found.get(*param) else { continue };
                self.compare(&launch, (*param, launch.near(*param)), ("the run line", bytes), (&on, found));
            }
            depends = self.order_dependence_of_text(engine, &launch, &variables, found);
        }
        self.result(line, TEXT.name(), Some(engine), before);
        launch.results = found?;
        match depends {
            Some(found) => self.is_defined(&launch, &found).then_some(launch),
            None => Some(launch),
        }
    }

    /// Returns the order dependence of a launch that changed the arguments to `after`. `variables`
    /// holds the variables before the launch.
    fn order_dependence_of_text(
        &mut self,
        engine: Engine,
        launch: &EvaluatedLaunch<'_>,
        variables: &Globals,
        after: &[Vec<u8>],
    ) -> Option<OrderDependence> {
        let line = launch.line;
        let (module, read) = (self.module, self.read?);
        let load = || Host::load_of(module.file(), module.text(), read, &line.kernel.0, &variables.snapshot());
        let how = LaunchOptions {
            watchdog: self.watchdog,
            aliases: &launch.bound.aliases,
            races: self.races,
            ..LaunchOptions::from(engine)
        };
        let found = text_order_dependence(&load, how, line.shape, &launch.bound.args, after);
        found.unwrap_or_else(|error| {
            let failure = Diagnostic::new(line.span, error.to_string());
            self.failures.push(failure.note(Some(line.span), "in this launch, with items in another order"));
            None
        })
    }

    /// Loads the kernel of a launch for direct execution.
    pub(super) fn host(&mut self, line: &LaunchLine, globals: &Globals) -> Option<Host> {
        let (file, text) = (self.module.file(), self.module.text());
        match Host::load_of(file, text, self.read?, &line.kernel.0, globals) {
            Ok(host) => Some(host),
            Err(report) => {
                self.failures.extend(report.diagnostics().iter().cloned());
                None
            }
        }
    }

    /// Executes a launch directly. Returns the contents of the buffers afterwards.
    pub(super) fn execute(
        &mut self,
        host: &Host,
        engine: Engine,
        launch: &EvaluatedLaunch<'_>,
    ) -> Option<Vec<Vec<u8>>> {
        let aliases = &launch.bound.aliases;
        let how = LaunchOptions { watchdog: self.watchdog, aliases, races: self.races, ..LaunchOptions::from(engine) };
        let mut found = launch.bound.args.clone();
        if let Err(error) = host.launch_on(how, launch.line.shape, &mut found) {
            let (span, on) = (launch.line.span, format!("{} ({engine})", TEXT.name()));
            let failure = launch_diagnostic(&error, &self.lines, span, &on);
            let failure = self.sourced(failure).note(Some(span), "in this launch");
            self.failures.push(failure);
            return None;
        }
        self.outcome.compared.insert(TEXT.name());
        Some(found)
    }

    /// Binds the values of a run line to the parameters of a kernel that is executed directly.
    fn bind_directly<'l>(
        &mut self,
        line: &'l LaunchLine,
        host: &Host,
        kept: &RetainedBuffers,
    ) -> Option<EvaluatedLaunch<'l>> {
        let params = host.params().to_vec();
        let bound = bind_after(kept, &params, &line.args, &line.results, &self.loader, line.kernel.1);
        let bound =
            bound.and_then(|bound| Ok((bound.require_sizes(&params, line.kernel.1)?, self.near(line, &params)?)));
        match bound {
            Ok((bound, near)) => {
                let results = Vec::new();
                Some(EvaluatedLaunch { line, kernel: None, params, bound, near, results, writers: None })
            }
            Err(errors) => {
                self.failures.extend(errors);
                None
            }
        }
    }
}
