//! Servers that strangers can reach say so.

use std::net::SocketAddr;

use crate::server::Config;

/// Warns of a server that listens beyond this machine and lets others read along or anyone call.
pub(super) fn warn(address: SocketAddr, config: &Config, with_client_ca: bool) {
    if address.ip().to_canonical().is_loopback() {
        return;
    }
    if config.tls.is_none() {
        tracing::warn!(
            %address,
            "listening beyond this machine WITHOUT TLS: who is on the way can read and change all that \
             is sent, tokens too; set --tls-cert and --tls-key, or --listen on a loopback address"
        );
    }
    if !config.access.needs_token() && !with_client_ca {
        tracing::warn!(
            %address,
            "listening beyond this machine WITHOUT TOKENS: whoever reaches this address may call; set \
             --token-file or SUDOKU_TOKENS, or --tls-client-ca, or --listen on a loopback address"
        );
    }
}
