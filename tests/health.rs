//! Health and reflection, as probes and tools ask for them.

mod common;

use common::server::{Batch, TestServer};
use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::{v1, v1alpha};

const SOLVER: &str = "sudoku.v1.SudokuSolver";

fn check(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.to_owned(),
    }
}

#[tokio::test]
async fn serves_by_name_and_as_a_whole() {
    let server = TestServer::start().await;
    let mut health = HealthClient::new(server.channel().await);
    for service in ["", SOLVER] {
        let response = health.check(check(service)).await.unwrap().into_inner();
        assert_eq!(response.status(), ServingStatus::Serving, "{service:?}");
    }
    let status = health.check(check("sudoku.v1.Other")).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn says_not_serving_from_the_shutdown_on() {
    let mut server = TestServer::start().await;
    let mut watches = Vec::new();
    for service in ["", SOLVER] {
        let mut health = HealthClient::new(server.channel().await);
        let mut watch = health.watch(check(service)).await.unwrap().into_inner();
        let first = watch.message().await.unwrap().unwrap();
        assert_eq!(first.status(), ServingStatus::Serving);
        watches.push(watch);
    }
    // A call in flight holds the drain open, so that health can be seen during it.
    let batch = Batch::open(&mut server.client().await).await.unwrap();
    server.shut_down();
    for watch in &mut watches {
        let next = watch.message().await.unwrap().unwrap();
        assert_eq!(next.status(), ServingStatus::NotServing);
    }
    batch.finish().await.unwrap();
    // Whoever watches does not hold the server up: the watch ends.
    server.ended().await.unwrap();
    for watch in &mut watches {
        assert!(!matches!(watch.message().await, Ok(Some(_))));
    }
}

#[tokio::test]
async fn reflection_v1_lists_and_describes() {
    use v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let server = TestServer::start().await;
    let mut client = ServerReflectionClient::new(server.channel().await);
    let ask = |message| ServerReflectionRequest {
        host: String::new(),
        message_request: Some(message),
    };
    let requests = [
        ask(MessageRequest::ListServices(String::new())),
        ask(MessageRequest::FileContainingSymbol(SOLVER.to_owned())),
    ];
    let mut responses = client
        .server_reflection_info(tokio_stream::iter(requests))
        .await
        .unwrap()
        .into_inner();
    let listed = responses
        .message()
        .await
        .unwrap()
        .unwrap()
        .message_response
        .unwrap();
    let MessageResponse::ListServicesResponse(listed) = listed else {
        panic!("{listed:?}")
    };
    let names: Vec<_> = listed
        .service
        .iter()
        .map(|service| service.name.as_str())
        .collect();
    assert!(
        names.contains(&SOLVER) && names.contains(&"grpc.health.v1.Health"),
        "{names:?}"
    );
    let file = responses
        .message()
        .await
        .unwrap()
        .unwrap()
        .message_response
        .unwrap();
    assert!(
        matches!(file, MessageResponse::FileDescriptorResponse(_)),
        "{file:?}"
    );
}

#[tokio::test]
async fn reflection_v1alpha_lists_and_describes() {
    use v1alpha::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let server = TestServer::start().await;
    let mut client = ServerReflectionClient::new(server.channel().await);
    let ask = |message| ServerReflectionRequest {
        host: String::new(),
        message_request: Some(message),
    };
    let requests = [
        ask(MessageRequest::ListServices(String::new())),
        ask(MessageRequest::FileContainingSymbol(SOLVER.to_owned())),
    ];
    let mut responses = client
        .server_reflection_info(tokio_stream::iter(requests))
        .await
        .unwrap()
        .into_inner();
    let listed = responses
        .message()
        .await
        .unwrap()
        .unwrap()
        .message_response
        .unwrap();
    let MessageResponse::ListServicesResponse(listed) = listed else {
        panic!("{listed:?}")
    };
    let names: Vec<_> = listed
        .service
        .iter()
        .map(|service| service.name.as_str())
        .collect();
    assert!(
        names.contains(&SOLVER) && names.contains(&"grpc.health.v1.Health"),
        "{names:?}"
    );
    let file = responses
        .message()
        .await
        .unwrap()
        .unwrap()
        .message_response
        .unwrap();
    assert!(
        matches!(file, MessageResponse::FileDescriptorResponse(_)),
        "{file:?}"
    );
}
