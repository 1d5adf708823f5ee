#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    public import Foundation
    public import SealedData
    #if canImport(SwiftUI)
        public import SwiftUI
    #else
        public import SwiftUIStandIn
    #endif

    // The parameter lists of SwiftData's `@Query`. The animation or transaction applies to changes of the results.

    extension Query where Result == [Element] {
        /// All models, in the order of their first save.
        public init(animation: Animation) {
            self.init(QueryParameters(FetchDescriptor(), transaction: Transaction(animation: animation)))
        }

        /// All models, in the order of their first save.
        public init(transaction: Transaction) {
            self.init(QueryParameters(FetchDescriptor(), transaction: transaction))
        }

        /// The models that match a descriptor.
        public init(_ descriptor: FetchDescriptor<Element>, transaction: Transaction? = nil) {
            self.init(QueryParameters(descriptor, transaction: transaction))
        }

        /// The models that match a descriptor.
        public init(_ descriptor: FetchDescriptor<Element>, animation: Animation) {
            self.init(descriptor, transaction: Transaction(animation: animation))
        }

        /// The models that fulfil a predicate, in an order.
        public init(
            filter: Predicate<Element>? = nil,
            sort descriptors: [SortDescriptor<Element>] = [],
            transaction: Transaction? = nil
        ) {
            self.init(FetchDescriptor(predicate: filter, sortBy: descriptors), transaction: transaction)
        }

        /// The models that fulfil a predicate, in an order.
        public init(
            filter: Predicate<Element>? = nil,
            sort descriptors: [SortDescriptor<Element>] = [],
            animation: Animation
        ) {
            self.init(filter: filter, sort: descriptors, transaction: Transaction(animation: animation))
        }

        /// The models that fulfil a predicate, in the order of a property.
        public init<Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value> & Sendable,
            order: SortOrder = .forward,
            transaction: Transaction? = nil
        ) {
            self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)], transaction: transaction)
        }

        /// The models that fulfil a predicate, in the order of a property.
        public init<Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value> & Sendable,
            order: SortOrder = .forward,
            animation: Animation
        ) {
            self.init(filter: filter, sort: keyPath, order: order, transaction: Transaction(animation: animation))
        }

        /// The models that fulfil a predicate, in the order of an optional property.
        public init<Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value?> & Sendable,
            order: SortOrder = .forward,
            transaction: Transaction? = nil
        ) {
            self.init(filter: filter, sort: [SortDescriptor(keyPath, order: order)], transaction: transaction)
        }

        /// The models that fulfil a predicate, in the order of an optional property.
        public init<Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value?> & Sendable,
            order: SortOrder = .forward,
            animation: Animation
        ) {
            self.init(filter: filter, sort: keyPath, order: order, transaction: Transaction(animation: animation))
        }
    }

    extension Query {
        /// The models that match a descriptor, in sections.
        public init<Title: Hashable>(
            _ descriptor: FetchDescriptor<Element>,
            sectionBy: KeyPath<Element, Title>,
            transaction: Transaction? = nil
        ) where Result == SectionedResults<Element, Title> {
            self.init(QueryParameters(descriptor, sectionBy: sectionBy, transaction: transaction))
        }

        /// The models that match a descriptor, in sections.
        public init<Title: Hashable>(
            _ descriptor: FetchDescriptor<Element>,
            sectionBy: KeyPath<Element, Title>,
            animation: Animation
        ) where Result == SectionedResults<Element, Title> {
            self.init(descriptor, sectionBy: sectionBy, transaction: Transaction(animation: animation))
        }

        /// The models that fulfil a predicate, in sections and in an order.
        public init<Title: Hashable>(
            filter: Predicate<Element>? = nil,
            sort descriptors: [SortDescriptor<Element>] = [],
            sectionBy: KeyPath<Element, Title>,
            transaction: Transaction? = nil
        ) where Result == SectionedResults<Element, Title> {
            self.init(
                FetchDescriptor(predicate: filter, sortBy: descriptors),
                sectionBy: sectionBy,
                transaction: transaction
            )
        }

        /// The models that fulfil a predicate, in sections and in an order.
        public init<Title: Hashable>(
            filter: Predicate<Element>? = nil,
            sort descriptors: [SortDescriptor<Element>] = [],
            sectionBy: KeyPath<Element, Title>,
            animation: Animation
        ) where Result == SectionedResults<Element, Title> {
            self.init(
                filter: filter,
                sort: descriptors,
                sectionBy: sectionBy,
                transaction: Transaction(animation: animation)
            )
        }

        /// The models that fulfil a predicate, in sections and in the order of a property.
        public init<Title: Hashable, Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value> & Sendable,
            order: SortOrder = .forward,
            sectionBy: KeyPath<Element, Title>,
            transaction: Transaction? = nil
        ) where Result == SectionedResults<Element, Title> {
            self.init(
                filter: filter,
                sort: [SortDescriptor(keyPath, order: order)],
                sectionBy: sectionBy,
                transaction: transaction
            )
        }

        /// The models that fulfil a predicate, in sections and in the order of a property.
        public init<Title: Hashable, Value: Comparable>(
            filter: Predicate<Element>? = nil,
            sort keyPath: any KeyPath<Element, Value> & Sendable,
            order: SortOrder = .forward,
            sectionBy: KeyPath<Element, Title>,
            animation: Animation
        ) where Result == SectionedResults<Element, Title> {
            self.init(
                filter: filter,
                sort: keyPath,
                order: order,
                sectionBy: sectionBy,
                transaction: Transaction(animation: animation)
            )
        }
    }
#endif
