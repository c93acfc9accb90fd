use super::*;

#[test]
fn only_workloads_become_fewer() {
    let mut configuration = large();
    shrink(&mut configuration, 0.1);
    let cohort = &configuration["cohorts"][0];
    assert_eq!(cohort["count"], 10);
    let queues = &cohort["queuesSets"][0];
    assert_eq!(queues["count"], 100);
    let counts: Vec<_> = queues["workloadsSets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["count"].as_i64().unwrap())
        .collect();
    assert_eq!(counts, [4, 1, 1]);
}
