//! The ledger against whatever streams may do: every board has one outcome, in order.

use std::{collections::VecDeque, sync::Arc};

use proptest::{collection::vec, prelude::*};
use prost::Message as _;
use tonic::{Code, Status};

use super::{
    FleetSettings, Sizes, bounds,
    ledger::{Ledger, Next, NotSent},
    unanswered::{Failure, Reason},
};
use crate::{
    client::{BatchSettings, request::Request, response::Response},
    wire::pb,
};

const ATTEMPTS: u32 = 3;

/// Something that happens to a job.
#[derive(Clone, Debug)]
enum Event {
    Add { boards: usize },
    Take { stream: usize },
    Answer { stream: usize, boards: usize },
    Break { stream: usize, charged: bool },
    Refuse { stream: usize },
    HandOut,
    End,
}

fn event() -> impl Strategy<Value = Event> {
    let stream = 0..4_usize;
    prop_oneof![
        4 => (1..6_usize).prop_map(|boards| Event::Add { boards }),
        6 => stream.clone().prop_map(|stream| Event::Take { stream }),
        8 => (stream.clone(), 1..6_usize)
            .prop_map(|(stream, boards)| Event::Answer { stream, boards }),
        2 => (stream.clone(), any::<bool>())
            .prop_map(|(stream, charged)| Event::Break { stream, charged }),
        1 => stream.prop_map(|stream| Event::Refuse { stream }),
        4 => Just(Event::HandOut),
        1 => prop_oneof![9 => Just(Event::HandOut), 1 => Just(Event::End)],
    ]
}

/// What a server has been sent and not answered, by the numbers of the parcels.
type Sent = VecDeque<(u64, VecDeque<String>)>;

struct Job {
    ledger: Ledger,
    streams: [Sent; 4],
    added: usize,
    places: u32,
    /// Text and answer of every board that was handed out.
    out: Vec<(String, Result<u32, Arc<Reason>>)>,
}

impl Job {
    fn new() -> Job {
        Job {
            ledger: Ledger::new(ATTEMPTS),
            streams: Default::default(),
            added: 0,
            places: 0,
            out: Vec::new(),
        }
    }

    fn happens(&mut self, event: &Event) {
        match *event {
            Event::Add { boards } => self.add(boards),
            Event::Take { stream } => {
                self.take(stream);
            }
            Event::Answer { stream, boards } => self.answer(stream, boards),
            Event::Break { stream, charged } => {
                let sent = std::mem::take(&mut self.streams[stream]);
                for (place, (number, _)) in sent.into_iter().enumerate() {
                    if charged && place == 0 {
                        self.ledger.give_back_charged(number, &failure());
                    } else {
                        self.ledger.give_back(number);
                    }
                }
            }
            Event::Refuse { stream } => {
                if let Some((number, _)) = self.streams[stream].pop_front() {
                    let reason = Arc::new(Reason::Refused(failure()));
                    self.ledger.give_up(number, &reason);
                }
                self.happens(&Event::Break {
                    stream,
                    charged: false,
                });
            }
            Event::HandOut => {
                self.hand_out();
            }
            Event::End => self.ledger.end(Reason::AllRefused(failure())),
        }
    }

    /// Boards whose texts are their places in the job.
    fn add(&mut self, boards: usize) {
        let mut request = Request::new(None);
        for place in self.added..self.added + boards {
            request.push(&place.to_string());
        }
        let options = pb::SolveOptions {
            solution_limit: Some(7),
            node_limit: None,
        };
        let (_, texts) = request.finish(&options);
        if self.ledger.add(texts, 1) {
            self.added += boards;
            self.places += 1;
        }
    }

    fn take(&mut self, stream: usize) -> bool {
        let Some(parcel) = self.ledger.take() else {
            return false;
        };
        let message = pb::SolveBatchRequest::decode(parcel.message).unwrap();
        assert_eq!(message.options.unwrap().solution_limit, Some(7));
        assert_eq!(message.boards.len(), parcel.boards);
        self.streams[stream].push_back((parcel.number, message.boards.into()));
        true
    }

    /// Answers some boards of the first parcel, as a server does that knows its message only.
    fn answer(&mut self, stream: usize, boards: usize) {
        let Some((number, texts)) = self.streams[stream].front_mut() else {
            return;
        };
        let boards = boards.min(texts.len());
        let answered: Vec<String> = texts.drain(..boards).collect();
        let number = *number;
        if texts.is_empty() {
            self.streams[stream].pop_front();
        }
        self.ledger.answered(number, response(&answered)).unwrap();
    }

    fn hand_out(&mut self) -> bool {
        let Next::Piece(mut piece, places) = self.ledger.next() else {
            return false;
        };
        self.places -= places;
        while let Some(text) = piece.texts.next() {
            let answer = match &mut piece.outcome {
                Ok(response) => Ok(pb::SolveResult::decode(response.next().unwrap())
                    .unwrap()
                    .nodes),
                Err(reason) => Err(Arc::clone(reason)),
            };
            self.out.push((text.to_owned(), answer));
        }
        if let Ok(response) = &piece.outcome {
            assert_eq!(response.left(), 0, "an answer without a board");
        }
        true
    }

