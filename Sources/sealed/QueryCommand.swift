import ArgumentParser
import ObjectGraph
import Terminal

/// `sealed query FILE ENTITY`: the objects of an entity, a row each.
struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Prints the objects of an entity as a table, or as JSON, one object to a line.",
        discussion: """
            Objects come in the order of their primary keys, which stand in the column or member '_id'. A to-one \
            relationship is the key of its destination; a to-many relationship, in JSON only, the keys of its members.
            """
    )

    /// The output format.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
    }

    @OptionGroup var arguments: StoreArguments

    @Flag(help: "Read what is set aside, too: what the model of the last program does not have.")
    var setAside = false

    @Argument(help: "The name of the entity; 'sealed inspect' shows them.")
    var entity: String

    @Option(
        name: .customLong("where"),
        help:
            "Which objects: a condition in the syntax of NSPredicate, such as \"name CONTAINS[cd] 'x' AND pages > 100\"."
    )
    var condition: String?

    @Option(help: "The largest number of objects.")
    var limit: Int?

    @Option(help: "The number of objects to skip at the beginning.")
    var offset = 0

    @Option(help: "The output format: 'table' or 'json'.")
    var format = Format.table

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit cannot be negative.") }
        if offset < 0 { throw ValidationError("The offset cannot be negative.") }
    }

    func run() throws {
        try arguments.withStore(includesSetAside: setAside) { store in
            let entity = try store.entity(named: entity)
            let condition = try condition.map { try parsed($0, entity) }
            let pages = ObjectPages(of: entity, where: condition, in: store.context, limit: limit, offset: offset)
            switch format {
            case .table: try printTable(pages)
            case .json:
                try pages.forEach { page in
                    for object in page { try Output.print(JSONRow(object).text) }
                }
            }
        }
    }

    /// Parses the predicate of the user; an error message shows the position of the error.
    private func parsed(_ format: String, _ entity: Entity) throws -> QueryExpression {
        do {
            return try QueryExpression(format: format, entity: entity)
        } catch {
            let lines = ["\(error)"] + error.excerpt.split(separator: "\n").map(String.init)
            throw ValidationError(lines.map(\.printable).joined(separator: "\n"))
        }
    }

    private func printTable(_ pages: ObjectPages) throws {
        // The first page determines the widths, so that a table of any length needs the memory of one page. Without a
        // terminal, longer cells of later pages move the rest of their line.
        var table: TextTable?
        let columns = TableRow.columns(of: pages.entity)
        try pages.forEach { page in
            let rows = page.map { TableRow($0, as: pages.entity).cells }
            let layout = table ?? TextTable(columns, fitting: rows, width: Terminal.width)
            if table == nil { try Output.print(layout.header) }
            table = layout
            for row in rows { try Output.print(layout.line(row)) }
        }
        if table == nil { try Output.print(TextTable(columns, fitting: [], width: Terminal.width).header) }
    }
}
