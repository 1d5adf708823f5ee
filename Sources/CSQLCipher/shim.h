// The functions of libsqlcipher and libcrypto that the package uses, and inline forms of the C constructs that Swift
// cannot import: casted constants, variadic functions and calls through a file's method table.
#ifndef CSQLCIPHER_SHIM_H
#define CSQLCIPHER_SHIM_H

#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif
#include <sqlcipher/sqlite3.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/kdf.h>
#include <openssl/params.h>
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#endif

// SQLITE_STATIC and SQLITE_TRANSIENT are casted constants. A null pointer would bind NULL, hence the "" for empty
// values.

static inline int csqlcipher_bind_text_copying(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_text64(statement, index, count ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlcipher_bind_text_static(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_text64(statement, index, count ? (const char *)bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int csqlcipher_bind_blob_copying(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int csqlcipher_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_STATIC);
}

static inline void csqlcipher_result_blob_copying(sqlite3_context *context, const void *bytes, uint64_t count) {
    sqlite3_result_blob64(context, count ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline void csqlcipher_result_text_copying(sqlite3_context *context, const void *bytes, uint64_t count) {
    sqlite3_result_text64(context, count ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// sqlite3_db_config is variadic.
static inline int csqlcipher_configure(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

// The raw bytes of the main database file, read through SQLite's own descriptor: opening and closing another one would
// release the POSIX locks of other connections in this process.

static inline sqlite3_file *csqlcipher_main_file(sqlite3 *database) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    return file && file->pMethods ? file : 0;
}

/// Whether the connection, which must have read the file and written nothing, uses a write-ahead log. The journal of a
/// rollback is open in write transactions only.
static inline int csqlcipher_has_log(sqlite3 *database) {
    sqlite3_file *journal = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) != SQLITE_OK) return 0;
    return journal && journal->pMethods;
}

static inline int csqlcipher_file_size(sqlite3_file *file, int64_t *size) {
    sqlite3_int64 bytes = 0;
    int result = file->pMethods->xFileSize(file, &bytes);
    *size = bytes;
    return result;
}

static inline int csqlcipher_file_read(sqlite3_file *file, void *buffer, int count, int64_t offset) {
    return file->pMethods->xRead(file, buffer, count, offset);
}

// Acquires or raises a lock on the main database file (SQLITE_LOCK_SHARED, SQLITE_LOCK_EXCLUSIVE), bypassing SQLite:
// the connection must not have read anything yet.
static inline int csqlcipher_lock_file(sqlite3_file *file, int level) {
    return file->pMethods->xLock(file, level);
}

static inline int csqlcipher_unlock_file(sqlite3_file *file) {
    return file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
}

// Whether a process holds the reserved lock, with which it prepares to write to the main database file without a
// write-ahead log.
static inline int csqlcipher_file_is_reserved(sqlite3_file *file) {
    int reserved = 1;
    return file->pMethods->xCheckReservedLock(file, &reserved) != SQLITE_OK || reserved;
}

// Returns the offset of a file's first hole, or its length if it has none; -1 if the system does not provide it.
static inline int64_t csqlcipher_first_hole(int descriptor) {
#if defined(SEEK_HOLE)
    return lseek(descriptor, 0, SEEK_HOLE);
#elif defined(__linux__)
    return lseek(descriptor, 0, 4 /* SEEK_HOLE, which the headers declare for GNU sources only */);
#else
    return -1;
#endif
}

// The header of the index of the write-ahead log, in the file format of the index. Every commit of any process changes
// it.

typedef struct {
    uint64_t words[6];
    // The number of frames in the log, and the number of frames that a checkpoint has written back into the file.
    uint32_t frames;
    uint32_t frames_written_back;
    // The number of frames that the last checkpoint has tried to write back. A checkpoint raises it before it writes to
    // the file.
    uint32_t frames_attempted;
} csqlcipher_log_state;

// Returns 0 if there is no index. The database must be in WAL mode: otherwise SQLite would create an index and never
// close it.
//
// The index is a file in shared memory. If another program truncates it while it is open, this read, as each read of
// SQLite, ends the process with SIGBUS. The size could only be checked by a system call before each read, and not
// without a race.
static inline int csqlcipher_read_log_state(sqlite3_file *file, csqlcipher_log_state *state) {
    void volatile *head = 0;
    if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &head) != SQLITE_OK || !head) return 0;
    file->pMethods->xShmBarrier(file);
    for (int index = 0; index < 6; index++) state->words[index] = ((const uint64_t volatile *)head)[index];
    // Native byte order: mxFrame is at byte 16 of the header, which has two copies; nBackfill follows them.
    state->frames = ((const uint32_t volatile *)head)[4];
    state->frames_written_back = ((const uint32_t volatile *)head)[24];
    // Behind the marks of five readers and the bytes of the locks.
    state->frames_attempted = ((const uint32_t volatile *)head)[32];
    return 1;
}

// Whether no transaction was committed since a state was read. A commit in progress may already count.
static inline int csqlcipher_log_state_is_current(sqlite3_file *file, const csqlcipher_log_state *state) {
    csqlcipher_log_state now;
    if (!csqlcipher_read_log_state(file, &now)) return 0;
    uint64_t difference = 0;
    for (int index = 0; index < 6; index++) difference |= now.words[index] ^ state->words[index];
    return difference == 0;
}

// A counter that every commit of any process increases by one, modulo 2^32. A recovery of the index starts it again.
static inline uint32_t csqlcipher_commit_counter(const csqlcipher_log_state *state) {
    // Native byte order: iChange is at byte 8 of the header.
    uint32_t words[4];
    memcpy(words, state->words, sizeof(words));
    return words[2];
}

// The salts of the log. Each log of a file has other salts than the logs before it.
static inline uint64_t csqlcipher_log_salts(const csqlcipher_log_state *state) {
    // aSalt is at byte 32 of the header.
    return state->words[4];
}

// The locks of the write-ahead log, which lie in the shared memory ("WAL-mode file format", section 2.3): writing,
// checkpoints, recovery, and five for readers. The connection must have read the database, and must not be in a
// transaction.

enum { CSQLCIPHER_WRITE_LOCK = 0, CSQLCIPHER_LOCK_COUNT = SQLITE_SHM_NLOCK };

static inline int csqlcipher_lock_log(sqlite3_file *file, int first, int count) {
    return file->pMethods->xShmLock(file, first, count, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
}

static inline int csqlcipher_unlock_log(sqlite3_file *file, int first, int count) {
    return file->pMethods->xShmLock(file, first, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

// The head of the log's index: two copies of a header of 48 bytes, whose first word is the version of its format and whose
// last two words are a checksum of the others.

// A version of the index that no version of SQLite supports: each connection that begins a transaction fails with
// SQLITE_CANTOPEN.
#define CSQLCIPHER_INVALID_LOG_INDEX 0x4C414553u

// The version of the index that all versions of SQLite with a log support.
#define CSQLCIPHER_LOG_INDEX_VERSION 3007000u

// The inodes of the file whose exchange made the index invalid, and of its shared memory, in words of the header that
// have no meaning then.
typedef struct {
    uint64_t file;
    uint64_t shared_memory;
} csqlcipher_file_exchange;

static inline uint32_t volatile *csqlcipher_log_index_words(sqlite3_file *file) {
    void volatile *head = 0;
    if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &head) != SQLITE_OK) return 0;
    return (uint32_t volatile *)head;
}

// Completes a header with its checksum, and writes both copies, the second one first, as SQLite does.
static inline void csqlcipher_write_log_index_header(
    sqlite3_file *file, uint32_t volatile *words, uint32_t header[12]
) {
    uint32_t sums[2] = {0, 0};
    for (int index = 0; index < 10; index += 2) {
        sums[0] += header[index] + sums[1];
        sums[1] += header[index + 1] + sums[0];
    }
    header[10] = sums[0];
    header[11] = sums[1];
    for (int index = 0; index < 12; index++) words[12 + index] = header[index];
    file->pMethods->xShmBarrier(file);
    for (int index = 0; index < 12; index++) words[index] = header[index];
    file->pMethods->xShmBarrier(file);
}

// Makes the index of the log unusable for each connection of any process. The caller must hold all locks of the log.
// Returns 0 if there is no index.
static inline int csqlcipher_invalidate_log_index(sqlite3_file *file, csqlcipher_file_exchange exchange) {
    uint32_t volatile *words = csqlcipher_log_index_words(file);
    if (!words) return 0;
    uint32_t header[12];
    for (int index = 0; index < 12; index++) header[index] = words[index];
    header[0] = CSQLCIPHER_INVALID_LOG_INDEX;
    header[4] = (uint32_t)exchange.file;
    header[5] = (uint32_t)(exchange.file >> 32);
    header[6] = (uint32_t)exchange.shared_memory;
    header[7] = (uint32_t)(exchange.shared_memory >> 32);
    csqlcipher_write_log_index_header(file, words, header);
    return 1;
}

// Makes the index valid again, as SQLite does after a checkpoint of the whole log (SQLITE_CHECKPOINT_RESTART): the log
// has no frame, and the next transaction writes it from its beginning. The caller must hold all locks of the log, all of
// which must have been written back. The random salts differ from those that any connection has read, so that each
// connection gives up the pages in its cache.
static inline void csqlcipher_restart_log_index(sqlite3_file *file) {
    uint32_t volatile *words = csqlcipher_log_index_words(file);
    if (!words) return;
    uint32_t header[12];
    for (int index = 0; index < 12; index++) header[index] = words[index];
    header[0] = CSQLCIPHER_LOG_INDEX_VERSION;
    // The numbers of frames and pages, and the checksum of the last frame.
    for (int index = 4; index < 8; index++) header[index] = 0;
    sqlite3_randomness(8, header + 8);
    // Behind the two headers: the number of frames that were written back, and the marks of five readers. Behind the
    // locks: the number of frames that a checkpoint has tried to write back.
    words[24] = words[25] = words[26] = words[32] = 0;
    words[27] = words[28] = words[29] = 0xFFFFFFFFu;
    csqlcipher_write_log_index_header(file, words, header);
}

static inline int csqlcipher_log_index_is_invalid(sqlite3_file *file) {
    uint32_t volatile *words = csqlcipher_log_index_words(file);
    return words && words[0] == CSQLCIPHER_INVALID_LOG_INDEX;
}

// Reads the exchange that made the index invalid. Returns 0 if it is valid.
static inline int csqlcipher_read_file_exchange(sqlite3_file *file, csqlcipher_file_exchange *exchange) {
    uint32_t volatile *words = csqlcipher_log_index_words(file);
    if (!words || words[0] != CSQLCIPHER_INVALID_LOG_INDEX) return 0;
    exchange->file = words[4] | (uint64_t)words[5] << 32;
    exchange->shared_memory = words[6] | (uint64_t)words[7] << 32;
    return 1;
}

// Closes the shared memory of a connection that has read nothing: SQLite closes it only after it has opened the log.
static inline void csqlcipher_close_log_index(sqlite3_file *file) {
    if (file->pMethods->iVersion >= 2 && file->pMethods->xShmUnmap) file->pMethods->xShmUnmap(file, 0);
}

// Writes to the main database file, truncates it, or waits until it is on the disk, through SQLite's own descriptor.

static inline int csqlcipher_file_write(sqlite3_file *file, const void *buffer, int count, int64_t offset) {
    return file->pMethods->xWrite(file, buffer, count, offset);
}

static inline int csqlcipher_file_truncate(sqlite3_file *file, int64_t size) {
    return file->pMethods->xTruncate(file, size);
}

static inline int csqlcipher_file_sync(sqlite3_file *file) {
    return file->pMethods->xSync(file, SQLITE_SYNC_FULL);
}

// Returns to a shared lock on the main database file.
static inline int csqlcipher_lower_file_lock(sqlite3_file *file) {
    return file->pMethods->xUnlock(file, SQLITE_LOCK_SHARED);
}

// AES-256-CBC of OpenSSL's providers, which the caller owns; null before OpenSSL 3, or if there is none.
static inline const EVP_CIPHER *csqlcipher_fetch_aes_256_cbc(void) {
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    return EVP_CIPHER_fetch(0, "AES-256-CBC", 0);
#else
    return 0;
#endif
}

// Argon2id (RFC 9106) of libcrypto. Returns 1, 0 if it fails, or -1 if libcrypto is older than 3.2 and does not have it.
static inline int csqlcipher_argon2id(
    const char *passphrase, size_t passphrase_count, const uint8_t *salt, size_t salt_count, uint32_t kibibytes,
    uint32_t iterations, uint32_t lanes, uint8_t *output, size_t count
) {
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    EVP_KDF *function = EVP_KDF_fetch(0, "ARGON2ID", 0);
    if (!function) return -1;
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(function);
    EVP_KDF_free(function);
    if (!context) return 0;
    uint32_t threads = 1;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("pass", (void *)passphrase, passphrase_count),
        OSSL_PARAM_construct_octet_string("salt", (void *)salt, salt_count),
        OSSL_PARAM_construct_uint32("iter", &iterations),
        OSSL_PARAM_construct_uint32("memcost", &kibibytes),
        OSSL_PARAM_construct_uint32("lanes", &lanes),
        OSSL_PARAM_construct_uint32("threads", &threads),
        OSSL_PARAM_construct_end(),
    };
    int result = EVP_KDF_derive(context, output, count, parameters);
    EVP_KDF_CTX_free(context);
    return result == 1;
#else
    return -1;
#endif
}

#if defined(__APPLE__)
#include <crt_externs.h>
#else
extern char **environ;
#endif

// Overwrites the values of an environment variable, also those that a second definition hides from getenv(3). Their
// memory stays visible to other processes (on Linux as /proc/PID/environ) after unsetenv(3) has removed the variable.
static inline void csqlcipher_cleanse_variable(const char *name) {
#if defined(__APPLE__)
    char **variable = *_NSGetEnviron();
#else
    char **variable = environ;
#endif
    size_t length = strlen(name);
    for (; variable != NULL && *variable != NULL; variable++) {
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') {
            OPENSSL_cleanse(*variable + length + 1, strlen(*variable + length + 1));
        }
    }
}

#if defined(__linux__)
// Finds a key of type "user" in the keyrings of the process, and reads it (keyctl(2)). Both return -1 and set errno.

static inline long csqlcipher_find_key(const char *description) {
    return syscall(SYS_request_key, "user", description, (const char *)0, 0);
}

static inline long csqlcipher_read_key(long key, void *buffer, size_t count) {
    return syscall(SYS_keyctl, 11 /* KEYCTL_READ */, key, buffer, count);
}

// Adds a key to the keyring of the process (add_key(2)).
static inline long csqlcipher_add_key(const char *description, const void *payload, size_t count) {
    return syscall(SYS_add_key, "user", description, payload, count, -2 /* KEY_SPEC_PROCESS_KEYRING */);
}
#endif

// Memory and core dumps.

enum { CSQLCIPHER_ANONYMOUS_MAPPING = MAP_ANONYMOUS };

// Omits pages from core dumps, on systems with such a setting.
static inline void csqlcipher_omit_from_core_dumps(void *pages, size_t count) {
#if defined(MADV_DONTDUMP)
    madvise(pages, count, MADV_DONTDUMP);
#endif
}

// Makes the system write no core dump of the process. On Linux, other processes of the user can no longer attach to it
// or read its memory, either. Returns 0 or -1 and sets errno.
static inline int csqlcipher_prevent_core_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
#if defined(__linux__)
    // A program that receives core dumps through a pipe (core(5)) gets them regardless of the limit.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
#endif
    return 0;
}

// Returns an integer that identifies a running thread of the process; never 0.
static inline uintptr_t csqlcipher_thread_identity(void) {
    return (uintptr_t)pthread_self();
}

// Whether a file can be accessed with the effective user and group IDs of the process, as open(2) does; access(2) uses
// the real ones. Returns 0 or -1 and sets errno.
static inline int csqlcipher_access(const char *path, int mode) {
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

#if defined(__linux__)
// The attribute that holds the access control list of a file.
#define CSQLCIPHER_ACCESS_LIST "system.posix_acl_access"

// Copies an extended attribute. Labels that only the system sets are left to it. Returns 0 or an errno.
static inline int csqlcipher_copy_attribute(const char *from, const char *to, const char *name) {
    int is_of_system = strncmp(name, "security.", 9) == 0 || strncmp(name, "trusted.", 8) == 0;
    ssize_t count = lgetxattr(from, name, 0, 0);
    char *value = count < 0 ? 0 : (char *)malloc((size_t)count + 1);
    if (!value) return is_of_system ? 0 : count < 0 ? errno : ENOMEM;
    count = lgetxattr(from, name, value, (size_t)count);
    int code = count < 0 || lsetxattr(to, name, value, (size_t)count, 0) != 0 ? errno : 0;
    free(value);
    return is_of_system ? 0 : code;
}
#endif

// Gives a file the access control list and the extended attributes of another one, on Linux. Returns 0 or an errno.
static inline int csqlcipher_copy_attributes(const char *from, const char *to) {
#if defined(__linux__)
    // A new file can have inherited a list from its folder.
    if (lremovexattr(to, CSQLCIPHER_ACCESS_LIST) != 0 && errno != ENODATA && errno != ENOTSUP) return errno;
    ssize_t count = llistxattr(from, 0, 0);
    if (count < 0) return errno == ENOTSUP ? 0 : errno;
    char *names = (char *)malloc((size_t)count + 1);
    if (!names) return ENOMEM;
    count = llistxattr(from, names, (size_t)count);
    int code = count < 0 ? errno : 0;
    for (char *name = names; code == 0 && name < names + count; name += strlen(name) + 1) {
        code = csqlcipher_copy_attribute(from, to, name);
    }
    free(names);
    return code;
#else
    // copyfile(3) opens both files, which would release the POSIX locks of this process when it closes them.
    return 0;
#endif
}

// Reads the time at which a file was created, as seconds and nanoseconds. Returns 0 if the file does not exist, or the
// system or the file system does not record that time.
static inline int csqlcipher_birth_time(const char *path, int64_t time[2]) {
#if defined(__linux__) && defined(SYS_statx)
    // struct statx (statx(2)), which the headers declare for GNU sources only: stx_mask is at byte 0, stx_btime at 80.
    unsigned char status[256];
    const uint32_t requested = 0x800; // STATX_BTIME
    uint32_t found = 0, nanoseconds = 0;
    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, requested, status) != 0) return 0;
    memcpy(&found, status, sizeof found);
    if (!(found & requested)) return 0;
    memcpy(&time[0], status + 80, sizeof time[0]);
    memcpy(&nanoseconds, status + 88, sizeof nanoseconds);
    time[1] = nanoseconds;
    return 1;
#elif defined(__APPLE__)
    struct stat status;
    if (lstat(path, &status) != 0) return 0;
    time[0] = status.st_birthtimespec.tv_sec;
    time[1] = status.st_birthtimespec.tv_nsec;
    return 1;
#else
    return 0;
#endif
}

