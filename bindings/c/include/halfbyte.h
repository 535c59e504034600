// C interface of halfbyte. The manual is docs/c.md.
//
// Functions ending in _new, _parse, _compile, _build or _load create a handle. The caller frees it once with the function ending in
// _free of the same name; null is ignored. Nothing else that these functions return must be freed. A null pointer where null is not
// documented as permitted is an error, HALFBYTE_STATUS_INVALID_ARGUMENT, and so is a length that exceeds memory.
//
// Every function may be called from every thread. Modules, objects, programs and PTX texts are immutable, and threads may share them.
// Any other handle may be used by one thread at a time, except in halfbyte_cancel_request.
//
// A parameter `halfbyte_error **error` may be null. Otherwise it is set to null on success, and on failure to an error that the
// caller frees.
//
// This file is generated from the library's source. Do not edit it.


#ifndef HALFBYTE_H
#define HALFBYTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Length of a text that ends with its first zero byte.
#define HALFBYTE_TO_NUL SIZE_MAX


// Version of the interface in this header. `halfbyte_abi_version` returns the version of the
// library. A library supports all programs that were compiled with a header of the same version.
#define HALFBYTE_ABI_VERSION 1



// Kind of an argument: a value. `data` points to as many bytes as the parameter has, low byte first.
#define HALFBYTE_ARG_VALUE 0

// Kind of an argument: read-only memory.
#define HALFBYTE_ARG_IN 1

// Kind of an argument: memory that the kernel may write, and that does not overlap another
// argument. The launch fills an `out` buffer with zeros.
#define HALFBYTE_ARG_BUFFER 2

// Kind of an argument: an address in the memory of another argument, byte `offset` of argument `of`.
#define HALFBYTE_ARG_ALIAS 3

// Engine: the interpreter, which runs one work item after another on the caller's thread.
#define HALFBYTE_ENGINE_INTERP 0

// Engine: native code, which is generated at a kernel's first launch and runs many work items in
// parallel. A kernel that native code does not support falls back to the interpreter.
#define HALFBYTE_ENGINE_JIT 1

// Limit: size of a text in bytes.
#define HALFBYTE_LIMIT_TEXT_BYTES 0

// Limit: number of ops in a kernel that is compiled.
#define HALFBYTE_LIMIT_OPS 1

// Limit: number of basic blocks in a kernel that is compiled.
#define HALFBYTE_LIMIT_BLOCKS 2

// Limit: number of simultaneously live values in a kernel that is compiled.
#define HALFBYTE_LIMIT_LIVE_VALUES 3

// Limit: total size in bytes of the buffers of a launch.
#define HALFBYTE_LIMIT_BUFFER_BYTES 4

// Limit: number of work items of a launch.
#define HALFBYTE_LIMIT_ITEMS 5

// Limit: number of instructions and backward branches that all work items of a launch execute together.
#define HALFBYTE_LIMIT_WORK 6

// Limit: memory in bytes that the whole process uses, on systems that report it.
#define HALFBYTE_LIMIT_MEMORY 7

// Limit: duration of a call in milliseconds.
#define HALFBYTE_LIMIT_TIME_MS 8

// Limit: number of backward branches that one work item executes. The default is 2^20.
#define HALFBYTE_LIMIT_BUDGET 9

// Race check: races are not detected.
#define HALFBYTE_RACES_OFF 0

// Race check: races are errors, except that two stores of the same value by the same instruction give a warning.
#define HALFBYTE_RACES_ON 1

// Race check: all races are errors.
#define HALFBYTE_RACES_STRICT 2

// Result of a function call: success, or the kind of an error.
typedef enum halfbyte_status {
  // The call succeeded.
  HALFBYTE_STATUS_OK = 0,
  // An argument of the call is invalid: a null pointer, an invalid length, or an unknown constant.
  HALFBYTE_STATUS_INVALID_ARGUMENT = 1,
  // A source text has errors.
  HALFBYTE_STATUS_PARSE = 2,
  // The target does not support an operation of a kernel.
  HALFBYTE_STATUS_REFUSED = 3,
  // The bytes are not an object file that this library can execute.
  HALFBYTE_STATUS_LOAD = 4,
  // No kernel or no target has the given name.
  HALFBYTE_STATUS_NOT_FOUND = 5,
  // The arguments or the shape of a launch do not match the kernel.
  HALFBYTE_STATUS_ARGUMENTS = 6,
  // A work item trapped, for example because of an access out of bounds, a barrier that not all
  // items reach, or a race.
  HALFBYTE_STATUS_TRAP = 7,
  // A limit of the options was exceeded.
  HALFBYTE_STATUS_LIMIT = 8,
  // The call was cancelled by halfbyte_cancel_request.
  HALFBYTE_STATUS_CANCELLED = 9,
  // The engine does not support the kernel, or the library was built without the engine.
  HALFBYTE_STATUS_UNSUPPORTED = 10,
  // The library has a defect.
  HALFBYTE_STATUS_INTERNAL = 11,
} halfbyte_status;

