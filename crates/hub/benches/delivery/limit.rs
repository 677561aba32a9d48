//! The physical limit: one thread that writes ready-made frames to as many sockets, another that reads them away.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::FRAME_BYTES;
use crate::proc::threads_cpu;

const LENGTH: Duration = Duration::from_secs(2);
const WRITER: &str = "limit-writer";

/// Deliveries per CPU second of the writer.
pub(crate) fn measure(sockets: usize, frames_per_write: usize) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (mut writing, mut reading) = (Vec::new(), Vec::new());
    for _ in 0..sockets {
        reading.push(TcpStream::connect(address).unwrap());
        let (socket, _) = listener.accept().unwrap();
        socket.set_nodelay(true).unwrap();
        writing.push(socket);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let reader = {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || read_away(&mut reading, &is_over))
    };
    let writer = thread::Builder::new().name(WRITER.into()).spawn(move || {
        let frames = vec![b'x'; FRAME_BYTES * frames_per_write];
        let start = Instant::now();
        let mut deliveries = 0;
        while start.elapsed() < LENGTH {
            for socket in &mut writing {
                socket.write_all(&frames).unwrap();
                deliveries += frames_per_write;
            }
        }
        (deliveries, threads_cpu(WRITER))
    });
    let (deliveries, cpu) = writer.unwrap().join().unwrap();
    is_over.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    deliveries as f64 / cpu.as_secs_f64()
}

fn read_away(sockets: &mut [TcpStream], is_over: &AtomicBool) {
    for socket in &mut *sockets {
        socket.set_nonblocking(true).unwrap();
    }
    let mut buffer = vec![0; 256 << 10];
    while !is_over.load(Ordering::Relaxed) {
        for socket in &mut *sockets {
            // Nothing there is no failure.
            let _ = socket.read(&mut buffer);
        }
    }
}
