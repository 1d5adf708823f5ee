#include "CStoreFiles.h"
#include "StoreFile.h"
#include "TemporaryFile.h"

#include <CExitGate.h>
#include <pthread.h>

static sqlite3_vfs *system_files;
static sqlite3_vfs store_files;

static int open_file(sqlite3_vfs *files, const char *name, sqlite3_file *file, int flags, int *result) {
    // After a failure, SQLite closes a file that has methods.
    file->pMethods = 0;
    if (!name) return open_temporary_file(system_files, file, flags, result);
    if (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) {
        return open_store_file(system_files, name, file, flags, result);
    }
    return SQLITE_CANTOPEN;
}

// SQLite sleeps while it waits for the lock of another connection.
static int sleep_outside(sqlite3_vfs *files, int microseconds) {
    cexitgate_begin_waiting();
    int slept = system_files->xSleep(system_files, microseconds);
    cexitgate_end_waiting();
    return slept;
}

static void register_files(void) {
    system_files = sqlite3_vfs_find(0);
    if (!system_files) return;
    store_files = *system_files;
    store_files.zName = "store-files";
    store_files.pNext = 0;
    int temporary = temporary_file_size(system_files);
    int stored = store_file_size(system_files);
    store_files.szOsFile = temporary > stored ? temporary : stored;
    store_files.xOpen = open_file;
    store_files.xSleep = sleep_outside;
    if (sqlite3_vfs_register(&store_files, 0) != SQLITE_OK) system_files = 0;
}

const char *cstorefiles_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_files);
    return system_files ? store_files.zName : 0;
}
