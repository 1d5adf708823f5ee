// swift-format-ignore-file
// The Swift code of ObjectGraph's articles, line by line: a test compares.

import Foundation
import ObjectGraph
import SealedStore

/// The statements of ObjectsAndContexts, ConflictsAndConstraints and ChildContexts, one article after the other.
func runObjectGraphArticles(url: URL, write: (String) -> Void) throws {
    func print(_ value: some Any) { write("\(value)") }

    let model = try ManagedObjectModel(entities: [
        EntityDescription(
            "Author",
            attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "author", deleteRule: .cascade)]),
        EntityDescription(
            "Book",
            attributes: [AttributeDescription("title", .string), AttributeDescription("pages", .int64, isOptional: true)],
            relationships: [RelationshipDescription("author", to: "Author", .one, inverse: "books")]),
    ])

    SealedStore.register()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(
        PersistentStoreDescription(
            type: SealedStore.storeType, url: url,
            options: [SealedStore.keyOption: "correct horse battery staple"]))
    let context = ManagedObjectContext(coordinator: coordinator)

    let author = ManagedObject(entity: model.entitiesByName["Author"]!, insertInto: context)
    author["name"] = .text("Natsume Sōseki")
    for title in ["Kokoro", "Botchan"] {
        let book = ManagedObject(entity: model.entitiesByName["Book"]!, insertInto: context)
        book["title"] = .text(title)
        book.setDestination(author, forRelationship: "author")
    }
    print(author.members(forRelationship: "books").count)
    try context.save()

    var request = FetchRequest(model.entitiesByName["Book"]!)
    request.predicate = .comparison(
        .equal, .path(from: 0, [model.entitiesByName["Book"]!.propertiesByName["title"]!]), .literal(.text("Kokoro")))
    for book in try context.fetch(request, as: ManagedObject.self) {
        print(book.destination(forRelationship: "author")?.managedObjectID.entity.name ?? "")
    }

    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()

    let tag = EntityDescription(
        "Tag", attributes: [AttributeDescription("label", .string)], uniquenessConstraints: [["label"]])
    _ = tag

    let draft = ManagedObjectContext(parent: context)
    if let author = try draft.existingObject(with: author.managedObjectID) as? ManagedObject {
        author["name"] = .text("夏目漱石")
    }
    try draft.save()
    print(context.hasChanges)
    try context.save()

    let report = ManagedObjectContext(coordinator: coordinator)
    try report.setQueryGeneration(from: .current)
    let before = try report.count(FetchRequest(model.entitiesByName["Author"]!))
    context.delete(author)
    try context.save()
    let after = try report.count(FetchRequest(model.entitiesByName["Author"]!))
    print(before == after)
    try report.setQueryGeneration(from: nil)

    try runReadFailures(context)
    try runPredicateFormats(context, book: model.entitiesByName["Book"]!, write: write)
    try runLargeNumbers(context, book: model.entitiesByName["Book"]!, write: write)
    try runOwnStores(model, url: url.deletingLastPathComponent().appending(path: "audited.sealed"))
}

/// The statements of ObjectsAndContexts about values that cannot be read.
private func runReadFailures(_ context: ManagedObjectContext) throws {
    context.didFailToRead = { value in
        print("\(value.id.entity.name).\(value.property ?? "*"): \(value.cause)")
    }
    do {
        try context.save()
    } catch ObjectGraphError.unreadable {
        context.rollback()
    }
}

/// The statements of PredicateFormats.
private func runPredicateFormats(_ context: ManagedObjectContext, book: Entity, write: (String) -> Void) throws {
    func print(_ value: some Any) { write("\(value)") }

    let longOnes = try QueryExpression(
        format: "title BEGINSWITH[c] %@ AND pages BETWEEN {%d, %d}", arguments: ["volume", 200, 300], entity: book)
    print(try context.count(FetchRequest(book, predicate: longOnes)))

    do {
        _ = try QueryExpression(format: "NOT (titel CONTAINS[cd] 'k')", entity: book)
    } catch {
        print(error)
    }

    print(longOnes.predicateFormat)
}

/// The statements of LargeNumbers.
private func runLargeNumbers(_ context: ManagedObjectContext, book: Entity, write: (String) -> Void) throws {
    func print(_ value: some Any) { write("\(value)") }

    try context.enumerate(FetchRequest(book), batchSize: 1_000) { (books: [ManagedObject]) in
        for book in books { book["pages"] = .integer(100) }
        try context.save()
    }

    let volumes = (1...1_000).lazy.map { ["title": Value.text("Volume \($0)")] }
    try context.execute(BatchInsertRequest(book, objects: volumes))
    try context.execute(BatchUpdateRequest(book, propertiesToUpdate: ["pages": .literal(.integer(250))]))
    var deletion = BatchDeleteRequest(book)
    deletion.resultType = .count
    if case .count(let count) = try context.execute(deletion) { print(count) }
}

// `@unchecked Sendable`: the class adds no mutable property.
final class AuditedStore: SealedStore, @unchecked Sendable {
    static let type = "Audited"

    override func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        print("deleting \(request.deleted.count)")
        return try super.execute(request, with: context)
    }
}

/// The statements of OwnStores.
private func runOwnStores(_ model: ManagedObjectModel, url: URL) throws {
    PersistentStoreCoordinator.registerStoreClass(AuditedStore.self, type: AuditedStore.type)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(
        PersistentStoreDescription(
            type: AuditedStore.type, url: url,
            options: [SealedStore.keyOption: "correct horse battery staple"]))
}
