import Foundation
import ObjectGraph

/// A fetch descriptor with the key path of the section titles.
struct ResultsQuery<Element: PersistentModel, SectionTitle: Hashable> {
    var descriptor: FetchDescriptor<Element>
    var sectionBy: PartialKeyPath<Element>?

    /// The key path of the titles; nil without sections.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if its values are not of the type of the titles.
    var titles: KeyPath<Element, SectionTitle>? {
        get throws {
            guard let sectionBy else { return nil }
            guard let keyPath = sectionBy as? KeyPath<Element, SectionTitle> else {
                throw SwiftDataError(
                    .unsupportedKeyPath,
                    "the values of '\(sectionBy)' are not of the type '\(SectionTitle.self)' of the section titles"
                )
            }
            return keyPath
        }
    }

    /// The key path of the titles; nil without sections, and for an invalid key path, which the query reports.
    var reportedTitles: KeyPath<Element, SectionTitle>? { (try? titles) ?? nil }

    /// The query for the live results.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate`` or a related error if the store cannot execute it.
    func query(in context: ModelContext) throws -> LiveResults.Query {
        let titles = try titles
        guard let entity = context.graph.entity(for: Element.self) else {
            throw SwiftDataError(classOutsideSchema: Element.self)
        }
        do {
            var request = try context.request(for: descriptor)
            if let titles {
                let sort = try Self.sort(by: titles, entity)
                if request.sort.first?.expression != sort.expression { request.sort.insert(sort, at: 0) }
            }
            let graph = context.graph
            return LiveResults.Query(request) { [request] in try graph.fetch(request, as: Element.self) }
        } catch let error as SwiftDataError
            where descriptor.allowsInMemoryEvaluation
            && (error == .unsupportedPredicate || error == .unsupportedSortDescriptor)
        {
            let descriptor = descriptor
            return LiveResults.Query(FetchRequest(entity), isComplete: false) { [unowned context] in
                let models = try context.fetch(descriptor)
                guard let titles else { return models }
                return Self.grouped(models, by: titles)
            }
        }
    }

    /// The query for the live results; for a descriptor that the store cannot execute, a query that throws the error.
    ///
    /// - Precondition: The class is in the schema of the context.
    func reportingQuery(in context: ModelContext) -> LiveResults.Query {
        do {
            return try query(in: context)
        } catch {
            guard let entity = context.graph.entity(for: Element.self) else {
                preconditionFailure("'\(Element.self)' is not in the container's schema")
            }
            return LiveResults.Query(FetchRequest(entity), isComplete: false) { throw error }
        }
    }

    /// The sort key that brings models with the same title together.
    private static func sort(by keyPath: KeyPath<Element, SectionTitle>, _ entity: Entity) throws -> QuerySort {
        if let slot = PropertyLookup.slot(of: keyPath, in: Element.self), slot < entity.slotCount,
            case .relationship(let relationship) = entity.properties[slot], !relationship.isToMany
        {
            return QuerySort(.path(entity.properties[slot]))
        }
        do {
            return QuerySort(try PropertyPath(keyPath, of: Element.self, entity: entity).sortExpression)
        } catch let part as UnsupportedPredicate {
            throw SwiftDataError(.unsupportedKeyPath, "sections need a persisted property: \(part)")
        }
    }

    /// The models with the sections in the order of their first models.
    private static func grouped(_ models: [Element], by keyPath: KeyPath<Element, SectionTitle>) -> [Element] {
        var order: [SectionTitle] = []
        var groups: [SectionTitle: [Element]] = [:]
        for model in models {
            let title = model[keyPath: keyPath]
            if groups[title] == nil { order.append(title) }
            groups[title, default: []].append(model)
        }
        return order.flatMap { groups[$0] ?? [] }
    }
}
