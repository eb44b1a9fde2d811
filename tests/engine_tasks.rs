//! Tasks in and out of the engine: cancellation, sources that run dry, times, extremes.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use common::{
    batch::{
        Queue, Task, all_alone, assert_same, assert_well_formed, engines, exhaustive, options, run,
        run_one, task,
    },
    sample::{self, Dice},
};
use sudoku_solver::{
    batch::Tasks,
    board::Board,
    solver::{Options, Outcome, Verdict, answers::Answers},
};

/// A unique board of some hundred nodes at most.
const HARD: &str =
    "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

/// A board that needs no guess.
const EASY: &str =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// More boards than any engine solves before somebody cancels them.
const ENDLESS: usize = 300_000;

/// Boards with every verdict.
fn mixed(count: usize) -> Vec<Board> {
    let mut boards = sample::generated(31, count);
    boards.push(Board::EMPTY);
    boards.push(sample::board(HARD));
    boards
}

/// Every board of a task was cancelled.
#[track_caller]
fn assert_all_cancelled(boards: usize, answers: &Answers) {
    assert_well_formed(boards, answers);
    assert!(answers.solutions.is_empty());
    for answer in &answers.answers {
        assert_eq!(answer.outcome.verdict, Verdict::Cancelled);
        assert_eq!(answer.outcome.solution_count, 0);
    }
}

/// A source that does something each time before the engine gets its next task.
struct Script<F> {
    queue: Queue<usize>,
    before_next: F,
}

impl<F: FnMut(&mut Queue<usize>)> Tasks for Script<F> {
    type Task = Task<usize>;

    fn next(&mut self) -> Option<Task<usize>> {
        (self.before_next)(&mut self.queue);
        self.queue.next()
    }

    fn done(&mut self, task: Task<usize>, answers: Answers) {
        self.queue.done(task, answers);
    }
}

#[test]
fn cancelled_before_it_starts() {
    let boards = mixed(20);
    let expected = all_alone(&boards, Options::default());
    for mut engine in engines() {
        for size in [1, 2, 700] {
            let dead = vec![sample::board(HARD); size];
            let tasks = [
                task(0, &boards, Options::default()),
                task(1, &dead, Options::default()),
                task(2, &boards, Options::default()),
            ];
            tasks[1].cancel.cancel();
            let answers = run(&mut engine, tasks);
            assert_all_cancelled(size, &answers[1].1);
            for (_, answers) in [&answers[0], &answers[2]] {
                let level = engine.level();
                assert_same(level, &boards, Options::default(), answers, &expected);
            }
            let dead = task(0, &dead, Options::default());
            dead.cancel.cancel();
            assert_all_cancelled(size, &run(&mut engine, [dead])[0].1);
        }
    }
}

/// A task is cancelled while its boards are in lanes, at many times, by the source of tasks itself.
#[test]
fn cancelled_between_others() {
    let good = mixed(60);
    let expected = all_alone(&good, Options::default());
    let many = options(125, 1_000_000);
    let mut doomed = sample::shared("forum_hardest_1106", 100);
    doomed.extend(mixed(40));
    doomed.push(Board::EMPTY);
    let doomed_expected = all_alone(&doomed, many);
    for mut engine in engines() {
        let mut cancelled = 0;
        for at in 0..60 {
            let victim = task(1, &doomed, many);
            let flag = Arc::clone(&victim.cancel);
            let first = task(0, &good, Options::default());
            let mut asked = 0;
            let mut source = Script {
                queue: Queue::new([first, victim]),
                before_next: |queue: &mut Queue<usize>| {
                    asked += 1;
                    if asked == at {
                        flag.cancel();
                    }
                    if asked % 3 == 0 && asked < 60 {
                        queue
                            .waiting
                            .push_back(task(1 + asked, &good, Options::default()));
                    }
                },
            };
            engine.run(&mut source);
            for (ticket, answers) in &source.queue.done {
                if *ticket == 1 {
                    assert_right_or_cancelled(&doomed_expected, answers);
                    cancelled += answers
                        .answers
                        .iter()
                        .filter(|answer| answer.outcome.verdict == Verdict::Cancelled)
                        .count();
                } else {
                    let level = engine.level();
                    assert_same(level, &good, Options::default(), answers, &expected);
                }
            }
            let tickets = source.queue.done.iter().map(|(ticket, _)| *ticket);
            let mut tickets: Vec<usize> = tickets.collect();
            tickets.sort_unstable();
            let count = tickets.len();
            tickets.dedup();
            assert_eq!(tickets.len(), count, "a task was done twice");
            assert!(tickets.starts_with(&[0, 1]), "a task was lost");
        }
        assert!(cancelled > 0, "nothing was ever cancelled");
    }
}

