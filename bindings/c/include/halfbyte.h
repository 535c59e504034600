// The C interface of halfbyte. docs/c.md is its manual.
//
// Who makes something with a function ending in _new, _parse, _compile, _build or _load gives it back to the function ending in _free of the
// same name, once; null may be given back too. Nothing else that is given away here need be freed. A pointer that is null where nothing
// says that it may be is an error, HALFBYTE_STATUS_INVALID_ARGUMENT, and so is a length that no memory has.
//
// Every function may be called from every thread. A module, an object, a program and a PTX text do not change once they are made, and
// threads may share them; one of the others is one thread's at a time, but for halfbyte_cancel_request.
//
// Where a function takes `halfbyte_error **error`, that may be null. Else it is set: to null where all went well, and to an error that the
// caller frees where not.
//
// This file is made from the library's source. Do not change it.


#ifndef HALFBYTE_H
#define HALFBYTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The length of a text that ends with its first byte of zero.
#define HALFBYTE_TO_NUL SIZE_MAX


// What a program was compiled for; `halfbyte_abi_version` says what the library is. A library serves all programs of the same number.
#define HALFBYTE_ABI_VERSION 1

// A value: `data` points to its bytes, as many as the parameter has, low byte first.
#define HALFBYTE_ARG_VALUE 0

// Memory that the kernel only reads.
#define HALFBYTE_ARG_IN 1

// Memory that the kernel may write; no other argument has bytes of it. An `out` buffer begins as zeros.
#define HALFBYTE_ARG_BUFFER 2

// An address in the memory of another argument: byte `offset` of argument `of`.
#define HALFBYTE_ARG_ALIAS 3

// The interpreter: one work item after another, on the caller's thread.
#define HALFBYTE_ENGINE_INTERP 0

// Native code, made at a kernel's first launch, which runs many work items side by side; the interpreter where there is none for what a kernel does.
#define HALFBYTE_ENGINE_JIT 1

// Bytes of a text.
#define HALFBYTE_LIMIT_TEXT_BYTES 0

// Ops of a kernel that is compiled.
#define HALFBYTE_LIMIT_OPS 1

// Blocks of a kernel that is compiled.
#define HALFBYTE_LIMIT_BLOCKS 2

// Values of a kernel that is compiled that are live at one place.
#define HALFBYTE_LIMIT_LIVE_VALUES 3

// Bytes of all buffers of a launch.
#define HALFBYTE_LIMIT_BUFFER_BYTES 4

// Work items of a launch.
#define HALFBYTE_LIMIT_ITEMS 5

// Instructions and backward branches of a launch, over all work items.
#define HALFBYTE_LIMIT_WORK 6

// Bytes of memory of the whole process, where the system tells them.
#define HALFBYTE_LIMIT_MEMORY 7

// Milliseconds of a call.
#define HALFBYTE_LIMIT_TIME_MS 8

// Backward branches of a work item: 2^20, unless something else is said.
#define HALFBYTE_LIMIT_BUDGET 9

// How a call went.
typedef enum halfbyte_status {
  // Well.
  HALFBYTE_STATUS_OK = 0,
  // A pointer is null, a length is none, a number is not one of those that there are: the caller is wrong.
  HALFBYTE_STATUS_INVALID_ARGUMENT = 1,
  // A text is wrong.
  HALFBYTE_STATUS_PARSE = 2,
  // A target cannot do what a kernel asks for.
  HALFBYTE_STATUS_REFUSED = 3,
  // Bytes are no object that runs here.
  HALFBYTE_STATUS_LOAD = 4,
  // There is no kernel, or no target, of that name.
  HALFBYTE_STATUS_NOT_FOUND = 5,
  // A launch's arguments or its shape do not fit the kernel.
  HALFBYTE_STATUS_ARGUMENTS = 6,
  // A work item did what it must not: an access out of bounds, a barrier that some never come to, a race.
  HALFBYTE_STATUS_TRAP = 7,
  // A limit was met.
  HALFBYTE_STATUS_LIMIT = 8,
  // It was cancelled.
  HALFBYTE_STATUS_CANCELLED = 9,
  // The engine does not run the kernel, or was not built into the library.
  HALFBYTE_STATUS_UNSUPPORTED = 10,
  // A defect of halfbyte.
  HALFBYTE_STATUS_INTERNAL = 11,
} halfbyte_status;

// Cancels work from another thread.
typedef struct halfbyte_cancel halfbyte_cancel;

