import ObjectGraph
import Testing

@Suite("Members that are added although the store has them") struct AddedAgainTests {
    /// The side from which a pair is added or removed.
    enum Side: CaseIterable, Sendable {
        case owner, member
    }

    /// A pair of related objects that a context has not loaded.
    private struct Pair {
        let context: ManagedObjectContext
        let owner: ManagedObject
        let member: ManagedObject
        let (name, inverse): (String, String)

        init(_ store: TestStore, _ entities: (String, String), _ names: (String, String), isSame: Bool) throws {
            let writer = store.context()
            let owner = writer.make(entities.0)
            let member = isSame ? owner : writer.make(entities.1)
            owner[many: names.0] = [member]
            try writer.save()
            context = store.context()
            self.owner = try context.counterpart(of: owner)
            self.member = try context.counterpart(of: member)
            (name, inverse) = names
        }

        func add(from side: Side) {
            switch side {
            case .owner: owner.addMember(member, forRelationship: name)
            case .member: member.addMember(owner, forRelationship: inverse)
            }
        }

        func remove(from side: Side) {
            switch side {
            case .owner: owner.removeMember(member, forRelationship: name)
            case .member: member.removeMember(owner, forRelationship: inverse)
            }
        }

        /// The members of both sides: of this context, and of a new one.
        func members(_ store: TestStore) throws -> [Bool] {
            let reader = store.context()
            return [
                !owner[many: name].isEmpty, !member[many: inverse].isEmpty,
                try !reader.counterpart(of: owner)[many: name].isEmpty,
                try !reader.counterpart(of: member)[many: inverse].isEmpty,
            ]
        }
    }

