// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// The other tests use `@testable` imports, which optimized builds do not support: `Scripts/benchmark` excludes them.
let isBenchmarking = Context.environment["BENCHMARK_ROWS"] != nil

let package = Package(
    name: "SealedData",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "SealedData", targets: ["SealedData"]),
        .library(name: "SealedStore", targets: ["SealedStore"]),
        .library(name: "ObjectGraph", targets: ["ObjectGraph"]),
        .library(name: "SealedTransfer", targets: ["SealedTransfer"]),
        .library(name: "SealedDataCombine", targets: ["SealedDataCombine"]),
        .library(name: "SealedDataSwiftUI", targets: ["SealedDataSwiftUI"]),
        .executable(name: "sealed", targets: ["sealed"]),
        .executable(name: "sealed-demo", targets: ["sealed-demo"]),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only the product SealedDataCombine uses it, on systems without Combine.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev", "libssl-dev"]), .brew(["sqlcipher", "openssl@3"])]
        ),
        .target(name: "Guarded", swiftSettings: settings),
        .target(name: "CObservationTracking"),
        .target(name: "CExitGate", dependencies: ["CSQLCipher"]),
        .target(name: "CStoreFiles", dependencies: ["CSQLCipher", "CExitGate"]),
        .target(
            name: "EncryptedSQLite",
            dependencies: ["CSQLCipher", "CStoreFiles", "CExitGate", "Guarded"],
            swiftSettings: settings
        ),
        .target(name: "QueryLanguage", dependencies: ["Guarded"], swiftSettings: settings),
        .target(name: "ObjectGraph", dependencies: ["QueryLanguage", "Guarded"], swiftSettings: settings),
        .target(
            name: "SealedStore",
            dependencies: ["ObjectGraph", "EncryptedSQLite", "Guarded"],
            swiftSettings: settings
        ),
        .target(
            name: "SealedTransfer",
            dependencies: ["SealedStore", "ObjectGraph", "EncryptedSQLite"],
            swiftSettings: settings
        ),
        .macro(
            name: "SealedDataMacros",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftIfConfig", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SealedData",
            dependencies: [
                "SealedStore", "ObjectGraph", "QueryLanguage", "EncryptedSQLite", "Guarded", "CObservationTracking",
                "SealedDataMacros",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SealedDataCombine",
            dependencies: [
                "SealedData", "Guarded",
                .product(
                    name: "OpenCombine",
                    package: "OpenCombine",
                    condition: .when(platforms: [.linux, .android, .windows])
                ),
            ],
            swiftSettings: settings
        ),
        // Empty on systems without SwiftUI.
        .target(name: "SealedDataSwiftUI", dependencies: ["SealedData"], swiftSettings: settings),
        .target(name: "Terminal", dependencies: ["QueryLanguage"], swiftSettings: settings),
        .executableTarget(
            name: "sealed",
            dependencies: [
                "SealedData", "SealedStore", "SealedTransfer", "ObjectGraph", "EncryptedSQLite", "Guarded", "Terminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "sealed-demo",
            dependencies: [
                "SealedData", "Terminal", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "TerminalTests", dependencies: ["Terminal"], swiftSettings: settings),
        // Runs the tool as a process.
        .target(
            name: "TestSupport",
            dependencies: ["QueryLanguage", "EncryptedSQLite"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "QueryLanguageTests",
            dependencies: ["QueryLanguage", "TestSupport"],
            swiftSettings: settings
        ),
        // Defines functions of libc: only the process that records may contain it.
        .target(name: "CFileRecorder", path: "Tests/CFileRecorder"),
        .executableTarget(
            name: "recorded-writer",
            dependencies: ["EncryptedSQLite", "CFileRecorder"],
            path: "Tests/RecordedWriter",
            swiftSettings: settings
        ),
        // Ends while its threads use a database.
        .executableTarget(
            name: "ending-process",
            dependencies: ["SealedTransfer", "EncryptedSQLite", "CSQLCipher"],
            path: "Tests/EndingProcess",
            swiftSettings: settings
        ),
        .testTarget(
            name: "EncryptedSQLiteTests",
            dependencies: [
                "EncryptedSQLite", "CSQLCipher", "Guarded", "TestSupport", "recorded-writer", "ending-process",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ObjectGraphTests",
            dependencies: ["ObjectGraph", "QueryLanguage", "SealedStore", "Guarded", "TestSupport"],
            swiftSettings: settings
        ),
        .target(
            name: "Journal",
            dependencies: ["SealedStore", "ObjectGraph", "EncryptedSQLite", "TestSupport"],
            path: "Tests/Journal",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "journal-writer",
            dependencies: ["Journal"],
            path: "Tests/JournalWriter",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SealedStoreTests",
            dependencies: [
                "SealedStore", "ObjectGraph", "EncryptedSQLite", "Guarded", "TestSupport", "Journal", "journal-writer",
            ],
            exclude: ["Fixtures/Files"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SealedToolTests",
            dependencies: [
                "sealed", "sealed-demo", "SealedTransfer", "SealedStore", "ObjectGraph", "EncryptedSQLite",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SealedTransferTests",
            dependencies: ["SealedTransfer", "SealedStore", "ObjectGraph", "EncryptedSQLite", "TestSupport"],
            swiftSettings: settings
        ),
        .target(
            name: "ModelLibrary",
            dependencies: ["SealedData"],
            path: "Tests/ModelLibrary",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SealedDataTests",
            dependencies: [
                "SealedData", "SealedStore", "ObjectGraph", "EncryptedSQLite", "Guarded", "TestSupport", "ModelLibrary",
                "Journal", "journal-writer",
            ],
            swiftSettings: settings
        ),
        // Swift 5 mode, as in the published articles: some of them share models between threads.
        .testTarget(
            name: "ArticlesTests",
            dependencies: ["SealedData", "SealedStore", "ObjectGraph", "EncryptedSQLite", "Guarded", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
        // Models and code in the style of apps for SwiftData.
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: ["SealedData", "TestSupport"],
            swiftSettings: [.define("COMPATIBILITY"), .treatAllWarnings(as: .error)]
        ),
        // Tests that depend on the language mode, in Swift 5 mode: its folders are links to those of the targets above.
        .testTarget(
            name: "Swift5ModeTests",
            dependencies: ["SealedData", "SealedStore", "Guarded", "TestSupport", "ModelLibrary"],
            swiftSettings: [.swiftLanguageMode(.v5), .define("COMPATIBILITY")]
        ),
        .testTarget(
            name: "SealedDataCombineTests",
            dependencies: [
                "SealedData", "SealedDataCombine",
                .product(
                    name: "OpenCombine",
                    package: "OpenCombine",
                    condition: .when(platforms: [.linux, .android, .windows])
                ),
            ],
            swiftSettings: settings
        ),
        // The settings of new apps: declarations are isolated to the main actor by default.
        .testTarget(
            name: "MainActorAppTests",
            dependencies: ["SealedData"],
            swiftSettings: settings + [
                .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "SealedData", "SealedStore", "SealedTransfer", "EncryptedSQLite", "ObjectGraph", "Guarded",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        // The macros are a link in their test target: a test that depends on a macro is built for the machine that
        // compiles, and with it all targets of the package a second time.
        .testTarget(
            name: "SealedDataMacrosTests",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftIfConfig", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
            ],
            exclude: ["Macros/Plugin.swift"],
            swiftSettings: settings
        ),
        .target(name: "CMeters", path: "Tests/CMeters"),
        .testTarget(
            name: "Benchmarks",
            dependencies: [
                "SealedData", "SealedStore", "SealedTransfer", "ObjectGraph", "EncryptedSQLite", "CSQLCipher",
                "CMeters", "TestSupport", "Journal", "journal-writer",
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

#if !canImport(Darwin)
    // The product for SwiftUI is a link in its test target, which compiles it with the declarations of SwiftUI that it
    // uses.
    package.targets += [
        .target(
            name: "SwiftUIStandIn",
            // On systems without an undo manager, SealedData declares it.
            dependencies: ["SealedData"],
            path: "Tests/SwiftUIStandIn",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SealedDataSwiftUITests",
            dependencies: ["SealedData", "SwiftUIStandIn", "Guarded", "TestSupport"],
            swiftSettings: settings + [.define("SWIFTUI_STAND_IN")]
        ),
    ]
#endif

// Quick rounds build the test targets of a few modules: `Scripts/test --module SealedStore`. Without a choice, the test
// targets of `Scripts/check` are not built: the tests of the macros need the libraries of the syntax a second time.
let names = isBenchmarking ? "Benchmarks" : Context.environment["TESTS"]
let chosen = names?.split(separator: " ")
package.targets.removeAll { target in
    target.type == .test
        && !(chosen?.contains { $0 == target.name } ?? !["SealedDataMacrosTests", "Benchmarks"].contains(target.name))
}
