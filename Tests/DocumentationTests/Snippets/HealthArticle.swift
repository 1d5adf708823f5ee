// swift-format-ignore-file
// The Swift code of the article about the health of stores, line by line: a test compares.

import SealedData

enum HealthArticle {
    static func backUp(_ container: ModelContainer, to backup: URL) throws {
        try container.backUp(to: backup, key: .passphrase("battery staple correct horse"))
    }

    static func restore(_ container: ModelContainer, _ backup: URL, _ key: EncryptionKey, to url: URL) throws {
        try ModelContainer.restore(backup, key: key, to: url)
        container.suspend()
        try ModelContainer.restore(backup, key: key, to: url)
        try container.resume()
    }

    static func compact(_ container: ModelContainer) throws {
        if try container.space().freeByteCount > 100_000_000 {
            let space = try container.compact()
            print(space.before.byteCount, space.after.byteCount)
        }
    }

    static func check(_ container: ModelContainer) throws {
        let report = try container.check()
        for problem in report.problems { print(problem) }
        if !report.isSound {
            try container.repair(nil, [.derivedData, .references])
        }
    }

    static func salvage(_ damaged: URL, _ key: EncryptionKey, to recovered: URL) throws {
        let report = try ModelContainer.salvage(damaged, key: key, to: recovered)
        for entity in report.entities {
            print(entity.entity, entity.recoveredCount, entity.lostCount, entity.lostValues, entity.cutReferences)
        }
    }
}
