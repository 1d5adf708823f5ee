// Records what a process does to the files of one folder: the raw material for a simulated power failure. Kills the
// process after one of its changes.
//
// The functions of libc that change files are defined here, so that the whole program uses these definitions, including
// the libraries. They call the system and append a record to a file in another folder.
#ifndef CFILERECORDER_H
#define CFILERECORDER_H

#include <stdint.h>

// The kinds of records.
enum {
    CFILERECORDER_CREATE = 1,
    CFILERECORDER_WRITE = 2,
    CFILERECORDER_TRUNCATE = 3,
    CFILERECORDER_SYNC = 4,
    CFILERECORDER_RENAME = 5,
    CFILERECORDER_UNLINK = 6,
    CFILERECORDER_SYNC_FOLDER = 7,
    CFILERECORDER_NOTE = 8,
    CFILERECORDER_MAKE_FOLDER = 9,
    CFILERECORDER_REMOVE_FOLDER = 10
};

// The beginning of a record; `count` bytes follow. These are the bytes of a write, or names, separated by a zero byte.
// `value` is the offset of a write, or the length of a truncated file.
typedef struct {
    uint32_t kind;
    uint32_t count;
    uint64_t file;
    int64_t value;
} cfilerecorder_record;

// Whether recording is supported: on Linux, and without a sanitizer, which defines the same functions.
int cfilerecorder_is_supported(void);

// Starts recording the files of a folder and of the folders in it, whose path has no symbolic links, into a file. Returns 0 if it cannot.
int cfilerecorder_start(const char *folder, const char *recording);

// Kills the process after it has changed the files so often. A change is a record other than a note or a
// synchronization. Call it before the recording starts.
void cfilerecorder_kill_after(uint64_t change);

// Records a text.
void cfilerecorder_note(const char *text);

#endif
