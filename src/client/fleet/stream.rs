//! One stream: boards out as far as its window lets, answers in, and what is left when it ends.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use prost::bytes::Bytes;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Status, Streaming};

use super::{
    backoff::chance,
    bounds::{FAREWELL, OPEN_TIMEOUT, STREAM_AGE},
    desk::{Charge, Desk},
    ledger::{NotSent, Parcel},
    unanswered::{Failure, Reason},
    verdict::{self, Verdict},
};
use crate::client::{Client, response::Response};

/// How a stream ended.
#[derive(Debug)]
pub(super) enum End {
    /// Every outcome of the job is known.
    Settled,
    /// It was old, and is to be followed by another.
    Aged,
    /// It broke. What it had not answered was given back.
    Broken {
        failure: Failure,
        verdict: Verdict,
        /// Whether it had answered anything.
        useful: bool,
    },
}

/// What a stream goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Boards that it may owe answers for.
    pub(super) window: usize,
    /// How long it may owe without giving any.
    pub(super) stall: Duration,
}

/// Runs one stream to its end. `server` is its name in messages; `opened` is called once it is open.
pub(super) async fn run(
    client: &Client,
    server: &str,
    desk: &Arc<Desk>,
    terms: Terms,
    opened: impl FnOnce(),
) -> End {
    let broken = |status: &Status| End::Broken {
        failure: Failure::new(server, status),
        verdict: verdict::of(status, false),
        useful: false,
    };
    // Unbounded in type only: every board in it has a place in the window.
    let (requests, outgoing) = mpsc::unbounded_channel();
    // Not a board is risked before the server has answered the call: one that hangs, or that
    // refuses streams, holds nothing up.
    let call = client.call(UnboundedReceiverStream::new(outgoing));
    let called = tokio::select! {
        called = timeout(OPEN_TIMEOUT, call) => called,
        () = desk.settled() => return End::Settled,
    };
    let responses = match called {
        Ok(Ok(responses)) => responses,
        Ok(Err(status)) => return broken(&status),
        Err(_) => return broken(&silent(OPEN_TIMEOUT)),
    };
    opened();
    let _open = desk.opened();
    let mut stream = Stream {
        responses,
        requests: Some(requests),
        held: Held::new(desk),
        answers: 0,
        progress: Instant::now(),
    };
    match stream.work(desk, terms).await {
        Ok(end) => end,
        Err(status) => {
            let useful = stream.answers > 0;
            let failure = Failure::new(server, &status);
            let verdict = verdict::of(&status, stream.held.boards > 0);
            stream.held.charge(match verdict {
                Verdict::Again => Some(Charge::Attempt(failure.clone())),
                Verdict::RefusedMessage => {
                    let reason = Reason::Refused(failure.clone());
                    Some(Charge::Refusal(Arc::new(reason)))
                }
                Verdict::After(_) | Verdict::RefusedServer => None,
            });
            End::Broken {
                failure,
                verdict,
                useful,
            }
        }
    }
}

fn silent(time: Duration) -> Status {
    Status::unavailable(format!("nothing came for {time:?}"))
}

struct Stream {
    responses: Streaming<Response>,
    /// Gone once nothing more is to be sent.
    requests: Option<mpsc::UnboundedSender<Bytes>>,
    held: Held,
    answers: u64,
    /// When the server last gave something, or began to owe it.
    progress: Instant,
}

impl Stream {
    async fn work(&mut self, desk: &Desk, terms: Terms) -> Result<End, Status> {
        let age = sleep(STREAM_AGE.mul_f64(0.9 + chance() / 5.0));
        let settled = desk.settled();
        tokio::pin!(age, settled);
        loop {
            let room = self.requests.is_some() && self.held.boards < terms.window;
            // Answers, or the end of a call that was finished.
            let owing = self.held.boards > 0 || self.requests.is_none();
            tokio::select! {
                parcel = desk.take(), if room => self.send(parcel),
                response = self.responses.message() => match response? {
                    Some(response) => self.receive(response)?,
                    None => return self.ended(),
                },
                () = &mut age, if self.requests.is_some() => self.finish(),
                () = sleep_until(self.progress + terms.stall), if owing => {
                    return Err(silent(terms.stall));
                }
                () = &mut settled => {
                    self.farewell().await;
                    return Ok(End::Settled);
                }
            }
        }
    }

    /// Nothing more will be sent.
    fn finish(&mut self) {
        if self.held.boards == 0 {
            self.progress = Instant::now();
        }
        self.requests = None;
    }

    fn send(&mut self, parcel: Parcel) {
        if self.held.boards == 0 {
            self.progress = Instant::now();
        }
        // If the transport takes nothing any more, the responses will say why.
        if let Some(requests) = &self.requests {
            drop(requests.send(parcel.message));
        }
        self.held.boards += parcel.boards;
        self.held.parcels.push_back((parcel.number, parcel.boards));
    }

    fn receive(&mut self, mut response: Response) -> Result<(), Status> {
        if response.first_index() != self.answers {
            return Err(Status::internal("an answer is out of order"));
        }
        self.progress = Instant::now();
        while response.left() > 0 {
            let not_sent = |NotSent| Status::internal("an answer to no board that was sent");
            let &mut (number, ref mut left) = self
                .held
                .parcels
                .front_mut()
                .ok_or_else(|| not_sent(NotSent))?;
            let part = response.split((*left).min(response.left()));
            let boards = part.left();
            *left -= boards;
            if *left == 0 {
                self.held.parcels.pop_front();
            }
            self.held.boards -= boards;
            self.answers += boards as u64;
            self.held.desk.answered(number, part).map_err(not_sent)?;
        }
        Ok(())
    }

    /// The server has ended the call as if all were well.
    fn ended(&self) -> Result<End, Status> {
        if self.requests.is_none() && self.held.boards == 0 {
            Ok(End::Aged)
        } else {
            Err(Status::unavailable(
                "the server ended the call before its client did",
            ))
        }
    }

    /// Lets the server see the end of the call, unless the job was given up.
    async fn farewell(&mut self) {
        self.requests = None;
        if self.held.boards == 0 {
            drop(timeout(FAREWELL, self.responses.message()).await);
        }
    }
}

/// The parcels that a stream has sent and not had answered. Whatever becomes of the stream, they go
/// back.
struct Held {
    desk: Arc<Desk>,
    /// Their numbers, and how many of their boards are unanswered.
    parcels: VecDeque<(u64, usize)>,
    boards: usize,
    charge: Option<Charge>,
}

impl Held {
    fn new(desk: &Arc<Desk>) -> Held {
        Held {
            desk: Arc::clone(desk),
            parcels: VecDeque::new(),
            boards: 0,
            charge: None,
        }
    }

    fn charge(&mut self, charge: Option<Charge>) {
        self.charge = charge;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let numbers = self.parcels.iter().map(|&(number, _)| number);
        self.desk.give_back(numbers, self.charge.as_ref());
    }
}
