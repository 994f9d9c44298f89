//! Network and sockets: nothing reaches a listener of the host, pairs of one's own work.

use super::kit::{BOTH, Case, NS, all, allowed, denied, out, try_to};
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener};
use toolctl::model::{AllowNetwork, HostPort, RequiredLayer};
use toolctl::sandbox::{BackendChoice, LayerState, SandboxError};

#[test]
fn loopback_of_the_host_is_not_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let tcp_port = tcp.local_addr().unwrap().port().to_string();
    let udp_port = udp.local_addr().unwrap().port().to_string();
    for (what, port) in [("tcp", &tcp_port), ("tcp6", &tcp_port), ("udp", &udp_port)] {
        for backend in BOTH {
            let ended = try_to(&[what, port]).backend(backend).run();
            assert_eq!(out(&ended), "errno 13\n", "{what} {}", all(&ended));
        }
    }
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(udp.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    denied(&[], || try_to(&["tcp", &tcp_port]));
    assert!(tcp.accept().is_ok(), "the control was heard");
    denied(&[], || try_to(&["udp", &udp_port]));
    // With a network, it is heard; with a loopback of its own, it is not.
    allowed(&BOTH, || try_to(&["tcp", &tcp_port]).network(AllowNetwork::Yes));
    let own = try_to(&["tcp", &tcp_port]).network(AllowNetwork::Loopback).run();
    assert_eq!(out(&own), "errno 111\n", "{}", all(&own));
    let flat = try_to(&["tcp", &tcp_port]).network(AllowNetwork::Loopback).backend(BackendChoice::Flat);
    assert!(matches!(flat.plan(), Err(SandboxError::Unavailable { .. })));
}

#[test]
fn no_family_is_left() {
    let socket = libc::SYS_socket.to_string();
    for family in ["1", "2", "10", "16", "17", "31", "38", "40", "44", "0x100000002", "0x100000001"] {
        for backend in BOTH {
            let ended = try_to(&["sys", &socket, family, "3", "0"]).backend(backend).run();
            assert_eq!(out(&ended), "errno 13\n", "{family} {}", all(&ended));
        }
    }
    denied(&BOTH, || try_to(&["sys", &socket, "16", "3", "0"]));
}

#[test]
fn sockets_in_bound_folders_are_not_reached() {
    let dir = tempfile::tempdir().unwrap();
    let stream = dir.path().join("stream");
    let dgram = dir.path().join("dgram");
    let _stream = UnixListener::bind(&stream).unwrap();
    let _dgram = UnixDatagram::bind(&dgram).unwrap();
    for (what, path) in [("unix", &stream), ("unix-dgram", &dgram), ("unix-pair", &dgram)] {
        let path = path.to_str().unwrap();
        denied(&BOTH, || try_to(&[what, path]).ro(dir.path()));
        denied(&BOTH, || try_to(&[what, path]).rw(dir.path()));
        denied(&BOTH, || try_to(&[what, path]).rw(dir.path()).network(AllowNetwork::Yes));
    }
    let name = format!("@toolctl-{}", std::process::id());
    let address = <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
        &name[1..],
    )
    .unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    denied(&BOTH, || try_to(&["unix", &name]).network(AllowNetwork::Yes));
}

#[test]
fn pairs_and_pipes_work() {
    allowed(&BOTH, || try_to(&["pair"]));
    for backend in BOTH {
        let ended = Case::sh("echo a | cat | tr a b").backend(backend).run();
        assert_eq!(out(&ended), "b\n", "{}", all(&ended));
    }
}

#[test]
fn a_ring_cannot_be_made() {
    let setup = libc::SYS_io_uring_setup.to_string();
    for backend in BOTH {
        let ended = try_to(&["sys", &setup, "4", "0"]).backend(backend).run();
        assert_eq!(out(&ended), "errno 1\n", "{}", all(&ended));
    }
}

#[test]
fn host_lists_are_refused_and_a_required_namespace_is_there() {
    let hosts = vec![HostPort { host: "example.com".to_owned(), port: 443 }];
    let result = try_to(&["pair"]).network(AllowNetwork::Hosts(hosts)).plan();
    assert!(matches!(result, Err(SandboxError::BadRequest(_))), "{result:?}");
    let ended = try_to(&["pair"]).set(|c| c.required = vec![RequiredLayer::Netns]).run();
    let netns = ended.layers.iter().find(|layer| layer.name == "netns").unwrap();
    assert_eq!(netns.state, LayerState::Enforced);
    let result = try_to(&["pair"]).set(|c| c.required = vec![RequiredLayer::Cgroup]).try_run();
    assert!(matches!(result, Err(SandboxError::Unavailable { .. })), "{result:?}");
    allowed(&NS, || try_to(&["pair"]));
}
