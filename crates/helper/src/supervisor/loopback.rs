//! Connections of this machine to itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The loopback addresses of the machine, or of a network namespace.
pub(super) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// Maximum time to connect; the loopback interface is faster.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(250);

/// Whether a program on this machine listens on the port.
pub(super) async fn is_listening(port: u16) -> bool {
    for address in LOOPBACK {
        if let Ok(Ok(_)) = timeout(CONNECT_TIMEOUT, TcpStream::connect((address, port))).await {
            return true;
        }
    }
    false
}
