//! Web pages, each folder of them with an origin of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
};

/// Serves a folder from now on, and returns its origin.
#[track_caller]
pub fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A browser opens connections that it may never use.
            let folder = folder.clone();
            thread::spawn(move || answer(&stream, &folder));
        }
    });
    origin
}

/// One request, one answer.
fn answer(mut stream: &TcpStream, folder: &Path) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next()?;
    lines.find(String::is_empty)?;
    let name = match request.split(' ').nth(1)?.trim_start_matches('/') {
        "" => PathBuf::from("index.html"),
        name => PathBuf::from(name),
    };
    let kind = match name.extension()?.to_str()? {
        "html" => "text/html",
        "js" => "text/javascript",
        _ => "application/octet-stream",
    };
    let (status, body) = match fs::read(folder.join(name.file_name()?)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )
    .ok()?;
    stream.write_all(&body).ok()
}
