//! A C program that launches native functions. The program reads the arguments from a file, and
//! writes the buffers to another file.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use halfbyte::Shape;
use halfbyte::abi::{Alias, Elem, ParamKind};
use halfbyte::native::{About, Function, Language, Machine, header};

/// The C compiler for a machine, and the program that runs its output here.
pub struct Tools {
    pub triple: &'static str,
    pub cpu: Option<&'static str>,
    pub compiler: &'static [&'static str],
    pub runner: &'static [&'static str],
}

pub const HOST: Tools = Tools { triple: "x86_64-unknown-linux-gnu", cpu: None, compiler: &["gcc"], runner: &[] };
/// The host without vectors, with vectors of 128 bits, and with vectors of 256 bits.
pub const LEVELS: [Tools; 3] =
    [HOST, Tools { cpu: Some("x86-64-v2"), ..HOST }, Tools { cpu: Some("x86-64-v3"), ..HOST }];

/// Other machines, which QEMU emulates.
pub const OTHERS: [Tools; 2] = [
    Tools {
        triple: "aarch64-unknown-linux-gnu",
        cpu: None,
        compiler: &["aarch64-linux-gnu-gcc", "-static"],
        runner: &["qemu-aarch64"],
    },
    Tools {
        triple: "riscv64gc-unknown-linux-gnu",
        cpu: None,
        compiler: &["riscv64-linux-gnu-gcc", "-static"],
        runner: &["qemu-riscv64"],
    },
];

impl Tools {
    /// Returns the missing tool or CPU feature, if any.
    pub fn missing(&self) -> Option<&'static str> {
        #[cfg(target_arch = "x86_64")]
        if self.cpu == Some("x86-64-v3") && !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return self.cpu;
        }
        let is_there =
            |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|said| said.status.success());
        [self.compiler, self.runner].into_iter().filter_map(|call| call.first()).find(|tool| !is_there(tool)).copied()
    }
}

/// An object with its functions.
pub struct Unit {
    pub bytes: Vec<u8>,
    pub functions: Vec<Function>,
}

/// A launch of a native function.
#[derive(Clone)]
pub struct Call {
    /// The index of the object, and of the function in it.
    pub function: (usize, usize),
    pub shape: Shape,
    /// The bytes of each parameter's scalar or buffer.
    pub args: Vec<Vec<u8>>,
    pub aliases: Vec<Alias>,
}

/// The result of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub status: i32,
    pub item: u32,
    pub line: u32,
    pub args: Vec<Vec<u8>>,
}

/// The alignment of arguments in the files, in bytes.
const STEP: usize = 16;

/// Returns the offset of each argument of each launch in the files.
fn places(calls: &[Call]) -> Vec<Vec<usize>> {
    let mut end = 0_usize;
    let mut place = |bytes: &Vec<u8>| {
        let start = end;
        end += bytes.len().next_multiple_of(STEP);
        start
    };
    calls.iter().map(|call| call.args.iter().map(&mut place).collect()).collect()
}

/// Builds the program in a folder with additional compiler options, and runs it under the given tools.
pub fn run(
    folder: &Path,
    tools: &Tools,
    options: &[&str],
    under: &[&str],
    units: &[Unit],
    calls: &[Call],
) -> Vec<Answer> {
    let program = build(folder, tools, options, units, calls);
    let places = places(calls);
    let mut data = Vec::new();
    for (call, places) in calls.iter().zip(&places) {
        for (bytes, &place) in call.args.iter().zip(places) {
            data.resize(place, 0);
            data.extend(bytes);
        }
    }
    let [before, after] = ["before", "after"].map(|name| folder.join(name));
    fs::write(&before, &data).unwrap();
    let mut words = under.iter().chain(tools.runner).map(PathBuf::from).chain([program, before, after.clone()]);
    let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said:.2000}", output.status);
    let data = fs::read(after).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().zip(calls.iter().zip(&places)).map(|(line, (call, places))| {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [status, item, line] = numbers[..] else { panic!("{line}") };
        let args = call.args.iter().zip(places).map(|(bytes, &place)| data[place..place + bytes.len()].to_vec());
        Answer { status: status as i32, item: item as u32, line: line as u32, args: args.collect() }
    });
    let answers: Vec<Answer> = answers.collect();
    assert_eq!(answers.len(), calls.len(), "{said:.2000}");
    answers
}

/// Builds the program, with an object and a header per unit. Each launch is a separate function, to
/// keep compile times short.
fn build(folder: &Path, tools: &Tools, options: &[&str], units: &[Unit], calls: &[Call]) -> PathBuf {
    let machine = Machine::new(tools.triple, None).unwrap();
    let mut text = PROLOGUE.to_owned();
    let mut inputs = vec![folder.join("driver.c")];
    for (number, unit) in units.iter().enumerate() {
        let [object, name] = ["o", "h"].map(|end| format!("unit{number}.{end}"));
        let about = About { name: &name, source: "kernels", machine: &machine };
        fs::write(folder.join(&name), header(Language::C, &about, &unit.functions)).unwrap();
        fs::write(folder.join(&object), &unit.bytes).unwrap();
        inputs.push(folder.join(object));
        writeln!(text, "#include \"{name}\"").unwrap();
    }
    for (number, (call, places)) in calls.iter().zip(places(calls)).enumerate() {
        let (unit, function) = call.function;
        launch(&mut text, number, call, &places, &units[unit].functions[function]);
    }
    text += "static void (*const LAUNCHES[])(void) = {\n";
    (0..calls.len()).for_each(|number| writeln!(text, "    launch{number},").unwrap());
    text += EPILOGUE;
    fs::write(folder.join("driver.c"), text).unwrap();
    let program = folder.join("driver");
    let mut compiler = Command::new(tools.compiler[0]);
    compiler.args(&tools.compiler[1..]).args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]).args(options);
    let output = compiler.args(inputs).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{:.4000}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Writes a function that makes a launch. Each buffer is separate memory of exactly its size.
