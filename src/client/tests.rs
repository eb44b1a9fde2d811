//! The hand-written messages against the generated ones: what is sent is the same to the byte,
//! what is received is read the same, sound or broken, however the transport cuts it.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Frame};
use proptest::{
    collection::vec, option, prelude::*, prop_oneof, proptest, sample::Index, string::string_regex,
    test_runner::TestCaseResult,
};
use prost::{
    Message as _,
    bytes::{Bytes, BytesMut},
    encoding::{WireType, encode_key, encode_varint},
};
use tokio::sync::{Semaphore, mpsc};
use tonic::{
    Status as RpcStatus, Streaming,
    codec::{Codec as _, EncodeBody},
    codegen::http::StatusCode,
};

use super::{Answer, Answers, Error, Status, codec::BatchCodec, request::Request};
use crate::{
    board::{Board, check::Clash, text::MalformedBoard, units::Unit},
    wire::pb,
};

/// Bytes in pieces, as a transport gives them.
struct Pieces(VecDeque<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }
}

/// Cuts `bytes` at these places.
fn cut(bytes: &[u8], cuts: &[Index]) -> Pieces {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let piece = |ends: &[usize]| Bytes::copy_from_slice(&bytes[ends[0]..ends[1]]);
    Pieces(places.windows(2).map(piece).collect())
}

/// A message in the frame of gRPC.
fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = vec![0];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend(message);
    framed
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

/// The bytes that a transport would send of a request.
fn sent(message: Bytes) -> Vec<u8> {
    let source = tokio_stream::iter([Ok::<_, RpcStatus>(message)]);
    let mut body = std::pin::pin!(EncodeBody::new_client(
        BatchCodec.encoder(),
        source,
        None,
        None
    ));
    let mut sent = Vec::new();
    block_on(std::future::poll_fn(|cx| {
        while let Some(frame) = std::task::ready!(body.as_mut().poll_frame(cx)) {
            sent.extend(frame.unwrap().into_data().unwrap());
        }
        Poll::Ready(())
    }));
    sent
}

/// What the generated message says, in the client's words; `None` where it breaks the contract.
fn reference<'a>(
    index: u64,
    result: &pb::SolveResult,
    solutions: &'a mut Vec<Board>,
) -> Option<Answer<'a>> {
    for digits in &result.solutions {
        let values: Option<Vec<u8>> = digits
            .chars()
            .map(|digit| digit.to_digit(10).filter(|&digit| digit > 0))
            .map(|digit| u8::try_from(digit?).ok())
            .collect();
        solutions.push(Board::new(values?.try_into().ok()?)?);
    }
    let time = result.solve_time.unwrap_or_default();
    let nanos = u32::try_from(time.nanos)
        .ok()
        .filter(|&n| n < 1_000_000_000)?;
    Some(Answer {
        index,
        board: "the text",
        status: match result.status() {
            pb::SolveStatus::Unspecified => return None,
            status => Status::ALL[usize::try_from(i32::from(status)).unwrap() - 1],
        },
        solutions,
        solution_count: result.solution_count,
        solve_time: Duration::new(u64::try_from(time.seconds).ok()?, nanos),
        nodes: result.nodes,
        clashes: result.clashes.iter().map(clash).collect::<Option<_>>()?,
        malformed: result.malformed.as_ref().map(|malformed| MalformedBoard {
            reason: malformed.reason.clone(),
            position: malformed.position,
            found: malformed.found.chars().next(),
        }),
    })
}

fn clash(clash: &pb::Clash) -> Option<Clash> {
    let number = u8::try_from(clash.unit_number)
        .ok()
        .filter(|n| (1..=9).contains(n))?
        - 1;
    let cells = clash.cells.iter();
    Some(Clash {
        unit: match clash.unit() {
            pb::UnitKind::Unspecified => return None,
            pb::UnitKind::Row => Unit::Row(number),
            pb::UnitKind::Column => Unit::Column(number),
            pb::UnitKind::Box => Unit::Box(number),
        },
        digit: u8::try_from(clash.digit)
            .ok()
            .filter(|d| (1..=9).contains(d))?,
        cells: cells
            .map(|&cell| u8::try_from(cell).ok().filter(|&cell| cell < 81))
            .collect::<Option<_>>()?,
    })
}

