import ObjectGraph
import Testing

@Suite("Limits and offsets of fetches") struct LimitTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func `negative limits and offsets count as zero`(kind: StoreKind, hasPendingChanges: Bool) throws {
        let context = try TestStore(kind).context()
        for name in ["a", "b", "c"] { context.make("Author", ["name": .text(name)]) }
        try context.save()
        if hasPendingChanges { context.make("Author", ["name": "d"]) }
        let total = hasPendingChanges ? 4 : 3
        for (limit, offset) in [(-1, 0), (Int.min, 0), (10, -1), (10, Int.min), (-1, Int.min)] {
            let expected = limit < 0 ? 0 : total
            var request = context.request("Author")
            request.limit = limit
            request.offset = offset
            let found: [ManagedObject] = try context.fetch(request)
            #expect(found.count == expected)
            #expect(try context.count(request) == expected)
            #expect(try context.fetchIDs(request).count == expected)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `the largest limits and offsets are allowed`(kind: StoreKind, hasPendingChanges: Bool) throws {
        let context = try TestStore(kind).context()
        context.make("Author", ["name": "a"])
        try context.save()
        if hasPendingChanges { context.make("Author", ["name": "b"]) }
        var request = context.request("Author")
        request.limit = .max
        request.offset = .max
        #expect(try context.count(request) == 0)
        #expect(try context.fetchIDs(request).isEmpty)
        request.offset = 1
        #expect(try context.count(request) == (hasPendingChanges ? 1 : 0))
    }
}
