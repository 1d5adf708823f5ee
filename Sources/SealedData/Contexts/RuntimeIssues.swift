// Where problems are reported that no call can throw. Exported, since an app replaces its handler without `ObjectGraph`.
@_exported public import enum ObjectGraph.RuntimeIssues
