import Foundation

extension Database {
    /// The options with which a database is opened.
    ///
    /// An option of a store that the database needs is added here and in three further places, which the compiler does not
    /// name:
    ///
    /// 1. Here: a property and a parameter of the initializer, whose default keeps the behaviour.
    /// 2. `SealedStore`: the name of the option beside the other names, with its type and its default. `StoreConfiguration`
    ///    reads it, so that a value of another type is an error and not the default. A value of the right type that the
    ///    option does not take is `SealedStoreError.invalidOption`.
    /// 3. `ModelConfiguration`: a property, which `ModelConfiguration+Store.swift` passes on.
    /// 4. The tests: a value, the default, and a value of another type; the change log, if a program sets the option.
    ///
    /// An option of the store alone needs 2 to 4.
    package struct Options: Sendable {
        /// Whether the database is opened for reading only. As far as the file system allows, no file beside it is
        /// written either.
        package var readOnly: Bool
        /// Whether a database is created if the file does not exist.
        package var createsIfMissing: Bool
        /// The largest number of connections for reading. Each is opened when it is first needed.
        package var readerCount: Int
        /// SQLite's `application_id` of the application's files; a file with a different ID is refused.
        package var applicationID: Int32
        /// The newest `user_version` that the program supports; a file with a larger one is refused.
        package var newestUserVersion: Int32
        /// Overwrites all memory of the library when it is freed. Makes it several times slower, for the whole process
        /// and until its end.
        package var memorySecurity: Bool
        /// The limit of each connection's page cache. The cache grows with the pages that are used, and never exceeds
        /// the file.
        package var cacheKilobytes: Int
        /// The time that a connection waits for locks of other processes.
        package var busyTimeoutMilliseconds: Int
        /// The failures that a committed transaction survives.
        package var durability: Durability
        /// The largest number of prepared statements that each connection caches.
        package var statementCacheLimit: Int
        /// The functions and orders of texts that statements can use besides SQLite's own.
        package var functions: FunctionLibrary?
        /// Whether the file is only read, by a connection that may write and so can remove the log that SQLite creates.
        var examinesOnly = false

        /// A hundredth part of the machine's memory or so, since there may be several connections: from 8 MiB on small
        /// devices to 128 MiB.
        package static let suitableCacheKilobytes = min(
            max(Int(clamping: ProcessInfo.processInfo.physicalMemory >> 17), 8 * 1024),
            128 * 1024
        )

        package init(
            readOnly: Bool = false,
            createsIfMissing: Bool = true,
            readerCount: Int = 4,
            applicationID: Int32 = 0,
            newestUserVersion: Int32 = 0,
            memorySecurity: Bool = false,
            cacheKilobytes: Int = suitableCacheKilobytes,
            busyTimeoutMilliseconds: Int = 10_000,
            durability: Durability = .applicationCrash,
            statementCacheLimit: Int = 256,
            functions: FunctionLibrary? = nil
        ) {
            self.readOnly = readOnly
            self.createsIfMissing = createsIfMissing
            self.readerCount = readerCount
            self.applicationID = applicationID
            self.newestUserVersion = newestUserVersion
            self.memorySecurity = memorySecurity
            self.cacheKilobytes = cacheKilobytes
            self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
            self.durability = durability
            self.statementCacheLimit = statementCacheLimit
            self.functions = functions
        }
    }
}
