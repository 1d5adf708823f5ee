import Foundation
import Guarded
import SealedData
import SwiftUIStandIn
import TestSupport
import Testing

@MainActor
@Suite struct QueryTests {
    private let container: ModelContainer

    init() throws {
        container = try ModelContainer(
            for: Station.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        for (name, line) in [("Gion", "A"), ("Shijo", "B"), ("Goryo", nil)] as [(String, String?)] {
            container.mainContext.insert(Station(name, line: line))
        }
        try container.mainContext.save()
    }

    @Test func `a view shows the models of its container, and is notified of changes`() throws {
        var host = ViewHost()
        var shown: [[String]] = []
        var observer: ResultsObserver<Station, Never>?
        let show = {
            host.show {
                StationList { names, results in
                    shown.append(names)
                    observer = results
                }
                .modelContainer(container)
            }
        }
        let count = try notifications(of: show) {
            container.mainContext.insert(Station("Uji"))
            try container.mainContext.save()
        }
        #expect(count == 1)
        let first = observer
        show()
        #expect(shown == [["Gion", "Goryo", "Shijo"], ["Gion", "Goryo", "Shijo", "Uji"]])
        #expect(first === observer, "the observer lives as long as the view")
    }

    @Test func `a query that a view makes with other parameters fetches again`() throws {
        var host = ViewHost()
        var shown: [[String]] = []
        var observers: Set<ObjectIdentifier> = []
        for prefix in ["", "G", "G", "S"] {
            host.show {
                StationList(prefix) { names, results in
                    shown.append(names)
                    observers.insert(ObjectIdentifier(results))
                }
                .modelContainer(container)
            }
        }
        #expect(shown == [["Gion", "Goryo", "Shijo"], ["Gion", "Goryo"], ["Gion", "Goryo"], ["Shijo"]])
        #expect(observers.count == 1)
    }

    @Test func `a filter that the program sets stays until the view has other parameters`() throws {
        var host = ViewHost()
        var shown: [[String]] = []
        var observer: ResultsObserver<Station, Never>?
        for prefix in ["G", "G", "S"] {
            host.show {
                StationList(prefix) { names, results in
                    shown.append(names)
                    observer = results
                }
                .modelContainer(container)
            }
            if prefix == "G" { observer?.filterBy = #Predicate { $0.name == "Goryo" } }
        }
        #expect(shown == [["Gion", "Goryo"], ["Goryo"], ["Shijo"]])
    }

    @Test func `changes of the results have the transaction of the query`() throws {
        var host = ViewHost()
        let animations = Guarded<[Animation?]>([])
        var observer: ResultsObserver<Station, Never>?
        host.show { StationList { observer = $1 }.modelContext(container.mainContext) }
        withObservationTracking {
            _ = observer?.results
        } onChange: {
            animations.withLock { $0.append(ViewHost.transaction?.animation) }
        }
        container.mainContext.insert(Station("Uji"))
        container.mainContext.processPendingChanges()
        #expect(animations.withLock { $0 } == [.default])
        #expect(ViewHost.transaction == nil)
    }

    @Test func `a scene sets the context and the sections of its views`() throws {
        var host = ViewHost()
        var contexts: [ModelContext] = []
        var titles: [[String?]] = []
        host.show(scene: {
            WindowGroup {
                LineList {
                    contexts.append($0)
                    titles.append($1)
                }
            }
            .modelContainer(container)
        })
        #expect(contexts.first === container.mainContext)
        #expect(titles == [[nil, "A", "B"]])
    }

    @Test func `a container that a view makes is made once, with its options`() throws {
        var host = ViewHost()
        host.environment.undoManager = UndoManager()
        var made: [ModelContainer] = []
        var shown: [[String]] = []
        for _ in 0..<2 {
            host.show {
                StationList { names, _ in shown.append(names) }
                    .modelContainer(for: Station.self, inMemory: true, isAutosaveEnabled: false, isUndoEnabled: true) {
                        if let container = try? $0.get() { made.append(container) }
                    }
            }
            made.first?.mainContext.insert(Station("Nara"))
            made.first?.mainContext.processPendingChanges()
        }
        #expect(made.count == 1)
        #expect(made.first?.mainContext.autosaveEnabled == false)
        #expect(made.first?.mainContext.undoManager === host.environment.undoManager)
        #expect(shown == [[], ["Nara"]])
    }

    @Test func `a container that a view makes keeps the settings of the app`() throws {
        var host = ViewHost()
        host.environment.undoManager = UndoManager()
        let undoManager = UndoManager()
        var made: ModelContainer?
        for isFirst in [true, false] {
            host.show {
                StationList { _, _ in }
                    .modelContainer(for: Station.self, inMemory: true) { made = try? $0.get() }
            }
            let context = try #require(made).mainContext
            #expect(context.autosaveEnabled == isFirst)
            #expect(context.undoManager === (isFirst ? nil : undoManager))
            context.autosaveEnabled = false
            context.undoManager = undoManager
        }
    }

    @Test func `a context with undo follows the undo manager of the environment`() throws {
        var host = ViewHost()
        var made: ModelContainer?
        for undoManager in [nil, UndoManager(), UndoManager()] as [UndoManager?] {
            host.environment.undoManager = undoManager
            host.show {
                StationList { _, _ in }
                    .modelContainer(for: Station.self, inMemory: true, isUndoEnabled: true) { made = try? $0.get() }
            }
            #expect(try #require(made).mainContext.undoManager === undoManager)
        }
    }

    @Test func `a container that cannot be opened is reported, and the surrounding context stays`() throws {
        var host = ViewHost()
        var errors: [any Error] = []
        var shown: [[String]] = []
        host.show {
            StationList { names, _ in shown.append(names) }
                .modelContainer(for: Station.self, key: .passphrase("")) {
                    if case .failure(let error) = $0 { errors.append(error) }
                }
                .modelContainer(container)
        }
        #expect(errors.count == 1)
        #expect(shown == [["Gion", "Goryo", "Shijo"]])
    }

    @Test func `views without a container have an empty one`() throws {
        var host = ViewHost()
        var context: ModelContext?
        struct ContextView: View {
            @Environment(\.modelContext) private var context
            let show: (ModelContext) -> Void

            var body: some View {
                show(context)
                return EmptyView()
            }
        }
        host.show { ContextView { context = $0 } }
        #expect(try #require(context).container.schema.entities.isEmpty)
    }

    @Test func `a view declares a query without parentheses`() throws {
        var host = ViewHost()
        var shown: [String] = []
        host.show { AllStations { shown = $0 }.modelContainer(container) }
        #expect(shown == ["Gion", "Shijo", "Goryo"])
    }
}
