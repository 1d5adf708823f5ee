#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    public import SealedData
    #if canImport(SwiftUI)
        public import SwiftUI
    #else
        public import SwiftUIStandIn
    #endif

    private struct ModelContextKey: EnvironmentKey {
        static var defaultValue: ModelContext? { nil }
    }

    extension EnvironmentValues {
        /// The model context of the views. Without a container, it is the main context of ``ModelContainer/current``
        /// or, if that is nil, of an empty container in memory.
        ///
        /// It belongs to the main actor.
        public var modelContext: ModelContext {
            get { self[ModelContextKey.self] ?? DefaultModelContext.find() }
            set { self[ModelContextKey.self] = newValue }
        }

        /// The model context to set; nil leaves the context of the surrounding views.
        var givenModelContext: ModelContext? {
            get { self[ModelContextKey.self] }
            set { if let newValue { self[ModelContextKey.self] = newValue } }
        }
    }

    /// The context of views without a container.
    ///
    /// `@unchecked Sendable`: `find()` creates the value on the main actor, and views use the context on the main
    /// actor.
    private struct DefaultModelContext: @unchecked Sendable {
        let context: ModelContext

        @MainActor private static let empty = try? ModelContainer(
            for: Schema([]),
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )

        static func find() -> ModelContext {
            MainActor.assumeIsolated {
                guard let container = ModelContainer.current ?? empty else {
                    preconditionFailure("the environment has no model container: use 'modelContainer(_:)'")
                }
                return DefaultModelContext(context: container.mainContext)
            }.context
        }
    }
#endif