// What went wrong.
typedef struct halfbyte_error halfbyte_error;

// Kernels of a text.
typedef struct halfbyte_module halfbyte_module;

// Machine code of kernels, as a file has it.
typedef struct halfbyte_object halfbyte_object;

// How work is done. Null stands for what halfbyte_options_new makes wherever options are taken.
typedef struct halfbyte_options halfbyte_options;

// Kernels that can be launched.
typedef struct halfbyte_program halfbyte_program;

// A text in PTX, with what its variables hold.
typedef struct halfbyte_ptx halfbyte_ptx;

// The work items of a launch: blocks of threads, each along x, y and z.
typedef struct halfbyte_shape {
  // Blocks.
  uint32_t grid[3];
  // Threads of a block.
  uint32_t block[3];
  // Bytes of shared memory of a block, besides what the kernel declares.
  uint32_t shared;
} halfbyte_shape;

// Takes what kernels write with `vprintf`: text that ends with a zero. The thread that launches calls it.
typedef void (*halfbyte_print)(void *user, const char *text);

// An argument of a launch.
typedef struct halfbyte_arg {
  // What it is: HALFBYTE_ARG_VALUE and so on.
  uint32_t kind;
  // Of an alias: the number of the argument whose memory it is in.
  uint32_t of;
  // Its bytes; may be null where there are none.
  void *data;
  // How many they are.
  size_t bytes;
  // Of an alias: its offset in that memory, in bytes.
  uint64_t offset;
} halfbyte_arg;

// What a launch did, over all work items.
typedef struct halfbyte_stats {
  // Instructions executed; on VP1 bundles.
  uint64_t issued;
  // Backward branches taken.
  uint64_t backward_branches;
  // Tiles run, on VP1.
  uint64_t tiles;
  // Bytes copied to the data store, on VP1.
  uint64_t bytes_in;
  // Bytes copied from there, on VP1.
  uint64_t bytes_out;
} halfbyte_stats;

// Finds the allocation that an address is in: true, with its first address and its bytes, or false. Every thread that runs a kernel calls it, several
// at once where the options say so, and asks for an allocation once or a few times a run.
typedef bool (*halfbyte_ptx_bounds)(void *user, uint64_t address, uint64_t *start, uint64_t *bytes);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that the library has.
uint32_t halfbyte_abi_version(void);

// The version of the library, as "0.1.0".
const char *halfbyte_version(void);

// What kind of error it is; HALFBYTE_STATUS_OK of null.
//
// The caller promises:
// `error` is null, or was given out and has not been freed.
enum halfbyte_status halfbyte_error_status(const struct halfbyte_error *error);

// What is wrong, in one line: the first thing, where there are several. It lives as long as the error.
//
// The caller promises:
// As halfbyte_error_status.
const char *halfbyte_error_message(const struct halfbyte_error *error);

// All that is wrong, as people read it: each with file, line and column, and the line of the text with a mark under the place. It lives
// as long as the error.
//
// The caller promises:
// As halfbyte_error_status.
const char *halfbyte_error_display(const struct halfbyte_error *error);

// The file that it is about, as the caller has called it; empty where it is about none. It lives as long as the error.
//
// The caller promises:
// As halfbyte_error_status.
const char *halfbyte_error_file(const struct halfbyte_error *error);

// The line, counted from 1; 0 where it has no place.
//
// The caller promises:
// As halfbyte_error_status.
uint32_t halfbyte_error_line(const struct halfbyte_error *error);

// The column, likewise, in characters.
//
// The caller promises:
// As halfbyte_error_status.
uint32_t halfbyte_error_column(const struct halfbyte_error *error);

// Frees an error.
//
// The caller promises:
// As halfbyte_error_status.
void halfbyte_error_free(struct halfbyte_error *error);

// So many work items along x, in blocks as large as can be: the shape of kernels whose items do not meet.
struct halfbyte_shape halfbyte_items(uint32_t count);

// Reads a text: PTX, to be translated, where `file` ends in `.ptx`, else the IR (docs/ir.md). `file` is what errors call the text, and may
// be null; `length` may be HALFBYTE_TO_NUL.
//
// The caller promises:
// `file` is null or ends with a zero; `text` has so many bytes, or ends with a zero; `out` and `error` may be written, `error` may be null.
enum halfbyte_status halfbyte_module_parse(const char *file,
                                           const char *text,
                                           size_t length,
                                           const struct halfbyte_options *options,
                                           struct halfbyte_module **out,
                                           struct halfbyte_error **error);

