import QueryLanguage
import Testing

/// Deep inheritance, which the model stored in a file may declare.
@Suite struct InheritanceDepthTests {
    private func entities(_ count: Int) -> [EntityDescription] {
        (0..<count).map { EntityDescription("Level\($0)", superentity: $0 > 0 ? "Level\($0 - 1)" : nil) }
    }

    @Test func `an entity has at most 100 ancestors`() throws {
        #expect(try ManagedObjectModel(entities: entities(101)).entities.last?.isRoot == false)
        #expect(throws: ModelError.self) { try ManagedObjectModel(entities: entities(102)) }
        #expect(throws: ModelError.self) { try ManagedObjectModel(entities: entities(5_000)) }
    }
}
