//! `Solve`: one board, one answer.

use tonic::metadata::MetadataMap;

use super::{
    SolverService,
    deadline::{self, Searches},
    failure::Failure,
    queue::{Job, Line},
};
use crate::{
    board::text,
    wire::{self, pb},
};

pub(super) async fn solve(
    service: &SolverService,
    metadata: &MetadataMap,
    request: &pb::SolveRequest,
) -> Result<pb::SolveResponse, Failure> {
    let deadline = deadline::deadline(metadata)?;
    let options = wire::options(request.options.as_ref(), service.settings.defaults)
        .map_err(Failure::Options)?;
    let board = text::parse(&request.board).map_err(Failure::Malformed)?;

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
    let (answer, solutions) = finished.answers.get(0).ok_or(Failure::Internal)?;
    Ok(pb::SolveResponse {
        result: Some(wire::result(&board, answer, solutions)),
    })
}
