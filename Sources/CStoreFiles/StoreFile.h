// A database file, its write-ahead log or its rollback journal.

#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <sqlcipher/sqlite3.h>

// The number of bytes of the structure of a file of a file system.
int store_file_size(sqlite3_vfs *system);

// Opens a database, a log or a journal through a file system, in memory of `store_file_size` bytes.
int open_store_file(sqlite3_vfs *system, const char *name, sqlite3_file *file, int flags, int *result);

#endif
