import ObjectGraph
import Testing

@Suite("Undo of changes of objects that another context has changed") struct UndoOutdatedTests {
    /// The change that is undone.
    enum Change: CaseIterable, Sendable {
        case value, deletion, member
    }

    // context                 another context
    // changes the author
    //                         changes the author, and saves
    // perhaps fetches
    // undoes the change
    @Test(arguments: StoreKind.allCases, Change.allCases)
    func `the object has the values of the other context`(kind: StoreKind, change: Change) throws {
        for isSameCoordinator in [true, false] {
            for fetches in [true, false] {
                let store = try TestStore(kind)
                let other =
                    isSameCoordinator
                    ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
                let theirs = other.make("Author", ["name": "a", "born": 1])
                let book = other.make("Book", ["name": "book"])
                try other.save()
                let context = store.context()
                let own = try context.counterpart(of: theirs)
                let ownBook = try context.counterpart(of: book)
                context.undoManager = UndoManager()
                switch change {
                case .value: own["name"] = "changed"
                case .deletion: context.delete(own)
                case .member: own.addMember(ownBook, forRelationship: "readings")
                }
                context.processPendingChanges()
                theirs["born"] = 2
                try other.save()
                if fetches { _ = try context.all("Author") }
                context.undo()
                #expect(!context.hasChanges)
                _ = try context.all("Author")
                let comment = Comment("same coordinator \(isSameCoordinator), fetches \(fetches)")
                #expect(own["name"] == "a", comment)
                #expect(own["born"] == 2, comment)
                #expect(!own.isObjectDeleted, comment)
                own["name"] = "saved"
                try context.save()
                #expect(try store.context().one("Author")["born"] == 2, comment)
            }
        }
    }

