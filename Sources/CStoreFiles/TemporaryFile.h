// An encrypted temporary file.

#ifndef TEMPORARY_FILE_H
#define TEMPORARY_FILE_H

#include <sqlcipher/sqlite3.h>

// The number of bytes of the structure of a temporary file of a file system.
int temporary_file_size(sqlite3_vfs *system);

// Opens a file through a file system, in memory of `temporary_file_size` bytes.
int open_temporary_file(sqlite3_vfs *system, sqlite3_file *file, int flags, int *result);

#endif
