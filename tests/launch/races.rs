//! Tests of race detection on random kernels. Each kernel has a correct variant, and faulty
//! variants without a fence, a barrier or a memory order. Race detection must report exactly the
//! faulty ones, in direct execution of PTX and on the evaluator.

use halfbyte::ir::witness::Random;
use serde_json::{Value, json};

use super::answers;

/// A kernel, and the error kind that its launch must report.
struct Sample {
    what: &'static str,
    body: String,
    grid: u32,
    block: u32,
    error: Option<&'static str>,
}

/// A memory space, and the registers with the addresses of the data and the flags in this space.
#[derive(Clone, Copy)]
struct Space {
    name: &'static str,
    data: &'static str,
    flags: &'static str,
    race: &'static str,
}

const GLOBAL: Space = Space { name: "global", data: "%x", flags: "%f", race: "race-global" };
const SHARED: Space = Space { name: "shared", data: "%sx", flags: "%sf", race: "race-shared" };

fn text(body: &str) -> String {
    format!(
        ".version 7.8 .target sm_80 .address_size 64
.shared .align 16 .b8 s[2048];
.visible .entry k(.param .u64 x, .param .u64 f, .param .u64 o) {{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<16>, %t, %b, %n, %z, %sx, %sf; .reg .b64 %d<9>, %x, %f, %o;
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %z, 0; mov.u32 %r9, %t;
ld.param.u64 %x, [x]; ld.param.u64 %f, [f]; ld.param.u64 %o, [o];
mov.u32 %sx, s; add.u32 %sf, %sx, 1024;
shl.b32 %r8, %t, 2; add.u32 %r10, %sx, %r8; st.shared.u32 [%r10], %z; st.shared.u32 [%r10+1024], %z;
mul.wide.u32 %d8, %t, 4; add.s64 %d7, %o, %d8;
bar.sync 0;
{body}
END:
ret;
}}
"
    )
}

impl Sample {
    fn line(&self) -> Value {
        let Sample { grid, block, .. } = self;
        let args = json!([{"zeros": 1024}, {"zeros": 64}, {"zeros": 4096}]);
        json!({"ptx": text(&self.body), "grid": [grid, 1, 1], "block": [block, 1, 1], "args": args})
    }
}

