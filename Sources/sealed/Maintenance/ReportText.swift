import Foundation
import ObjectGraph
import SealedStore
import SealedTransfer
import Terminal

/// A problem as a member of a JSON report.
struct ProblemJSON: Encodable {
    let kind: String
    let entity: String?
    let property: String?
    let count: Int
    let firstKey: Int64?
    let message: String
    let isRepairable: Bool

    init(_ problem: StoreProblem) {
        kind = String("\(problem.kind)".prefix { $0 != "(" })
        entity = problem.entity
        property = problem.property
        count = problem.count
        firstKey = problem.firstKey
        message = problem.description
        isRepairable = problem.isRepairable
    }
}

/// The result of a check as JSON.
struct CheckJSON: Encodable {
    let isSound: Bool
    let pages: Int
    let logPages: Int
    let uncheckedIndexes: [String]
    let setAside: [String]
    let problems: [ProblemJSON]

    init(_ report: StoreReport) {
        isSound = report.isSound
        pages = report.pageCount
        logPages = report.logPageCount
        uncheckedIndexes = report.uncheckedIndexes
        setAside = report.setAside.map(\.description)
        problems = report.problems.map(ProblemJSON.init)
    }
}

/// The result of a repair as JSON.
struct RepairJSON: Encodable {
    let repaired: [ProblemJSON]
    let check: CheckJSON

    init(_ report: StoreRepairReport) {
        repaired = report.repaired.map(ProblemJSON.init)
        check = CheckJSON(report.check)
    }
}

/// The result of a salvage as JSON.
struct SalvageJSON: Encodable {
    struct EntityJSON: Encodable {
        let entity: String
        let recovered: Int
        let lost: Int
        let isLostExact: Bool
        let lostValues: [String: Int]
        let cutReferences: [String: Int]
    }

    let isComplete: Bool
    let pages: Int
    let damagedPages: Int
    let lostTransactions: Int
    let ignoresLog: Bool
    let outdatedPages: Int
    let lostIdentifiers: Int
    let entities: [EntityJSON]
    let check: CheckJSON

    init(_ report: SalvageReport) {
        isComplete = report.isComplete
        pages = report.pageCount
        damagedPages = report.damagedPageCount
        lostTransactions = report.lostTransactionCount
        ignoresLog = report.ignoresLog
        outdatedPages = report.outdatedPageCount
        lostIdentifiers = report.lostIdentifierCount
        entities = report.entities.map {
            EntityJSON(
                entity: $0.entity,
                recovered: $0.recoveredCount,
                lost: $0.lostCount,
                isLostExact: $0.isLostCountExact,
                lostValues: $0.lostValues,
                cutReferences: $0.cutReferences
            )
        }
        check = CheckJSON(report.check)
    }
}

extension SetAside {
    /// The names, and the kind of a property.
    var line: String {
        switch kind {
        case .entity: description
        case .attribute(let type): "\(description), \(type.rawValue)"
        case .relationship(let destination, let isToMany): "\(description), \(destination)\(isToMany ? " (many)" : "")"
        }
    }
}

/// Prints a value as one JSON object, in several lines.
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let json = JSONString.visible(String(decoding: try encoder.encode(value), as: UTF8.self))
    for line in json.split(separator: "\n") { try Output.print(String(line)) }
}

extension StoreReport {
    /// Prints the problems, a line each.
    func printLines() throws {
        for problem in problems { try Output.print(problem.description) }
        for item in setAside { try Output.print("set aside: \(item.line)") }
        for index in uncheckedIndexes {
            try Output.print(
                "\(index): the words of the full-text index are not compared in a store that is open for reading"
            )
        }
    }

    /// The result in a few words.
    var summary: String {
        isSound ? "no problems in \(pageCount.grouped) pages" : "\(problems.count.grouped) problems"
    }
}
