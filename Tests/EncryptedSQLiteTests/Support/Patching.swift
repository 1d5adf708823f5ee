import Foundation
import Testing

/// Replaces the byte of a file at an offset.
func patch(_ path: String, at offset: Int, _ change: (UInt8) -> UInt8) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data([change(byte)]))
}
