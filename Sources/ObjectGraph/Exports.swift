// What the objects are described and found by belongs to their interface.
@_exported public import QueryLanguage