// Token by which another thread can cancel calls.
typedef struct halfbyte_cancel halfbyte_cancel;

// Error of a function call.
typedef struct halfbyte_error halfbyte_error;

// Kernels of a parsed source text.
typedef struct halfbyte_module halfbyte_module;

// Object file with the machine code of kernels.
typedef struct halfbyte_object halfbyte_object;

// Options of compilations and launches. A null pointer means the options that halfbyte_options_new creates.
typedef struct halfbyte_options halfbyte_options;

// Kernels of a loaded object, which can be launched.
typedef struct halfbyte_program halfbyte_program;

// Parsed PTX text with the contents of its variables.
typedef struct halfbyte_ptx halfbyte_ptx;

// Shape of a launch: the number of blocks and the block size, each along x, y and z.
typedef struct halfbyte_shape {
  // Number of blocks along x, y and z.
  uint32_t grid[3];
  // Number of threads per block along x, y and z.
  uint32_t block[3];
  // Size of the dynamic shared memory of a block, in bytes.
  uint32_t shared;
} halfbyte_shape;

// Callback that receives a zero-terminated text: the output of `vprintf` in kernels, or a warning.
// The thread that launches the kernel calls it.
typedef void (*halfbyte_print)(void *user, const char *text);

// Argument of a launch.
typedef struct halfbyte_arg {
  // Kind of the argument: HALFBYTE_ARG_VALUE, HALFBYTE_ARG_IN, HALFBYTE_ARG_BUFFER or HALFBYTE_ARG_ALIAS.
  uint32_t kind;
  // Index of the argument that owns the memory, if this argument is an alias.
  uint32_t of;
  // Address of the value or memory; may be null if `bytes` is 0.
  void *data;
  // Number of bytes at `data`.
  size_t bytes;
  // Byte offset in the memory of argument `of`, if this argument is an alias.
  uint64_t offset;
} halfbyte_arg;

// Statistics of a launch, over all work items.
typedef struct halfbyte_stats {
  // Number of executed instructions. On VP1, number of executed bundles.
  uint64_t issued;
  // Number of taken backward branches.
  uint64_t backward_branches;
  // Number of executed tiles. 0 except on VP1.
  uint64_t tiles;
  // Number of bytes copied from buffers to the data store. 0 except on VP1.
  uint64_t bytes_in;
  // Number of bytes copied from the data store to buffers. 0 except on VP1.
  uint64_t bytes_out;
} halfbyte_stats;

// Callback that finds the allocation that contains an address. It returns true and stores the start and the size of
// the allocation, or it returns false. Every thread that runs a kernel may call it. If the options permit several
// threads, several may call it at once. Each run calls it once or a few times for each allocation.
typedef bool (*halfbyte_ptx_bounds)(void *user, uint64_t address, uint64_t *start, uint64_t *bytes);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library's interface, to be compared with HALFBYTE_ABI_VERSION.
uint32_t halfbyte_abi_version(void);

// Returns the version of the library, such as "0.1.0".
const char *halfbyte_version(void);

// Returns the kind of an error, or HALFBYTE_STATUS_OK for null.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
enum halfbyte_status halfbyte_error_status(const struct halfbyte_error *error);

// Returns the message of an error in one line. If the call found several errors, this is the
// message of the first. The string lives as long as the error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
const char *halfbyte_error_message(const struct halfbyte_error *error);

// Returns the full report of all errors, each with file, line and column and the quoted source
// line. The string lives as long as the error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
const char *halfbyte_error_display(const struct halfbyte_error *error);

// Returns the name of the file that contains the error, as the caller has given it, or an empty
// string. The string lives as long as the error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
const char *halfbyte_error_file(const struct halfbyte_error *error);

// Returns the line of the error, counted from 1, or 0 if the error has no position.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
uint32_t halfbyte_error_line(const struct halfbyte_error *error);

// Returns the column of the error in characters, counted from 1, or 0 if the error has no position.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
uint32_t halfbyte_error_column(const struct halfbyte_error *error);

