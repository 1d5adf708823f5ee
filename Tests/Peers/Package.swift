// swift-tools-version: 6.2
import PackageDescription

// Other ways to store the same rows, measured in one program; `Scripts/benchmark --peers` builds and runs it. It is a
// separate package, so that only this program links the peers.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "SealedData", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "peers",
            dependencies: [
                .product(name: "SealedData", package: "SealedData"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        )
    ]
)
