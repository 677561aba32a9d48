use super::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// Two ends of a connection.
async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (near, far) = tokio::join!(listener.accept(), TcpStream::connect(address));
    (near.unwrap().0, far.unwrap())
}

#[tokio::test]
async fn sockets_are_set_up_as_the_limits_say() {
    let (near, _far) = connected().await;
    let limits = Limits::default();
    set_up(&near, &limits).unwrap();
    let socket = SockRef::from(&near);
    assert_eq!(socket.tcp_user_timeout().unwrap(), Some(limits.stuck_after));
    assert_eq!(
        socket.tcp_notsent_lowat().unwrap() as usize,
        limits.unsent_bytes
    );
    assert!(near.nodelay().unwrap());
}

#[tokio::test]
async fn a_reader_who_takes_nothing_is_let_go() {
    let (mut near, _stopped) = connected().await;
    let limits = Limits {
        stuck_after: Duration::from_millis(100),
        ..Limits::default()
    };
    set_up(&near, &limits).unwrap();
    let writing = async {
        let block = vec![b'x'; 1 << 20];
        loop {
            if let Err(error) = near.write_all(&block).await {
                return error;
            }
        }
    };
    let error = tokio::time::timeout(Duration::from_secs(20), writing).await;
    assert_eq!(error.unwrap().kind(), io::ErrorKind::TimedOut);
}
