//! Solves 9x9 Sudoku boards and proves how many solutions they have: as a library, as the gRPC
//! service `SudokuSolver`, and as a command line.
//!
//! # The words used
//!
//! A *board* has 81 *cells*, numbered 0 to 80 row by row. A *unit* is one of its nine *rows*, nine
//! *columns* and nine *boxes*. The *peers* of a cell are the 20 others that share a unit with it.
//! Three rows of boxes are *bands*, three columns of boxes *stacks*. A *given* is a digit that the
//! board comes with, a *candidate* a digit that a cell can still take; a *bivalue* cell has two.
//! Givens *clash* when two peers hold the same one.
//!
//! # The path of a board
//!
//! * [`board`]: text to [`Board`](board::Board) and back, units and peers, clashes, the check of
//!   every solution.
//! * [`solver`]: one board at a time: the search tree that both engines walk.
//! * [`batch`]: hundreds of boards at once, a bit of a machine vector each.
//! * [`wire`]: the messages of the contract, and the domain as messages; [`compression`] of them.
//! * [`service`]: the two calls, the solver threads behind them, and their errors.
//! * [`server`]: connections, health, reflection, drain; [`limits`] bounds all of it.
//! * [`client`]: boards in, answers out, over one connection or many servers.
//! * [`cli`]: the subcommands.

pub mod board;

pub mod solver;

pub mod batch;

pub mod wire;

pub mod compression;

pub mod limits;

pub mod service;

pub mod server;

pub mod client;

pub mod cli;
