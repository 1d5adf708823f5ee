import Foundation
import SealedData

/// The symbols of SwiftData's API in this package, by their names in the table of the documentation.
///
/// Each symbol is used beside its name, so that a list with a missing symbol does not compile. No code is called.
struct SymbolList {
    private(set) var names: [String] = []

    /// All symbols.
    static var all: SymbolList {
        var list = SymbolList()
        list.addModels()
        list.addBackingData()
        list.addSchema()
        list.addProperties()
        list.addContainers()
        list.addContexts()
        list.addFetching()
        list.addConcurrency()
        list.addLiveResults()
        list.addHistory()
        list.addErrors()
        list.addDataStores()
        list.addSnapshots()
        return list
    }

    mutating func add(_ name: String, _ use: Any) { names.append(name) }
}

/// A class whose symbols are used.
@Model
class Probe {
    #Index<Probe>([\.name], [\.name, \.count])
    #Index<Probe>(.binary([\.name]))
    #Unique<Probe>([\.name, \.count])
    @Attribute(.unique, originalName: "title", hashModifier: "1") var name: String
    @_TransformablePersistedProperty var count = 0
    @Relationship(
        .unique,
        deleteRule: .nullify,
        minimumModelCount: 0,
        maximumModelCount: 0,
        originalName: "above",
        inverse: \Probe.below,
        hashModifier: "1"
    ) var above: Probe?
    var below: [Probe] = []
    @Transient var isSelected = false

    init(name: String) { self.name = name }
}

@ModelActor
actor ProbeActor {}