// Returns the kind of a trap, one of the names that docs/launch.md lists, such as "misaligned". Returns an empty
// string for an error that is not a trap. The string lives as long as the error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
const char *halfbyte_error_trap_kind(const struct halfbyte_error *error);

// Stores the coordinates, along x, y and z, of the block and of the thread that trapped. Returns false and stores
// nothing for an error that is not a trap. A work item of a kernel that does not synchronise is a thread.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed. `block` and `thread` are null, or valid for writes of
// three numbers each.
bool halfbyte_error_trap_item(const struct halfbyte_error *error, uint32_t (*block)[3], uint32_t (*thread)[3]);

// Returns the location in the original source of the instruction that trapped, from the debug information of a PTX
// text, such as "norm.py:12, inlined at softmax.py:30". Returns an empty string if the location is unknown. The string
// lives as long as the error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
const char *halfbyte_error_trap_source(const struct halfbyte_error *error);

// Frees an error.
//
// The caller promises:
// `error` is null, or a valid handle that has not been freed.
void halfbyte_error_free(struct halfbyte_error *error);

// Returns the launch shape of `count` work items along x, for kernels whose work items do not synchronise.
struct halfbyte_shape halfbyte_items(uint32_t count);

// Parses a text. If `file` ends in `.ptx`, the text is PTX, and its kernels are imported.
// Otherwise the text is the IR or the kernel language (docs/ir.md, docs/language.md). `file` is
// the name of the text in messages, and may be null. `length` may be HALFBYTE_TO_NUL.
//
// The caller promises:
// `file` is null or ends with a zero byte; `text` has `length` bytes, or ends with a zero byte;
// `out` and `error` are valid for writes, or `error` is null.
enum halfbyte_status halfbyte_module_parse(const char *file,
                                           const char *text,
                                           size_t length,
                                           const struct halfbyte_options *options,
                                           struct halfbyte_module **out,
                                           struct halfbyte_error **error);

// Frees a module.
//
// The caller promises:
// `module` is null, or a valid handle that has not been freed.
void halfbyte_module_free(struct halfbyte_module *module);

// Returns the number of kernels in a module, or 0 for null.
//
// The caller promises:
// `module` is null, or a valid handle that has not been freed.
size_t halfbyte_module_kernels(const struct halfbyte_module *module);

// Compiles all kernels of a module for the target "halu", "vp1" or "ptx". `sm` is the SM version
// of PTX, such as 90, or 0 for the default.
//
// The caller promises:
// `module` and `options` are valid handles that have not been freed, or `options` is null;
// `target` ends with a zero byte; `out` and `error` are valid for writes, or `error` is null.
enum halfbyte_status halfbyte_module_compile(const struct halfbyte_module *module,
                                             const char *target,
                                             uint32_t sm,
                                             const struct halfbyte_options *options,
                                             struct halfbyte_object **out,
                                             struct halfbyte_error **error);

// Returns the address of the bytes of an object, and stores their number in `length`. The bytes live as long as the
// object. For null, returns null and stores 0.
//
// The caller promises:
// `object` is null, or a valid handle that has not been freed; `length` is null or valid for a write.
const uint8_t *halfbyte_object_bytes(const struct halfbyte_object *object, size_t *length);

// Frees an object.
//
// The caller promises:
// `object` is null, or a valid handle that has not been freed.
void halfbyte_object_free(struct halfbyte_object *object);

// Creates the default options: native code on the caller's thread, without a time limit and with
// generous other limits.
struct halfbyte_options *halfbyte_options_new(void);

// Creates options with limits for untrusted texts and kernels: 9 seconds, 1.5 GiB of memory, 64
// MiB of buffers, and others (docs/security.md).
struct halfbyte_options *halfbyte_options_new_strict(void);

// Frees options.
//
// The caller promises:
// `options` is null, or a valid handle that has not been freed.
void halfbyte_options_free(struct halfbyte_options *options);

// Sets the engine: HALFBYTE_ENGINE_INTERP, or HALFBYTE_ENGINE_JIT with at most `threads` threads.
// `threads` must be at least 1.
//
// The caller promises:
// `options` is a valid handle that has not been freed.
enum halfbyte_status halfbyte_options_set_engine(struct halfbyte_options *options, uint32_t engine, uint32_t threads);

// Sets the limit with the number `limit`, one of the HALFBYTE_LIMIT constants. UINT64_MAX disables the limit.
//
// The caller promises:
// `options` is a valid handle that has not been freed.
enum halfbyte_status halfbyte_options_set_limit(struct halfbyte_options *options, uint32_t limit, uint64_t value);

