//! User-space memory of an idle, subscribed socket: a hub in a process of its own, before and after they connect.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::proc::{files_max, pss};
use crate::server::Server;
use crate::viewers;

const SOCKETS: usize = 5_000;
/// As many viewers share a thread.
const VIEWERS_PER_THREAD: usize = 5;

/// What idle sockets take.
pub(crate) struct Memory {
    sockets: usize,
    bytes: usize,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_socket = self.bytes as f64 / self.sockets as f64 / 1024.0;
        write!(
            f,
            "{per_socket:.2} KiB of user-space memory (Pss) a subscribed socket, {} sockets",
            self.sockets
        )
    }
}

/// The program of the other process: serves until its standard input ends.
pub(crate) fn serve() {
    let server = Server::start();
    println!("{}", server.address);
    let mut line = String::new();
    // Ends with the process that started it.
    let _ = std::io::stdin().read_line(&mut line);
}

pub(crate) fn measure() -> Memory {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .arg("idle-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut address)
        .unwrap();
    let address = address.trim().parse().unwrap();
    let sockets = SOCKETS.min(files_max() - 100);
    let memory = viewers::run(async {
        // The first sockets pay for what all share.
        let mut open = Vec::new();
        for at in 0..50 {
            open.push(viewers::subscribe(address, &format!("warm-{at}")).await);
        }
        let before = pss(child.id());
        for at in 0..sockets {
            open.push(
                viewers::subscribe(address, &format!("thread-{}", at / VIEWERS_PER_THREAD)).await,
            );
        }
        Memory {
            sockets,
            bytes: pss(child.id()) - before,
        }
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    memory
}