    // context                            another context
    //                                    perhaps sets the author of the book, and saves
    // sets the author of the book
    //                                    otherwise sets it now, and saves
    // undoes the change
    @Test(arguments: StoreKind.allCases, [("Book", "author", "Author", "books")])
    func `a member of another context whose reference was undone is in the list`(
        kind: StoreKind,
        names: (member: String, reference: String, owner: String, list: String)
    ) throws {
        for scenario in 0..<16 {
            let bit = { (position: Int) in scenario & (1 << position) != 0 }
            let store = try TestStore(kind)
            let context = store.context()
            let other =
                bit(0) ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
            let (book, author) = (context.make(names.member), context.make(names.owner, ["name": "a"]))
            let unrelated = context.make(names.member)
            try context.save()
            context.undoManager = UndoManager()
            if bit(1) { #expect(author[many: names.list].isEmpty) }
            func setElsewhere() throws {
                try other.counterpart(of: book)[one: names.reference] = try other.counterpart(of: author)
                try other.save()
            }
            if bit(2) { try setElsewhere() }
            book[one: names.reference] = author
            if !bit(2) { try setElsewhere() }
            if bit(3) {
                context.processPendingChanges()
                _ = try context.all(names.owner)
            }
            context.undoManager?.undo()
            let comment = Comment("scenario \(scenario)")
            func expectEqualSides() {
                let isMember = author[many: names.list].contains { $0 === book }
                #expect(isMember == (book[one: names.reference] === author), comment)
            }
            expectEqualSides()
            unrelated["name"] = "changed"
            context.processPendingChanges()
            try context.save()
            expectEqualSides()
            _ = try context.all(names.member)
            _ = try context.all(names.owner)
            expectEqualSides()
            let fresh = store.context()
            let stored = try fresh.all(names.owner)[0][many: names.list].count
            #expect(author[many: names.list].count == stored, comment)
        }
    }

    // context                            another context
    // deletes a member, and saves
    // undoes the deletion
    //                                    adds another member, and saves
    // reads the members, and saves
    @Test(
        arguments: StoreKind.allCases,
        [("Author", "books", "Book"), ("Tag", "books", "Book"), ("Book", "tags", "Tag")]
    )
    func `a restored member stays when the members are read again`(
        kind: StoreKind,
        names: (entity: String, members: String, memberEntity: String)
    ) throws {
        let store = try TestStore(kind)
        let other = store.context()
        other.mergePolicy = .mergeByPropertyObjectTrump
        let theirs = other.make(names.entity, ["name": "owner"])
        theirs[many: names.members] = [other.make(names.memberEntity, ["name": "1"])]
        try other.save()
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.undoManager = UndoManager()
        let owner = try context.counterpart(of: theirs)
        let member = try #require(owner[many: names.members].first)
        context.delete(member)
        try context.save()
        context.undo()
        #expect(owner[many: names.members].names == ["1"])
        theirs.addMember(other.make(names.memberEntity, ["name": "2"]), forRelationship: names.members)
        try other.save()
        context.processPendingChanges()
        #expect(owner[many: names.members].names == ["1", "2"])
        try context.save()
        #expect(owner[many: names.members].names == ["1", "2"])
        let fresh = store.context()
        #expect(try fresh.one(names.entity)[many: names.members].names == ["1", "2"])
        #expect(try store.problems() == [])
    }

    // context                            another context
    // relates the object to the first
    // owner, and saves
    //                                    relates it to the second owner, and saves
    // reads both owners
    // undoes the change, and saves
    @Test(arguments: StoreKind.allCases, [("Book", "author", "books"), ("Cover", "book", "cover")])
    func `an object leaves the owner that the other context has given it`(
        kind: StoreKind,
        names: (entity: String, owner: String, inverse: String)
    ) throws {
        let store = try TestStore(kind)
        let other = store.context()
        let ownerEntity = names.entity == "Book" ? "Author" : "Book"
        let theirOwners = ["1", "2"].map { other.make(ownerEntity, ["name": $0]) }
        let theirs = other.make(names.entity, ["name": "object"])
        try other.save()
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.undoManager = UndoManager()
        let owners = try theirOwners.map { try context.counterpart(of: $0) }
        let own = try context.counterpart(of: theirs)
        own[one: names.owner] = owners[0]
        try context.save()
        _ = try other.all(names.entity)
        theirs[one: names.owner] = theirOwners[1]
        try other.save()
        context.processPendingChanges()
        func isLed(from owner: ManagedObject) -> Bool {
            names.entity == "Book"
                ? owner[many: names.inverse].contains { $0 === own } : owner[one: names.inverse] === own
        }
        #expect(owners.map(isLed) == [false, true])
        context.undo()
        #expect(own[one: names.owner] == nil)
        #expect(owners.map(isLed) == [false, false])
        try context.save()
        #expect(owners.map(isLed) == [false, false])
        let fresh = store.context()
        #expect(try fresh.one(names.entity)[one: names.owner] == nil)
        context.redo()
        #expect(own[one: names.owner] === owners[1])
        #expect(owners.map(isLed) == [false, true])
        #expect(try store.problems() == [])
    }

    // context                            another context
    // deletes the owner of an object
    //                                    relates the object to another owner, and saves
    // undoes the deletion
    @Test(arguments: StoreKind.allCases)
    func `an owner whose deletion is undone has lost what the other context has moved`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let other = store.context()
        let theirOwners = ["1", "2"].map { other.make("Author", ["name": .text($0)]) }
        let theirs = other.make("Book", ["name": "book"])
        theirs[one: "author"] = theirOwners[0]
        try other.save()
        let context = store.context()
        context.undoManager = UndoManager()
        let owners = try theirOwners.map { try context.counterpart(of: $0) }
        let own = try context.counterpart(of: theirs)
        #expect(owners[0][many: "books"] === [own])
        context.delete(owners[0])
        context.processPendingChanges()
        theirs[one: "author"] = theirOwners[1]
        try other.save()
        context.undo()
        #expect(own[one: "author"] === owners[1])
        #expect(owners[0][many: "books"].isEmpty)
        #expect(owners[1][many: "books"] === [own])
        #expect(!context.hasChanges)
        try context.save()
        #expect(owners[0][many: "books"].isEmpty)
        #expect(try store.problems() == [])
    }

    // context                            another context
    // deletes an owner
    //                                    adds a member to the owner, and saves
    // saves, undoes the deletion, saves
    @Test(arguments: StoreKind.allCases, [ContextModel.Kind.list, .orderedList])
    func `an owner whose saved deletion is undone has the member of the other context`(
        kind: StoreKind,
        list: ContextModel.Kind
    ) throws {
        let store = try TestStore(kind, ContextModel.model([list]))
        let names = (list: list.ofOwner[0].name, owner: list.ofItem[0].name)
        let other = store.context()
        let theirs = other.make("Owner", ["name": "owner"])
        let items = ["1", "2", "3"].map { other.make("Item", ["name": .text($0)]) }
        theirs[many: names.list] = [items[0], items[1]]
        try other.save()
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.undoManager = UndoManager()
        let owner = try context.counterpart(of: theirs)
        context.delete(owner)
        context.processPendingChanges()
        theirs[many: names.list] = [items[2], items[1]]
        try other.save()
        try context.save()
        context.undo()
        try context.save()
        let fresh = store.context()
        let stored = try fresh.one("Owner")
        #expect(owner[many: names.list].names == ["1", "2", "3"])
        #expect(stored[many: names.list].names == ["1", "2", "3"])
        if list == .orderedList {
            #expect(owner[many: names.list].texts("name") == stored[many: names.list].texts("name"))
        }
        #expect(try store.problems() == [])
    }