    @Test(arguments: StoreKind.allCases, Side.allCases)
    func `are removed from either side`(kind: StoreKind, added: Side) throws {
        for removed in Side.allCases {
            for isSame in [false, true] {
                let store = try TestStore(kind, Fixtures.people)
                let pair = try Pair(store, ("Person", "Person"), ("children", "parents"), isSame: isSame)
                pair.add(from: added)
                pair.remove(from: removed)
                try pair.context.save()
                #expect(try pair.members(store) == [false, false, false, false], "from \(removed), same \(isSame)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases, Side.allCases)
    func `are removed from an ordered relationship and its inverse`(kind: StoreKind, added: Side) throws {
        for removed in Side.allCases {
            let store = try TestStore(kind)
            let pair = try Pair(store, ("Book", "Tag"), ("tags", "books"), isSame: false)
            pair.add(from: added)
            pair.remove(from: removed)
            try pair.context.save()
            #expect(try pair.members(store) == [false, false, false, false], "from \(removed)")
        }
    }

    @Test(arguments: StoreKind.allCases, Side.allCases)
    func `stay if they are removed and added once more`(kind: StoreKind, side: Side) throws {
        let store = try TestStore(kind, Fixtures.people)
        let pair = try Pair(store, ("Person", "Person"), ("children", "parents"), isSame: false)
        pair.add(from: side)
        pair.remove(from: side)
        pair.add(from: side)
        try pair.context.save()
        #expect(try pair.members(store) == [true, true, true, true])
    }

    // context                 another context
    // loads the children
    //                         adds the child, and saves
    // adds the child
    // fetches
    // removes the child
    @Test(arguments: StoreKind.allCases, [false, true])
    func `are removed after another context has added them`(kind: StoreKind, loadsInverse: Bool) throws {
        for side in Side.allCases {
            let store = try TestStore(kind, Fixtures.people)
            let other = store.context()
            let (otherOwner, otherMember) = (other.make("Person"), other.make("Person"))
            try other.save()
            let context = store.context()
            let (owner, member) = (try context.counterpart(of: otherOwner), try context.counterpart(of: otherMember))
            _ = owner[many: "children"]
            if loadsInverse { _ = member[many: "parents"] }
            otherOwner[many: "children"] = [otherMember]
            try other.save()
            owner.addMember(member, forRelationship: "children")
            _ = try context.all("Person")
            switch side {
            case .owner: owner.removeMember(member, forRelationship: "children")
            case .member: member.removeMember(owner, forRelationship: "parents")
            }
            try context.save()
            let reader = store.context()
            #expect(try reader.counterpart(of: owner)[many: "children"].isEmpty, "from \(side)")
            #expect(owner[many: "children"].isEmpty, "from \(side)")
            #expect(member[many: "parents"].isEmpty, "from \(side)")
        }
    }

    @Test(arguments: StoreKind.allCases, Side.allCases)
    func `stay when the addition is undone`(kind: StoreKind, side: Side) throws {
        for loads in [false, true] {
            let store = try TestStore(kind, Fixtures.people)
            let pair = try Pair(store, ("Person", "Person"), ("children", "parents"), isSame: false)
            pair.context.undoManager = UndoManager()
            pair.add(from: side)
            if loads { _ = (pair.owner[many: "children"], pair.member[many: "parents"]) }
            pair.context.undo()
            #expect(!pair.context.hasChanges)
            pair.context.redo()
            pair.context.undo()
            #expect(!pair.context.hasChanges)
            try pair.context.save()
            #expect(try pair.members(store) == [true, true, true, true], "loads \(loads)")
        }
    }

    @Test(arguments: StoreKind.allCases, Side.allCases)
    func `are members again when their removal is undone`(kind: StoreKind, side: Side) throws {
        let store = try TestStore(kind, Fixtures.people)
        let pair = try Pair(store, ("Person", "Person"), ("children", "parents"), isSame: false)
        pair.context.undoManager = UndoManager()
        pair.add(from: side)
        pair.context.processPendingChanges()
        pair.remove(from: side)
        pair.context.undo()
        try pair.context.save()
        #expect(try pair.members(store) == [true, true, true, true])
    }

    // context                 another context
    // removes and adds the tag
    //                         removes the tag, and saves
    // saves
    @Test(arguments: StoreKind.allCases, [false, true])
    func `of an ordered relationship are stored after another context has removed them`(
        kind: StoreKind,
        isSameCoordinator: Bool
    ) throws {
        let store = try TestStore(kind)
        let pair = try Pair(store, ("Book", "Tag"), ("tags", "books"), isSame: false)
        _ = (pair.owner[many: "tags"], pair.member[many: "books"])
        pair.remove(from: .member)
        pair.add(from: .member)
        let other =
            isSameCoordinator
            ? store.context() : ManagedObjectContext(coordinator: try store.anotherCoordinator())
        try other.counterpart(of: pair.owner)[many: "tags"] = []
        try other.save()
        try pair.context.save()
        _ = try pair.context.all("Book")
        let members = try pair.members(store)
        #expect(members.allSatisfy { $0 == members[0] }, "the context and the store differ: \(members)")
    }

    // context                 another context
    // adds the item
    //                         adds the item, saves
    // reads the owner's items
    //                         removes the item, saves
    // saves
    @Test(
        arguments: StoreKind.allCases,
        [ContextModel.Kind.manyToMany, .orderedManyToMany].flatMap { list in Side.allCases.map { (list, $0) } }
    )
    func `are no members after another context has added and removed them`(
        kind: StoreKind,
        scene: (list: ContextModel.Kind, side: Side)
    ) throws {
        let (list, side) = scene
        let store = try TestStore(kind, ContextModel.model([list]))
        let names = (members: list.ofOwner[0].name, owners: list.ofItem[0].name)
        let other = store.context()
        let (theirs, theirItem) = (other.make("Owner", ["name": "owner"]), other.make("Item", ["name": "item"]))
        try other.save()
        let context = store.context()
        let (owner, item) = (try context.counterpart(of: theirs), try context.counterpart(of: theirItem))
        owner.addMember(item, forRelationship: names.members)
        theirs[many: names.members] = [theirItem]
        try other.save()
        context.processPendingChanges()
        switch side {
        case .owner: #expect(owner[many: names.members] === [item])
        case .member: #expect(item[many: names.owners] === [owner])
        }
        theirs[many: names.members] = []
        try other.save()
        owner["number"] = 1
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        let fresh = store.context()
        let stored = try fresh.one("Owner")[many: names.members].count
        #expect(owner[many: names.members].count == stored)
        #expect(item[many: names.owners].count == stored)
        #expect(stored == 0)
        #expect(try store.problems() == [])
    }
}
