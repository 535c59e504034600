//! Statements of random memory kernels: accesses, copies, atomic operations, matrices, branches and loops.

use std::fmt::Write;

use super::*;

impl Writer {
    pub(super) fn statement(&mut self) {
        match self.below(24) {
            0..=4 => self.load_anywhere(),
            5 | 6 => self.store_own(),
            7 => self.load_own(),
            8 | 9 => self.local(),
            10..=12 => self.copy(),
            13..=15 => self.reduce(),
            16 | 17 => self.atomic_own(),
            18 => self.matrix(),
            19 => self.single(),
            20 => self.predicate(),
            21 if self.depth < 2 => self.branch(),
            22 if self.depth == 0 => self.repeat(),
            _ if self.depth == 0 && self.has_shared => self.phase(),
            _ => self.compute(),
        }
    }

    /// Returns registers with data for a store of the given type.
    fn data(&mut self, form: AccessForm) -> Vec<u32> {
        (0..form.elements).map(|_| self.of_kind(form.kind)).collect()
    }

    /// Appends a load from memory that all threads may read.
    fn load_anywhere(&mut self) {
        let tiles: Vec<u32> = (0..2).filter(|&tile| self.tiles[tile as usize] == Mode::Read).collect();
        let form = self.form(PLACE);
        let (space, extent) = match self.below(8) {
            0 => (Space::Constant, TABLE),
            1..=3 if !tiles.is_empty() => (Space::Shared(self.one_of(&tiles)), PLACE * self.block),
            _ => (Space::Global(X), self.x_bytes),
        };
        let (at, word) = self.any_place(space, extent, form.bytes);
        let cache = match word.as_str() {
            ".global" => self.one_of(&["", "", "", ".nc"]),
            _ => "",
        };
        let volatile = if cache.is_empty() && matches!(word.as_str(), ".global" | ".shared") && form.ty != "b8" {
            self.volatile(form)
        } else {
            ""
        };
        self.load(form, &format!("ld{volatile}{word}{cache}"), &at);
    }

    /// Appends a load, and a store or a checksum that uses the loaded registers.
    fn load(&mut self, form: AccessForm, ld: &str, at: &str) {
        let registers = self.loaded(form, ld, at);
        let loaded: Vec<(char, u32)> = registers.iter().map(|&register| (form.kind, register)).collect();
        let (own, space, most) = self.own_place();
        let narrow = form.bytes / form.elements;
        match self.below(6) {
            0 | 1 if form.bytes <= most => {
                let guard = self.guard();
                let ty = Self::typed(form);
                self.line(&format!("{guard}st{space}{ty} [{own}], {};", self.operands(form.kind, &registers)));
            }
            0 | 1 if narrow <= most && form.kind != 'f' => {
                self.line(&format!("st{space}.b{} [{own}], %{}{};", 8 * narrow, form.kind, registers[0]));
            }
            _ => self.sum(&loaded),
        }
    }

    /// Appends a load. Later statements may use the loaded registers as data. Returns the registers.
    fn loaded(&mut self, form: AccessForm, ld: &str, at: &str) -> Vec<u32> {
        let guard = self.guard();
        let registers: Vec<u32> = (0..form.elements).map(|_| self.value(form.kind, !guard.is_empty())).collect();
        self.line(&format!("{guard}{ld}{} {}, {at};", Self::typed(form), self.operands(form.kind, &registers)));
        self.values.extend(registers.iter().map(|&register| (form.kind, register)));
        let is_uniform = ["[%d0+", "[tile", "[table"].iter().any(|start| at.starts_with(start));
        if form.kind == 'r' && guard.is_empty() && self.depth == 0 && is_uniform {
            self.uniform.extend(&registers);
        }
        registers
    }