/// Each board has its whole right answer, or it was cancelled and has none.
#[track_caller]
fn assert_right_or_cancelled(expected: &[(Outcome, Vec<Board>)], answers: &Answers) {
    assert_well_formed(expected.len(), answers);
    for (index, (outcome, solutions)) in expected.iter().enumerate() {
        let (answer, found) = answers.get(index).unwrap();
        if answer.outcome.verdict == Verdict::Cancelled {
            assert_eq!(answer.outcome.solution_count, 0);
        } else {
            assert_eq!(answer.outcome, *outcome);
            assert_eq!(found, solutions);
        }
    }
}

#[test]
fn cancelled_by_another_thread() {
    let good = mixed(400);
    let expected = all_alone(&good, Options::default());
    let endless = vec![sample::board(HARD); ENDLESS];
    for mut engine in engines() {
        let victim = task(0, &endless, Options::default());
        let flag = Arc::clone(&victim.cancel);
        let (running, wait) = mpsc::channel::<()>();
        let canceller = thread::spawn(move || {
            wait.recv().unwrap();
            flag.cancel();
        });
        // Asked for the next task, the engine has taken all boards of the first into its lanes.
        let mut tasks = VecDeque::from([task(1, &good, Options::default()), victim]);
        let mut source = Script {
            queue: Queue::new(tasks.pop_front()),
            before_next: move |queue: &mut Queue<usize>| {
                if let Some(victim) = tasks.pop_front() {
                    queue.waiting.push_back(victim);
                    running.send(()).unwrap();
                }
            },
        };
        engine.run(&mut source);
        canceller.join().unwrap();
        source.queue.done.sort_by_key(|(ticket, _)| *ticket);
        let [(0, stopped), (1, others)] = source.queue.done.as_slice() else {
            panic!("each task comes back once");
        };
        assert_same(engine.level(), &good, Options::default(), others, &expected);
        assert_well_formed(ENDLESS, stopped);
        assert_eq!(
            stopped.answers[ENDLESS - 1].outcome.verdict,
            Verdict::Cancelled
        );
        // And the engine is as good as new.
        let answers = run_one(&mut engine, &good, Options::default());
        assert_same(
            engine.level(),
            &good,
            Options::default(),
            &answers,
            &expected,
        );
    }
}

#[test]
fn all_tasks_cancelled_at_once() {
    let boards = vec![Board::EMPTY; 50];
    for mut engine in engines() {
        let tasks: Vec<_> = (0..40)
            .map(|ticket| task(ticket, &boards, options(1000, 1_000_000)))
            .collect();
        let flags: Vec<_> = tasks.iter().map(|task| Arc::clone(&task.cancel)).collect();
        let mut asked = 0;
        let mut source = Script {
            queue: Queue::new(tasks),
            before_next: |_: &mut Queue<usize>| {
                asked += 1;
                if asked == 3 {
                    for flag in &flags {
                        flag.cancel();
                    }
                }
            },
        };
        engine.run(&mut source);
        assert_eq!(source.queue.done.len(), 40);
        let mut seen = 0;
        for (_, answers) in &source.queue.done {
            assert_well_formed(50, answers);
            seen += answers
                .answers
                .iter()
                .filter(|answer| answer.outcome.verdict == Verdict::Cancelled)
                .count();
        }
        assert!(seen >= 37 * 50, "{seen} of 2000 were cancelled");
        let expected = all_alone(&boards, Options::default());
        let answers = run_one(&mut engine, &boards, Options::default());
        assert_same(
            engine.level(),
            &boards,
            Options::default(),
            &answers,
            &expected,
        );
    }
}

