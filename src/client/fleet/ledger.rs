//! Which boards are answered and which are not: every board taken in gets one outcome, in order,
//! however often the streams break that carry it. No sockets, no clocks, no locks here.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use prost::bytes::Bytes;

use super::unanswered::{Failure, Reason};
use crate::client::{request::Texts, response::Response};

/// The boards of a job that were taken in and not handed out, by the messages that they came in.
#[derive(Debug)]
pub(super) struct Ledger {
    /// In order; the front holds the next board to hand out.
    entries: VecDeque<Entry>,
    /// The number of the front entry.
    first: u64,
    /// Entries with unanswered boards that no stream has.
    waiting: BTreeSet<u64>,
    /// How many entries have unanswered boards, on a stream or not.
    unanswered: usize,
    attempts_max: u32,
    /// No more boards will be taken in.
    fed: bool,
    /// Why the job has ended early, if it has.
    over: Option<Arc<Reason>>,
}

/// The boards of one message.
#[derive(Debug)]
struct Entry {
    unanswered: Texts,
    /// Outcomes of the boards before those.
    ready: VecDeque<Piece>,
    attempts: u32,
    places: u32,
}

/// The unanswered boards of one message, for a stream to send.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    pub(super) number: u64,
    pub(super) boards: usize,
    pub(super) message: Bytes,
}

/// Boards and their outcome: answers, or one reason for all of them.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) texts: Texts,
    pub(super) outcome: Result<Response, Arc<Reason>>,
}

/// What can be handed out.
#[derive(Debug)]
pub(super) enum Next {
    /// These boards, and how many places that frees.
    Piece(Piece, u32),
    /// Nothing yet.
    Wait,
    /// Nothing any more.
    End,
}

/// A response that answers boards which its stream was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotSent;

impl Ledger {
    pub(super) fn new(attempts_max: u32) -> Ledger {
        Ledger {
            entries: VecDeque::new(),
            first: 0,
            waiting: BTreeSet::new(),
            unanswered: 0,
            attempts_max,
            fed: false,
            over: None,
        }
    }

    /// Takes in the boards of a message that fills so many places; `false` if the job is over.
    pub(super) fn add(&mut self, texts: Texts, places: u32) -> bool {
        if self.over.is_some() {
            return false;
        }
        if texts.is_empty() {
            return true;
        }
        self.waiting.insert(self.first + self.entries.len() as u64);
        self.unanswered += 1;
        self.entries.push_back(Entry {
            unanswered: texts,
            ready: VecDeque::new(),
            attempts: 0,
            places,
        });
        true
    }

    /// No more boards will be taken in.
    pub(super) fn close(&mut self) {
        self.fed = true;
    }

    /// Whether every outcome is known, and no board will be taken in.
    pub(super) fn is_settled(&self) -> bool {
        self.over.is_some() || self.fed && self.unanswered == 0
    }

    /// The boards to send next: what comes first in the job goes first, as others wait for it.
    pub(super) fn take(&mut self) -> Option<Parcel> {
        let number = self.waiting.pop_first()?;
        let entry = self.entry(number)?;
        Some(Parcel {
            number,
            boards: entry.unanswered.left(),
            message: entry.unanswered.message(),
        })
    }

    /// The first unanswered boards of a parcel have got their answers: as many as the response
    /// holds, which are no more than the parcel has left.
    pub(super) fn answered(&mut self, number: u64, response: Response) -> Result<(), NotSent> {
        let boards = response.left();
        // The job may have ended since: then they have another outcome already.
        let Some(entry) = self.entry(number) else {
            return Ok(());
        };
        if entry.unanswered.left() < boards {
            return Err(NotSent);
        }
        let texts = entry.unanswered.split(boards);
        let all = entry.unanswered.is_empty();
        entry.ready.push_back(Piece {
            texts,
            outcome: Ok(response),
        });
        self.unanswered -= usize::from(all);
        Ok(())
    }

    /// A stream has ended before it answered this parcel, which is to be sent again.
    pub(super) fn give_back(&mut self, number: u64) {
        if self.entry(number).is_some() {
            self.waiting.insert(number);
        }
    }

    /// The same, and this parcel was the one that the stream was at.
    pub(super) fn give_back_charged(&mut self, number: u64, failure: &Failure) {
        let attempts_max = self.attempts_max;
        let Some(entry) = self.entry(number) else {
            return;
        };
        entry.attempts += 1;
        let attempts = entry.attempts;
        if attempts < attempts_max {
            self.waiting.insert(number);
        } else {
            let failure = failure.clone();
            self.give_up(number, &Arc::new(Reason::Attempts { attempts, failure }));
        }
    }

    /// Nobody will answer what is left of this parcel.
    pub(super) fn give_up(&mut self, number: u64, reason: &Arc<Reason>) {
        if let Some(entry) = self.entry(number) {
            entry.fail(reason);
            self.unanswered -= 1;
            self.waiting.remove(&number);
        }
    }

    /// The job ends here: what is unanswered remains so. Only the first reason counts.
    pub(super) fn end(&mut self, reason: Reason) {
        if self.over.is_some() {
            return;
        }
        let reason = Arc::new(reason);
        for entry in &mut self.entries {
            if !entry.unanswered.is_empty() {
                entry.fail(&reason);
            }
        }
        self.waiting.clear();
        self.unanswered = 0;
        self.over = Some(reason);
    }

    /// Why the job has ended early, if it has.
    pub(super) fn over(&self) -> Option<&Arc<Reason>> {
        self.over.as_ref()
    }

    /// The next outcomes, in the order of the boards.
    pub(super) fn next(&mut self) -> Next {
        let Some(front) = self.entries.front_mut() else {
            return if self.is_settled() {
                Next::End
            } else {
                Next::Wait
            };
        };
        let Some(piece) = front.ready.pop_front() else {
            return Next::Wait;
        };
        let mut places = 0;
        if front.ready.is_empty() && front.unanswered.is_empty() {
            places = front.places;
            self.entries.pop_front();
            self.first += 1;
        }
        Next::Piece(piece, places)
    }

    /// An entry with unanswered boards.
    fn entry(&mut self, number: u64) -> Option<&mut Entry> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.entries
            .get_mut(place)
            .filter(|entry| !entry.unanswered.is_empty())
    }
}

impl Entry {
    fn fail(&mut self, reason: &Arc<Reason>) {
        let texts = self.unanswered.split(self.unanswered.left());
        self.ready.push_back(Piece {
            texts,
            outcome: Err(Arc::clone(reason)),
        });
    }
}
