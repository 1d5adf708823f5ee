import Foundation
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SealedStore

/// The count of a request with a limit is the number of its rows, and needs no order.
@Suite struct LimitedCountTests {
    private let folder = TemporaryFolder()
    private let library: Library

    init() throws {
        library = try Library(folder.file("library"))
        for pages in 0..<10 {
            library.insert("Book", ["title": .text("Book \(pages)"), "pages": .integer(Int64(pages))])
        }
        try library.context.save()
    }

    private func requests() throws -> [FetchRequest] {
        let book = library.entity("Book")
        let pages = try #require(book.propertiesByName["pages"])
        let conditions: [QueryExpression?] = [nil, .comparison(.greater, .path(pages), .literal(.integer(3)))]
        var requests: [FetchRequest] = []
        for condition in conditions {
            for isSorted in [false, true] {
                for limit in [nil, 0, 1, 3, 6, 10, 20] {
                    for offset in [0, 1, 5, 6, 9, 10, 15] {
                        var request = FetchRequest(book, predicate: condition)
                        if isSorted { request.sort = [QuerySort(.path(pages), ascending: false)] }
                        request.limit = limit
                        request.offset = offset
                        requests.append(request)
                    }
                }
            }
        }
        return requests
    }

    @Test func `limited counts equal the numbers of fetched rows`() throws {
        let opened = try library.opened()
        for request in try requests() {
            let rows = try opened.fetchIDs(request).count
            let count = try opened.count(request)
            #expect(count == rows, "limit \(String(describing: request.limit)), offset \(request.offset)")
        }
    }
}
