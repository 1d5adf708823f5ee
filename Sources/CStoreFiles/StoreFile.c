#include "StoreFile.h"
#include "CStoreFiles.h"

#include <CExitGate.h>
#include <stdint.h>
#include <string.h>

// The formats of SQLCipher 4 and of a write-ahead log (SQLite file format, sections 1.3 and 4.1).
enum {
    PAGE = 4096,
    // The bytes of the first page that a file with a clear header does not encrypt.
    CLEAR_HEADER = 32,
    LOG_HEADER = 32,
    FRAME_HEADER = 24,
    FRAME = FRAME_HEADER + PAGE,
    // The size of the regions in which SQLite maps the index of a log.
    INDEX_REGION = 32768,
    // The first of the locks of readers in the index.
    READER_LOCK = 3
};

typedef struct store_file store_file;

struct store_file {
    sqlite3_file base;
    // The file on the disk, behind this structure.
    sqlite3_file *disk;
    // SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL or SQLITE_OPEN_MAIN_JOURNAL.
    int kind;
    // The database to which a log or journal belongs; the file itself for a database.
    store_file *database;
    // The rest belongs to a database.
    //
    // Whether the pages are encrypted in the format of SQLCipher 4, so that the log must have its page size.
    int is_encrypted;
    // Whether the first page must begin with a clear header.
    int has_clear_header;
    // The lock of the connection. Without one, another connection may be writing.
    int lock;
    // The number of pages of the database in the read transaction of the connection, by the index of the log; 0 if it is
    // not known: without an index, and in a log without a transaction.
    uint32_t snapshot_pages;
    // The code of the last failed read of the database, its log or its journal; 0 if none failed.
    int read_error;
};

static store_file *store(sqlite3_file *base) { return (store_file *)base; }

static sqlite3_file *disk(sqlite3_file *base) { return store(base)->disk; }

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// MARK: Clear bytes

static const char magic[16] = "SQLite format 3";

static int begins_database(const unsigned char *page) { return memcmp(page, magic, sizeof magic) == 0; }

// Whether a clear header has the constants of SQLCipher 4: the page size, the versions of the format, the reserved bytes
// of each page, and the payload fractions.
static int has_constants(const unsigned char *page) {
    static const unsigned char sizes[2] = {PAGE >> 8, 0};
    static const unsigned char rest[4] = {80, 64, 32, 32};
    return begins_database(page) && memcmp(page + 16, sizes, sizeof sizes) == 0 && page[18] >= 1 && page[18] <= 2
        && page[19] >= 1 && page[19] <= 2 && memcmp(page + 20, rest, sizeof rest) == 0;
}

static uint32_t page_count(const unsigned char *page) { return big_endian(page + 28); }

// Each transaction that changes the number of pages writes the first page. So the newest first page of a read transaction
// has the number of pages of the database, wherever the page is.
static int is_header_of_snapshot(const store_file *database, const unsigned char *page) {
    return database->snapshot_pages != 0 && page_count(page) == database->snapshot_pages;
}

// Without a log that has pages of its own, the first page has the number of pages of the file. A checkpoint that a reader
// limits changes the length and the first page at different times.
static int is_header_of_file(store_file *file, const unsigned char *page) {
    sqlite3_int64 length = 0;
    if (!has_constants(page)) return 0;
    if (is_header_of_snapshot(file, page)) return 1;
    return file->disk->pMethods->xFileSize(file->disk, &length) == SQLITE_OK
        && length == (sqlite3_int64)page_count(page) * PAGE;
}

// A first page in the log has the number of pages that the last frame of its transaction has. A transaction that is not
// complete has no such frame.
static int is_header_of_log(store_file *log, const unsigned char *page, sqlite3_int64 offset) {
    if (!has_constants(page)) return 0;
    if (is_header_of_snapshot(log->database, page)) return 1;
    unsigned char first[FRAME_HEADER];
    unsigned char frame[FRAME_HEADER];
    for (sqlite3_int64 place = offset - FRAME_HEADER;; place += FRAME) {
        if (log->disk->pMethods->xRead(log->disk, frame, sizeof frame, place) != SQLITE_OK) return 1;
        if (place == offset - FRAME_HEADER) memcpy(first, frame, sizeof first);
        // The salts of the log.
        if (memcmp(first + 8, frame + 8, 8) != 0) return 1;
        uint32_t count = big_endian(frame + 4);
        if (count != 0) return count == page_count(page);
    }
}