/// Reads a response with the client and with the generated code, side by side.
fn same_as_generated(response: &[u8], cuts: &[Index]) -> TestCaseResult {
    let generated = pb::SolveBatchResponse::decode(response).ok();
    let boards = generated.as_ref().map_or(1000, |r| r.results.len());
    let (texts, unanswered) = mpsc::unbounded_channel();
    let mut request = Request::new(None);
    (0..boards).for_each(|_| request.push("the text"));
    texts
        .send(request.finish(&pb::SolveOptions::default()).1)
        .unwrap();
    drop(texts);
    let streaming = Streaming::new_response(
        BatchCodec.decoder(),
        cut(&framed(response), cuts),
        StatusCode::OK,
        None,
        None,
    );
    let mut answers = Answers::new(streaming, unanswered, Arc::new(Semaphore::new(0)));
    block_on(async {
        let Some(generated) = generated else {
            // Answers before the place where the message breaks may come out; an end may not.
            while let Ok(answer) = answers.next().await {
                prop_assert!(answer.is_some(), "a broken message passed for a whole one");
            }
            return Ok(());
        };
        if generated.first_index != 0 && boards > 0 {
            let refused = matches!(answers.next().await, Err(Error::BrokenAnswer { .. }));
            prop_assert!(refused, "an answer out of order");
            return Ok(());
        }
        for (index, result) in (0..).zip(&generated.results) {
            let mut solutions = Vec::new();
            let answer = answers.next().await;
            if let Some(expected) = reference(index, result, &mut solutions) {
                prop_assert_eq!(answer.unwrap().unwrap(), expected);
            } else {
                let broken = matches!(answer, Err(Error::BrokenAnswer { .. }));
                prop_assert!(broken, "{result:?}");
            }
        }
        Ok(())
    })
}

/// Mostly what servers send, and now and then what none should.
fn result() -> impl Strategy<Value = pb::SolveResult> {
    let grid = || string_regex("[1-9]{81}").unwrap();
    let solutions = prop_oneof![
        8 => vec(grid(), 0..3),
        1 => vec(string_regex("[0-9é]{80,82}").unwrap(), 1..2),
    ];
    let status = prop_oneof![8 => 1..8, 1 => any::<i32>()];
    let time = prop_oneof![8 => 0..1_000_000_000, 1 => any::<i32>()];
    let seconds = prop_oneof![8 => 0..9_i64, 1 => any::<i64>()];
    let clash = (1..4, 1..10_u32, 1..10_u32, vec(0..82_u32, 0..5)).prop_map(
        |(unit, unit_number, digit, cells)| pb::Clash {
            unit,
            unit_number,
            digit,
            cells,
        },
    );
    let malformed =
        (".{0,9}", option::of(any::<u32>()), ".{0,2}").prop_map(|(reason, position, found)| {
            pb::MalformedBoard {
                reason,
                position,
                found,
            }
        });
    let time = option::of((seconds, time))
        .prop_map(|time| time.map(|(seconds, nanos)| prost_types::Duration { seconds, nanos }));
    let numbers = (any::<u32>(), any::<u32>());
    let rare = (vec(clash, 0..3), option::of(malformed));
    (status, solutions, time, numbers, rare).prop_map(
        |(status, solutions, solve_time, (solution_count, nodes), (clashes, malformed))| {
            pb::SolveResult {
                status,
                solutions,
                solution_count,
                solve_time,
                nodes,
                clashes,
                malformed,
            }
        },
    )
}

