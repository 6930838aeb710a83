//! The loopback interface: its addresses, and whether a program listens on a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The addresses `127.0.0.1` and `::1`, of the machine or of a network namespace.
pub(super) const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// Maximum time to connect to a loopback address, which usually takes far less.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(250);

/// Whether a program on this machine accepts TCP connections to this port on a loopback address.
pub(super) async fn is_listening(port: u16) -> bool {
    for address in LOOPBACK {
        if let Ok(Ok(_)) = timeout(CONNECT_TIMEOUT, TcpStream::connect((address, port))).await {
            return true;
        }
    }
    false
}
