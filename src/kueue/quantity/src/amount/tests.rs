use proptest::prelude::*;

use crate::{Amount, Quantity, Requests, ResourceName};

fn amount(resource: &str, quantity: &str) -> Amount {
    Amount::of(&resource.into(), quantity.parse::<Quantity>().unwrap())
}

#[test]
fn counts_cpu_in_thousandths_and_the_rest_in_units_rounded_up() {
    let cases = [
        ("cpu", "2", 2000),
        ("cpu", "500m", 500),
        ("cpu", "0.1m", 1),
        ("cpu", "1P", 1_000_000_000_000_000_000),
        ("cpu", "10P", i64::MAX),
        ("memory", "512Mi", 536_870_912),
        ("memory", "100m", 1),
        ("memory", "-1500m", -1),
        ("memory", "1E", 1_000_000_000_000_000_000),
        ("memory", "10E", i64::MAX),
        ("memory", "100Ei", i64::MAX),
        ("example.com/gpu", "-100000000000000000000", i64::MIN),
        ("example.com/gpu", "8", 8),
    ];
    for (resource, quantity, value) in cases {
        assert_eq!(
            amount(resource, quantity).value(),
            value,
            "{resource} {quantity}"
        );
    }
}

#[test]
fn prints_amounts_as_the_reference_does() {
    let cases = [
        ("cpu", 6000, "6"),
        ("cpu", 500, "500m"),
        ("cpu", 1_000_000, "1k"),
        ("cpu", 9_223_372_036_854_775_000, "9223372036854775"),
        ("cpu", i64::MAX, "9223372036854775807m"),
        ("memory", 0, "0"),
        ("memory", 100_000, "100k"),
        ("memory", 128_000, "125Ki"),
        ("memory", 1_500_000, "1500k"),
        ("memory", 1_572_864, "1536Ki"),
        ("gpu.memory", 10_468_982_784, "9984Mi"),
        ("nvidia.com/gpu", 3, "3"),
    ];
    for (resource, value, text) in cases {
        assert_eq!(
            Amount::new(value).to_quantity(&resource.into()).to_string(),
            text,
            "{resource} {value}"
        );
    }
}

#[test]
fn unlimited_absorbs() {
    let (unlimited, five) = (Amount::UNLIMITED, Amount::new(5));
    let cases = [
        ("unlimited + 5", unlimited + five, unlimited),
        ("5 + unlimited", five + unlimited, unlimited),
        ("unlimited + unlimited", unlimited + unlimited, unlimited),
        ("unlimited - 5", unlimited - five, unlimited),
        ("5 - unlimited", five - unlimited, Amount::new(i64::MIN)),
        ("unlimited - unlimited", unlimited - unlimited, Amount::ZERO),
        (
            "saturating sum",
            Amount::new(i64::MAX - 1) + five,
            unlimited,
        ),
        (
            "saturating product",
            Amount::new(i64::MAX / 2).times(3),
            unlimited,
        ),
    ];
    for (name, result, expected) in cases {
        assert_eq!(result, expected, "{name}");
    }
}

#[test]
fn requests_add_scale_and_compare_by_resource() {
    let requests = |list: &[(&str, i64)]| -> Requests {
        list.iter()
            .map(|(resource, value)| (ResourceName::from(*resource), Amount::new(*value)))
            .collect()
    };
    let mut sum = requests(&[("cpu", 1), ("memory", 2)]);
    sum.add_all(&requests(&[("cpu", 3), ("pods", 1)]));
    assert_eq!(sum, requests(&[("cpu", 4), ("memory", 2), ("pods", 1)]));
    sum.raise_to(&requests(&[("cpu", 2), ("memory", 7)]));
    assert_eq!(
        sum.times(2),
        requests(&[("cpu", 8), ("memory", 14), ("pods", 2)])
    );
    assert_eq!(
        sum.per(2),
        requests(&[("cpu", 2), ("memory", 3), ("pods", 0)])
    );
    let greater = requests(&[("r1", 2), ("r2", 1), ("r3", 9)])
        .greater_keys(&requests(&[("r1", 1), ("r2", 2)]));
    assert_eq!(greater, ["r1".into()]);
}

#[test]
fn what_stops_a_request_first_is_named() {
    let requests = |list: &[(&str, i64)]| -> Requests {
        list.iter()
            .map(|(resource, value)| (ResourceName::from(*resource), Amount::new(*value)))
            .collect()
    };
    let most = i64::from(i32::MAX);
    let cases = [
        (vec![("cpu", 2)], vec![("cpu", 5)], 2, Some("cpu")),
        (
            vec![("a", 1), ("b", 1)],
            vec![("a", 3), ("b", 3)],
            3,
            Some("a"),
        ),
        (vec![("b", 0), ("z", 2)], vec![("z", 9)], 4, Some("z")),
        (vec![("b", 0)], vec![], most, Some("b")),
        (vec![("gpu", 1)], vec![("gpu", -2)], 0, Some("gpu")),
        (
            vec![("memory", 1)],
            vec![("memory", 1 << 40)],
            most,
            Some("memory"),
        ),
        (vec![], vec![("cpu", 1)], 0, None),
    ];
    for (asked, free, times, stops) in cases {
        let got = requests(&asked).times_in(&requests(&free));
        assert_eq!(got, (times, stops.map(ResourceName::from)), "{asked:?}");
    }
    let floored = requests(&[("cpu", -3), ("memory", 2)]).floor_zero();
    assert_eq!(floored, requests(&[("cpu", 0), ("memory", 2)]));
}

proptest! {
    #[test]
    fn sums_never_wrap(a in any::<i64>(), b in any::<i64>()) {
        let (a, b) = (Amount::new(a), Amount::new(b));
        prop_assert_eq!(a + b, b + a);
        if b >= Amount::ZERO {
            prop_assert!(a + b >= a);
            prop_assert!(a - b <= a);
        }
    }

    #[test]
    fn amounts_survive_the_way_to_text_and_back(value in any::<i64>(), cpu in any::<bool>()) {
        let resource = ResourceName::from(if cpu { "cpu" } else { "memory" });
        let text = Amount::new(value).to_quantity(&resource).to_string();
        prop_assert_eq!(amount(resource.as_str(), &text), Amount::new(value));
    }
}
