#define _GNU_SOURCE
#include "CFileRecorder.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(IS_SANITIZED)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[4096];
static size_t folder_length;
static int output = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// By descriptor: 0 for other files, 1 for a file of the folder, 2 for the folder.
static char kinds[4096];
// The changes until the process kills itself; 0 if it does not.
static uint64_t remaining_changes;

int cfilerecorder_is_supported(void) { return 1; }

static void write_all(const void *bytes, size_t count) {
    const char *position = bytes;
    while (count > 0) {
        long written = syscall(SYS_write, output, position, count);
        if (written <= 0) return;
        position += written;
        count -= (size_t)written;
    }
}

static void append(uint32_t kind, uint64_t file, int64_t value, const void *bytes, size_t count) {
    cfilerecorder_record record = {kind, (uint32_t)count, file, value};
    write_all(&record, sizeof record);
    write_all(bytes, count);
    int is_change = kind != CFILERECORDER_NOTE && kind != CFILERECORDER_SYNC && kind != CFILERECORDER_SYNC_FOLDER;
    if (is_change && remaining_changes > 0 && --remaining_changes == 0) kill(getpid(), SIGKILL);
}

int cfilerecorder_start(const char *path, const char *recording) {
    folder_length = strlen(path);
    if (folder_length >= sizeof folder) return 0;
    memcpy(folder, path, folder_length + 1);
    output = (int)syscall(SYS_openat, AT_FDCWD, recording, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    return output >= 0;
}

void cfilerecorder_kill_after(uint64_t change) { remaining_changes = change; }

void cfilerecorder_note(const char *text) {
    pthread_mutex_lock(&lock);
    append(CFILERECORDER_NOTE, 0, 0, text, strlen(text));
    pthread_mutex_unlock(&lock);
}

// The name of a file in the folder, or in a folder in it; null for another path.
static const char *name_in_folder(const char *path) {
    if (output < 0 || strncmp(path, folder, folder_length) != 0 || path[folder_length] != '/') return 0;
    return path + folder_length + 1;
}

static uint64_t inode(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static char kind(int descriptor) {
    return output >= 0 && descriptor >= 0 && descriptor < (int)sizeof kinds ? kinds[descriptor] : 0;
}

static int recorded_open(const char *path, int flags, mode_t mode) {
    const char *name = flags & O_DIRECTORY ? 0 : name_in_folder(path);
    if (!name) {
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
        if (descriptor >= 0 && descriptor < (int)sizeof kinds) {
            kinds[descriptor] = output >= 0 && strcmp(path, folder) == 0 ? 2 : 0;
        }
        return descriptor;
    }
    pthread_mutex_lock(&lock);
    int is_new = flags & O_CREAT && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    int code = errno;
    if (descriptor >= 0 && descriptor < (int)sizeof kinds) {
        kinds[descriptor] = 1;
        if (is_new) append(CFILERECORDER_CREATE, inode(descriptor), 0, name, strlen(name));
        if (flags & O_TRUNC) append(CFILERECORDER_TRUNCATE, inode(descriptor), 0, "", 0);
    }
    pthread_mutex_unlock(&lock);
    errno = code;
    return descriptor;
}

static mode_t mode_of(int flags, va_list arguments) {
    int has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? (mode_t)va_arg(arguments, int) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return recorded_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return recorded_open(path, flags | O_LARGEFILE, mode);
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < (int)sizeof kinds) kinds[descriptor] = 0;
    return (int)syscall(SYS_close, descriptor);
}

static ssize_t recorded_write(int descriptor, const void *bytes, size_t count, off64_t offset) {
    if (kind(descriptor) != 1) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    pthread_mutex_lock(&lock);
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    int code = errno;
    if (written > 0) append(CFILERECORDER_WRITE, inode(descriptor), offset, bytes, (size_t)written);
    pthread_mutex_unlock(&lock);
    errno = code;
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return recorded_write(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return recorded_write(descriptor, bytes, count, offset);
}

static int recorded_truncate(int descriptor, off64_t size) {
    if (kind(descriptor) != 1) return (int)syscall(SYS_ftruncate, descriptor, size);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_ftruncate, descriptor, size);
    int code = errno;
    if (result == 0) append(CFILERECORDER_TRUNCATE, inode(descriptor), size, "", 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

int ftruncate(int descriptor, off_t size) { return recorded_truncate(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return recorded_truncate(descriptor, size); }

// The record precedes the return: the caller relies on the disk from then on.
static int recorded_sync(int descriptor, long call) {
    char file = kind(descriptor);
    if (!file) return (int)syscall(call, descriptor);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, descriptor);
    int code = errno;
    if (result == 0) append(file == 2 ? CFILERECORDER_SYNC_FOLDER : CFILERECORDER_SYNC, inode(descriptor), 0, "", 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

int fsync(int descriptor) { return recorded_sync(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return recorded_sync(descriptor, SYS_fdatasync); }

int rename(const char *old_path, const char *new_path) {
    const char *old_name = name_in_folder(old_path), *new_name = name_in_folder(new_path);
    if (!old_name || !new_name) return (int)syscall(SYS_renameat2, AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
    int code = errno;
    char names[1024];
    int count = snprintf(names, sizeof names, "%s%c%s", old_name, 0, new_name);
    if (result == 0) append(CFILERECORDER_RENAME, 0, 0, names, (size_t)count);
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

// Makes a path of a name in an open folder.
static int path_in_folder(int descriptor, const char *name, char *path, size_t size) {
    if (descriptor == AT_FDCWD) return snprintf(path, size, "%s", name) < (int)size;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
    if (length < 0) return 0;
    return snprintf(path + length, size - (size_t)length, "/%s", name) < (int)(size - (size_t)length);
}

int renameat(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    char old_path[4096], new_path[4096];
    if (!path_in_folder(old_folder, old_name, old_path, sizeof old_path)
        || !path_in_folder(new_folder, new_name, new_path, sizeof new_path)) {
        return (int)syscall(SYS_renameat2, old_folder, old_name, new_folder, new_name, 0);
    }
    return rename(old_path, new_path);
}

int unlink(const char *path) {
    const char *name = name_in_folder(path);
    if (!name) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    int code = errno;
    if (result == 0) append(CFILERECORDER_UNLINK, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

static int record_folder(const char *name, uint32_t kind, int result) {
    int code = errno;
    if (result == 0) append(kind, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

int mkdir(const char *path, mode_t mode) {
    const char *name = name_in_folder(path);
    if (!name) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    pthread_mutex_lock(&lock);
    return record_folder(name, CFILERECORDER_MAKE_FOLDER, (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int rmdir(const char *path) {
    const char *name = name_in_folder(path);
    if (!name) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
    pthread_mutex_lock(&lock);
    return record_folder(name, CFILERECORDER_REMOVE_FOLDER, (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

int unlinkat(int folder, const char *name, int flags) {
    char path[4096];
    if (!path_in_folder(folder, name, path, sizeof path)) return (int)syscall(SYS_unlinkat, folder, name, flags);
    return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}

#else

int cfilerecorder_is_supported(void) { return 0; }
int cfilerecorder_start(const char *folder, const char *recording) { return 0; }
void cfilerecorder_kill_after(uint64_t change) {}
void cfilerecorder_note(const char *text) {}

#endif
