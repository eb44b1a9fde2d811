//! Whether a server takes calls.

use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::{Client, Error};
use crate::wire::pb::sudoku_solver_server::SERVICE_NAME;

impl Client {
    /// Asks `grpc.health.v1` whether the server takes calls now: it does not before it is ready and once it
    /// drains. No token is sent, as none is needed.
    ///
    /// # Errors
    ///
    /// The server could not be asked, or has no health service.
    pub async fn is_serving(&self) -> Result<bool, Error> {
        let service = SERVICE_NAME.to_owned();
        let mut health = HealthClient::new(self.channel.clone());
        match health.check(HealthCheckRequest { service }).await {
            Ok(answer) => Ok(answer.into_inner().status() == ServingStatus::Serving),
            // It knows of no such service, and so does not serve it.
            Err(status) if status.code() == Code::NotFound => Ok(false),
            Err(status) => Err(Error::refused(&status, self.over_tls)),
        }
    }
}
