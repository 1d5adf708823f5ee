// A virtual file system of SQLite, through which each connection of the package opens its files.
//
// - It opens databases, their rollback journals and their write-ahead logs, and no other named file: never the
//   super-journal that the end of a rollback journal can name, which SQLite would delete.
// - It checks the bytes of an encrypted database that SQLCipher neither encrypts nor authenticates, each time that
//   SQLite reads them.
// - It remembers errors of reads: SQLCipher decrypts the page of a failed read nevertheless, and reports only that the
//   page does not verify.
// - Each access to a page passes the gate of CExitGate.
// - It encrypts temporary files. SQLCipher encrypts databases, logs and journals, but not the nameless files to which
//   SQLite moves what does not fit into memory: runs of its sorter, temporary tables, statement journals.

#ifndef CSTOREFILES_H
#define CSTOREFILES_H

struct sqlite3;

// Registers the file system, the first time that it is called. It reads and writes through the file system that is
// SQLite's default one at that time.
//
// Returns its name for `sqlite3_open_v2`, or null if SQLite has no default file system.
const char *cstorefiles_register(void);

// Makes the files of a connection's main database fail reads with SQLITE_CORRUPT if clear bytes contradict the format of
// SQLCipher 4: the page size of the log, and, with `has_clear_header`, the header on the first page. A header must have
// SQLCipher's constants, and the number of pages of the database: that of the file, of the transaction in the log that has
// written it, or of the read transaction.
//
// Returns an error code of SQLite if the connection does not use this file system.
int cstorefiles_check_clear_bytes(struct sqlite3 *connection, int has_clear_header);

// Returns the code of the last failed read of a connection's main database file or its log since the last call; 0 if none
// failed, or the connection does not use this file system.
int cstorefiles_take_read_error(struct sqlite3 *connection);

// Names the folder in which the calling thread creates temporary files; null for none. A file that cannot be created
// there is in the folder that SQLite chooses. The text must stay valid until the next call.
//
// Returns the folder that was set before.
const char *cstorefiles_set_folder(const char *folder);

#endif