// Sets the check for races and for reads of uninitialised shared memory in directly executed PTX:
// HALFBYTE_RACES_OFF, HALFBYTE_RACES_ON or HALFBYTE_RACES_STRICT.
//
// The caller promises:
// `options` is a valid handle that has not been freed.
enum halfbyte_status halfbyte_options_set_races(struct halfbyte_options *options, uint32_t races);

// Makes all launches of directly executed PTX cooperative: all blocks of a launch are resident together, so that blocks
// can wait for each other, as a barrier of the grid does. On the host, a cooperative launch runs in the interpreter.
//
// The caller promises:
// `options` is a valid handle that has not been freed.
enum halfbyte_status halfbyte_options_set_cooperative(struct halfbyte_options *options, bool cooperative);

// Sets the callback for the output of `vprintf` in PTX kernels. Null means output to standard error.
//
// The caller promises:
// `options` is a valid handle that has not been freed. `print` may be called with `user` from every thread that
// launches with the options.
enum halfbyte_status halfbyte_options_set_print(struct halfbyte_options *options, halfbyte_print print, void *user);

// Sets the callback for warnings about launches. Null means output to standard error.
//
// The caller promises:
// `options` is a valid handle that has not been freed. `warn` may be called with `user` from every thread that
// launches with the options.
enum halfbyte_status halfbyte_options_set_warn(struct halfbyte_options *options, halfbyte_print warn, void *user);

// Sets the token that cancels all calls with these options. Null removes the token. The token may be freed before the
// options.
//
// The caller promises:
// `options` is a valid handle that has not been freed; `cancel` is null, or a valid handle that has not been freed.
enum halfbyte_status halfbyte_options_set_cancel(struct halfbyte_options *options, const struct halfbyte_cancel *cancel);

// Creates a token that can cancel calls.
struct halfbyte_cancel *halfbyte_cancel_new(void);

// Cancels all calls whose options have this token: current calls within 20 ms, and all later calls
// at once. They return HALFBYTE_STATUS_CANCELLED. Every thread may call this function at any time.
//
// The caller promises:
// `cancel` is null, or a valid handle that has not been freed.
void halfbyte_cancel_request(const struct halfbyte_cancel *cancel);

// Frees a token. Options that still have the token remain valid.
//
// The caller promises:
// `cancel` is null, or a valid handle that has not been freed.
void halfbyte_cancel_free(struct halfbyte_cancel *cancel);

// Loads an object file. Any bytes may be passed, because the library checks the contents.
//
// The caller promises:
// `length` bytes are at `object`; `out` and `error` are valid for writes, or `error` is null.
enum halfbyte_status halfbyte_program_load(const uint8_t *object,
                                           size_t length,
                                           struct halfbyte_program **out,
                                           struct halfbyte_error **error);

// Compiles a module and loads the object, as halfbyte_module_compile and halfbyte_program_load do. In addition, errors
// of launches quote the source line. The module may be freed before the program.
//
// The caller promises:
// As halfbyte_module_compile.
enum halfbyte_status halfbyte_program_build(const struct halfbyte_module *module,
                                            const char *target,
                                            uint32_t sm,
                                            const struct halfbyte_options *options,
                                            struct halfbyte_program **out,
                                            struct halfbyte_error **error);

// Returns the number of kernels in a program, or 0 for null.
//
// The caller promises:
// `program` is null, or a valid handle that has not been freed.
size_t halfbyte_program_kernels(const struct halfbyte_program *program);

// Returns the name of the kernel with a number, counted from 0, or null if there is no such
// kernel. The string lives as long as the program.
//
// The caller promises:
// `program` is null, or a valid handle that has not been freed.
const char *halfbyte_program_kernel(const struct halfbyte_program *program, size_t number);

// Launches the kernel with the given name. The arguments are in the order of its parameters. If a launch fails after
// it began, the contents of the memory that the kernel may write are unspecified.
//
// The caller promises:
// `program` and `options` are valid handles that have not been freed, or `options` is null; `kernel` ends with a zero
// byte; `count` arguments are at `args`, and the bytes of each argument are valid. Until the launch ends, no other
// code writes the bytes of an argument, or accesses the bytes of an argument that the kernel may write. `stats` and
// `error` are null or valid for writes.
enum halfbyte_status halfbyte_program_launch(const struct halfbyte_program *program,
                                             const char *kernel,
                                             struct halfbyte_shape shape,
                                             const struct halfbyte_arg *args,
                                             size_t count,
                                             const struct halfbyte_options *options,
                                             struct halfbyte_stats *stats,
                                             struct halfbyte_error **error);