struct Draw(Random);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns a random number of instructions without effect.
    fn idle(&mut self) -> String {
        "add.u32 %r9, %r9, 3; ".repeat(self.below(4))
    }

    fn space(&mut self) -> Space {
        self.one(&[GLOBAL, SHARED])
    }

    /// Returns the numbers of two different items of a block.
    fn two(&mut self, block: u32) -> (u32, u32) {
        let first = self.below(block as usize) as u32;
        let second = (first + 1 + self.below(block as usize - 1) as u32) % block;
        (first, second)
    }

    /// Generates a kernel in which each item writes a word and reads the word of another item. In
    /// the faulty variant, the barrier between the write and the read is missing.
    fn exchange(&mut self, is_right: bool) -> Sample {
        let block = 4 + self.below(90) as u32;
        let (of, shift) = (self.space(), 1 + self.below(block as usize - 1));
        let barrier = match (is_right, block <= 32) {
            (false, _) => String::new(),
            (true, true) => self.one(&["bar.warp.sync 0xffffffff;", "bar.sync 0;", "barrier.sync 3;"]).to_owned(),
            (true, false) => self.one(&["bar.sync 0;", "barrier.sync 2;"]).to_owned(),
        };
        let (space, base, idle) = (of.name, of.data, self.idle());
        let (wide, add) = if space == "global" { ("%d", "s64") } else { ("%r1", "u32") };
        let address = |index: &str, to: u32| match wide {
            "%d" => format!("mul.wide.u32 %d6, {index}, 4; add.{add} %d{to}, {base}, %d6;"),
            _ => format!("shl.b32 %r12, {index}, 2; add.{add} %r1{to}, {base}, %r12;"),
        };
        let body = format!(
            "{} st.{space}.u32 [{wide}1], %t; {idle}{barrier}
add.u32 %r2, %t, {shift}; rem.u32 %r2, %r2, %n; {} ld.{space}.u32 %r3, [{wide}3]; st.global.u32 [%d7], %r3;",
            address("%t", 1),
            address("%r2", 3)
        );
        Sample { what: "exchange", body, grid: 1, block, error: (!is_right).then_some(of.race) }
    }

    /// Generates a kernel with message passing: an item writes data and then a flag, and another
    /// item reads the flag and then the data.
    fn message(&mut self, is_right: bool) -> Sample {
        let block = 4 + self.below(70) as u32;
        let (data, flag) = (self.space(), self.space());
        let (writer, reader) = self.two(block);
        let scope = self.one(&["cta", "gpu", "sys"]);
        // Order of the data access and the flag access, in the writing item and in the reading
        // item. 0 is no order, 1 is an order by the flag access, and 2 is an order by a fence.
        let (writes, reads) = match is_right {
            true => (1 + self.below(2), 1 + self.below(2)),
            false => self.one(&[(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)]),
        };
        let fence = match scope {
            "cta" => "membar.cta;",
            "gpu" => "fence.acq_rel.gpu;",
            _ => "membar.sys;",
        };
        let [store, load] =
            [(writes, "release"), (reads, "acquire")].map(|(how, by)| if how == 1 { by } else { "relaxed" });
        let [before, behind] = [writes, reads].map(|how| if how == 2 { fence } else { "" });
        let (ds, db, fs, fb) = (data.name, data.data, flag.name, flag.flags);
        let body = format!(
            "setp.eq.u32 %p0, %t, {writer}; @%p0 bra W; setp.eq.u32 %p1, %t, {reader}; @%p1 bra R; bra END;
W: {} st.{ds}.u32 [{db}+16], 7; {} {before} st.{store}.{scope}.{fs}.u32 [{fb}], 1; bra END;
R: ld.{load}.{scope}.{fs}.u32 %r1, [{fb}]; setp.ne.u32 %p2, %r1, 1; @%p2 bra R; {behind}
{} ld.{ds}.u32 %r2, [{db}+16]; st.global.u32 [%o], %r2;",
            self.idle(),
            self.idle(),
            self.idle()
        );
        Sample { what: "message", body, grid: 1, block, error: (!is_right).then_some(data.race) }
    }

    /// Generates a kernel in which the last block of the grid, or the last item of a block, reads
    /// the data that all others have written, and resets the counter.
    fn last(&mut self, is_right: bool) -> Sample {
        let among_blocks = self.below(2) == 0;
        let (flag, data) = if among_blocks { (GLOBAL, GLOBAL) } else { (self.space(), self.space()) };
        let (grid, block) = if among_blocks { (2 + self.below(5) as u32, 4) } else { (1, 4 + self.below(60) as u32) };
        let count = if among_blocks { grid } else { block };
        let reads = !(is_right && self.below(3) == 0);
        let fence = if among_blocks { "membar.gl;" } else { self.one(&["membar.cta;", "membar.gl;"]) };
        // The kind of fault: 0 and 1 are a missing fence, 2 is a reset of the counter by an item
        // that is not the last, and 3 is no fault. Without a read of the data, no fence is needed.
        let wrong = if is_right { 3 } else { self.below(3) };
        let [before, behind] = [0, 1].map(|which| if wrong == which || !reads { "" } else { fence });
        let (who, error) = match wrong {
            2 => (0, flag.race),
            _ => (count - 1, data.race),
        };
        let (ds, db, fs, fb) = (data.name, data.data, flag.name, flag.flags);
        let index = if among_blocks { "%b" } else { "%t" };
        let address = match ds {
            "global" => format!("mul.wide.u32 %d1, {index}, 4; add.s64 %d1, {db}, %d1;"),
            _ => format!("shl.b32 %r11, {index}, 2; add.u32 %r11, {db}, %r11;"),
        };
        let at = if ds == "global" { "%d1" } else { "%r11" };
        let leaves = if among_blocks { "setp.ne.u32 %p0, %t, 0; @%p0 bra END;" } else { "" };
        let read = if reads {
            format!(
                "ld.{ds}.u32 %r2, [{db}]; ld.{ds}.u32 %r3, [{db}+4]; add.u32 %r2, %r2, %r3; st.global.u32 [%o], %r2;"
            )
        } else {
            String::new()
        };
        // If an item resets the counter too early, no item reads the data, because other items may
        // still write.
        let read = if wrong == 2 { String::new() } else { read };
        let atomic = self.one(&["atom.{s}.add.u32 %r1, [{a}], 1;", "atom.{s}.inc.u32 %r1, [{a}], 1000;"]);
        let atomic = atomic.replace("{s}", fs).replace("{a}", fb);
        let body = format!(
            "{leaves} {address} st.{ds}.u32 [{at}], {index}; {} {before} {atomic}
setp.ne.u32 %p1, %r1, {who}; @%p1 bra END; {behind} {read} {} st.{fs}.u32 [{fb}], 0;",
            self.idle(),
            self.idle()
        );
        Sample { what: "last", body, grid, block, error: (!is_right).then_some(error) }
    }

    /// Generates a kernel in which the items change a word one after another, by a lock or by
    /// tickets.
    fn lock(&mut self, is_right: bool) -> Sample {
        let (data, flag) = (self.space(), self.space());
        let block = 4 + self.below(40) as u32;
        let scope = self.one(&["cta", "gpu"]);
        let wrong = if is_right { 2 } else { self.below(2) };
        let takes = if wrong == 0 { "relaxed" } else { "acquire" };
        let gives = if wrong == 1 { "relaxed" } else { "release" };
        let (ds, db, fs, fb) = (data.name, data.data, flag.name, flag.flags);
        let inside = format!("ld.{ds}.u32 %r2, [{db}]; add.u32 %r2, %r2, 1; {} st.{ds}.u32 [{db}], %r2;", self.idle());
        let (what, body) = match self.below(3) {
            0 => (
                "lock",
                format!(
                    "L: atom.{takes}.{scope}.{fs}.cas.b32 %r1, [{fb}], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra L;
{inside} st.{gives}.{scope}.{fs}.u32 [{fb}], 0;"
                ),
            ),
            1 => (
                "lock by exchange",
                format!(
                    "L: atom.{takes}.{scope}.{fs}.exch.b32 %r1, [{fb}], 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra L;
{inside} atom.{gives}.{scope}.{fs}.exch.b32 %r3, [{fb}], 0;"
                ),
            ),
            _ => (
                "semaphore",
                format!(
                    "atom.relaxed.{scope}.{fs}.add.u32 %r4, [{fb}+4], 1;
L: ld.{takes}.{scope}.{fs}.u32 %r1, [{fb}]; setp.ne.u32 %p0, %r1, %r4; @%p0 bra L;
{inside} add.u32 %r4, %r4, 1; st.{gives}.{scope}.{fs}.u32 [{fb}], %r4;"
                ),
            ),
        };
        Sample { what, body, grid: 1, block, error: (!is_right).then_some(data.race) }
    }

    /// Generates a kernel in which one item releases a flag, a second item changes the flag, and a
    /// third item acquires it. A change by an atomic operation continues the release sequence; a
    /// store ends it.
    fn sequence(&mut self, is_right: bool) -> Sample {
        let (data, flag) = (self.space(), self.space());
        let block = 4 + self.below(70) as u32;
        let (writer, reader) = self.two(block);
        let third = (0..block).find(|item| ![writer, reader].contains(item)).unwrap();
        let (ds, db, fs, fb) = (data.name, data.data, flag.name, flag.flags);
        let change = match is_right {
            true => format!("atom.relaxed.gpu.{fs}.add.u32 %r3, [{fb}], 1;"),
            false => format!("st.relaxed.gpu.{fs}.u32 [{fb}], 2;"),
        };
        let body = format!(
            "setp.eq.u32 %p0, %t, {writer}; @%p0 bra W; setp.eq.u32 %p1, %t, {reader}; @%p1 bra R;
setp.eq.u32 %p1, %t, {third}; @%p1 bra M; bra END;
W: st.{ds}.u32 [{db}], 7; {} st.release.gpu.{fs}.u32 [{fb}], 1; bra END;
M: ld.relaxed.gpu.{fs}.u32 %r1, [{fb}]; setp.ne.u32 %p2, %r1, 1; @%p2 bra M; {change} bra END;
R: ld.relaxed.gpu.{fs}.u32 %r1, [{fb}]; setp.ne.u32 %p3, %r1, 2; @%p3 bra R; ld.acquire.gpu.{fs}.u32 %r1, [{fb}];
ld.{ds}.u32 %r2, [{db}]; st.global.u32 [%o], %r2;",
            self.idle()
        );
        Sample { what: "release sequence", body, grid: 1, block, error: (!is_right).then_some(data.race) }
    }

    /// Generates a kernel in which an item observes a strong write of another item, and then writes
    /// the same word weakly. The observation does not order the accesses of the other item before
    /// its strong write.
    fn observed(&mut self, is_right: bool) -> Sample {
        let (data, flag) = (self.space(), self.space());
        let block = 4 + self.below(70) as u32;
        let (writer, reader) = self.two(block);
        let (ds, db, fs, fb) = (data.name, data.data, flag.name, flag.flags);
        let spin = format!("S: ld.relaxed.gpu.{fs}.u32 %r1, [{fb}]; setp.ne.u32 %p2, %r1, 1; @%p2 bra S;");
        let wrong = if is_right { 2 } else { self.below(2) };
        let (spin, behind, error) = match wrong {
            0 => (spin.as_str(), format!("ld.{ds}.u32 %r2, [{db}]; st.global.u32 [%o], %r2;"), data.race),
            1 => ("", String::new(), flag.race),
            _ => (spin.as_str(), String::new(), ""),
        };
        let body = format!(
            "setp.eq.u32 %p0, %t, {writer}; @%p0 bra W; setp.eq.u32 %p1, %t, {reader}; @%p1 bra R; bra END;
W: st.{ds}.u32 [{db}], 7; {} st.relaxed.gpu.{fs}.u32 [{fb}], 1; bra END;
R: {spin} {behind} st.{fs}.u32 [{fb}], 0;",
            self.idle()
        );
        Sample { what: "observed", body, grid: 1, block, error: (!is_right).then_some(error) }
    }

    /// Generates a kernel with two strong accesses. In the faulty variant, the accesses overlap
    /// only in part, and no barrier orders the accesses.
    fn sizes(&mut self, is_right: bool) -> Sample {
        let of = self.space();
        let block = 4 + self.below(70) as u32;
        let (first, second) = self.two(block);
        let (space, base) = (of.name, of.flags);
        let store = |ty: &str, at: u32| match ty {
            "u8" | "u16" => format!("st.relaxed.gpu.{space}.{ty} [{base}+{at}], %h0;"),
            "u64" => format!("st.relaxed.gpu.{space}.u64 [{base}+{at}], %d0;"),
            _ => format!("st.relaxed.gpu.{space}.{ty} [{base}+{at}], %r0;"),
        };
        let add = |ty: &str, at: u32| match ty {
            "u64" => format!("atom.{space}.add.u64 %d1, [{base}+{at}], %d0;"),
            "noftz.f16" => format!("red.{space}.add.noftz.f16 [{base}+{at}], %h0;"),
            _ => format!("red.{space}.add.{ty} [{base}+{at}], %r0;"),
        };
        let volatile = format!("ld.volatile.{space}.u32 %r1, [{base}];");
        let vector = format!("st.volatile.{space}.v4.u32 [{base}], {{%r0, %r0, %r0, %r0}};");
        let apart = [
            [store("u32", 0), store("u16", 2)],
            [store("u32", 4), store("u8", 7)],
            [store("u64", 0), store("u32", 4)],
            [add("u32", 0), add("u64", 0)],
            [add("noftz.f16x2", 4), add("u32", 4)],
            [volatile.clone(), store("u16", 0)],
            [vector.clone(), store("u64", 8)],
        ];
        let alike = [
            [store("u32", 0), store("u32", 0)],
            [store("u16", 0), store("u16", 2)],
            [store("u64", 0), store("u32", 8)],
            [add("u64", 0), add("u64", 0)],
            [add("noftz.f16x2", 4), add("noftz.f16", 6)],
            [volatile, add("u32", 0)],
            [vector, store("u32", 8)],
        ];
        // Accesses of different sizes are no race if a barrier orders them.
        let ordered = is_right && self.below(3) == 0;
        let pairs = if is_right && !ordered { &alike } else { &apart };
        // The last pair consists of vector accesses. The import refuses these accesses in shared
        // memory, because it cannot prove their alignment.
        let [one, other] = &pairs[self.below(pairs.len() - usize::from(space == "shared"))];
        let between = if ordered { "bar.sync 0;" } else { "" };
        let body = format!(
            "mov.b16 %h0, 0; mov.u32 %r0, 0; mov.u64 %d0, 0;
setp.ne.u32 %p0, %t, {first}; @%p0 bra A; {one} A: {between} setp.ne.u32 %p1, %t, {second}; @%p1 bra END; {other}"
        );
        Sample { what: "sizes", body, grid: 1, block, error: (!is_right).then_some(of.race) }
    }

    /// Generates a kernel with barriers. In the faulty variants, some lanes of a warp do not
    /// execute a barrier at which other lanes wait.
    fn barriers(&mut self, is_right: bool) -> Sample {
        let block = 8 + self.below(90) as u32;
        let lane = 1 + self.below(6);
        let some = self.one(&[
            "setp.eq.u32 %p0, %t, LANE;",
            "setp.lt.u32 %p0, %t, LANE;",
            "and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 1;",
        ]);
        let some = some.replace("LANE", &lane.to_string());
        let behind = "st.global.u32 [%d7], %t;";
        let body = match (is_right, self.below(4)) {
            (false, 0) => format!("{some} @%p0 bar.sync 0; {behind}"),
            (false, 1) => format!("{some} @%p0 bra S; {} bar.sync 0; S: {behind}", self.idle()),
            (false, 2) => {
                let turns =
                    "min.u32 %r2, %t, 2; L: bar.sync 0; setp.eq.u32 %p1, %r2, 0; sub.u32 %r2, %r2, 1; @!%p1 bra L;";
                format!("{turns} {behind}")
            }
            (false, _) => format!(
                "{some} @%p0 bra A; bra B; A: setp.gt.u32 %p1, %t, 200; @%p1 bra C; bar.sync 0; C: bra D; B: {} D: {behind}",
                self.idle()
            ),
            (true, 0) => format!("{some} @%p0 bra END; {} bar.sync 0; {behind}", self.idle()),
            (true, 1) => format!("{some} @%p0 ret; bar.sync 0; {behind} bar.sync 0;"),
            (true, 2) => format!("setp.lt.u32 %p1, %t, 1000; @%p1 bar.sync 0; {behind}"),
            (true, _) => format!(
                "{some} @%p0 bra S; {} S: mov.u32 %r2, 3; L: bar.sync 0; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L; {behind}",
                self.idle()
            ),
        };
        Sample { what: "barriers", body, grid: 1, block, error: (!is_right).then_some("barrier-divergence") }
    }

    fn sample(&mut self, number: usize) -> Sample {
        let is_right = number.is_multiple_of(2);
        match number / 2 % 8 {
            0 => self.exchange(is_right),
            1 => self.message(is_right),
            2 => self.last(is_right),
            3 => self.lock(is_right),
            4 => self.sequence(is_right),
            5 => self.observed(is_right),
            6 => self.sizes(is_right),
            _ => self.barriers(is_right),
        }
    }
}

