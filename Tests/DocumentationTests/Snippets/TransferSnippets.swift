import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedTransfer

/// The code of the articles of `SealedTransfer`.
enum TransferSnippets {
    static func lines(
        _ storeURL: URL,
        _ copyURL: URL,
        _ fileURL: URL,
        _ key: EncryptionKey,
        _ model: ManagedObjectModel
    )
        throws -> ImportReport
    {
        try StoreExport(from: storeURL, key: key).exportJSONLines(to: fileURL)
        let report = try StoreImport(into: copyURL, key: key, model: model).importJSONLines(from: fileURL)
        return report
    }

    static func update(_ storeURL: URL, _ booksURL: URL, _ key: EncryptionKey) throws {
        var target = StoreImport(into: storeURL, key: key)
        target.options.existingObjects = .update
        target.options.unfitContent = .omit
        try target.importCSV(from: ["Book": booksURL])
    }

    static func spreadsheet(_ storeURL: URL, _ folderURL: URL, _ key: EncryptionKey) throws {
        try StoreExport(from: storeURL, key: key).exportCSV(to: folderURL, isSafeForSpreadsheets: true)
    }

    static func coreData(_ storeURL: URL, _ oldStoreURL: URL, _ key: EncryptionKey, _ model: ManagedObjectModel) throws
    {
        let target = StoreImport(into: storeURL, key: key, model: model)
        let report = try target.importCoreData(from: oldStoreURL)
        for line in report.notImported + report.missing { print(line) }

        try target.importCoreData(
            from: oldStoreURL,
            conversions: [
                "Stop.place": { row in
                    guard case .real(let latitude) = row[column: "ZLATITUDE"] else { return nil }
                    return .text("{\"latitude\":\(latitude)}")
                }
            ]
        )
    }

    static func database(_ storeURL: URL, _ databaseURL: URL, _ plaintextURL: URL, _ key: EncryptionKey) throws {
        try StoreImport(into: storeURL, key: key).importDatabase(
            from: databaseURL,
            encryption: .sqlCipher3(.passphrase("open sesame")),
            interpretations: ["orders.placed": .unixSeconds]
        )

        try StoreExport(from: storeURL, key: key).exportPlaintext(to: plaintextURL)
    }
}