fn launch(text: &mut String, number: usize, call: &Call, places: &[usize], function: &Function) {
    writeln!(text, "static void launch{number}(void) {{").unwrap();
    let mut arguments = Vec::new();
    if function.takes_grid {
        for (name, counts) in [("grid", call.shape.grid), ("block", call.shape.block)] {
            let [x, y, z] = counts;
            writeln!(text, "    const uint32_t {name}[3] = {{{x}u, {y}u, {z}u}};").unwrap();
            arguments.push(name.to_owned());
        }
    } else {
        arguments.push(format!("{}u", call.shape.items().unwrap()));
    }
    let alias_of = |param: usize| call.aliases.iter().find(|alias| alias.param == param);
    let is_own = |number: usize| {
        matches!(function.parameters[number].kind, ParamKind::Buffer { .. }) && alias_of(number).is_none()
    };
    let own: Vec<usize> = (0..function.parameters.len()).filter(|&number| is_own(number)).collect();
    for &param in &own {
        let (place, size) = (places[param], call.args[param].len());
        writeln!(text, "    void *const b{param} = take({place}, {size});").unwrap();
    }
    for (number, (param, bytes)) in function.parameters.iter().zip(&call.args).enumerate() {
        let (ty, size) = (param.ty(), param.ty().bytes() as usize);
        let bits = || bytes.iter().rev().fold(0_u128, |bits, &byte| bits << 8 | u128::from(byte));
        match (param.kind, ty.elem()) {
            (ParamKind::Buffer { .. }, _) => {
                let (of, offset) = alias_of(number).map_or((number, 0), |alias| (alias.of, alias.offset as usize));
                let elements = (call.args[of].len() - offset) / size;
                arguments.push(format!("(void *)((char *)b{of} + {offset}), {elements}"));
            }
            (_, Elem::F32) => arguments.push(format!("single(0x{:x}u)", bits())),
            (_, Elem::F64) => arguments.push(format!("twice(UINT64_C(0x{:x}))", bits())),
            _ if size == 16 => {
                let lanes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                writeln!(text, "    const halfbyte_i8x16 s{number} = {{{{{}}}}};", lanes.join(", ")).unwrap();
                arguments.push(format!("&s{number}"));
            }
            _ => arguments.push(format!("UINT64_C(0x{:x})", bits())),
        }
    }
    arguments.push("&trap".to_owned());
    writeln!(text, "    struct halfbyte_trap trap = {{0, 0, 0, 0, 0}};").unwrap();
    writeln!(text, "    const int32_t status = {}({});", function.symbol, arguments.join(", ")).unwrap();
    for &param in &own {
        writeln!(text, "    give(b{param}, {}, {});", places[param], call.args[param].len()).unwrap();
    }
    writeln!(text, "    say(status, trap.item, trap.line);\n}}\n").unwrap();
}

const PROLOGUE: &str = "\
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *data;

/* Bytes before and after an argument that are nobody's. */
#ifndef APART
#define APART 0
#endif

/* Memory with the bytes of an argument; null where there are none. */
static inline void *take(size_t place, size_t size) {
    if (size == 0) return NULL;
    unsigned char *memory = malloc(size + 2 * (size_t)APART);
    if (!memory) abort();
    return memcpy(memory + APART, data + place, size);
}

static inline void give(void *memory, size_t place, size_t size) {
    if (size == 0) return;
    memcpy(data + place, memory, size);
    free((unsigned char *)memory - APART);
}

static inline float single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double twice(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void say(int32_t status, uint32_t item, uint32_t line) {
    printf(\"%\" PRId32 \" %\" PRIu32 \" %\" PRIu32 \"\\n\", status, item, line);
    fflush(stdout);
}

";

const EPILOGUE: &str = "};

int main(int count, char **names) {
    if (count != 3) return 2;
    FILE *file = fopen(names[1], \"rb\");
    if (!file || fseek(file, 0, SEEK_END)) return 2;
    const long size = ftell(file);
    rewind(file);
    data = malloc((size_t)size + 16);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return 2;
    fclose(file);
    for (size_t number = 0; number < sizeof LAUNCHES / sizeof *LAUNCHES; number++) LAUNCHES[number]();
    file = fopen(names[2], \"wb\");
    if (!file || fwrite(data, 1, (size_t)size, file) != (size_t)size || fclose(file)) return 2;
    free(data);
}
";