    /// Streams that behave answer what is left.
    fn finish(&mut self) {
        self.ledger.close();
        for stream in 0..4 {
            while !self.streams[stream].is_empty() {
                self.answer(stream, 3);
            }
        }
        while self.take(0) {
            self.answer(0, usize::MAX);
        }
        assert!(self.ledger.is_settled());
        while self.hand_out() {}
        assert!(matches!(self.ledger.next(), Next::End));
    }
}

fn failure() -> Failure {
    Failure::new("http://one", &Status::unavailable("gone"))
}

/// Answers whose count of nodes is the text.
fn response(texts: &[String]) -> Response {
    let result = |text: &String| pb::SolveResult {
        nodes: text.parse().unwrap(),
        ..pb::SolveResult::default()
    };
    let response = pb::SolveBatchResponse {
        first_index: 0,
        results: texts.iter().map(result).collect(),
    };
    Response::decode(response.encode_to_vec().into()).unwrap()
}

proptest! {
    #[test]
    fn every_board_has_one_outcome_in_order(events in vec(event(), 0..300)) {
        let mut job = Job::new();
        for event in &events {
            job.happens(event);
        }
        let over = job.ledger.over().is_some();
        job.finish();
        prop_assert_eq!(job.out.len(), job.added);
        prop_assert_eq!(job.places, 0, "every place is free again");
        let refused = events.iter().any(|event| matches!(event, Event::Refuse { .. }));
        for (index, (text, answer)) in job.out.iter().enumerate() {
            prop_assert_eq!(text, &index.to_string());
            match answer.as_ref().map_err(AsRef::as_ref) {
                Ok(&nodes) => prop_assert_eq!(nodes as usize, index, "another board's answer"),
                Err(Reason::Attempts { attempts, .. }) => prop_assert_eq!(*attempts, ATTEMPTS),
                Err(Reason::Refused(_)) => prop_assert!(refused),
                Err(reason) => prop_assert!(over, "{reason}"),
            }
        }
    }

    #[test]
    fn breaks_that_charge_nobody_lose_nothing(events in vec(event(), 0..300)) {
        let mut job = Job::new();
        for event in &events {
            match *event {
                Event::Refuse { stream } | Event::Break { stream, .. } => {
                    job.happens(&Event::Break { stream, charged: false });
                }
                Event::End => {}
                _ => job.happens(event),
            }
        }
        job.finish();
        prop_assert_eq!(job.out.len(), job.added);
        prop_assert!(job.out.iter().all(|(_, answer)| answer.is_ok()));
    }

    #[test]
    fn sizes_are_within_their_bounds(
        boards_buffered: usize,
        boards_in_flight: usize,
        boards_per_message: usize,
        solution_limit: Option<u32>,
    ) {
        let batch = BatchSettings { solution_limit, boards_per_message, boards_in_flight, ..BatchSettings::default() };
        let sizes = Sizes::of(&FleetSettings { batch, boards_buffered, ..FleetSettings::default() });
        prop_assert!(1 <= sizes.message && sizes.message <= sizes.window);
        prop_assert!(sizes.window <= sizes.buffered);
        prop_assert!(sizes.buffered <= bounds::BOARDS_BUFFERED_MAX);
        let limit = solution_limit.unwrap_or(2) as usize;
        prop_assert!(sizes.buffered == 1 || sizes.buffered * limit <= bounds::SOLUTIONS_BUFFERED_MAX);
    }
}

#[test]
fn the_unanswered_rest_of_a_message_goes_first() {
    let mut job = Job::new();
    job.add(5);
    job.add(5);
    job.take(0);
    job.answer(0, 2);
    job.happens(&Event::Break {
        stream: 0,
        charged: true,
    });
    job.take(1);
    let (number, texts) = &job.streams[1][0];
    assert_eq!((*number, texts.len(), texts[0].as_str()), (0, 3, "2"));
    job.finish();
    assert!(job.out.iter().all(|(_, answer)| answer.is_ok()));
}

#[test]
fn answers_beyond_what_was_sent_are_refused() {
    let mut job = Job::new();
    job.add(2);
    job.take(0);
    let too_many = response(&["0", "1", "2"].map(str::to_owned));
    assert_eq!(job.ledger.answered(0, too_many), Err(NotSent));
    job.finish();
}

#[test]
fn a_failure_says_where_and_why() {
    let reason = Reason::Attempts {
        attempts: 3,
        failure: failure(),
    };
    assert_eq!(
        reason.to_string(),
        "sent 3 times in vain; the last time, http://one: gone (Unavailable)"
    );
    assert_eq!(failure().code, Code::Unavailable);
}
