import Foundation

/// A reader of encrypted databases that shares no code with the package.
package enum IndependentReader: Sendable {
    /// The command-line tool of SQLCipher.
    case tool
    /// The module sqlcipher3 of PyPI, which contains its own SQLCipher.
    case python

    /// Whether Python has the module.
    package static let isPythonAvailable: Bool = {
        (try? run("python3", ["-c", "import sqlcipher3"]).status) == 0
    }()

    /// The problem of a database that a reader finds.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private static let script = """
        import sys, sqlcipher3
        connection = sqlcipher3.connect(sys.argv[1])
        for setting in sys.argv[2].split(";"): connection.execute(setting).fetchall()
        print("begin")
        for statement in sys.argv[3].split(";"):
            for row in connection.execute(statement): print(*row, sep="|")
        """

    /// The number of rows of a table of a database whose pages and structure are intact.
    ///
    /// - Parameters:
    ///   - settings: The PRAGMAs that give the key.
    /// - Throws: ``Failure`` with the output of the reader.
    package func rowCount(_ table: String, in path: String, settings: [String]) throws -> Int {
        // `cipher_integrity_check` has a row for each page that does not verify.
        let statements = "PRAGMA cipher_integrity_check; PRAGMA integrity_check; SELECT count(*) FROM \(table)"
        let result =
            switch self {
            case .tool:
                try run(
                    "sqlcipher",
                    ["-batch", "-bail", path],
                    input: settings.joined(separator: "; ") + "; SELECT 'begin'; \(statements);\n"
                )
            case .python:
                try run("python3", ["-c", Self.script, path, settings.joined(separator: ";"), statements])
            }
        let lines = result.output.split(separator: "\n").drop { $0 != "begin" }.dropFirst()
        guard result.status == 0, lines.count == 2, lines.first == "ok", let count = lines.last.flatMap({ Int($0) })
        else { throw Failure(description: result.output + result.errors) }
        return count
    }
}