/// A source that is dry for a while: the engine asks again while it works, and in a later run.
#[test]
fn a_source_that_runs_dry_and_goes_on() {
    let boards = mixed(30);
    let expected = all_alone(&boards, Options::default());
    for mut engine in engines() {
        let mut asked = 0;
        let mut added = 1;
        let mut source = Script {
            queue: Queue::new([task(0, &boards, Options::default())]),
            before_next: |queue: &mut Queue<usize>| {
                asked += 1;
                if asked % 5 == 0 && added < 10 {
                    queue
                        .waiting
                        .push_back(task(added, &boards, Options::default()));
                    added += 1;
                }
            },
        };
        for _ in 0..20 {
            engine.run(&mut source);
        }
        let mut done = source.queue.done;
        done.sort_by_key(|(ticket, _)| *ticket);
        let tickets: Vec<usize> = done.iter().map(|(ticket, _)| *ticket).collect();
        assert_eq!(tickets, (0..added).collect::<Vec<_>>());
        assert_eq!(added, 10);
        for (_, answers) in &done {
            let level = engine.level();
            assert_same(level, &boards, Options::default(), answers, &expected);
        }
    }
}

/// Easy boards keep coming, and one hard board, alone in what it needs, is searched on between them.
#[test]
fn a_hard_board_among_easy_ones_without_end() {
    const EASY_TASKS_MAX: usize = 3_000;
    let easy: Vec<Board> = (0..64).map(|_| sample::board(EASY)).collect();
    let hard = [sample::board(HARD)];
    for mut engine in engines() {
        let mut added = 0;
        let mut source = Script {
            queue: Queue::new([task(0, &hard, Options::default())]),
            before_next: |queue: &mut Queue<usize>| {
                let is_done = queue.done.iter().any(|(ticket, _)| *ticket == 0);
                if !is_done && added < EASY_TASKS_MAX {
                    added += 1;
                    let more = task(added, &easy, Options::default());
                    queue.waiting.push_back(more);
                }
            },
        };
        engine.run(&mut source);
        assert_eq!(source.queue.done.len(), added + 1);
        assert!(added < EASY_TASKS_MAX, "only when no easy board was left");
    }
}

#[test]
fn nothing_to_do() {
    for mut engine in engines() {
        assert!(run::<usize>(&mut engine, []).is_empty());
        let tasks = (0..1000).map(|ticket| task(ticket, &[], Options::default()));
        let done = run(&mut engine, tasks);
        assert!(done.iter().all(|(_, answers)| answers.answers.is_empty()));
        assert!(run::<usize>(&mut engine, []).is_empty());
    }
}

#[test]
fn many_small_tasks() {
    let boards = mixed(62);
    let expected = all_alone(&boards, Options::default());
    for mut engine in engines() {
        let tasks = (0..100_000).map(|ticket: usize| {
            let first = ticket % boards.len();
            let size = ticket % 3;
            let own = &boards[first..boards.len().min(first + size)];
            task(ticket, own, Options::default())
        });
        for (ticket, answers) in run(&mut engine, tasks) {
            let first = ticket % boards.len();
            let places = first..boards.len().min(first + ticket % 3);
            let (own, expected) = (&boards[places.clone()], &expected[places]);
            assert_same(engine.level(), own, Options::default(), &answers, expected);
        }
    }
}

#[test]
fn clashing_boards_beside_good_ones() {
    let mut boards = mixed(300);
    let mut dice = Dice::new(41);
    for _ in 0..300 {
        let mut values = *boards[dice.below(boards.len())].values();
        for _ in 0..=dice.below(3) {
            values[dice.below(81)] = u8::try_from(dice.below(10)).unwrap();
        }
        boards.push(Board::new(values).unwrap());
    }
    // Four in a rectangle leave every unit a place.
    boards.push(sample::board(
        "...............................................................9..9.....9..9.....",
    ));
    // Nothing but clashes, and a full grid with two cells exchanged.
    boards.push(Board::new([5; 81]).unwrap());
    let mut values = *sample::grid(&mut dice).values();
    values.swap(0, 80);
    boards.push(Board::new(values).unwrap());
    for options in [Options::default(), options(1, 1), options(7, 2)] {
        let expected = all_alone(&boards, options);
        for ((outcome, _), board) in expected.iter().zip(&boards) {
            let clash = sudoku_solver::board::check::has_clash(board);
            assert_eq!(outcome.verdict == Verdict::ClashingGivens, clash, "{board}");
        }
        for mut engine in engines() {
            let answers = run_one(&mut engine, &boards, options);
            assert_same(engine.level(), &boards, options, &answers, &expected);
        }
    }
}

