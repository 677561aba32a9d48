use super::*;

/// However often copies part, each holds what was written to it and nothing else.
#[test]
fn copies_part_without_touching_each_other() {
    let mut step: usize = 7;
    let mut random = |below: usize| {
        step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (step >> 33) % below
    };
    let mut copies = vec![(SharedMap::default(), HashMap::new())];
    for at in 0..60_000 {
        let of = random(copies.len());
        if random(500) == 0 {
            let copy = copies[of].clone();
            copies.push(copy);
        }
        if copies.len() > 4 {
            copies.remove(random(4));
        }
        let of = random(copies.len());
        let (map, expected) = &mut copies[of];
        let key = random(2_000);
        if random(3) == 0 {
            map.remove(&key);
            expected.remove(&key);
        } else {
            map.insert(key, at);
            expected.insert(key, at);
        }
        let probe = random(2_000);
        assert_eq!(map.get(&probe), expected.get(&probe).copied(), "step {at}");
    }
    for (map, expected) in &copies {
        for key in 0..2_000 {
            assert_eq!(map.get(&key), expected.get(&key).copied());
        }
    }
}

#[test]
fn a_copy_costs_little_after_much_was_written_beside_another() {
    let mut map = SharedMap::default();
    for key in 0..10_000 {
        map.insert(key, key);
    }
    assert!(map.own.is_empty(), "nobody shares it");
    let copy = map.clone();
    assert!(Arc::ptr_eq(&map.shared, &copy.shared));
    for key in 0..10_000 {
        map.insert(key, 0);
        assert!(map.own.len() <= OWN_MAX);
    }
    assert_eq!((map.get(&9), copy.get(&9)), (Some(0), Some(9)));
}
