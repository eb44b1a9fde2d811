//! The hand-written messages of `SolveBatch` beside the generated ones: the same bytes out, and of any
//! bytes in the same content or the same refusal.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use std::{collections::VecDeque, ops::Range, sync::Arc};

use proptest::{collection::vec, option, prelude::*, sample::Index};
use prost::{
    Message as _,
    bytes::{Buf, BufMut as _},
    encoding::{self, WireType},
};
use sudoku_solver::{
    board::{Board, text},
    solver::{
        Outcome, Verdict,
        answers::{Answer, Answers},
    },
    wire::{
        self,
        batch_reply::{BatchReply, Results},
        batch_request::BatchRequest,
        pb::{SolveBatchRequest, SolveBatchResponse, SolveOptions},
    },
};

use common::{batch::reproducible, boards::any_board};

/// A receive buffer in pieces.
#[derive(Clone, Debug)]
struct Pieces<'a>(VecDeque<&'a [u8]>);

impl<'a> Pieces<'a> {
    fn new(bytes: &'a [u8], cuts: &[Index]) -> Self {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
        // A buffer shows an empty piece only when nothing is left.
        Pieces(pieces.filter(|piece| !piece.is_empty()).collect())
    }
}

impl Buf for Pieces<'_> {
    fn remaining(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.front().copied().unwrap_or_default()
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let piece = self.0.pop_front().unwrap();
            let step = count.min(piece.len());
            count -= step;
            if step < piece.len() {
                self.0.push_front(&piece[step..]);
            }
        }
    }
}

/// A part of a message's bytes, as any client of any version could send it, or none would.
#[derive(Clone, Debug)]
enum Field {
    Board(Vec<u8>),
    Options(SolveOptions),
    /// A field that this version does not know, or knows with another wire type.
    Other(u32, Value),
    Junk(Vec<u8>),
}

#[derive(Clone, Debug)]
enum Value {
    Varint(u64),
    Four(u32),
    Eight(u64),
    Bytes(Vec<u8>),
    Group(Vec<(u32, Value)>),
    /// A group that nothing ends.
    Open,
    /// The end of a group that nothing began.
    End,
}

impl Field {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Field::Board(text) => encoding::bytes::encode(1, text, bytes),
            Field::Options(options) => encoding::message::encode(2, options, bytes),
            Field::Other(tag, value) => value.encode(*tag, bytes),
            Field::Junk(junk) => bytes.extend(junk),
        }
    }
}

impl Value {
    fn encode(&self, tag: u32, bytes: &mut Vec<u8>) {
        let key = |wire_type, bytes: &mut Vec<u8>| encoding::encode_key(tag, wire_type, bytes);
        match self {
            Value::Varint(number) => encoding::uint64::encode(tag, number, bytes),
            Value::Four(number) => encoding::fixed32::encode(tag, number, bytes),
            Value::Eight(number) => encoding::fixed64::encode(tag, number, bytes),
            Value::Bytes(content) => encoding::bytes::encode(tag, content, bytes),
            Value::Group(fields) => {
                key(WireType::StartGroup, bytes);
                for (tag, value) in fields {
                    value.encode(*tag, bytes);
                }
                key(WireType::EndGroup, bytes);
            }
            Value::Open => key(WireType::StartGroup, bytes),
            Value::End => key(WireType::EndGroup, bytes),
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => any_board().prop_map(|board| board.to_string()),
        2 => "[0-9.]{81}",
        2 => "[1-9_*x?-]{81}",
        2 => "[1-9.]{78,84}",
        1 => "[1-9.]{80}[ -~]",
        1 => "\\PC{0,40}",
        1 => "[1-9.]{79}é",
        1 => "([1-9.]{9}\n){9}",
        1 => Just(String::new()),
    ]
}

fn any_options() -> impl Strategy<Value = SolveOptions> {
    (option::of(any::<u32>()), option::of(any::<u32>())).prop_map(|(solution_limit, node_limit)| {
        SolveOptions {
            solution_limit,
            node_limit,
        }
    })
}

fn any_request() -> impl Strategy<Value = SolveBatchRequest> {
    (vec(any_text(), 0..40), option::of(any_options()))
        .prop_map(|(boards, options)| SolveBatchRequest { boards, options })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => any::<u64>().prop_map(Value::Varint),
        4 => any::<u32>().prop_map(Value::Four),
        4 => any::<u64>().prop_map(Value::Eight),
        4 => vec(any::<u8>(), 0..90).prop_map(Value::Bytes),
        1 => Just(Value::Open),
        1 => Just(Value::End),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        vec((1_u32..20, inner), 0..3).prop_map(Value::Group)
    })
}