#[test]
fn races_are_told_apart_from_none() {
    let mut draw = Draw(Random(63));
    let samples: Vec<Sample> = (0..640).map(|number| draw.sample(number)).collect();
    let lines: Vec<String> = samples.iter().map(|sample| sample.line().to_string()).collect();
    let mut wrong = Vec::new();
    for way in [&["--via", "ptx", "--races"][..], &["--via", "ir"]] {
        for (sample, answer) in samples.iter().zip(answers(way, &lines)) {
            let kind = answer["error"].get("kind").and_then(Value::as_str);
            if kind != sample.error {
                let Sample { what, body, grid, block, error } = sample;
                wrong.push(format!("{way:?}, {what}, {grid} x {block}: {error:?}, found {}\n{body}", answer["error"]));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(8).cloned().collect::<Vec<_>>().join("\n\n")
    );
}

/// Returns a launch of a PTX text with one kernel.
fn launch(text: &str, block: u32, args: Value) -> String {
    json!({"ptx": text, "grid": [1, 1, 1], "block": [block, 1, 1], "args": args}).to_string()
}

const WAYS: [&[&str]; 6] = [
    &["--via", "ptx"],
    &["--via", "ptx", "--races"],
    &["--via", "ptx", "--engine", "jit"],
    &["--via", "ir"],
    &["--via", "halu"],
    &["--via", "halu", "--engine", "jit"],
];

/// Some lanes have left a loop and wait at a barrier. Other lanes wait in the loop, at a shuffle
/// whose member mask contains all lanes.
#[test]
fn a_circular_wait_names_all_parties() {
    let text = ".version 7.8 .target sm_80 .address_size 64
.visible .entry k(.param .u64 o) {
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [o]; mov.u32 %r1, %tid.x; shr.u32 %r3, %r1, 3; add.u32 %r3, %r3, 1; mov.u32 %r4, %r1;
L:
shfl.sync.bfly.b32 %r5, %r4, 1, 0x181f, 0xffffffff;
add.u32 %r4, %r4, %r5; sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra L;
bar.sync 0;
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r4;
ret;
}
";
    for way in WAYS {
        let answer = answers(way, &[launch(text, 32, json!([{"zeros": 128}]))]).remove(0);
        let error = &answer["error"];
        assert_eq!((&error["kind"], &error["line"]), (&json!("barrier-divergence"), &json!(8)), "{way:?}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("items 8 to 31 of the group wait for lanes 0 to 7"), "{way:?}: {message}");
        assert!(way[1] == "ir" || message.contains("(line 6)"), "{way:?}: {message}");
    }
}

/// Half of the lanes skip a barrier at which the other lanes wait. Only engines that detect races
/// report the skipped barrier.
#[test]
fn lanes_that_pass_a_barrier_are_named() {
    let text = ".version 7.8 .target sm_80 .address_size 64
.visible .entry k(.param .u64 o) {
.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [o]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 1;
@%p bar.sync 0;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1;
ret;
}
";
    for (way, is_found) in WAYS.into_iter().zip([false, true, false, true, false, false]) {
        let answer = answers(way, &[launch(text, 32, json!([{"zeros": 128}]))]).remove(0);
        let error = &answer["error"];
        assert_eq!(error.is_object(), is_found, "{way:?}: {error}");
        if is_found {
            assert_eq!((&error["kind"], &error["line"]), (&json!("barrier-divergence"), &json!(5)), "{way:?}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("item 0 of the group goes past the barrier"), "{message}");
        }
    }
    let early = text.replace("@%p bar.sync 0;", "@%p bra E; bar.sync 0;").replace("ret;", "E: ret;");
    for way in WAYS {
        let answer = answers(way, &[launch(&early, 32, json!([{"zeros": 128}]))]).remove(0);
        assert!(answer["buffers"].is_array(), "{way:?}: {answer}");
    }
}

/// A function contains a barrier, and some lanes return from it before the barrier.
#[test]
fn functions_are_left_before_a_barrier() {
    let text = |behind: &str| {
        format!(
            ".version 7.8 .target sm_80 .address_size 64
.func f(.param .u32 a) {{
.reg .pred %p; .reg .b32 %r<3>;
ld.param.u32 %r1, [a]; setp.lt.u32 %p, %r1, 5; @%p ret; bar.sync 0; ret;
}}
.visible .entry k(.param .u64 o) {{
.reg .b32 %r<3>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [o]; mov.u32 %r1, %tid.x;
{{ .param .u32 b; st.param.u32 [b], %r1; call f, (b); }}
{behind}
ret;
}}
"
        )
    };
    let way = ["--via", "ptx", "--races"];
    let stores = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1;";
    let lines = [stores, ""].map(|behind| launch(&text(behind), 32, json!([{"zeros": 128}])));
    let answers = answers(&way, &lines);
    assert_eq!(answers[0]["error"]["kind"], "barrier-divergence", "{}", answers[0]);
    assert!(answers[1]["buffers"].is_array(), "{}", answers[1]);
}
