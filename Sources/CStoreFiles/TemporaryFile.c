#include "TemporaryFile.h"
#include "CStoreFiles.h"

#include <CExitGate.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// A file is a sequence of sectors, each encrypted with AES-256-GCM under the random key of the file:
//
//     bytes     content
//     0..<16    the authentication tag
//     16..      the content
//
// The nonce is the number of the write, which stays in memory. So no nonce is used twice, and only the last content of
// a sector is authentic, in its place.
//
// The sorter writes whole sectors but for the first and the last one of a run.
enum {
    SECTOR = 4096,
    NONCE = 12,
    TAG = 16,
    KEY = 32
};

typedef struct {
    sqlite3_file base;
    // The file on the disk, behind this structure.
    sqlite3_file *disk;
    // The name under which the file was created, to which SQLite keeps a reference; null for a name of SQLite's choice.
    char *name;
    EVP_CIPHER_CTX *encryption;
    EVP_CIPHER_CTX *decryption;
    // The number of the last write of each sector; 0 for a sector that was not written, which is zeros.
    uint64_t *numbers;
    // The count of the numbers in use, and the count for which there is memory.
    sqlite3_int64 sectors;
    sqlite3_int64 capacity;
    // The number of the last write.
    uint64_t writes;
    // The length of the content.
    sqlite3_int64 length;
} temporary_file;

// MARK: Sectors

static sqlite3_int64 position(sqlite3_int64 sector) { return sector * (TAG + SECTOR); }

// Extends the numbers, by zeros.
static int make_room(temporary_file *file, sqlite3_int64 sectors) {
    if (sectors <= file->sectors) return SQLITE_OK;
    if (sectors > file->capacity) {
        sqlite3_int64 capacity = sectors > 2 * file->capacity ? sectors : 2 * file->capacity;
        uint64_t *numbers = sqlite3_realloc64(file->numbers, (sqlite3_uint64)capacity * sizeof *numbers);
        if (!numbers) return SQLITE_IOERR_NOMEM;
        file->numbers = numbers;
        file->capacity = capacity;
    }
    memset(file->numbers + file->sectors, 0, (size_t)(sectors - file->sectors) * sizeof *file->numbers);
    file->sectors = sectors;
    return SQLITE_OK;
}

static int read_sector(temporary_file *file, sqlite3_int64 sector, unsigned char *content) {
    if (sector >= file->sectors || file->numbers[sector] == 0) {
        memset(content, 0, SECTOR);
        return SQLITE_OK;
    }
    unsigned char bytes[TAG + SECTOR];
    int code = file->disk->pMethods->xRead(file->disk, bytes, sizeof bytes, position(sector));
    // SQLite reports codes for a damaged file as damage of the database, which is sound.
    if (code != SQLITE_OK) return code == SQLITE_IOERR_NOMEM ? code : SQLITE_IOERR_READ;
    unsigned char nonce[NONCE] = {0};
    memcpy(nonce, &file->numbers[sector], sizeof file->numbers[sector]);
    int count;
    if (EVP_DecryptInit_ex(file->decryption, 0, 0, 0, nonce) == 1
        && EVP_DecryptUpdate(file->decryption, content, &count, bytes + TAG, SECTOR) == 1
        && EVP_CIPHER_CTX_ctrl(file->decryption, EVP_CTRL_AEAD_SET_TAG, TAG, bytes) == 1
        && EVP_DecryptFinal_ex(file->decryption, content + count, &count) == 1) {
        return SQLITE_OK;
    }
    OPENSSL_cleanse(content, SECTOR);
    return SQLITE_IOERR_READ;
}

static int write_sector(temporary_file *file, sqlite3_int64 sector, const unsigned char *content) {
    int code = make_room(file, sector + 1);
    if (code != SQLITE_OK) return code;
    unsigned char nonce[NONCE] = {0};
    uint64_t number = ++file->writes;
    memcpy(nonce, &number, sizeof number);
    unsigned char bytes[TAG + SECTOR];
    int count;
    if (EVP_EncryptInit_ex(file->encryption, 0, 0, 0, nonce) != 1
        || EVP_EncryptUpdate(file->encryption, bytes + TAG, &count, content, SECTOR) != 1
        || EVP_EncryptFinal_ex(file->encryption, bytes + TAG + count, &count) != 1
        || EVP_CIPHER_CTX_ctrl(file->encryption, EVP_CTRL_AEAD_GET_TAG, TAG, bytes) != 1) {
        return SQLITE_IOERR_WRITE;
    }
    uint64_t previous = file->numbers[sector];
    file->numbers[sector] = number;
    code = file->disk->pMethods->xWrite(file->disk, bytes, sizeof bytes, position(sector));
    // A failed write may have changed part of the sector: its previous content is lost, unless it was zeros.
    if (code != SQLITE_OK && previous == 0) file->numbers[sector] = 0;
    return code;
}

static sqlite3_int64 smaller(sqlite3_int64 first, sqlite3_int64 second) { return first < second ? first : second; }

// MARK: Methods of files

static int close_file(sqlite3_file *base) {
    temporary_file *file = (temporary_file *)base;
    EVP_CIPHER_CTX_free(file->encryption);
    EVP_CIPHER_CTX_free(file->decryption);
    sqlite3_free(file->numbers);
    int code = file->disk->pMethods ? file->disk->pMethods->xClose(file->disk) : SQLITE_OK;
    sqlite3_free(file->name);
    return code;
}