// Frees a module.
//
// The caller promises:
// `module` is null, or was given out and has not been freed.
void halfbyte_module_free(struct halfbyte_module *module);

// How many kernels a module has; 0 of null.
//
// The caller promises:
// As halfbyte_module_free.
size_t halfbyte_module_kernels(const struct halfbyte_module *module);

// Compiles all kernels of a module for "halu", "vp1" or "ptx", there for an SM version such as 90; `sm` is 0 for the usual one.
//
// The caller promises:
// `module` was given out and has not been freed, and so were `options` where they are not null; `target` ends with a zero; `out` and
// `error` may be written, `error` may be null.
enum halfbyte_status halfbyte_module_compile(const struct halfbyte_module *module,
                                             const char *target,
                                             uint32_t sm,
                                             const struct halfbyte_options *options,
                                             struct halfbyte_object **out,
                                             struct halfbyte_error **error);

// The bytes of an object, which live as long as it does; `length` becomes how many there are. Null and 0 of null.
//
// The caller promises:
// `object` is null, or was given out and has not been freed; `length` is null or may be written.
const uint8_t *halfbyte_object_bytes(const struct halfbyte_object *object, size_t *length);

// Frees an object.
//
// The caller promises:
// `object` is null, or was given out and has not been freed.
void halfbyte_object_free(struct halfbyte_object *object);

// Native code on the caller's thread, within limits that are far beyond what kernels need, of which none is of time.
struct halfbyte_options *halfbyte_options_new(void);

// The same within limits for texts and kernels of strangers: 9 seconds, 1.5 GiB of memory, 64 MiB of buffers, and the others of
// docs/security.md.
struct halfbyte_options *halfbyte_options_new_strict(void);

// Frees options.
//
// The caller promises:
// `options` is null, or was given out and has not been freed.
void halfbyte_options_free(struct halfbyte_options *options);

// What executes kernels: HALFBYTE_ENGINE_INTERP, or HALFBYTE_ENGINE_JIT on so many threads at most, at least one.
//
// The caller promises:
// `options` was given out and has not been freed.
enum halfbyte_status halfbyte_options_set_engine(struct halfbyte_options *options, uint32_t engine, uint32_t threads);

// Sets one of the limits, HALFBYTE_LIMIT_TEXT_BYTES and so on. UINT64_MAX is no limit.
//
// The caller promises:
// `options` was given out and has not been freed.
enum halfbyte_status halfbyte_options_set_limit(struct halfbyte_options *options, uint32_t limit, uint64_t value);

// Whether launches of PTX as it stands look for races, and for reads of shared memory that nothing has written.
//
// The caller promises:
// `options` was given out and has not been freed.
enum halfbyte_status halfbyte_options_set_races(struct halfbyte_options *options, bool races);

// What takes the text that kernels in PTX write with `vprintf`; with null it goes to standard error.
//
// The caller promises:
// `options` was given out and has not been freed. `print` may be called with `user` from every thread that launches with the options.
enum halfbyte_status halfbyte_options_set_print(struct halfbyte_options *options, halfbyte_print print, void *user);

// What cancels all work that is done with the options; null takes it away. It may be freed before the options are.
//
// The caller promises:
// `options` was given out and has not been freed; `cancel` is null or likewise.
enum halfbyte_status halfbyte_options_set_cancel(struct halfbyte_options *options, const struct halfbyte_cancel *cancel);

// What cancels work.
struct halfbyte_cancel *halfbyte_cancel_new(void);

// Cancels what is being done, within 20 ms, and all that will be, with HALFBYTE_STATUS_CANCELLED. Every thread may call it at any time.
//
// The caller promises:
// `cancel` is null, or was given out and has not been freed.
void halfbyte_cancel_request(const struct halfbyte_cancel *cancel);

// Frees it.
//
// The caller promises:
// As halfbyte_cancel_request.
void halfbyte_cancel_free(struct halfbyte_cancel *cancel);

// Loads an object. It is checked: any bytes may be given.
//
// The caller promises:
// So many bytes are at `object`; `out` and `error` may be written, `error` may be null.
enum halfbyte_status halfbyte_program_load(const uint8_t *object,
                                           size_t length,
                                           struct halfbyte_program **out,
                                           struct halfbyte_error **error);