    fn store_own(&mut self) {
        let (own, space, most) = self.own_place();
        let form = self.form(most);
        let offset = form.bytes * self.below(most / form.bytes);
        let data = self.data(form);
        let guard = self.guard();
        let volatile = if form.ty == "b8" { "" } else { self.volatile(form) };
        let ty = Self::typed(form);
        self.line(&format!("{guard}st{volatile}{space}{ty} [{own}+{offset}], {};", self.operands(form.kind, &data)));
    }

    fn load_own(&mut self) {
        let (own, space, most) = self.own_place();
        let form = self.form(most);
        let offset = form.bytes * self.below(most / form.bytes);
        self.load(form, &format!("ld{space}"), &format!("[{own}+{offset}]"));
    }

    /// Appends a store to local memory and a load from it.
    fn local(&mut self) {
        let form = self.form(PLACE);
        let data = self.data(form);
        let (at, word) = self.any_place(Space::Local, LOCAL, form.bytes);
        let guard = self.guard();
        self.line(&format!("{guard}st{word}{} {at}, {};", Self::typed(form), self.operands(form.kind, &data)));
        let form = self.form(PLACE);
        let (at, word) = self.any_place(Space::Local, LOCAL, form.bytes);
        self.load(form, &format!("ld{word}"), &at);
    }

    /// Appends an asynchronous copy to the thread's own bytes in shared memory, and a wait for its completion.
    fn copy(&mut self) {
        let tiles: Vec<(u32, u32)> = (0..2)
            .filter_map(|tile| match self.tiles[tile as usize] {
                Mode::Own { stride } if stride >= 4 => Some((tile, stride)),
                _ => None,
            })
            .collect();
        if tiles.is_empty() {
            return self.load_anywhere();
        }
        let (tile, stride) = self.one_of(&tiles);
        let own = self.own_tiles[tile as usize];
        let sizes: Vec<u32> = [4, 8, 16].into_iter().filter(|&bytes| bytes <= stride).collect();
        let bytes = self.one_of(&sizes);
        for place in 0..1 + self.below(stride / bytes) {
            let (from, _) = self.any_place(Space::Global(X), self.x_bytes, bytes);
            let how = if bytes == 16 { self.one_of(&["ca", "cg"]) } else { "ca" };
            let taken = match self.below(5) {
                0 => format!(", {}", self.below(bytes + 1)),
                1 => {
                    let (r, value) = (self.register('r'), self.word());
                    self.line(&format!("and.b32 %r{r}, %r{value}, {};", bytes - 1));
                    format!(", %r{r}")
                }
                2 if self.one_in(2) => format!(", %p{}", self.predicates[self.random.below(self.predicates.len())]),
                _ => String::new(),
            };
            let guard = self.guard();
            let to = bytes * place;
            self.line(&format!("{guard}cp.async.{how}.shared.global [%r{own}+{to}], {from}, {bytes}{taken};"));
        }
        if self.one_in(3) {
            let form = self.form(PLACE);
            let (at, word) = self.any_place(Space::Global(X), self.x_bytes, form.bytes);
            // A load between the copy and the wait must not access the tile, because the copy is not complete.
            let registers = self.loaded(form, &format!("ld{word}"), &at);
            self.sum(&registers.into_iter().map(|register| (form.kind, register)).collect::<Vec<_>>());
        }
        let wait = self.one_of(&["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"]);
        self.line(wait);
        let form = self.form(stride);
        self.load(form, "ld.shared", &format!("[%r{own}]"));
    }

    /// Returns an operand of `bytes` bytes for the atomic operation `op`.
    fn operand(&mut self, op: &str, bytes: u32) -> String {
        match bytes {
            _ if op.starts_with("inc") || op.starts_with("dec") => (1 + self.below(20)).to_string(),
            8 => format!("%d{}", self.of_kind('d')),
            2 => format!("%h{}", self.of_kind('h')),
            _ if op == "add.f32" => format!("%f{}", self.of_kind('f')),
            _ if !op.contains("f16") && self.one_in(4) => (self.random.bits() as u32 >> 1).to_string(),
            _ => format!("%r{}", self.word()),
        }
    }

