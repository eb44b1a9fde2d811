//! Servers that can be killed, drained, stopped and brought back, and what stands between them and
//! their clients.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use super::{
    boards::{TWO, UNIQUE},
    served::Served,
};

/// A server on the address where another was.
#[track_caller]
pub fn serve_again(address: &str) -> Served {
    Served::at(address, &[])
}

/// An address on which nobody listens.
pub fn nobody() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().to_string()
}

/// A TCP proxy in front of a server, which adds latency and cuts connections.
#[derive(Debug)]
pub struct Proxy {
    pub address: String,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    open: Arc<AtomicBool>,
}

impl Proxy {
    /// Everything waits this long on its way, block by block.
    pub fn before(server: &str, latency: Duration) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let open = Arc::new(AtomicBool::new(true));
        let proxy = Proxy {
            address,
            connections: Arc::clone(&connections),
            open: Arc::clone(&open),
        };
        let server = server.to_owned();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&server)) else {
                    continue;
                };
                if !open.load(Ordering::Relaxed) {
                    continue;
                }
                let mut ends = connections.lock().unwrap();
                ends.push(client.try_clone().unwrap());
                ends.push(server.try_clone().unwrap());
                drop(ends);
                pass(
                    client.try_clone().unwrap(),
                    server.try_clone().unwrap(),
                    latency,
                );
                pass(server, client, latency);
            }
        });
        proxy
    }

    /// Cuts every connection that is open now.
    pub fn cut(&self) {
        for end in self.connections.lock().unwrap().drain(..) {
            drop(end.shutdown(Shutdown::Both));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.open.store(false, Ordering::Relaxed);
        self.cut();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, latency: Duration) {
    thread::spawn(move || {
        let mut block = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut block) {
            thread::sleep(latency);
            if to.write_all(&block[..read]).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    });
}

/// Boards that are all different, with answers that are all different: one board under other digits.
/// Among them texts that are none, and boards with more solutions than one.
pub fn boards(count: usize) -> Vec<String> {
    (0..count).map(board).collect()
}

fn board(number: usize) -> String {
    if number % 50 == 17 {
        return format!("number {number}");
    }
    let board = if number % 50 == 34 { TWO } else { UNIQUE };
    // The permutation of this number, digit by digit.
    let (mut rest, mut left) = (number, (1..=9_u8).collect::<Vec<_>>());
    let digits: Vec<u8> = (1..=9)
        .rev()
        .map(|choices| {
            let digit = left.remove(rest % choices);
            rest /= choices;
            digit
        })
        .collect();
    let renamed = |cell: u8| match cell {
        b'1'..=b'9' => char::from(b'0' + digits[usize::from(cell - b'1')]),
        blank => char::from(blank),
    };
    board.bytes().map(renamed).collect()
}
