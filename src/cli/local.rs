//! The service inside this process, for commands that were given no server.

use std::{future, net::Ipv4Addr};

use anyhow::Context as _;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::server::{self, Config, ServeError};

/// A server on a free port of the loopback interface, reached by gRPC like any other. It ends with
/// the runtime that it was started on.
#[derive(Debug)]
pub(super) struct LocalServer {
    url: String,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl LocalServer {
    pub(super) async fn start() -> anyhow::Result<LocalServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("cannot listen on 127.0.0.1 for the server inside this process")?;
        let url = format!("http://{}", listener.local_addr()?);
        let serving = tokio::spawn(server::serve(
            listener,
            Config::default(),
            future::pending(),
        ));
        Ok(LocalServer { url, serving })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Resolves when the server has ended, which only a failure makes it do.
    pub(super) async fn failure(&mut self) -> anyhow::Error {
        let context = "the server inside this process failed";
        match (&mut self.serving).await {
            Ok(Ok(())) => anyhow::anyhow!(context),
            Ok(Err(error)) => anyhow::Error::new(error).context(context),
            Err(error) => anyhow::Error::new(error).context(context),
        }
    }
}