    // context                            another context
    // deletes a member, and
    // inserts it again
    //                                    removes the member, and saves
    // saves
    @Test(arguments: StoreKind.allCases, [("Author", "books", "Book"), ("Book", "tags", "Tag")])
    func `a member that is inserted again has left if the other context has removed it`(
        kind: StoreKind,
        names: (entity: String, members: String, memberEntity: String)
    ) throws {
        let store = try TestStore(kind)
        let other = store.context()
        let theirs = other.make(names.entity, ["name": "owner"])
        theirs[many: names.members] = ["1", "2"].map { other.make(names.memberEntity, ["name": .text($0)]) }
        try other.save()
        let context = store.context()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let owner = try context.counterpart(of: theirs)
        let member = try #require(owner[many: names.members].first { $0.text("name") == "1" })
        context.delete(member)
        context.processPendingChanges()
        context.insert(member)
        theirs[many: names.members] = theirs[many: names.members].filter { $0.text("name") == "2" }
        try other.save()
        context.processPendingChanges()
        try context.save()
        let reader = store.context()
        let stored = try reader.one(names.entity)[many: names.members].names
        #expect(stored == ["2"])
        #expect(owner[many: names.members].names == stored)
        #expect(try store.problems() == [])
    }

    // context                            another context
    // removes a member, and adds it again
    //                                    removes the member, and saves
    // undoes both changes, saves
    @Test(arguments: StoreKind.allCases, [ContextModel.Kind.manyToMany, .orderedManyToMany])
    func `a member that is no longer added again has left if the other context has removed it`(
        kind: StoreKind,
        list: ContextModel.Kind
    ) throws {
        let store = try TestStore(kind, ContextModel.model([list]))
        let names = (members: list.ofOwner[0].name, owners: list.ofItem[0].name)
        let other = store.context()
        let theirs = other.make("Owner", ["name": "owner"])
        theirs[many: names.members] = ["1", "2"].map { other.make("Item", ["name": .text($0)]) }
        try other.save()
        let context = store.context()
        context.mergePolicy = .overwrite
        context.undoManager = UndoManager()
        let owner = try context.counterpart(of: theirs)
        let members = owner[many: names.members].sorted { $0.text("name") < $1.text("name") }
        owner[many: names.members] = []
        owner.addMember(members[0], forRelationship: names.members)
        theirs[many: names.members] = theirs[many: names.members].filter { $0.text("name") == "2" }
        try other.save()
        context.undo()
        try context.save()
        let fresh = store.context()
        #expect(try fresh.one("Owner")[many: names.members].texts("name") == ["2"])
        #expect(owner[many: names.members].texts("name") == ["2"])
        #expect(members.map { $0[many: names.owners].count } == [0, 1])
        #expect(try store.problems() == [])
    }

    // context                            another context
    // changes the order of the members
    //                                    changes the order, and saves
    // undoes the change
    @Test(arguments: StoreKind.allCases)
    func `members whose order is undone have the order of the other context`(kind: StoreKind) throws {
        for readsBetween in [true, false] {
            let store = try TestStore(kind)
            let other = store.context()
            let theirs = other.make("Tag", ["name": "tag"])
            let books = ["1", "2", "3"].map { other.make("Book", ["name": .text($0)]) }
            theirs[many: "books"] = books
            try other.save()
            let context = store.context()
            context.undoManager = UndoManager()
            let own = try context.counterpart(of: theirs)
            own[many: "books"] = own[many: "books"].reversed()
            context.processPendingChanges()
            theirs[many: "books"] = [books[1], books[2], books[0]]
            try other.save()
            if readsBetween { #expect(own[many: "books"].texts("name") == ["3", "2", "1"]) }
            context.undo()
            #expect(!context.hasChanges)
            #expect(own[many: "books"].texts("name") == ["2", "3", "1"])
            context.redo()
            #expect(own[many: "books"].texts("name") == ["3", "2", "1"])
        }
    }

    // context                 another context
    // changes the author
    //                         deletes the author, and saves
    // fetches
    // undoes the change
    @Test(arguments: StoreKind.allCases)
    func `an object that the other context has deleted is missing`(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        let theirs = other.make("Author", ["name": "a"])
        try other.save()
        let own = try context.counterpart(of: theirs)
        context.undoManager = UndoManager()
        own["name"] = "changed"
        other.delete(theirs)
        try other.save()
        _ = try context.all("Author")
        context.undo()
        #expect(own.isObjectDeleted)
        #expect(!context.hasChanges)
    }
}