static int is_consistent(store_file *file, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    store_file *database = file->database;
    if (file->kind == SQLITE_OPEN_MAIN_DB) {
        int reads_header = database->has_clear_header && offset == 0 && count >= CLEAR_HEADER;
        return !reads_header || database->lock < SQLITE_LOCK_SHARED || is_header_of_file(database, bytes);
    }
    if (file->kind != SQLITE_OPEN_WAL || !database->is_encrypted) return 1;
    // SQLite ignores a log without its magic number.
    if (offset == 0) return count < 12 || big_endian(bytes) >> 1 != 0x377f0682 >> 1 || big_endian(bytes + 8) == PAGE;
    int reads_header = database->has_clear_header && count >= CLEAR_HEADER && offset >= LOG_HEADER + FRAME_HEADER
        && (offset - LOG_HEADER) % FRAME == FRAME_HEADER && begins_database(bytes);
    return !reads_header || is_header_of_log(file, bytes, offset);
}

// MARK: Methods

static int close_file(sqlite3_file *base) { return disk(base)->pMethods->xClose(disk(base)); }

static int read_file(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    cexitgate_pass();
    store_file *file = store(base);
    int code = file->disk->pMethods->xRead(file->disk, buffer, count, offset);
    if (code != SQLITE_OK) {
        if (code != SQLITE_IOERR_SHORT_READ) file->database->read_error = code;
        return code;
    }
    if (is_consistent(file, buffer, count, offset)) return SQLITE_OK;
    // The pager could use a page of a failed read.
    memset(buffer, 0, count);
    return SQLITE_CORRUPT;
}

static int write_file(sqlite3_file *base, const void *buffer, int count, sqlite3_int64 offset) {
    cexitgate_pass();
    return disk(base)->pMethods->xWrite(disk(base), buffer, count, offset);
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 length) {
    cexitgate_pass();
    return disk(base)->pMethods->xTruncate(disk(base), length);
}

static int synchronize_file(sqlite3_file *base, int flags) {
    cexitgate_begin_waiting();
    int code = disk(base)->pMethods->xSync(disk(base), flags);
    cexitgate_end_waiting();
    return code;
}

static int length_of_file(sqlite3_file *base, sqlite3_int64 *length) {
    return disk(base)->pMethods->xFileSize(disk(base), length);
}

static int lock_file(sqlite3_file *base, int level) {
    int code = disk(base)->pMethods->xLock(disk(base), level);
    if (code == SQLITE_OK && level > store(base)->lock) store(base)->lock = level;
    return code;
}

static int unlock_file(sqlite3_file *base, int level) {
    if (level < store(base)->lock) store(base)->lock = level;
    return disk(base)->pMethods->xUnlock(disk(base), level);
}

static int is_reserved(sqlite3_file *base, int *result) {
    return disk(base)->pMethods->xCheckReservedLock(disk(base), result);
}

static int control_file(sqlite3_file *base, int operation, void *argument) {
    return disk(base)->pMethods->xFileControl(disk(base), operation, argument);
}

static int sector_size(sqlite3_file *base) { return disk(base)->pMethods->xSectorSize(disk(base)); }

static int characteristics(sqlite3_file *base) { return disk(base)->pMethods->xDeviceCharacteristics(disk(base)); }

static int map_shared_memory(sqlite3_file *base, int region, int size, int extends, void volatile **memory) {
    return disk(base)->pMethods->xShmMap(disk(base), region, size, extends, memory);
}