// Frees a program.
//
// The caller promises:
// `program` is null, or a valid handle that has not been freed.
void halfbyte_program_free(struct halfbyte_program *program);

// Parses a PTX text for direct execution. An error in one kernel does not affect the other
// kernels; it is reported when the kernel is launched. `file` is the name of the text in messages,
// and may be null. `length` may be HALFBYTE_TO_NUL.
//
// The caller promises:
// As halfbyte_module_parse.
enum halfbyte_status halfbyte_ptx_load(const char *file,
                                       const char *text,
                                       size_t length,
                                       const struct halfbyte_options *options,
                                       struct halfbyte_ptx **out,
                                       struct halfbyte_error **error);

// Launches the kernel with the given name, or the first kernel if `kernel` is null. The arguments
// are in the order of the kernel's parameters: memory or an alias for each pointer, and a value
// for each other parameter. Variables of the text keep their values between launches. If a launch
// fails after it began, the contents of the memory that the kernel may write are unspecified.
//
// The caller promises:
// As halfbyte_program_launch; `kernel` may be null.
enum halfbyte_status halfbyte_ptx_launch(const struct halfbyte_ptx *ptx,
                                         const char *kernel,
                                         struct halfbyte_shape shape,
                                         const struct halfbyte_arg *args,
                                         size_t count,
                                         const struct halfbyte_options *options,
                                         struct halfbyte_stats *stats,
                                         struct halfbyte_error **error);

// Frees a PTX text.
//
// The caller promises:
// `ptx` is null, or a valid handle that has not been freed.
void halfbyte_ptx_free(struct halfbyte_ptx *ptx);

// Runs the first kernel of a zero-terminated PTX text over `gx * gy * gz` blocks of `bx * by * bz` threads, with
// `shared` bytes of dynamic shared memory. `args[i]` is the value of parameter `i`: a pointer of the process, or a
// number in the low bytes. Parameters of more than eight bytes are not supported. Returns HALFBYTE_STATUS_OK or the
// status of the error. halfbyte_ptx_last_error returns the details of the error.
//
// Each text is parsed once and cached. Variables of a text lie in memory of the process, and keep their values between runs, until halfbyte_ptx_reset.
// If the cache is full, the least recently used texts are evicted, except texts whose variables a kernel has written.
// Memory that kernels of a text allocate with malloc also lives until a kernel of the text frees it, or until
// halfbyte_ptx_reset. A text with such memory is not evicted.
//
// Accesses are checked against the allocations that the callback of halfbyte_ptx_set_bounds returns. Without the
// callback THEY ARE NOT CHECKED, except for alignment and the first page of addresses: an invalid access of a kernel
// then has undefined behaviour. Memory that instructions access through generic addresses must not lie from
// 0x1000000000 up to 0x5000000000, because these generic addresses denote local and shared memory.
//
// The caller promises:
// `source` ends with a zero byte; `n_args` pointers are at `args`. The memory that the kernel accesses is valid, or
// the callback returns the valid allocations. Until the run ends, no other code writes this memory, or accesses memory
// that the kernel writes.
int halfbyte_ptx_run(const char *source,
                     int n_args,
                     const void *const *args,
                     int bx,
                     int by,
                     int bz,
                     int gx,
                     int gy,
                     int gz,
                     int shared);

// Returns the error of this thread's last halfbyte_ptx_run, or null if that run succeeded. The
// caller must not free the error. The error lives until the thread's next halfbyte_ptx_run.
const struct halfbyte_error *halfbyte_ptx_last_error(void);

// Sets the callback that finds allocations, for all runs that begin later. Null disables the checks.
//
// The caller promises:
// Every thread may call `find` with `user` at any time, until the callback is replaced and the earlier runs have
// ended. The allocations that it returns stay valid until the run ends.
void halfbyte_ptx_set_bounds(halfbyte_ptx_bounds find, void *user);

// Sets the options of all runs that begin later: engine, limits, detection of races, cooperative launches, cancellation and output. The
// options are copied. Null means the default options.
//
// The caller promises:
// `options` is null, or a valid handle that has not been freed.
void halfbyte_ptx_set_options(const struct halfbyte_options *options);

// Removes all cached texts and the contents of their variables. Runs that have begun are not affected.
void halfbyte_ptx_reset(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HALFBYTE_H */
