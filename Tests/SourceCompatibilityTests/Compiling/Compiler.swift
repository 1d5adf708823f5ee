import SealedData
import TestSupport

/// The Swift compiler, for sources that must not compile, and for tests of compilation.
struct Compiler {
    /// A mode of the language.
    enum LanguageMode: String, CaseIterable, Sendable {
        case swift5 = "5"
        case swift6 = "6"
    }

    /// A diagnostic of the type checker.
    struct Diagnostic: Hashable, CustomStringConvertible {
        /// The line of the source, also for a diagnostic in the expansion of a macro.
        let line: Int
        let severity: String
        let message: String

        var description: String { "line \(line): \(severity): \(message)" }
    }

    /// Type-checks a source that can import SealedData.
    ///
    /// - Parameters:
    ///   - source: The text of the file.
    ///   - mode: The mode of the language.
    ///   - options: Further options of the compiler.
    /// - Returns: Errors and warnings, without their repetitions and notes.
    static func diagnostics(
        of source: String,
        mode: LanguageMode = .swift6,
        options: [String] = []
    ) throws -> [Diagnostic] {
        let folder = TemporaryFolder()
        let file = folder.file("Source.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)

        let result = try run(
            "swiftc",
            ["-typecheck", "-swift-version", mode.rawValue, "-diagnostic-style", "swift"]
                + products + options + [file.path]
        )
        let found = parse(result.errors, file: file.path)
        if result.status != 0, !found.contains(where: { $0.severity == "error" }) {
            throw Failure(output: result.errors)
        }
        return found
    }

    /// A failure of the compiler without an error in the source.
    struct Failure: Error {
        let output: String
    }

    /// The search paths for the modules and macros of this build.
    private static var products: [String] {
        // The tests are a product of the build: <build>/SealedDataPackageTests.xctest.
        let build = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return [
            "-I", build.appending(path: "Modules").path,
            "-I", package.appending(path: "Sources/CSQLCipher").path,
            "-Xcc", "-I\(package.appending(path: "Sources/CObservationTracking/include").path)",
            "-Xcc", "-I/usr/include/sqlcipher",
            "-load-plugin-executable",
            build.appending(path: "SealedDataMacros-tool").path + "#SealedDataMacros",
        ]
            + ["CObservationTracking", "CStoreFiles", "CExitGate"].flatMap { name in
                ["-Xcc", "-fmodule-map-file=\(build.appending(path: "\(name).build/module.modulemap").path)"]
            }
    }

    /// Parses diagnostics in the style `file:line:column: severity: message`. The line after a diagnostic in the
    /// expansion of a macro holds the position of the expansion in the source.
    private static func parse(_ output: String, file: String) -> [Diagnostic] {
        var found: [Diagnostic] = []
        var pending: (severity: String, message: String)?
        for text in output.split(separator: "\n") {
            if let origin = try? /`- (.*?):(\d+):\d+: note: expanded code originates here/.wholeMatch(in: text)?.output
            {
                if let (severity, message) = pending, origin.1 == file {
                    found.append(Diagnostic(line: Int(origin.2) ?? 0, severity: severity, message: message))
                }
                pending = nil
            } else if let parts = try? /(.*?):(\d+):\d+: (error|warning): (.*)/.wholeMatch(in: text)?.output {
                if parts.1 == file {
                    found.append(
                        Diagnostic(line: Int(parts.2) ?? 0, severity: String(parts.3), message: String(parts.4))
                    )
                } else {
                    pending = (String(parts.3), String(parts.4))
                }
            }
        }
        var seen: Set<Diagnostic> = []
        return found.filter { seen.insert($0).inserted }
    }
}
