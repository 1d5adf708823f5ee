import Foundation
import ObjectGraph
import SealedData
import TestSupport
import Testing

/// Values that a fetch leaves in the store, of models that are deleted before the values are read.
@Suite struct LateValueTests {
    @Model final class Note {
        var title: String
        @Attribute(.externalStorage) var image: Data?
        @Attribute(.externalStorage) var scan: Data

        init(_ title: String, image: Data?, scan: Data) {
            self.title = title
            self.image = image
            self.scan = scan
        }
    }

    @Model final class Copy {
        @Attribute(.externalStorage) var image: Data?
        @Attribute(.externalStorage) var scan: Data?

        init(image: Data?, scan: Data?) {
            self.image = image
            self.scan = scan
        }
    }

    /// The time of the deletion, in relation to the copy.
    enum Deletion: CaseIterable, Sendable {
        case savedBefore, unsaved, savedElsewhere, savedByAnotherContainer
    }

    private let folder = TemporaryFolder()

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Note.self,
            Copy.self,
            configurations: ModelConfiguration(url: folder.file("notes.store"), key: .raw((0..<32).map { UInt8($0) }))
        )
    }

    @Test(arguments: Deletion.allCases, [100, 500_000])
    func `no substitute of a deleted value is saved`(deletion: Deletion, size: Int) throws {
        for copiesScan in [false, true] {
            let container = try container()
            let (image, scan) = (Data(repeating: 7, count: size), Data(repeating: 8, count: size))
            let writer = ModelContext(deletion == .savedByAnotherContainer ? try self.container() : container)
            let note = Note("note", image: image, scan: scan)
            writer.insert(note)
            try writer.save()
            let context = ModelContext(container)
            let found = try #require(try context.fetch(FetchDescriptor<Note>()).first)
            switch deletion {
            case .savedBefore:
                context.delete(found)
                try context.save()
            case .unsaved: context.delete(found)
            case .savedElsewhere, .savedByAnotherContainer:
                writer.delete(note)
                try writer.save()
            }
            context.insert(Copy(image: found.image, scan: copiesScan ? found.scan : nil))
            let isOwn = deletion == .savedBefore || deletion == .unsaved
            let isKnown = isOwn || size == 100
            // A required value has no other substitute than an empty one.
            if isKnown || !copiesScan {
                try context.save()
            } else {
                #expect(throws: ObjectGraphError.self) { try context.save() }
                #expect(throws: ObjectGraphError.self) { try context.save() }
                context.rollback()
                try context.save()
            }
            let copies = try ModelContext(container).fetch(FetchDescriptor<Copy>())
            if let copy = copies.first {
                #expect(copy.image == (isKnown ? image : nil))
                #expect(copy.scan == (copiesScan ? scan : nil))
            } else {
                #expect(!isKnown && copiesScan)
            }
            try writer.delete(model: Copy.self)
            try writer.save()
        }
    }

    @Test func `values beyond those that a save keeps are nil, or a failure`() throws {
        let container = try container()
        let context = ModelContext(container)
        let size = 9 << 20
        for number in 0..<5 {
            context.insert(Note("\(number)", image: Data(repeating: UInt8(number), count: size), scan: Data()))
        }
        try context.save()
        let reader = ModelContext(container)
        let notes = try reader.fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.title)]))
        for note in notes { reader.delete(note) }
        try reader.save()
        let images = notes.map(\.image)
        for (number, image) in images.enumerated() {
            #expect(image == nil || image == Data(repeating: UInt8(number), count: size))
        }
        #expect(images.filter { $0 == nil }.count == 1)
        try reader.save()
    }
}
