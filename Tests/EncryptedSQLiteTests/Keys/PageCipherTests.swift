import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

@Suite struct PageCipherTests {
    let folder = TemporaryFolder()
    let content: Data
    let key: DerivedKey
    let cipher: PageCipher

    init() throws {
        let path = folder.filePath("store")
        try makeSample(path, rows: 500)
        content = try Data(contentsOf: URL(fileURLWithPath: path))
        key = try DerivedKey(rawKey(), fileSalt: Array(content.prefix(16)), counters: StatisticsCounters())
        cipher = try PageCipher(key)
    }

    private func verifies(_ content: Data, page number: Int, as claimed: Int? = nil) -> Bool {
        let page = [UInt8](content[(number - 1) * 4096..<number * 4096])
        return page.withUnsafeBytes { cipher.verifies($0, number: UInt32(claimed ?? number)) }
    }

    @Test func `every page that SQLCipher wrote verifies`() {
        let pageCount = content.count / 4096
        #expect(pageCount > 10)
        for number in 1...pageCount { #expect(verifies(content, page: number), "page \(number)") }
    }

    @Test func `a page does not verify under another number`() {
        #expect(!verifies(content, page: 3, as: 4))
    }

    @Test(arguments: [0, 1, 2000, 4015, 4016, 4031, 4032, 4095])
    func `a page with a changed bit does not verify`(_ offset: Int) {
        var content = content
        content[2 * 4096 + offset] ^= 1
        #expect(!verifies(content, page: 3))
    }

    @Test func `the header of the first page is read`() {
        let page = [UInt8](content.prefix(4096))
        let header = page.withUnsafeBytes { PageCipher.header(ofFirstPage: $0, key) }
        #expect(header == DatabaseHeader(userVersion: 1, applicationID: 0x5EA1))
    }

    @Test func `the first page has no header under another key`() throws {
        let page = [UInt8](content.prefix(4096))
        let other = try DerivedKey(
            .raw((0..<32).map { _ in UInt8.random(in: .min ... .max) }),
            fileSalt: Array(content.prefix(16)),
            counters: StatisticsCounters()
        )
        #expect(page.withUnsafeBytes { PageCipher.header(ofFirstPage: $0, other) } == nil)
    }
}
