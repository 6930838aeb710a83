//! Connections of this machine to itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The addresses of this machine, or of a network of its own, for itself.
pub(super) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// A machine answers itself faster.
const CONNECT: Duration = Duration::from_millis(250);

/// Whether somebody on this machine listens at the port.
pub(super) async fn takes_connections(port: u16) -> bool {
    for address in LOOPBACK {
        if let Ok(Ok(_)) = timeout(CONNECT, TcpStream::connect((address, port))).await {
            return true;
        }
    }
    false
}
