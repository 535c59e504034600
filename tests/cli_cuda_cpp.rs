//! Tests of CUDA C++ files as inputs of `run` and `compile`. A shell script in the place of nvcc gives PTX, so that the
//! tests need no compiler for GPUs. The tests of the Python package use NVRTC.
#![cfg(unix)]

use std::fs::{self, create_dir_all};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::{Called, halfbyte_with};

const PTX: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4fillPii(
    .param .u64 _Z4fillPii_param_0,
    .param .u32 _Z4fillPii_param_1
)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [_Z4fillPii_param_0];
    ld.param.u32 %r0, [_Z4fillPii_param_1];
    cvta.to.global.u64 %d1, %d0;
    st.global.u32 [%d1], %r0;
    ret;
}
";

const SOURCE: &str = "__global__ void fill(int *x, int n) {\n    *x = n;\n}\n";

/// A CUDA toolkit whose compiler is a shell script, and a CUDA C++ file.
struct Toolkit(TempDir);

impl Toolkit {
    /// Creates a toolkit whose compiler counts its calls and then runs shell commands.
    fn new(commands: &str) -> Toolkit {
        let toolkit = Toolkit(tempfile::tempdir().unwrap());
        create_dir_all(toolkit.path("bin")).unwrap();
        let (calls, ptx, nvcc) = (toolkit.path("calls"), toolkit.path("k.ptx"), toolkit.path("bin/nvcc"));
        fs::write(&ptx, PTX).unwrap();
        let script = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\nptx='{}'\necho \"$*\" >> '{}'\n{commands}\n",
            ptx.display(),
            calls.display()
        );
        fs::write(&nvcc, script).unwrap();
        fs::set_permissions(&nvcc, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(toolkit.path("fill.cu"), SOURCE).unwrap();
        toolkit
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self) -> String {
        self.path("fill.cu").display().to_string()
    }

    /// Returns the arguments of each call of the compiler, a line for each call.
    fn calls(&self) -> Vec<String> {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Calls a command with the toolkit and without a Python interpreter, whose wheels would come first.
    fn call(&self, args: &[&str]) -> Called {
        let (toolkit, cache) = (self.0.path().display().to_string(), self.path("cache").display().to_string());
        let variables = [
            ("CUDA_PATH", toolkit.as_str()),
            ("HALFBYTE_CACHE", cache.as_str()),
            ("HALFBYTE_MODULES", ""),
            ("PATH", "/nosuch"),
        ];
        halfbyte_with(args, &variables)
    }

    /// Runs the kernel of the file.
    fn run(&self, more: &[&str]) -> Called {
        let file = self.file();
        let args = ["run", &file, "--compiler", "nvcc", "--grid", "1", "--block", "1"];
        self.call(&[&args[..], more].concat())
    }
}

/// Shell commands of a compiler that succeeds.
const COPY: &str = "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && cp \"$ptx\" \"$2\"; shift; done";

const ARGS: [&str; 4] = ["--arg", "x=zeros:i32:1", "--arg", "n=7"];

#[test]
fn a_kernel_runs_on_all_targets_with_the_names_of_its_parameters() {
    let toolkit = Toolkit::new(COPY);
    for target in ["ptx", "ir", "halu"] {
        for kernel in [&[][..], &["--kernel", "fill"], &["--entry", "_Z4fillPii"], &["--entry", "@fill"]] {
            let called = toolkit.run(&[&ARGS[..], kernel, &["--target", target]].concat());
            assert_eq!(called.output(), "x=[7]\n", "{target} {kernel:?}");
        }
    }
    let calls = toolkit.calls();
    assert_eq!(calls.len(), 1, "the other runs use the cache: {calls:?}");
    assert!(calls[0].contains("-ptx") && calls[0].contains("-arch=compute_90"), "{calls:?}");
    let more = ["--target", "ptx", "--sm", "80", "-I", "/own", "--compiler-option", "-DN=4"];
    assert_eq!(toolkit.run(&[&ARGS[..], &more].concat()).output(), "x=[7]\n");
    let last = toolkit.calls().pop().unwrap();
    assert!(last.contains("-arch=compute_80") && last.contains("-I/own") && last.contains("-DN=4"), "{last}");
}

#[test]
fn a_kernel_is_compiled() {
    let toolkit = Toolkit::new(COPY);
    let file = toolkit.file();
    let compiled = toolkit.call(&["compile", &file, "--compiler", "nvcc", "--target", "halu", "--kernel", "fill"]);
    assert!(compiled.output().contains("STG"), "{}", compiled.out);
}

#[test]
fn a_trap_is_shown_in_the_ptx_text() {
    let toolkit = Toolkit::new(COPY);
    let called = toolkit.run(&["--target", "ptx", "--arg", "x=zeros:i32:0", "--arg", "n=7"]);
    called.fails(1, "byte 0 of buffer `x`, which has 0 bytes");
    called.fails(1, "fill.cu.ptx:14:5");
}

#[test]
fn an_unknown_kernel_is_named() {
    let toolkit = Toolkit::new(COPY);
    let run = |kernel| toolkit.run(&[&ARGS[..], &["--target", "ptx", "--kernel", kernel]].concat());
    run("fil").fails(2, "has no kernel `fil`; did you mean `fill`?");
    run("fill<float>").fails(2, "`fill<float>` is not the name of a kernel");
}

#[test]
fn a_text_without_kernels_is_refused() {
    let toolkit = Toolkit::new("while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo '.version 8.0' > \"$2\"; shift; done");
    toolkit.run(&["--target", "ptx"]).fails(1, "fill.cu has no kernels");
    fs::write(toolkit.path("fill.cu"), "template <class T> __global__ void fill(T *x) {}\n").unwrap();
    toolkit.run(&["--target", "ptx"]).fails(1, "a template needs its arguments");
}

#[test]
fn errors_of_the_compiler_are_shown_in_the_file() {
    let toolkit = Toolkit::new("echo \"$file(2): error: identifier \\\"m\\\" is undefined\" >&2\nexit 2");
    // The compiler gives the name of the file that the directive `#line` in its input has.
    let script = fs::read_to_string(toolkit.path("bin/nvcc")).unwrap();
    fs::write(toolkit.path("bin/nvcc"), script.replace("$file", &toolkit.file())).unwrap();
    let called = toolkit.run(&[&ARGS[..], &["--target", "ptx"]].concat());
    called.fails(1, "error: identifier \"m\" is undefined");
    called.fails(1, "fill.cu:2:5");
    called.fails(1, "*x = n;");
    let json = toolkit.run(&[&ARGS[..], &["--target", "ptx", "--json"]].concat());
    assert_eq!(json.code, 1);
    assert!(json.out.contains("identifier \\\"m\\\" is undefined"), "{}", json.out);
}

#[test]
fn a_missing_compiler_is_named() {
    let toolkit = Toolkit::new(COPY);
    fs::remove_file(toolkit.path("bin/nvcc")).unwrap();
    if PathBuf::from("/usr/local/cuda/bin/nvcc").exists() {
        println!("skipped: there is a CUDA toolkit");
        return;
    }
    let called = toolkit.run(&[&ARGS[..], &["--target", "ptx"]].concat());
    called.fails(2, "nvcc is not installed; `pip install nvidia-cuda-nvcc");
}