static int read_file(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    cexitgate_pass();
    temporary_file *file = (temporary_file *)base;
    unsigned char *target = buffer;
    sqlite3_int64 end = smaller(offset + count, file->length);
    for (sqlite3_int64 from = offset; from < end;) {
        sqlite3_int64 sector = from / SECTOR;
        sqlite3_int64 to = smaller((sector + 1) * SECTOR, end);
        unsigned char content[SECTOR];
        int code = read_sector(file, sector, content);
        if (code != SQLITE_OK) return code;
        memcpy(target + (from - offset), content + from % SECTOR, to - from);
        from = to;
    }
    if (end == offset + count) return SQLITE_OK;
    // The rest lies behind the end.
    sqlite3_int64 read = end > offset ? end - offset : 0;
    memset(target + read, 0, count - read);
    return SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *base, const void *buffer, int count, sqlite3_int64 offset) {
    cexitgate_pass();
    temporary_file *file = (temporary_file *)base;
    const unsigned char *source = buffer;
    sqlite3_int64 end = offset + count;
    for (sqlite3_int64 from = offset; from < end;) {
        sqlite3_int64 sector = from / SECTOR;
        sqlite3_int64 start = sector * SECTOR;
        sqlite3_int64 to = smaller(start + SECTOR, end);
        int code;
        if (to - from == SECTOR) {
            code = write_sector(file, sector, source + (from - offset));
        } else {
            unsigned char content[SECTOR];
            code = read_sector(file, sector, content);
            if (code != SQLITE_OK) return code;
            memcpy(content + (from - start), source + (from - offset), to - from);
            code = write_sector(file, sector, content);
        }
        if (code != SQLITE_OK) return code;
        from = to;
        if (file->length < to) file->length = to;
    }
    return SQLITE_OK;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 length) {
    cexitgate_pass();
    temporary_file *file = (temporary_file *)base;
    if (length >= file->length) return SQLITE_OK;
    sqlite3_int64 sectors = (length + SECTOR - 1) / SECTOR;
    // A later extension of the file must not uncover the old content.
    if (length % SECTOR != 0 && sectors <= file->sectors && file->numbers[sectors - 1] != 0) {
        unsigned char content[SECTOR];
        int code = read_sector(file, sectors - 1, content);
        if (code != SQLITE_OK) return code;
        memset(content + length % SECTOR, 0, SECTOR - length % SECTOR);
        code = write_sector(file, sectors - 1, content);
        if (code != SQLITE_OK) return code;
    }
    if (sectors < file->sectors) file->sectors = sectors;
    file->length = length;
    return file->disk->pMethods->xTruncate(file->disk, position(sectors));
}

// Nothing of a temporary file outlasts its process.
static int synchronize_file(sqlite3_file *base, int flags) { return SQLITE_OK; }

static int length_of_file(sqlite3_file *base, sqlite3_int64 *length) {
    *length = ((temporary_file *)base)->length;
    return SQLITE_OK;
}

// Nobody else opens a temporary file.
static int lock_file(sqlite3_file *base, int level) { return SQLITE_OK; }

static int is_reserved(sqlite3_file *base, int *result) {
    *result = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int operation, void *argument) { return SQLITE_NOTFOUND; }

static int sector_size(sqlite3_file *base) { return SECTOR; }

static int characteristics(sqlite3_file *base) { return 0; }

// Without the methods for memory-mapped files.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = synchronize_file,
    .xFileSize = length_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

// MARK: Opening

// A context for one direction under a key; null if libcrypto fails.
static EVP_CIPHER_CTX *context(const unsigned char *key, int encrypts) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context && EVP_CipherInit_ex(context, EVP_aes_256_gcm(), 0, key, 0, encrypts) == 1) return context;
    EVP_CIPHER_CTX_free(context);
    return 0;
}

static _Thread_local const char *folder;

const char *cstorefiles_set_folder(const char *new_folder) {
    const char *old_folder = folder;
    folder = new_folder;
    return old_folder;
}

// The file loses its name on the disk at once, because of SQLITE_OPEN_DELETEONCLOSE.
static int open_in_folder(sqlite3_vfs *system, temporary_file *file, int flags, int *result) {
    unsigned long long number;
    if (!folder || RAND_bytes((unsigned char *)&number, sizeof number) != 1) return SQLITE_CANTOPEN;
    size_t size = strlen(folder) + 32;
    file->name = sqlite3_malloc64(size);
    if (!file->name) return SQLITE_NOMEM;
    // SQLite requires two zero bytes at the end of a name.
    memset(file->name, 0, size);
    snprintf(file->name, size - 1, "%s/.etilqs_%016llx", folder, number);
    return system->xOpen(system, file->name, file->disk, flags, result);
}

static int open_on_disk(sqlite3_vfs *system, temporary_file *file, int flags, int *result) {
    if (open_in_folder(system, file, flags, result) == SQLITE_OK) return SQLITE_OK;
    sqlite3_free(file->name);
    file->name = 0;
    memset(file->disk, 0, system->szOsFile);
    return system->xOpen(system, 0, file->disk, flags, result);
}

int temporary_file_size(sqlite3_vfs *system) { return (int)sizeof(temporary_file) + system->szOsFile; }

int open_temporary_file(sqlite3_vfs *system, sqlite3_file *base, int flags, int *result) {
    temporary_file *file = (temporary_file *)base;
    memset(file, 0, temporary_file_size(system));
    file->disk = (sqlite3_file *)(file + 1);
    unsigned char key[KEY];
    if (RAND_bytes(key, sizeof key) == 1) {
        file->encryption = context(key, 1);
        file->decryption = context(key, 0);
    }
    OPENSSL_cleanse(key, sizeof key);
    int code = SQLITE_NOMEM;
    if (file->encryption && file->decryption) code = open_on_disk(system, file, flags, result);
    if (code != SQLITE_OK) {
        close_file(&file->base);
        return code;
    }
    file->base.pMethods = &methods;
    return SQLITE_OK;
}