// Records the number of pages in the header of the log's index (SQLite's "WAL-mode file format", section 2.1). SQLite takes
// the lock of a reader for the header that it has read, and takes it again if the header has changed.
static void note_snapshot(store_file *file) {
    void volatile *head = 0;
    file->snapshot_pages = 0;
    // A file that this process may only read is mapped, too, with another result code.
    file->disk->pMethods->xShmMap(file->disk, 0, INDEX_REGION, 0, &head);
    if (!head) return;
    file->disk->pMethods->xShmBarrier(file->disk);
    file->snapshot_pages = ((const uint32_t volatile *)head)[5];
}

static int lock_shared_memory(sqlite3_file *base, int offset, int count, int flags) {
    int code = disk(base)->pMethods->xShmLock(disk(base), offset, count, flags);
    int is_reader = offset >= READER_LOCK && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_SHARED);
    if (code == SQLITE_OK && is_reader && store(base)->has_clear_header) note_snapshot(store(base));
    return code;
}

static void order_shared_memory(sqlite3_file *base) { disk(base)->pMethods->xShmBarrier(disk(base)); }

static int unmap_shared_memory(sqlite3_file *base, int removes) {
    return disk(base)->pMethods->xShmUnmap(disk(base), removes);
}

#define METHODS \
    .xClose = close_file, .xRead = read_file, .xWrite = write_file, .xTruncate = truncate_file, \
    .xSync = synchronize_file, .xFileSize = length_of_file, .xLock = lock_file, .xUnlock = unlock_file, \
    .xCheckReservedLock = is_reserved, .xFileControl = control_file, .xSectorSize = sector_size, \
    .xDeviceCharacteristics = characteristics

// Without the methods for memory-mapped files, which cannot be encrypted.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    METHODS,
    .xShmMap = map_shared_memory,
    .xShmLock = lock_shared_memory,
    .xShmBarrier = order_shared_memory,
    .xShmUnmap = unmap_shared_memory,
};

// For file systems without shared memory.
static const sqlite3_io_methods methods_without_shared_memory = {.iVersion = 1, METHODS};

static int has_own_methods(const sqlite3_file *file) {
    return file && (file->pMethods == &methods || file->pMethods == &methods_without_shared_memory);
}

// MARK: Opening

int store_file_size(sqlite3_vfs *system) { return (int)sizeof(store_file) + system->szOsFile; }

int open_store_file(sqlite3_vfs *system, const char *name, sqlite3_file *base, int flags, int *result) {
    store_file *file = store(base);
    memset(file, 0, store_file_size(system));
    file->disk = (sqlite3_file *)(file + 1);
    file->database = file;
    file->kind = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    if (file->kind != SQLITE_OPEN_MAIN_DB) {
        sqlite3_file *database = sqlite3_database_file_object(name);
        if (has_own_methods(database)) file->database = store(database);
    }
    int code = system->xOpen(system, name, file->disk, flags, result);
    if (code != SQLITE_OK) {
        if (file->disk->pMethods) file->disk->pMethods->xClose(file->disk);
        return code;
    }
    // SQLite's methods for file systems without locks have a newer version, and no shared memory.
    int has_shared_memory = file->disk->pMethods->iVersion >= 2 && file->disk->pMethods->xShmMap;
    file->base.pMethods = has_shared_memory ? &methods : &methods_without_shared_memory;
    return SQLITE_OK;
}

// MARK: Connections

static store_file *main_database(sqlite3 *connection) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return code == SQLITE_OK && has_own_methods(file) ? store(file) : 0;
}

int cstorefiles_check_clear_bytes(struct sqlite3 *connection, int has_clear_header) {
    store_file *file = main_database(connection);
    if (!file) return SQLITE_MISUSE;
    file->is_encrypted = 1;
    file->has_clear_header = has_clear_header;
    return SQLITE_OK;
}

int cstorefiles_take_read_error(struct sqlite3 *connection) {
    store_file *file = main_database(connection);
    if (!file) return 0;
    int code = file->read_error;
    file->read_error = 0;
    return code;
}
