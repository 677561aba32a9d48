//! Which bucket of the index of work a thread belongs to: the same on every node and in every
//! version.

use threadcast_agui::ids::ThreadId;

/// How many buckets the index of work has.
pub const BUCKETS: u8 = 64;

/// The thread's bucket, less than [`BUCKETS`].
pub fn bucket_of(thread: &ThreadId) -> u8 {
    let hash = thread.as_str().bytes().fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    });
    // Folded, for the low bits of FNV-1a know only the low bits of each byte.
    let folded = hash ^ (hash >> 32);
    ((folded ^ (folded >> 16)) % u64::from(BUCKETS)) as u8
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
