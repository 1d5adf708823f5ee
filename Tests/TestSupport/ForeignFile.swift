package import Foundation

/// Writes databases with the `sqlcipher` tool, which writes plain SQLite without a key.
package enum ForeignFile {
    /// The errors that the tool has written.
    package struct Failure: Error {
        package let errors: String
    }

    /// Runs statements on a database, which is created if it does not exist. Returns the output.
    @discardableResult
    package static func run(_ sql: String, on url: URL) throws -> String {
        let result = try TestSupport.run("sqlcipher", ["-batch", "-bail", url.path], input: sql)
        guard result.status == 0, result.errors.isEmpty else { throw Failure(errors: result.errors) }
        return result.output
    }
}
