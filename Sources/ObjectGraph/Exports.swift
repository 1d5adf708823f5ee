// Entities, values and query expressions are part of the interface of the object graph.
@_exported public import QueryLanguage
