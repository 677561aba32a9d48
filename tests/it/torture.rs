//! What was acknowledged stands, however often the hub is killed.

use std::time::{SystemTime, UNIX_EPOCH};

use threadcast_tests::torture::torture;

/// Goal: no answer, no entry and no decision is lost or doubled by kills at random moments. A few
/// here, in another order each time; `cargo xtask torture` kills 200 times.
#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_is_killed_again_and_again_loses_nothing_it_said() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = u64::try_from(now.as_millis()).unwrap();
    let kills = 8;
    let report = torture(kills, seed).await;
    assert!(
        report.problems.is_empty(),
        "{:#?}\nagain: cargo xtask torture --kills {kills} --seed {seed}",
        report.problems
    );
    assert!(report.runs > 0 && report.entries > 0, "{report:?}");
}
