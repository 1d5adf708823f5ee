import SealedData
import Testing

@Suite("Models in the style of real apps")
struct AppModelTests {
    private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test func `attributes of other packages and SwiftData's own underscored names are accepted`() throws {
        let context = ModelContext(try container(Yard.self))
        let plant = Plant(code: "a", kind: .tree)
        plant.number = 4
        context.insert(Plant(copying: plant))
        context.insert(plant)
        try context.save()
        let read = try ModelContext(context.container).fetch(FetchDescriptor<Plant>(sortBy: [SortDescriptor(\.code)]))
        #expect(read.map(\.number) == [4, 5])
        #expect(read.map(\.kind) == [.tree, .tree])
        #expect(try context.fetchCount(FetchDescriptor(predicate: Plant.trees)) == 2)
        #expect(read.first?.heading == "A")
    }

    @Test func `an ephemeral property is observed and not stored`() throws {
        let context = ModelContext(try container(Yard.self))
        let yard = Yard(name: "north")
        yard.isPresented = true
        context.insert(yard)
        try context.save()
        nonisolated(unsafe) var isChanged = false
        withObservationTracking {
            #expect(yard.isPresented)
        } onChange: {
            isChanged = true
        }
        yard.isPresented = false
        #expect(isChanged)
        #expect(!context.hasChanges)
        yard.isPresented = true
        let read = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Yard>()).first)
        #expect(!read.isPresented)
        #expect(Schema([Yard.self]).entity(for: Yard.self)?.attributesByName["isPresented"] == nil)
    }

    @Test func `versions of a schema have classes of equal names`() throws {
        let context = ModelContext(try container(TaskList.self))
        let list = TaskList(name: "home")
        context.insert(list)
        let item = TaskItem(title: "water", list: list, priority: .high)
        item.place = TaskItem.Place(latitude: 35, longitude: 135)
        item.isCompleted = true
        try context.save()
        let other = ModelContext(context.container)
        let read = try #require(try other.fetch(FetchDescriptor<TaskItem>()).first)
        #expect(read.completionDate != nil)
        #expect(read.place?.latitude == 35)
        #expect(read.list?.name == "home")
        #expect(Schema(versionedSchema: TaskSchemaV1.self).entities.map(\.name).sorted() == ["TaskItem", "TaskList"])
    }

    @MainActor @Test func `models of the main actor are saved and read`() throws {
        let container = try container(Album.self, LiveAlbum.self, Jingle.self)
        let context = container.mainContext
        let album = LiveAlbum(name: "live", venue: "hall")
        album.tracks = [Track(number: 1), Track(number: 2)]
        album.rating = 5
        #expect(album.changes == 1)
        context.insert(album)
        context.insert(Jingle())
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.fetch(FetchDescriptor<Album>()).first as? LiveAlbum)
        #expect((read.year, read.rating, read.venue, read.changes) == (1999, 5, "hall", 0))
        #expect(read.tracks.map(\.number).sorted() == [1, 2])
        let named = try LiveAlbum.predicate(format: "venue == %@ AND name == %@", arguments: ["hall", "live"])
        #expect(try other.fetchCount(FetchDescriptor(predicate: named)) == 1)
        // Swift 6 captures no key paths to isolated properties.
        #if !swift(>=6)
            let venue = "hall"
            let predicate = #Predicate<LiveAlbum> { $0.venue == venue && $0.name == "live" }
            #expect(try other.fetchCount(FetchDescriptor(predicate: predicate)) == 1)
        #endif
        #expect(try other.fetch(FetchDescriptor<Jingle>()).map(\.text) == ["la"])
    }

    @Test func `properties inside compilation conditions are persisted if the conditions are true`() throws {
        let context = ModelContext(try container(Document.self))
        let document = Document(title: "t")
        document.pages = 3
        document.code = "x"
        document.isOpen = false
        context.insert(document)
        try context.save()
        let read = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Document>()).first)
        #expect((read.title, read.pages, read.code, read.isOpen) == ("t", 3, "x", false))
        let entity = Schema([Document.self]).entity(for: Document.self)
        #expect(entity?.properties.map(\.name) == ["title", "pages", "code", "isOpen", "author", "note"])
        #expect(entity?.uniquenessConstraints == [["code"]])
    }

    @Test func `attributes and table rules inside compilation conditions apply if the conditions are true`() {
        let schema = Schema([Document.self, Folder.self])
        let document = schema.entity(for: Document.self)
        #expect(document?.attributesByName["author"]?.originalName == "writer")
        #expect(document?.indices == [["title"]])
        #expect(schema.entity(for: Folder.self)?.uniquenessConstraints == [["name"]])
    }

    @Test func `names that occur elsewhere are ordinary names`() throws {
        let context = ModelContext(
            try container(Hostile.Leaf.self, Hostile.Model.self, Hostile.Element.self, Hostile.Attribute.self)
        )
        let leaf = Hostile.Leaf(20)
        leaf.hash = 30
        leaf.`in` = nil
        leaf.`repeat`.append("r")
        leaf.other = leaf
        leaf.oldValue = 31
        context.insert(leaf)
        try context.save()
        let other = ModelContext(context.container)
        let read = try #require(try other.fetch(FetchDescriptor<Hostile.Leaf>()).first)
        #expect((read.hash, read.`in`, read.`repeat`, read.model, read.`let`) == (30, nil, ["r"], "leaf", 20))
        #expect((read.value, read.`func`, read.description, read.slot, read.`default`) == (7, "f", "d", 3, 11.5))
        #expect(read.other === read)
        let count = try context.fetchCount(
            FetchDescriptor<Hostile.Leaf>(predicate: #Predicate { $0.slot == 3 && $0.context == "c" && $0.hash == 30 })
        )
        #expect(count == 1)
        for name in ["state", "keyPaths", "init", "class", "registrar", "oldValue"] {
            #expect(Schema([Hostile.M.self]).entity(for: Hostile.M.self)?.attributesByName[name] != nil, "\(name)")
        }
        let plain = ModelContext(try self.container(N.self))
        plain.insert(N())
        try plain.save()
        #expect(try plain.fetchCount(FetchDescriptor<N>(predicate: #Predicate { $0.m == 1 && $0.o == 2.5 })) == 1)
    }
}