/// As many solutions as may be asked for, of more boards than may have them in the lanes at once;
/// of hundreds if `SUDOKU_EXHAUSTIVE` asks for it, which takes a minute.
#[test]
fn thousands_of_solutions_for_board_after_board() {
    let count = if exhaustive() { 300 } else { 15 };
    let most = options(Options::SOLUTION_LIMIT_MAX, 1_000_000);
    let mut dice = Dice::new(51);
    let mut boards: Vec<Board> = (0..4).map(|_| sample::with_givens(&mut dice, 20)).collect();
    boards.push(Board::EMPTY);
    let expected = all_alone(&boards, most);
    let many: Vec<Board> = boards.iter().copied().cycle().take(count).collect();
    let others = mixed(100);
    let others_expected = all_alone(&others, Options::default());
    for mut engine in engines() {
        let tasks = [task(0, &many, most), task(1, &others, Options::default())];
        let done = run(&mut engine, tasks);
        let answers = &done[0].1;
        assert_well_formed(count, answers);
        for (index, (outcome, solutions)) in (0..count).zip(expected.iter().cycle()) {
            let (answer, found) = answers.get(index).unwrap();
            assert_eq!(answer.outcome, *outcome, "board {index}");
            assert!(found == solutions, "board {index}");
        }
        let level = engine.level();
        let answers = &done[1].1;
        assert_same(
            level,
            &others,
            Options::default(),
            answers,
            &others_expected,
        );
    }
}

/// The times of all boards are the time of the engine, dealt out.
#[test]
fn times_add_up() {
    let mut boards = mixed(3000);
    boards.extend(vec![sample::board(HARD); 300]);
    for mut engine in engines() {
        let start = Instant::now();
        let tasks = boards.chunks(100).enumerate();
        let tasks: Vec<_> = tasks
            .map(|(ticket, boards)| task(ticket, boards, Options::default()))
            .collect();
        let cut = start.elapsed();
        let done = run(&mut engine, tasks);
        assert_adds_up(start, cut, &done);
    }
}

/// A board alone in the engine, most of its lanes at work for nothing in the end.
#[test]
fn times_add_up_when_shared() {
    for mut engine in engines() {
        let start = Instant::now();
        let mut done = Vec::new();
        for _ in 0..20 {
            done.extend(run(
                &mut engine,
                [task(0, &[Board::EMPTY], options(200, 1_000_000))],
            ));
        }
        assert_adds_up(start, std::time::Duration::ZERO, &done);
    }
}

/// What a cancelled board took is told too.
#[test]
fn times_add_up_when_cancelled() {
    for mut engine in engines() {
        let boards = [Board::EMPTY; 3];
        let most = options(Options::SOLUTION_LIMIT_MAX, 1_000_000);
        let start = Instant::now();
        let mut done = Vec::new();
        for _ in 0..20 {
            let victim = task(0, &boards, most);
            let flag = Arc::clone(&victim.cancel);
            let mut asked = 0;
            let mut source = Script {
                queue: Queue::new([victim]),
                before_next: |_: &mut Queue<usize>| {
                    asked += 1;
                    if asked == 40 {
                        flag.cancel();
                    }
                },
            };
            engine.run(&mut source);
            done.extend(source.queue.done);
        }
        for (_, answers) in &done {
            assert_all_cancelled(3, answers);
        }
        assert_adds_up(start, std::time::Duration::ZERO, &done);
    }
}

/// The sum is at most the time that passed, rounded, and at least half of it.
#[track_caller]
fn assert_adds_up<T>(start: Instant, before: std::time::Duration, done: &[(T, Answers)]) {
    let wall = start.elapsed().as_nanos();
    let answers: Vec<_> = done
        .iter()
        .flat_map(|(_, answers)| &answers.answers)
        .collect();
    let sum: u128 = answers
        .iter()
        .map(|answer| u128::from(answer.solve_nanos))
        .sum();
    let rounding = answers.len() as u128;
    assert!(sum <= wall + rounding, "{sum} ns of {wall} ns");
    assert!(2 * sum >= wall - before.as_nanos(), "{sum} ns of {wall} ns");
}
