import Foundation
import Guarded
import Observation
import SealedData
import Testing
import TestSupport

/// Notifications of model observers.
@Suite struct ObservationTests {
    @Model
    final class Owner {
        var name: String
        var mood: Mood?
        var address: Address?
        @Relationship(inverse: \Pet.owner) var pets: [Pet] = []
        @Relationship(inverse: \Club.members) var clubs: [Club] = []
        @Transient var isSelected = false

        init(name: String) { self.name = name }

        var shouted: String { name.uppercased() }
    }

    @Model
    final class Pet {
        var name: String
        var owner: Owner?

        init(name: String) { self.name = name }
    }

    @Model
    final class Club {
        var name: String
        var members: [Owner] = []

        init(name: String) { self.name = name }
    }

    enum Mood: String, Codable { case glad, sad }

    struct Address: Codable, Equatable { var street: String }

    private let container = try! ModelContainer(
        for: Owner.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )

    /// A context with a saved owner of one pet.
    private func saved() throws -> (ModelContext, Owner, Pet) {
        let context = ModelContext(container)
        let owner = Owner(name: "Ann")
        let pet = Pet(name: "Rex")
        owner.pets = [pet]
        context.insert(owner)
        try context.save()
        return (context, owner, pet)
    }

    // MARK: Threads