// Compiles a module and loads what comes of it: halfbyte_module_compile and halfbyte_program_load at once. Errors of its launches show
// the line of the text. The module may be freed before the program is.
//
// The caller promises:
// As halfbyte_module_compile.
enum halfbyte_status halfbyte_program_build(const struct halfbyte_module *module,
                                            const char *target,
                                            uint32_t sm,
                                            const struct halfbyte_options *options,
                                            struct halfbyte_program **out,
                                            struct halfbyte_error **error);

// How many kernels a program has; 0 of null.
//
// The caller promises:
// `program` is null, or was given out and has not been freed.
size_t halfbyte_program_kernels(const struct halfbyte_program *program);

// The name of a kernel by its number, which lives as long as the program; null where there is none.
//
// The caller promises:
// As halfbyte_program_kernels.
const char *halfbyte_program_kernel(const struct halfbyte_program *program, size_t number);

// Launches the kernel of a name on arguments in the order of its parameters. After an error of a launch that had begun, the memory that it
// may write holds no result.
//
// The caller promises:
// `program` was given out and has not been freed, and so were `options` where they are not null; `kernel` ends with a zero; so many
// arguments are at `args`, and the bytes of each are there, which nobody else touches until the launch ends where they may be written, and
// else nobody writes; `stats` and `error` may be written, or are null.
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
// As halfbyte_program_kernels.
void halfbyte_program_free(struct halfbyte_program *program);

// Reads a text in PTX whose kernels are to run as they stand. A kernel that is not taken spoils no other: what is wrong with it is said
// where it is launched. `file` is what errors call the text, and may be null; `length` may be HALFBYTE_TO_NUL.
//
// The caller promises:
// As halfbyte_module_parse.
enum halfbyte_status halfbyte_ptx_load(const char *file,
                                       const char *text,
                                       size_t length,
                                       const struct halfbyte_options *options,
                                       struct halfbyte_ptx **out,
                                       struct halfbyte_error **error);

// Launches the kernel of a name, or the first one where that is null, on arguments in the order of its parameters: a value for each
// that is no pointer, memory or an alias for each that is one. Variables of the text keep what kernels write to them. After an error of
// a launch that had begun, the memory that it may write holds no result.
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

// Frees a text.
//
// The caller promises:
// `ptx` is null, or was given out and has not been freed.
void halfbyte_ptx_free(struct halfbyte_ptx *ptx);

// Runs the first kernel of a text in PTX, which ends with a zero, over `gx * gy * gz` blocks of `bx * by * bz` threads with so many bytes of
// shared memory besides what the text declares. `args[i]` is the argument itself, for each parameter in order: a pointer of the process,
// or a number in its low bytes. A parameter of more than eight bytes cannot be given. HALFBYTE_STATUS_OK, or why not, as a number;
// halfbyte_ptx_last_error says more.
//
// Texts are read once and kept, and their variables live on from run to run, until halfbyte_ptx_reset; a text that is not run for long is dropped
// unless a kernel has written to one of its variables.
//
// Accesses are checked against the allocations that the callback of halfbyte_ptx_set_bounds gives. Without that THEY ARE NOT CHECKED, but for the first
// page of addresses and their alignment: a kernel that is wrong then does to the process what any wrong program does. Memory that
// instructions access without naming a space must not lie from 0x1000000000 up to 0x5000000000, where local and shared memory have their
// addresses.
//
// The caller promises:
// `source` ends with a zero; so many pointers are at `args`. The memory that the kernel accesses is valid, or the bounds say what is; until
// the run ends nobody else writes it, or accesses it where the kernel writes.
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

// Why the last halfbyte_ptx_run of this thread failed; null where it did not. It is not the caller's to free, and lives until the thread runs a
// kernel again.
const struct halfbyte_error *halfbyte_ptx_last_error(void);

// Says where allocations are, for all runs that begin from now on. With null they are not asked for, and accesses not checked.
//
// The caller promises:
// Every thread may call `find` with `user` at any time until the bounds are set anew and the runs of before have ended. What it says
// is memory is memory until the run that has asked ends.
void halfbyte_ptx_set_bounds(halfbyte_ptx_bounds find, void *user);

// Says how runs are made that begin from now on: by what engine, within which limits, what cancels them, where printed text goes. The options
// are copied; null stands for the usual ones.
//
// The caller promises:
// `options` is null, or was given out and has not been freed.
void halfbyte_ptx_set_options(const struct halfbyte_options *options);

// Drops all texts that were run, and what their variables hold. Runs that are under way end as they would.
void halfbyte_ptx_reset(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HALFBYTE_H */
