// A virtual file system of SQLite that encrypts temporary files.
//
// SQLCipher encrypts databases, logs and journals, but not the nameless files to which SQLite moves what does not fit
// into memory: runs of its sorter, temporary tables, statement journals.

#ifndef CENCRYPTEDTEMPORARYFILES_H
#define CENCRYPTEDTEMPORARYFILES_H

// Registers the file system, the first time that it is called. All but the temporary files are those of the file system
// that is SQLite's default one at that time.
//
// Returns its name for `sqlite3_open_v2`, or null if SQLite has no default file system.
const char *cencryptedtemporaryfiles_register(void);

// Names the folder in which the calling thread creates temporary files; null for none. A file that cannot be created
// there is in the folder that SQLite chooses. The text must stay valid until the next call.
//
// Returns the folder that was set before.
const char *cencryptedtemporaryfiles_set_folder(const char *folder);

#endif