fn any_field() -> impl Strategy<Value = Field> {
    prop_oneof![
        12 => any_text().prop_map(|text| Field::Board(text.into_bytes())),
        1 => vec(any::<u8>(), 81).prop_map(Field::Board),
        3 => any_options().prop_map(Field::Options),
        3 => (1_u32..5, any_value()).prop_map(|(tag, value)| Field::Other(tag, value)),
        2 => (1_u32..1 << 29, any_value()).prop_map(|(tag, value)| Field::Other(tag, value)),
        1 => vec(any::<u8>(), 0..12).prop_map(Field::Junk),
    ]
}

/// What a broken or hostile sender does to a message.
#[derive(Clone, Debug)]
enum Damage {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Truncate(Index),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            _ if bytes.is_empty() => {}
            Damage::Set(at, byte) => *at.get_mut(bytes) = *byte,
            Damage::Insert(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
            Damage::Remove(at) => drop(bytes.remove(at.index(bytes.len()))),
            Damage::Truncate(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        at().prop_map(Damage::Remove),
        at().prop_map(Damage::Truncate),
    ]
}

type Outcomes = Vec<Result<Board, text::MalformedBoard>>;

/// Everything in a message's boards, `at_once` of them at a time.
fn outcomes(request: &mut BatchRequest, at_once: usize) -> Outcomes {
    let mut all = Vec::new();
    while !request.boards.is_empty() {
        let mut boards = Vec::new();
        let mut malformed = VecDeque::new();
        let taken = request.boards.take(at_once, &mut boards, |place, error| {
            malformed.push_back((place, error));
        });
        assert!((1..=at_once).contains(&taken));
        assert_eq!(taken, boards.len() + malformed.len());
        let mut boards = boards.into_iter();
        all.extend((0..taken).map(
            |place| match malformed.pop_front_if(|(at, _)| *at == place) {
                Some((_, error)) => Err(error),
                None => Ok(boards.next().unwrap()),
            },
        ));
    }
    all
}

/// Both decoders say the same of these bytes, in whatever pieces they come.
#[track_caller]
fn assert_decoded_alike(bytes: &[u8], cuts: &[Index], at_once: usize) {
    let generated = SolveBatchRequest::decode(bytes);
    let own = BatchRequest::decode(&mut Pieces::new(bytes, cuts), usize::MAX);
    match (own, generated) {
        (Ok(mut own), Ok(generated)) => {
            assert_eq!(own.options, generated.options);
            assert_eq!(own.boards.sent(), generated.boards.len());
            let parsed: Outcomes = generated.boards.iter().map(|t| text::parse(t)).collect();
            assert_eq!(outcomes(&mut own, at_once), parsed);
        }
        (Err(own), Err(generated)) => assert_eq!(own.to_string(), generated.to_string()),
        (own, generated) => panic!("{own:?}, but generated: {generated:?}"),
    }
}

proptest! {
    #![proptest_config(reproducible(2_000))]

    #[test]
    fn a_valid_request_is_read_as_the_generated_type_reads_it(
        request in any_request(),
        cuts in vec(any::<Index>(), 0..6),
        at_once in 1_usize..50,
    ) {
        assert_decoded_alike(&request.encode_to_vec(), &cuts, at_once);
    }

    #[test]
    fn any_fields_in_any_order_are_read_or_refused_alike(
        fields in vec(any_field(), 0..8),
        damage in vec(any_damage(), 0..4),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let mut bytes = Vec::new();
        for field in &fields {
            field.encode(&mut bytes);
        }
        assert_decoded_alike(&bytes, &cuts, usize::MAX);
        for damage in &damage {
            damage.apply(&mut bytes);
            assert_decoded_alike(&bytes, &cuts, 3);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_alike(
        bytes in vec(any::<u8>(), 0..60),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        assert_decoded_alike(&bytes, &cuts, usize::MAX);
    }

    #[test]
    fn boards_past_the_bound_are_counted_and_not_kept(
        request in any_request(),
        most in 0_usize..40,
    ) {
        let bytes = request.encode_to_vec();
        let mut own = BatchRequest::decode(&mut &bytes[..], most).unwrap();
        prop_assert_eq!(own.boards.sent(), request.boards.len());
        let kept = request.boards.iter().take(most).map(|text| text::parse(text));
        prop_assert_eq!(outcomes(&mut own, usize::MAX), kept.collect::<Outcomes>());
    }
}

/// Groups may nest as deep as the generated type lets them, and no deeper.
#[test]
fn nested_groups_end_where_the_generated_type_ends_them() {
    for depth in 1..=120_u32 {
        let mut bytes = Vec::new();
        (0..depth).for_each(|_| encoding::encode_key(9, WireType::StartGroup, &mut bytes));
        (0..depth).for_each(|_| encoding::encode_key(9, WireType::EndGroup, &mut bytes));
        encoding::string::encode(1, &Board::EMPTY.to_string(), &mut bytes);
        assert_decoded_alike(&bytes, &[], 1);
    }
}

/// A field of 81 bytes whose length is written in more bytes than it takes.
#[test]
fn a_long_winded_length_is_a_length() {
    let mut bytes = vec![0x0a, 0xd1, 0x80, 0x00];
    bytes.put_slice(&Board::EMPTY.to_ascii());
    assert_decoded_alike(&bytes, &[], 1);
}

/// One result, as the service has it.
type Found = Result<(Board, Outcome, u64, Vec<Board>), text::MalformedBoard>;

fn any_verdict() -> impl Strategy<Value = Verdict> {
    proptest::sample::select(vec![
        Verdict::Unique,
        Verdict::Multiple,
        Verdict::Unsolvable,
        Verdict::Solved,
        Verdict::ClashingGivens,
        Verdict::Undecided,
    ])
}

/// Numbers of every length on the wire.
fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| number >> shift)
}

fn any_found() -> impl Strategy<Value = Found> {
    let answered = (
        (any_board(), 1_u8..=9),
        any_verdict(),
        any_number(),
        any_number(),
        vec(any_board(), 0..4),
    )
        .prop_map(|((board, most), verdict, nodes, nanos, solutions)| {
            // Few digits clash as often as can be.
            let board = Board::new(board.values().map(|value| value.min(most))).unwrap();
            let outcome = Outcome {
                verdict,
                solution_count: u32::try_from(solutions.len()).unwrap(),
                nodes: u32::try_from(nodes >> 32).unwrap(),
            };
            (board, outcome, nanos, solutions)
        });
    let malformed = any_text().prop_filter_map("a board", |text| text::parse(&text).err());
    prop_oneof![9 => answered.prop_map(Ok), 1 => malformed.prop_map(Err)]
}

/// As the solver threads hand it over.
fn results(found: &[Found]) -> Results {
    let mut boards = Vec::new();
    let mut answers = Answers::default();
    let mut malformed = Vec::new();
    for (place, found) in found.iter().enumerate() {
        match found {
            Ok((board, outcome, solve_nanos, solutions)) => {
                boards.push(*board);
                answers.answers.push(Answer {
                    outcome: *outcome,
                    solve_nanos: *solve_nanos,
                    first_solution: u32::try_from(answers.solutions.len()).unwrap(),
                });
                answers.solutions.extend(solutions);
            }
            Err(error) => malformed.push((place, error.clone())),
        }
    }
    Results::new(boards, answers, malformed).unwrap()
}

fn generated(first_index: u64, found: &[Found]) -> SolveBatchResponse {
    let results = found.iter().map(|found| match found {
        Err(error) => wire::malformed(error),
        Ok((board, outcome, solve_nanos, solutions)) => {
            let answer = Answer {
                outcome: *outcome,
                solve_nanos: *solve_nanos,
                first_solution: 0,
            };
            wire::result(board, &answer, solutions)
        }
    });
    SolveBatchResponse {
        first_index,
        results: results.collect(),
    }
}

fn encoded(reply: &BatchReply) -> Vec<u8> {
    let mut bytes = Vec::new();
    reply.encode(&mut bytes);
    bytes
}

proptest! {
    #![proptest_config(reproducible(2_000))]

    #[test]
    fn a_reply_has_the_bytes_of_the_generated_type(
        first_index in any_number(),
        jobs in vec(vec(any_found(), 1..8), 1..4),
    ) {
        let mut reply = BatchReply::new(first_index);
        for job in &jobs {
            let added = reply.add(&Arc::new(results(job)), 0, usize::MAX);
            prop_assert_eq!(added, job.len());
        }
        let all = jobs.concat();
        prop_assert_eq!(reply.len(), all.len());
        let bytes = encoded(&reply);
        prop_assert_eq!(&bytes, &generated(first_index, &all).encode_to_vec());
        prop_assert!(bytes.len() <= reply.bytes_max());
    }

    #[test]
    fn replies_of_a_bounded_size_hold_every_result_once(
        job in vec(any_found(), 1..30),
        bytes_max in 0_usize..3_000,
    ) {
        let shared = Arc::new(results(&job));
        let mut place = 0;
        while place < job.len() {
            let mut reply = BatchReply::new(place as u64);
            let added = reply.add(&shared, place, bytes_max);
            let places: Range<usize> = place..place + added;
            prop_assert!(added > 0);
            let bytes = encoded(&reply);
            prop_assert!(added == 1 || bytes.len() <= bytes_max);
            prop_assert_eq!(&bytes, &generated(place as u64, &job[places]).encode_to_vec());
            place += added;
        }
    }
}
