//! The methods of the server, so that what callers make up names nothing in a metric.

/// A method as metrics, logs and spans name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method(usize);

impl Method {
    const NAMES: [&str; 7] = [
        "sudoku.v1.SudokuSolver/Solve",
        "sudoku.v1.SudokuSolver/SolveBatch",
        "grpc.health.v1.Health/Check",
        "grpc.health.v1.Health/Watch",
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "other",
    ];

    /// How many there are.
    pub(super) const COUNT: usize = Self::NAMES.len();

    pub(super) const SOLVE_BATCH: Method = Method(1);

    const OTHER: Method = Method(Self::COUNT - 1);

    /// The method of a path.
    pub(super) fn of(path: &str) -> Method {
        let name = path.strip_prefix('/').unwrap_or_default();
        let place = Self::NAMES.iter().position(|known| *known == name);
        place.map_or(Self::OTHER, Method)
    }

    pub(super) fn every() -> impl Iterator<Item = Method> {
        (0..Self::COUNT).map(Method)
    }

    /// Its place among all.
    pub(super) fn place(self) -> usize {
        self.0
    }

    /// `package.Service/Method`.
    pub(super) fn name(self) -> &'static str {
        Self::NAMES.get(self.0).copied().unwrap_or("other")
    }

    /// Service and method.
    pub(super) fn parts(self) -> (&'static str, &'static str) {
        self.name().split_once('/').unwrap_or(("", self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::pb::sudoku_solver_server::SERVICE_NAME;

    #[test]
    fn made_up_methods_are_one() {
        for path in ["", "/", "/other", "/a/b", "sudoku.v1.SudokuSolver/Solve"] {
            assert_eq!(Method::of(path), Method::OTHER, "{path}");
        }
        let batch = format!("/{SERVICE_NAME}/SolveBatch");
        assert_eq!(Method::of(&batch), Method::SOLVE_BATCH);
        assert_eq!(Method::SOLVE_BATCH.parts(), (SERVICE_NAME, "SolveBatch"));
    }
}