    /// Each thread keeps for itself how it tests whether it is observed.
    @Test("The first property that a thread reads can be an observed one, and the next one not")
    func firstReadOfThread() {
        let counts = Guarded<[Int]>([])
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let owner = Owner(name: "Ann")
            let ofOther = notifications(of: { owner.name }) {
                _ = owner.mood
                owner.mood = .glad
            }
            let ofOwn = notifications(of: { owner.name }) { owner.name = "Bea" }
            counts.withLock { $0 = [ofOther, ofOwn] }
            end.signal()
        }
        end.wait()
        #expect(counts.withLock(\.self) == [0, 1])
    }

    // MARK: Saves of observers

    @Test func `an observer may save before a relationship changes`() throws {
        let (context, owner, pet) = try saved()
        func saving(_ read: () -> Void, _ change: () -> Void) {
            // The observer is called on this thread.
            nonisolated(unsafe) let context = context
            withObservationTracking(read) { try? context.save() }
            change()
        }
        // The save gives the new objects permanent keys in the midst of the assignments.
        let (new, club, member) = (Owner(name: "new"), Club(name: "club"), Owner(name: "member"))
        context.insert(new)
        saving({ _ = pet.owner }, { pet.owner = new })
        context.insert(club)
        saving({ _ = owner.clubs }, { owner.clubs.append(club) })
        context.insert(member)
        saving({ _ = club.members }, { member.clubs.append(club) })
        try context.save()
        #expect(pet.owner === new && new.pets == [pet] && owner.pets.isEmpty)
        let reader = ModelContext(container)
        let names = FetchDescriptor<Pet>(predicate: #Predicate { $0.owner?.name == "new" })
        #expect(try reader.fetchCount(names) == 1)
        let clubs = try reader.fetch(FetchDescriptor<Club>())
        #expect(Set(clubs.flatMap(\.members).map(\.name)) == ["Ann", "member"])
    }

    // MARK: Attributes

    @Test func `changing a read attribute notifies once`() throws {
        let (_, owner, _) = try saved()
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "Bea"; owner.name = "Cid"
            } == 1
        )
        #expect(
            notifications {
                owner.shouted
            } _: {
                owner.name = "Dan"
            } == 1
        )
        #expect(
            notifications {
                owner.mood
            } _: {
                owner.mood = .glad
            } == 1
        )
        #expect(
            notifications {
                owner.address
            } _: {
                owner.address = Address(street: "s")
            } == 1
        )
        #expect(
            notifications {
                owner.address?.street
            } _: {
                owner.address?.street = "t"
            } == 1
        )
    }

    @Test func `changing an unread attribute does not notify`() throws {
        let (_, owner, pet) = try saved()
        #expect(
            notifications {
                owner.name
            } _: {
                owner.mood = .sad
            } == 0
        )
        #expect(
            notifications {
                owner.name
            } _: {
                pet.name = "Max"
            } == 0
        )
        #expect(
            notifications {
                1
            } _: {
                owner.name = "x"
            } == 0
        )
    }

    @Test func `observers are notified while the attribute still has its old value`() throws {
        let (_, owner, _) = try saved()
        let seen = Guarded(0)
        nonisolated(unsafe) let observed = owner
        withObservationTracking {
            _ = owner.name
        } onChange: {
            if observed.name == "Ann" { seen.withLock { $0 += 1 } }
        }
        owner.name = "Bea"
        #expect(seen.withLock { $0 } == 1)
    }

    @Test func `models outside any context and new ones are observed too`() throws {
        let owner = Owner(name: "a")
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "b"
            } == 1
        )
        #expect(
            notifications {
                owner.pets
            } _: {
                owner.pets = [Pet(name: "p")]
            } == 1
        )
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "c"
            } == 1
        )
        let context = ModelContext(container)
        context.insert(owner)
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "d"
            } == 1
        )
        try context.save()
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "e"
            } == 1
        )
    }

    // MARK: Relationships

    @Test func `both sides of a relationship notify`() throws {
        let (context, owner, pet) = try saved()
        let other = Owner(name: "Bea")
        context.insert(other)
        #expect(
            notifications {
                owner.pets
            } _: {
                pet.owner = other
            } == 1
        )
        #expect(
            notifications {
                pet.owner
            } _: {
                owner.pets = [pet]
            } == 1
        )
        #expect(
            notifications {
                owner.pets.count
            } _: {
                owner.pets.append(Pet(name: "Max"))
            } == 1
        )
        #expect(
            notifications {
                pet.owner?.name
            } _: {
                owner.name = "Cid"
            } == 1
        )
        let club = Club(name: "c")
        #expect(
            notifications {
                owner.clubs
            } _: {
                club.members.append(owner)
            } == 1
        )
        #expect(
            notifications {
                club.members
            } _: {
                owner.clubs = []
            } == 1
        )
    }

    @Test func `a deletion notifies observers of the related models`() throws {
        let (context, owner, pet) = try saved()
        #expect(
            notifications {
                owner.pets
            } _: {
                context.delete(pet)
            } == 1
        )
        #expect(owner.pets.isEmpty)
        let another = Pet(name: "Max")
        another.owner = owner
        try context.save()
        #expect(
            notifications {
                another.owner
            } _: {
                context.delete(owner)
            } == 1
        )
    }

    // MARK: Contexts

    @Test func `a rollback and an undo notify`() throws {
        let (context, owner, _) = try saved()
        context.undoManager = UndoManager()
        owner.name = "Bea"
        owner.pets = []
        #expect(
            notifications {
                owner.name
            } _: {
                context.undoManager?.undo()
            } == 1
        )
        owner.name = "Bea"
        #expect(
            notifications {
                owner.name
            } _: {
                context.rollback()
            } == 1
        )
        owner.pets = []
        #expect(
            notifications {
                owner.pets
            } _: {
                context.rollback()
            } == 1
        )
        owner.name = "Ann"
        #expect(
            notifications {
                owner.name
            } _: {
                context.rollback()
            } == 0,
            "it was the same"
        )
    }

    @Test func `a save does not notify observers of values`() throws {
        let (context, owner, _) = try saved()
        owner.name = "Bea"
        owner.pets.append(Pet(name: "Max"))
        #expect(
            try notifications {
                (owner.name, owner.pets)
            } _: {
                try context.save()
            } == 0
        )
        #expect(
            notifications {
                owner.name
            } _: {
                owner.name = "Cid"
            } == 1
        )
    }

    @Test func `merging the save of another context notifies`() throws {
        let (context, owner, pet) = try saved()
        let other = ModelContext(container)
        let counterpart = try #require(try other.fetch(FetchDescriptor<Owner>()).first)
        counterpart.name = "Bea"
        #expect(
            try notifications {
                owner.name
            } _: {
                try other.save()
            } == 0
        )
        #expect(
            notifications {
                owner.name
            } _: {
                context.processPendingChanges()
            } == 1
        )
        counterpart.name = "Cid"
        try other.save()
        #expect(
            notifications {
                owner.mood
            } _: {
                context.processPendingChanges()
            } == 0
        )
        #expect(owner.name == "Cid")
        counterpart.pets = []
        try other.save()
        #expect(
            notifications {
                owner.pets
            } _: {
                context.processPendingChanges()
            } == 1
        )
        counterpart.pets = try other.fetch(FetchDescriptor<Pet>())
        try other.save()
        #expect(
            notifications {
                pet.owner
            } _: {
                context.processPendingChanges()
            } == 1
        )
    }

    @Test @MainActor func `the main context merges saves of other contexts automatically`() async throws {
        let (_, saved, _) = try saved()
        let id = saved.persistentModelID
        let owner = try #require(container.mainContext.model(for: id) as? Owner)
        #expect(owner.name == "Ann")
        let changes = Guarded(0)
        withObservationTracking {
            _ = owner.name
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        let container = container
        try await Task.detached {
            let context = ModelContext(container)
            (context.model(for: id) as? Owner)?.name = "Bea"
            try context.save()
        }.value
        for _ in 0..<1000 where changes.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(changes.withLock { $0 } == 1)
        #expect(owner.name == "Bea")
    }

    // MARK: Further properties

    @Test func `access and withMutation observe a transient property`() throws {
        let owner = Owner(name: "a")
        #expect(
            notifications {
                owner.access(keyPath: \.isSelected)
                return owner.isSelected
            } _: {
                owner.withMutation(keyPath: \.isSelected) { owner.isSelected = true }
            } == 1
        )
        #expect(
            notifications {
                owner.access(keyPath: \.name)
            } _: {
                owner.name = "b"
            } == 1
        )
        #expect(
            notifications {
                owner.name
            } _: {
                owner.withMutation(keyPath: \.name) {}
            } == 1
        )
    }

    @Test func `threads track their own reads`() async {
        let threads = Guarded(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    // Many threads track at the same time; each is notified only of the properties that it has read.
                    let own = Owner(name: "own")
                    withObservationTracking {
                        _ = own.name
                    } onChange: {
                        threads.withLock { $0 += 1 }
                    }
                    own.name = "changed"
                }
            }
        }
        #expect(threads.withLock { $0 } == 8)
    }
}
