//! `Solve`: one board, one answer.

use super::{
    SolverService,
    deadline::{self, Deadline, Searches},
    failure::Failure,
    queue::{Job, Line},
    quick,
};
use crate::{
    board::{Board, text},
    solver::{Options, answers::Answers},
    wire::{self, pb},
};

pub(super) async fn solve(
    service: &SolverService,
    deadline: Option<Deadline>,
    request: &pb::SolveRequest,
) -> Result<pb::SolveResponse, Failure> {
    let settings = &service.settings;
    let options = wire::options(
        request.options.as_ref(),
        settings.defaults,
        settings.solutions_max,
    )
    .map_err(Failure::Options)?;
    let tally = service.pool.queue().tally();
    let board = text::parse(&request.board).map_err(|error| {
        tally.inspect(|tally| tally.malformed(1));
        Failure::Malformed(error)
    })?;
    if let Some(deadline) = &deadline {
        deadline.check()?;
    }
    if let Some(answers) = quick::solve(&board, options, settings.cpu_level) {
        tally.inspect(|tally| tally.answered(&answers));
        return response(&board, &answers);
    }
    // In a box, so that the future of all other calls, which tonic moves about, stays small.
    let answers = Box::pin(hand_over(service, deadline, board, options)).await?;
    response(&board, &answers)
}

/// Has a solver thread search.
async fn hand_over(
    service: &SolverService,
    deadline: Option<Deadline>,
    board: Board,
    options: Options,
) -> Result<Answers, Failure> {
    let searches = Searches::new(&service.pool);
    let (job, finished) = Job::new(vec![board], options, searches.flag().clone());
    searches
        .queue()
        .push(Line::Call, job)
        .map_err(|_| Failure::CallsFull {
            max: service.settings.queued_calls_max,
        })?;
    let finished = tokio::select! {
        biased;
        finished = finished => finished.map_err(|_| Failure::Internal)?,
        failure = deadline::end(deadline, service.life.watch()) => return Err(failure),
    };
    searches.over();
    Ok(finished.answers)
}

fn response(board: &Board, answers: &Answers) -> Result<pb::SolveResponse, Failure> {
    let (answer, solutions) = answers.get(0).ok_or(Failure::Internal)?;
    Ok(pb::SolveResponse {
        result: Some(wire::result(board, answer, solutions)),
    })
}
