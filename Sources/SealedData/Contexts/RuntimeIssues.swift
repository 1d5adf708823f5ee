// Reports problems that no call can throw. Exported, so that an app can replace its handler without importing
// `ObjectGraph`.
@_exported public import enum ObjectGraph.RuntimeIssues
