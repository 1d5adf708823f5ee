package import EncryptedSQLite
package import Foundation
import ObjectGraph

extension SealedStore {
    /// Encrypts the file with another key, see `Database.changeKey(to:progress:)`.
    package func encryptFile(with key: EncryptionKey, progress: Progress) throws {
        guard !description.isReadOnly else { throw ObjectGraphError.storeIsReadOnly }
        try opened.database.changeKey(to: key, progress: progress)
    }
}