    /// Appends a commutative atomic operation on memory that all threads may change.
    fn reduce(&mut self) {
        let is_shared = self.has_shared && self.one_in(2);
        let area = if is_shared { AREAS - 1 } else { self.below(AREAS - 1) };
        let (op, bytes) = self.operations[area as usize];
        let index = self.index(AREA / bytes);
        // All `inc` operations have the same limit. With different limits, the result would depend
        // on the order of the threads.
        let operand = if op.starts_with("inc") { "29".to_owned() } else { self.operand(op, bytes) };
        let (at, word) = if is_shared {
            let [at, start] = [self.register('r'), self.register('r')];
            self.line(&format!("mov.u32 %r{start}, sums; mad.lo.u32 %r{at}, {index}, {bytes}, %r{start};"));
            (format!("[%r{at}]"), ".shared")
        } else {
            let at = self.register('d');
            let start = area * AREA;
            match index.parse::<u32>() {
                Ok(number) => self.line(&format!("add.s64 %d{at}, %d{Z}, {};", start + number * bytes)),
                Err(_) => {
                    self.line(&format!(
                        "mad.wide.u32 %d{at}, {index}, {bytes}, %d{Z}; add.s64 %d{at}, %d{at}, {start};"
                    ));
                }
            }
            (format!("[%d{at}]"), ".global")
        };
        let guard = self.guard();
        if self.one_in(4) {
            let old =
                if bytes == 8 { format!("%d{}", self.register('d')) } else { format!("%r{}", self.register('r')) };
            self.line(&format!("{guard}atom{word}.{op} {old}, {at}, {operand};"));
        } else {
            self.line(&format!("{guard}red{word}.{op} {at}, {operand};"));
        }
    }

    /// Appends an atomic operation on the thread's own bytes. Later statements use the old value.
    fn atomic_own(&mut self) {
        let (own, space, most) = self.own_place();
        let fitting: Vec<(&str, u32)> = OWN_ATOMICS.into_iter().filter(|(_, bytes)| *bytes <= most).collect();
        if fitting.is_empty() {
            return self.store_own();
        }
        let (op, bytes) = self.one_of(&fitting);
        let offset = bytes * self.below(most / bytes);
        let first = self.operand(op, bytes);
        let second = if op.starts_with("cas") { format!(", {}", self.operand(op, bytes)) } else { String::new() };
        let guard = self.guard();
        let at = format!("[{own}+{offset}]");
        if self.one_in(4) && !op.starts_with("cas") && !op.starts_with("exch") {
            return self.line(&format!("{guard}red{space}.{op} {at}, {first};"));
        }
        let kind = match bytes {
            8 => 'd',
            2 => 'h',
            _ if op == "add.f32" => 'f',
            _ => 'r',
        };
        let old = self.value(kind, !guard.is_empty());
        self.line(&format!("{guard}atom{space}.{op} %{kind}{old}, {at}, {first}{second};"));
        self.sum(&[(kind, old)]);
        self.values.push((kind, old));
    }

