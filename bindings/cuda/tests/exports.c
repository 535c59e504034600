// Tests that each symbol of functions.txt is exported, and that a lookup finds it by its name and version. Usage:
// `exports LIST`
#include <dlfcn.h>

#include "checks.h"

// Row of the list.
typedef struct {
    char name[80], symbol[80], how[8];
    int version;
    void *address;
} Row;

enum { MAX_ROWS = 2000 };
static Row rows[MAX_ROWS];
static size_t count = 0;

static int is_per_thread(const Row *row) {
    const size_t length = strlen(row->symbol);
    return length > 5 && (strcmp(row->symbol + length - 5, "_ptsz") == 0 || strcmp(row->symbol + length - 5, "_ptds") == 0);
}

static void read_list(const char *path) {
    FILE *list = fopen(path, "r");
    char line[400];
    CHECK(list != NULL);
    while (list != NULL && count < MAX_ROWS && fgets(line, sizeof line, list) != NULL) {
        Row *row = &rows[count];
        if (line[0] == '#' || line[0] == '\n') continue;
        if (sscanf(line, "%79s %d %79s %7s", row->name, &row->version, row->symbol, row->how) == 4) {
            count++;
        } else {
            printf("not a row: %s", line);
            failures++;
        }
    }
    CHECK(count > 600 && count < MAX_ROWS);
    if (list != NULL) fclose(list);
}

static void symbols_are_exported(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(library != NULL);
    // Some programs load the library by its other name.
    CHECK(dlopen("libcuda.so", RTLD_NOW) == library);
    for (size_t i = 0; i < count; i++) {
        rows[i].address = dlsym(library, rows[i].symbol);
        if (rows[i].address == NULL) {
            printf("%s is not exported\n", rows[i].symbol);
            failures++;
        }
    }
    CHECK(dlsym(library, "cuNoSuchFunction") == NULL);
}

// Looks up a name, and checks the address and the reason.
static void look_up(const char *name, int version, uint64_t flags, const void *address, int result) {
    void *found = &failures;
    int reason = -1;
    const CUresult status = cuGetProcAddress_v2(name, &found, version, flags, &reason);
    if (status != CUDA_SUCCESS || found != address || reason != result) {
        printf("lookup of %s, version %d, flags %d: status %u, %p, reason %d; expected %p, reason %d\n", name, version, (int)flags,
               status, found, reason, address, result);
        failures++;
    }
}

// Returns the newest row of a name that is not newer than `version`, or null.
static const Row *newest(const char *name, int version, int per_thread) {
    const Row *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows[i];
        if (strcmp(row->name, name) == 0 && is_per_thread(row) == per_thread && row->version <= version &&
            (best == NULL || row->version > best->version)) {
            best = row;
        }
    }
    return best;
}

static void lookups_find_the_newest_version(void) {
    for (size_t i = 0; i < count; i++) {
        const Row *row = &rows[i];
        const uint64_t flags = is_per_thread(row) ? PER_THREAD_DEFAULT_STREAM : 0;
        look_up(row->name, row->version, flags, row->address, SYMBOL_FOUND);
        // The newest version is the one for all later versions of CUDA, and the one before for earlier ones.
        const Row *last = newest(row->name, 99000, is_per_thread(row));
        look_up(row->name, 99000, flags, last->address, SYMBOL_FOUND);
        if (is_per_thread(row)) continue;
        const Row *before = newest(row->name, row->version - 1, 0);
        const int reason = before == NULL ? VERSION_NOT_SUFFICIENT : SYMBOL_FOUND;
        look_up(row->name, row->version - 1, 0, before == NULL ? NULL : before->address, reason);
        look_up(row->name, row->version, LEGACY_STREAM, row->address, SYMBOL_FOUND);
        // A name without functions for the stream of a thread gives the plain one.
        const Row *own = newest(row->name, row->version, 1);
        look_up(row->name, row->version, PER_THREAD_DEFAULT_STREAM, own == NULL ? row->address : own->address, SYMBOL_FOUND);
    }
    const char *unknown[] = {"cuNoSuchFunction", "", "cu", "cuInit ", "cuMemAlloc_v2", "cuInitX"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) look_up(unknown[i], 13000, 0, NULL, SYMBOL_NOT_FOUND);
    look_up("cuInit", -1, 0, NULL, VERSION_NOT_SUFFICIENT);
}

static void lookups_check_their_arguments(void) {
    void *found = NULL;
    int reason = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2(NULL, &found, 12000, 0, &reason));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", NULL, 12000, 0, &reason));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &found, 12000, 4, &reason));
    OK(cuGetProcAddress_v2("cuInit", &found, 12000, 0, NULL));
    CHECK(found == newest("cuInit", 12000, 0)->address);
    // The first version of the function has no reason, so that an unknown name is an error.
    OK(cuGetProcAddress("cuInit", &found, 11030, 0));
    CHECK(found == newest("cuInit", 11030, 0)->address);
    GIVES(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchFunction", &found, 11030, 0));
    CHECK(found == NULL);
}

// A function that is not implemented ignores its arguments. Each symbol must be on standard error once.
static void missing_functions_are_reported(void) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].how, "-") != 0 || rows[i].address == NULL) continue;
        CUresult (*function)(void) = (CUresult(*)(void))(uintptr_t)rows[i].address;
        const CUresult first = function(), second = function();
        if (first != CUDA_ERROR_NOT_SUPPORTED || second != CUDA_ERROR_NOT_SUPPORTED) {
            printf("%s gives %u and %u\n", rows[i].symbol, first, second);
            failures++;
        }
    }
}

static void private_tables_are_refused(void) {
    const unsigned char id[16] = {0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9};
    const void *table = id;
    GIVES(CUDA_ERROR_NOT_FOUND, cuGetExportTable(&table, id));
    CHECK(table == NULL);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    read_list(argv[1]);
    symbols_are_exported();
    if (failures == 0) {
        lookups_find_the_newest_version();
        lookups_check_their_arguments();
        missing_functions_are_reported();
        private_tables_are_refused();
    }
    return finish();
}
