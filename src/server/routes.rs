//! The services beside the solver: health, and reflection in both versions that tools speak.

use tonic::service::Routes;
use tonic_health::{
    ServingStatus,
    pb::health_server::HealthServer,
    server::{HealthReporter, HealthService},
};
use tonic_reflection::server::{Builder, Error};

use crate::{
    compression::Encodings,
    limits,
    wire::pb::{FILE_DESCRIPTOR_SET, sudoku_solver_server::SERVICE_NAME},
};

/// What `grpc.health.v1` says of the whole server (`""`) and of the solver by name.
#[derive(Debug)]
pub(super) struct Health(HealthReporter);

impl Health {
    const SERVICES: [&str; 2] = ["", SERVICE_NAME];

    /// `NOT_SERVING`. A new reporter would say SERVING before anything is ready.
    pub(super) async fn not_serving() -> Self {
        let health = Health(HealthReporter::new());
        health.set_serving(false).await;
        health
    }

    pub(super) async fn set_serving(&self, serving: bool) {
        let status = if serving {
            ServingStatus::Serving
        } else {
            ServingStatus::NotServing
        };
        for service in Self::SERVICES {
            self.0.set_service_status(service, status).await;
        }
    }

    /// Ends the streams of those who watch, so that they do not hold a drain up.
    pub(super) async fn forget(mut self) {
        for service in Self::SERVICES {
            self.0.clear_service_status(service).await;
        }
    }
}

pub(super) fn routes(
    health: &Health,
    compression: Encodings,
    with_reflection: bool,
) -> Result<Routes, Error> {
    let health = HealthServer::new(HealthService::from_health_reporter(health.0.clone()))
        .max_decoding_message_size(limits::HEALTH_BYTES_MAX);
    // Most clients compress all calls of a channel, or none. The answers are too short for it.
    let health = compression.iter().fold(health, |health, encoding| {
        health.accept_compressed(encoding.into())
    });
    let mut routes = Routes::new(health);
    if with_reflection {
        routes = routes
            .add_service(reflection().build_v1()?)
            .add_service(reflection().build_v1alpha()?);
    }
    Ok(routes.prepare())
}

fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        // The details of errors: without it grpcurl shows them as base64.
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
}
