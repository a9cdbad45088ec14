//! Clients that speak another protocol than HTTP in plain text.

use crate::support::loadgen;

fn refused(client: &str, words: &[&str]) {
    loadgen(&["judge", "--only", "503", "--", "bash", "-c", client]).exits(1).says(words);
}

#[test]
fn other_protocols_are_named() {
    let url = "${TAILBACK_URL/http:/https:}";
    refused(
        &format!("curl --silent --insecure {url}/x"),
        &["the client speaks TLS, which `judge` does not yet"],
    );
    let grpc = "curl --silent --http2-prior-knowledge --header 'content-type: application/grpc' --data x $TAILBACK_URL/a.B/C";
    refused(grpc, &["POST /a.B/C, gRPC", "gRPC, websockets and other upgrades are not judged"]);
    let upgrade =
        "curl --silent --header 'connection: upgrade' --header 'upgrade: websocket' $TAILBACK_URL/ws";
    refused(upgrade, &["GET /ws, a websocket"]);
}

/// An offer of HTTP/2 is no upgrade that the server must accept.
#[test]
fn an_offer_of_another_version_is_judged() {
    let offer = "curl --silent --header 'connection: upgrade' --header 'upgrade: h2c' $TAILBACK_URL/x";
    loadgen(&["judge", "--quiet", "--only", "404", "--", "bash", "-c", offer]).exits(0);
}
