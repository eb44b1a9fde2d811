//! gRPC-Web by hand, as browsers send it: HTTP/1 over whatever it comes by.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{CONTENT_TYPE, ORIGIN},
};
use hyper_util::rt::TokioIo;
use prost::Message as _;
use sudoku_solver::wire::pb::{SolveRequest, SolveResponse};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tonic::Code;

pub const SOLVE: &str = "/sudoku.v1.SudokuSolver/Solve";
pub const BINARY: &str = "application/grpc-web+proto";
pub const TEXT: &str = "application/grpc-web-text";

/// The page that tests are, unless they say otherwise.
pub const APP: &str = "https://app.example";

/// A connection of a browser.
#[derive(Debug)]
pub struct Browser {
    sender: http1::SendRequest<Full<Bytes>>,
    connection: JoinHandle<hyper::Result<()>>,
}

/// An answer, all of it read.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Browser {
    pub async fn at(address: &str) -> Browser {
        Browser::over(TcpStream::connect(address).await.unwrap()).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Browser {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        Browser {
            sender,
            connection: tokio::spawn(connection),
        }
    }

    /// Resolves with the head of the answer.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        self.sender.ready().await.unwrap();
        self.sender.send_request(request).await.unwrap()
    }

    pub async fn ask(&mut self, request: Request<Full<Bytes>>) -> Answer {
        Answer::read(self.send(request).await).await
    }

    pub async fn solve(&mut self, board: &str) -> Answer {
        self.ask(solve(board)).await
    }

    /// Resolves when the server has ended the connection.
    pub async fn ended(self) {
        // Held until then: a client that lets it go ends it itself.
        let Browser { sender, connection } = self;
        drop(connection.await);
        drop(sender);
    }
}

impl Answer {
    pub async fn read(response: Response<Incoming>) -> Answer {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let is_text = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|content| content.as_bytes().starts_with(TEXT.as_bytes()));
        Answer {
            status: head.status,
            headers: head.headers,
            body: if is_text {
                decoded(&body)
            } else {
                body.to_vec()
            },
        }
    }

    /// A header, or the empty text.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The frames of the body: whether it is the one with the status, and its content.
    pub fn frames(&self) -> Vec<(bool, &[u8])> {
        let mut frames = Vec::new();
        let mut rest = self.body.as_slice();
        while let Some((head, more)) = rest.split_at_checked(5) {
            let length = u32::from_be_bytes(head[1..].try_into().unwrap());
            let (content, more) = more.split_at(usize::try_from(length).unwrap());
            frames.push((head[0] == 0x80, content));
            rest = more;
        }
        assert!(rest.is_empty(), "{rest:?}");
        frames
    }

    /// The status of the call, which stands in the headers if there is no message.
    pub fn code(&self) -> Code {
        if let Some(code) = self.headers.get("grpc-status") {
            return Code::from_bytes(code.as_bytes());
        }
        let frames = self.frames();
        let (is_status, last) = frames.last().unwrap();
        assert!(is_status, "{frames:?}");
        let text = str::from_utf8(last).unwrap();
        let code = text
            .lines()
            .find_map(|line| line.strip_prefix("grpc-status:"));
        Code::from_bytes(code.unwrap().trim().as_bytes())
    }

    /// It holds the solution.
    #[track_caller]
    pub fn assert_solved(&self, grid: &str) {
        assert_eq!((self.status, self.code()), (StatusCode::OK, Code::Ok));
        let (_, message) = self.frames()[0];
        let result = SolveResponse::decode(message).unwrap().result.unwrap();
        assert_eq!(result.solutions, [grid]);
    }

    /// The page of this origin may read it, and what of the error is in the headers.
    #[track_caller]
    pub fn assert_readable_by(&self, origin: &str) {
        assert_eq!(self.header("access-control-allow-origin"), origin);
        let exposed = self.header("access-control-expose-headers");
        for name in [
            "grpc-status",
            "grpc-message",
            "grpc-status-details-bin",
            "x-request-id",
        ] {
            assert!(exposed.contains(name), "{exposed}");
        }
    }
}

/// A call of `Solve` by [`APP`].
pub fn solve(board: &str) -> Request<Full<Bytes>> {
    call(SOLVE, BINARY, &board_message(board))
}

pub fn board_message(board: &str) -> Vec<u8> {
    let request = SolveRequest {
        board: board.to_owned(),
        options: None,
    };
    request.encode_to_vec()
}

/// A message with the length before it.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[0], length.to_be_bytes().as_slice(), message].concat()
}

/// A call of `Solve` with one message as the bytes of HTTP/1, for clients that then do what no library does.
pub fn solve_by_hand(message: &[u8]) -> Vec<u8> {
    let body = framed(message);
    let head = format!(
        "POST {SOLVE} HTTP/1.1\r\nhost: server\r\ncontent-type: {BINARY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// A call with one message by [`APP`].
pub fn call(path: &str, content_type: &str, message: &[u8]) -> Request<Full<Bytes>> {
    let framed = framed(message);
    let body = if content_type == TEXT {
        BASE64_STANDARD.encode(framed).into()
    } else {
        framed.into()
    };
    Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("host", "server")
        .header(ORIGIN, APP)
        .header(CONTENT_TYPE, content_type)
        .header("accept", content_type)
        .header("x-grpc-web", "1")
        .body(Full::new(body))
        .unwrap()
}

/// What a browser asks before the first call of a page.
pub fn preflight(origin: &str) -> Request<Full<Bytes>> {
    Request::builder()
        .method(Method::OPTIONS)
        .uri(SOLVE)
        .header("host", "server")
        .header(ORIGIN, origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,x-grpc-web",
        )
        .body(Full::default())
        .unwrap()
}

/// Texts may be padded wherever a frame of HTTP ended.
fn decoded(text: &[u8]) -> Vec<u8> {
    let quads = text.chunks(4);
    quads
        .flat_map(|quad| BASE64_STANDARD.decode(quad).unwrap())
        .collect()
}
