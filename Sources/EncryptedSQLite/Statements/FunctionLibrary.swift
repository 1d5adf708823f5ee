import CSQLCipher
import Foundation

/// The functions and collations, implemented in Swift, that the statements of a database can use in addition to
/// SQLite's.
///
/// Registering some fifty functions takes a tenth of the time of opening a file, and few statements use any. Therefore
/// a connection registers them before it compiles the first statement whose text contains the prefix of one of their
/// names. SQLite itself requests a collation that it does not know.
package final class FunctionLibrary: Sendable {
    private let functions: [ScalarFunction]
    private let aggregates: [any AggregateFunction.Type]
    private let collations: [Collation]
    /// The prefixes of the names of all functions, up to and including the first underscore, in UTF-8.
    private let beginnings: [[UInt8]]

    /// Creates a library. Statements must write the names exactly as given here, including the case of their letters.
    package init(
        functions: [ScalarFunction],
        aggregates: [any AggregateFunction.Type],
        collations: [Collation]
    ) {
        self.functions = functions
        self.aggregates = aggregates
        self.collations = collations
        let names = functions.map(\.name) + aggregates.map { $0.name }
        beginnings = Set(names.map { $0.prefix(through: $0.firstIndex(of: "_") ?? $0.index(before: $0.endIndex)) })
            .map { Array($0.utf8) }
    }

    /// Whether a statement may use a function of the library.
    ///
    /// - Complexity: O(length of the text), some 100 ns.
    func isNeeded(for statement: UnsafeBufferPointer<UInt8>) -> Bool { beginnings.contains { statement.contains($0) } }

    func registerFunctions(on connection: Connection) throws(DatabaseError) {
        for aggregate in aggregates { try connection.install(aggregate) }
        for function in functions { try connection.install(function) }
    }

    /// Registers the collation with this name. If the library has no such collation, the statement that needs it fails.
    fileprivate func registerCollation(named name: String, on handle: OpaquePointer) {
        collations.first { $0.name == name }?.register(on: handle)
    }
}

extension Connection {
    /// Makes a library available to the statements of this connection.
    func install(_ library: FunctionLibrary) throws(DatabaseError) {
        functionLibrary = library
        let code = sqlite3_collation_needed(handle, Unmanaged.passUnretained(library).toOpaque()) {
            library,
            handle,
            _,
            name in
            guard let library, let handle, let name else { return }
            let instance = Unmanaged<FunctionLibrary>.fromOpaque(library).takeUnretainedValue()
            instance.registerCollation(named: String(cString: name), on: handle)
        }
        guard code == SQLITE_OK else { throw failure(code, during: .execution) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first, var start = baseAddress else { return false }
        let end = start + count
        while end - start >= part.count, let found = memchr(start, Int32(first), end - start - part.count + 1) {
            let position = found.assumingMemoryBound(to: UInt8.self)
            if memcmp(position, part, part.count) == 0 { return true }
            start = UnsafePointer(position) + 1
        }
        return false
    }
}