// Creates a file without a name in a folder, which only its owner can read. Returns its descriptor, or -1 if the system or
// the file system has no such files, or cannot give them a name later.
static inline int csqlcipher_create_nameless(const char *folder) {
#if defined(__linux__)
    if (access("/proc/self/fd", X_OK) != 0) return -1;
    // O_TMPFILE, which the headers declare for GNU sources only.
    return open(folder, 020000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0600);
#else
    return -1;
#endif
}

// Gives a file without a name a name, and fails with EEXIST if the name exists. Returns 0 or -1 and sets errno.
static inline int csqlcipher_name_file(int descriptor, const char *path) {
    char source[40];
    snprintf(source, sizeof source, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

// Renames a file or folder as csqlcipher_rename_exclusively does, on file systems without such a call.
static inline int csqlcipher_link_exclusively(const char *old_path, const char *new_path) {
    struct stat status;
    if (lstat(old_path, &status) != 0) return -1;
    if (S_ISDIR(status.st_mode)) {
        if (lstat(new_path, &status) == 0) {
            errno = EEXIST;
            return -1;
        }
        // If the name is taken meanwhile, at most an empty folder is replaced.
        return rename(old_path, new_path);
    }
    if (link(old_path, new_path) != 0) return -1;
    return unlink(old_path);
}

// Renames a file or folder, and fails with EEXIST if the new name exists. Returns 0 or -1 and sets errno.
static inline int csqlcipher_rename_exclusively(const char *old_path, const char *new_path) {
#if defined(__linux__) && defined(SYS_renameat2)
    if (syscall(SYS_renameat2, AT_FDCWD, old_path, AT_FDCWD, new_path, 1u /* RENAME_NOREPLACE */) == 0) return 0;
    if (errno != ENOSYS && errno != EINVAL) return -1;
#elif defined(__APPLE__)
    if (renamex_np(old_path, new_path, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP) return -1;
#endif
    return csqlcipher_link_exclusively(old_path, new_path);
}

#endif