    /// Appends a load of matrices from a tile of shared memory. Only complete warps execute the load.
    fn matrix(&mut self) {
        let tiles: Vec<u32> = (0..2).filter(|&tile| self.tiles[tile as usize] == Mode::Read).collect();
        let whole = self.block / 32 * 32;
        if tiles.is_empty() || whole == 0 || self.depth > 0 {
            return self.load_anywhere();
        }
        let tile = self.one_of(&tiles);
        let index = self.index(self.block);
        let [at, start] = [self.register('r'), self.register('r')];
        self.line(&format!("mov.u32 %r{start}, tile{tile}; mad.lo.u32 %r{at}, {index}, {PLACE}, %r{start};"));
        self.depth += 1;
        let count = self.one_of(&[1, 2, 4]);
        let registers: Vec<u32> = (0..count).map(|_| self.value('r', true)).collect();
        self.depth -= 1;
        let label = self.label();
        if whole < self.block {
            let p = self.register('p');
            self.line(&format!("setp.ge.u32 %p{p}, %r0, {whole}; @%p{p} bra {label};"));
        }
        let trans = self.one_of(&["", ".trans"]);
        let all: Vec<String> = registers.iter().map(|register| format!("%r{register}")).collect();
        self.line(&format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, [%r{at}];", all.join(", ")));
        let _ = writeln!(self.body, "{label}:");
        let loaded: Vec<(char, u32)> = registers.into_iter().map(|register| ('r', register)).collect();
        self.sum(&loaded);
        self.values.extend(loaded);
    }

    /// Appends a store that a single thread executes. The address is the same in all threads.
    fn single(&mut self) {
        if self.singles == SINGLES || self.depth > 0 {
            return self.store_own();
        }
        let at = AREAS * AREA + PLACE * self.singles;
        self.singles += 1;
        let form = self.form(PLACE);
        let data = self.data(form);
        let (p, one) = (self.register('p'), self.below(self.block * self.grid));
        self.line(&format!("setp.eq.u32 %p{p}, %r1, {one};"));
        let ty = Self::typed(form);
        self.line(&format!("@%p{p} st.global{ty} [%d{Z}+{at}], {};", self.operands(form.kind, &data)));
    }

    fn compute(&mut self) {
        let [a, b] = [self.word(), self.word()];
        let to = self.value('r', false);
        let op = self.one_of(&["add.u32", "xor.b32", "mul.lo.u32", "max.s32", "sub.u32"]);
        self.line(&format!("{op} %r{to}, %r{a}, %r{b};"));
        self.values.push(('r', to));
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Appends a branch over statements that only some threads execute.
    fn branch(&mut self) {
        let p = self.predicates[self.random.below(self.predicates.len())];
        let not = if self.one_in(2) { "!" } else { "" };
        let label = self.label();
        self.line(&format!("@{not}%p{p} bra {label};"));
        let uniform = self.uniform.len();
        self.depth += 1;
        for _ in 0..1 + self.below(3) {
            self.statement();
        }
        self.depth -= 1;
        self.uniform.truncate(uniform);
        let _ = writeln!(self.body, "{label}:");
    }

    /// Appends a loop that all threads execute for a few iterations.
    fn repeat(&mut self) {
        let (count, label) = (self.register('r'), self.label());
        let (times, p) = (2 + self.below(3), self.register('p'));
        self.line(&format!("mov.u32 %r{count}, 0;"));
        let _ = writeln!(self.body, "{label}:");
        let uniform = self.uniform.len();
        self.uniform.extend([count; 3]);
        self.depth += 1;
        for _ in 0..1 + self.below(3) {
            self.statement();
        }
        self.depth -= 1;
        self.uniform.truncate(uniform);
        self.line(&format!("add.u32 %r{count}, %r{count}, 1; setp.lt.u32 %p{p}, %r{count}, {times};"));
        self.line(&format!("@%p{p} bra {label};"));
    }

    /// Appends a barrier. After the barrier, other accesses to the tiles are allowed.
    pub(super) fn phase(&mut self) {
        self.line("bar.sync 0;");
        for tile in 0..2 {
            let mode = if self.one_in(2) { Mode::Read } else { Mode::Own { stride: self.one_of(&[4, 8, 16, 16]) } };
            if let Mode::Own { stride } = mode {
                let item = self.own_item(THREAD, self.block);
                let [at, start] = [self.register('r'), self.register('r')];
                self.line(&format!("mov.u32 %r{start}, tile{tile}; mad.lo.u32 %r{at}, %r{item}, {stride}, %r{start};"));
                self.own_tiles[tile as usize] = at;
            }
            self.tiles[tile as usize] = mode;
        }
    }
}