/// Fields that a later version of the contract may have.
fn unknown() -> impl Strategy<Value = Vec<u8>> {
    let field = |wire: WireType, value: Vec<u8>| {
        let mut field = BytesMut::new();
        encode_key(1000, wire, &mut field);
        field.extend(value);
        field.to_vec()
    };
    let text = |text: Vec<u8>| {
        let mut value = vec![u8::try_from(text.len()).unwrap()];
        value.extend(text);
        value
    };
    prop_oneof![
        any::<u64>().prop_map(move |number| {
            let mut value = Vec::new();
            encode_varint(number, &mut value);
            field(WireType::Varint, value)
        }),
        vec(any::<u8>(), 0..9).prop_map(move |bytes| field(WireType::LengthDelimited, text(bytes))),
        any::<[u8; 4]>().prop_map(move |bytes| field(WireType::ThirtyTwoBit, bytes.to_vec())),
        any::<[u8; 8]>().prop_map(move |bytes| field(WireType::SixtyFourBit, bytes.to_vec())),
        Just(
            [
                field(WireType::StartGroup, vec![8, 1]),
                field(WireType::EndGroup, vec![])
            ]
            .concat()
        ),
    ]
}

/// An encoded response of some results, with unknown fields at every level, its fields in any
/// order.
fn response() -> impl Strategy<Value = Vec<u8>> {
    let result = (result(), unknown(), any::<bool>()).prop_map(|(result, unknown, before)| {
        let result = result.encode_to_vec();
        let whole = if before {
            [unknown, result]
        } else {
            [result, unknown]
        }
        .concat();
        let mut field = Vec::new();
        encode_key(2, WireType::LengthDelimited, &mut field);
        encode_varint(whole.len() as u64, &mut field);
        [field, whole].concat()
    });
    let index = prop_oneof![8 => Just(0), 1 => any::<u64>()].prop_map(|first_index| {
        let results = Vec::new();
        pb::SolveBatchResponse {
            first_index,
            results,
        }
        .encode_to_vec()
    });
    let fields = prop_oneof![8 => result, 1 => unknown(), 1 => index];
    vec(fields, 0..6).prop_map(|fields| fields.concat())
}

proptest! {
    #[test]
    fn requests_are_those_of_the_generated_code(
        boards in vec(".{0,200}", 0..20),
        solution_limit in option::of(any::<u32>()),
        node_limit in option::of(any::<u32>()),
    ) {
        let options = pb::SolveOptions { solution_limit, node_limit };
        let mut request = Request::new(Some(0));
        for board in &boards {
            request.push(board);
        }
        let (message, mut texts) = request.finish(&options);
        for board in &boards {
            prop_assert!(!texts.is_empty());
            prop_assert_eq!(texts.next(), Some(board.as_str()));
        }
        prop_assert!(texts.is_empty());
        prop_assert_eq!(texts.next(), None);
        let generated = pb::SolveBatchRequest { boards, options: Some(options) };
        prop_assert_eq!(sent(message), framed(&generated.encode_to_vec()));
    }

    #[test]
    fn responses_are_read_as_by_the_generated_code(
        response in response(),
        cuts in vec(any::<Index>(), 0..9),
    ) {
        same_as_generated(&response, &cuts)?;
    }

    #[test]
    fn damaged_responses_are_read_as_by_the_generated_code(
        mut response in response(),
        damage in vec((any::<Index>(), any::<u8>()), 1..4),
        end in option::of(any::<Index>()),
    ) {
        if let Some(end) = end {
            response.truncate(end.index(response.len() + 1));
        }
        for (place, byte) in damage {
            if !response.is_empty() {
                *place.get_mut(&mut response) = byte;
            }
        }
        same_as_generated(&response, &[])?;
    }

    #[test]
    fn any_bytes_are_read_as_by_the_generated_code(
        response in vec(prop_oneof![any::<u8>(), 0..64_u8], 0..60),
    ) {
        same_as_generated(&response, &[])?;
    }
}
