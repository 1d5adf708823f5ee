import SealedData
import Testing

// One parent and its children for each line of the article's table of delete rules.

@Model final class CascadingParent {
    @Relationship(deleteRule: .cascade, inverse: \CascadingChild.parent) var children: [CascadingChild] = []
    init() {}
}

@Model final class CascadingChild {
    var parent: CascadingParent?
    init() {}
}

@Model final class NullifyingParent {
    @Relationship(deleteRule: .nullify, inverse: \NullifyingChild.parent) var children: [NullifyingChild] = []
    init() {}
}

@Model final class NullifyingChild {
    var parent: NullifyingParent?
    init() {}
}

@Model final class DenyingParent {
    @Relationship(deleteRule: .deny, inverse: \DenyingChild.parent) var children: [DenyingChild] = []
    init() {}
}

@Model final class DenyingChild {
    var parent: DenyingParent?
    init() {}
}

@Model final class IndifferentParent {
    @Relationship(deleteRule: .noAction, inverse: \IndifferentChild.parent) var children: [IndifferentChild] = []
    init() {}
}

@Model final class IndifferentChild {
    var parent: IndifferentParent?
    init() {}
}

@Suite("The article's table of delete rules")
struct DeleteRuleTests {
    private let context: ModelContext

    init() throws {
        context = ModelContext(
            try container(
                for: CascadingParent.self,
                NullifyingParent.self,
                DenyingParent.self,
                IndifferentParent.self
            )
        )
    }

    @Test func `cascade deletes the children`() throws {
        let parent = CascadingParent()
        parent.children = [CascadingChild(), CascadingChild()]
        context.insert(parent)
        try context.save()
        context.delete(parent)
        try context.save()
        #expect(try ModelContext(context.container).all(CascadingChild.self).isEmpty)
    }

    @Test func `nullify leaves the children without a parent`() throws {
        let parent = NullifyingParent()
        parent.children = [NullifyingChild(), NullifyingChild()]
        context.insert(parent)
        try context.save()
        context.delete(parent)
        try context.save()
        let reader = ModelContext(context.container)
        #expect(try reader.all(NullifyingChild.self).map { $0.parent == nil } == [true, true])
    }

    @Test func `deny forbids the deletion while there are children`() throws {
        let parent = DenyingParent()
        parent.children = [DenyingChild()]
        context.insert(parent)
        try context.save()
        context.delete(parent)
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
        #expect(try context.all(DenyingParent.self).count == 1)
        parent.children = []
        context.delete(parent)
        try context.save()
        #expect(try context.all(DenyingParent.self).isEmpty)
        #expect(try context.all(DenyingChild.self).count == 1)
    }

    @Test func `noAction keeps the children, and no reference dangles`() throws {
        let parent = IndifferentParent()
        parent.children = [IndifferentChild()]
        context.insert(parent)
        try context.save()
        context.delete(parent)
        try context.save()
        let reader = ModelContext(context.container)
        #expect(try reader.all(IndifferentChild.self).map { $0.parent == nil } == [true])
    }
}
