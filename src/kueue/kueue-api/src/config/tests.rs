//! What a file may say, and which words name its mistakes.

use std::time::Duration;

use super::{Configuration, parse_duration};

fn file(fields: &str) -> String {
    format!("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{fields}")
}

/// Name, fields of the file, what the error says (nothing: the file is fine).
const MISTAKES: &[(&str, &str, &str)] = &[
    ("nothing said", "", ""),
    (
        "known fields",
        "namespace: kueue-tenant-a\nhealth:\n  healthProbeBindAddress: :38081\nleaderElection:\n  leaderElect: true\n  resourceName: test-id\n",
        "",
    ),
    (
        "unknown",
        "namespaces: kueue-system\ninvalidField: invalidValue\n",
        "namespaces: Forbidden: unknown field, invalidField: Forbidden: unknown field",
    ),
    (
        "unknown below a section",
        "webhook:\n  prot: 1\n",
        "webhook.prot: Forbidden: unknown field",
    ),
    (
        "not here yet",
        "multiKueue: {externalFrameworks: [{name: x}]}\n",
        "multiKueue.externalFrameworks: Forbidden: this controller does not support the field yet; remove it",
    ),
    ("null is nothing", "multiKueue: null\n", ""),
    (
        "fair sharing without a rule",
        "fairSharing: {}\n",
        "fairSharing.preemptionStrategies: Required value: must be specified",
    ),
    (
        "fair sharing in an order that makes no sense",
        "fairSharing:\n  preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]\n",
        "fairSharing.preemptionStrategies: Unsupported value",
    ),
    (
        "transformations",
        "resources:\n  transformations:\n  - {input: a, outputs: {b: 2}}\n  - {input: a, strategy: Replace}\n  - {input: c, strategy: Both}\n",
        "resources.transformations[1].input: Duplicate value: \"a\", resources.transformations[2].strategy: Unsupported value: \"Both\"",
    ),
    (
        "outputs of a transformation",
        "resources:\n  transformations:\n  - {input: a, outputs: {b: much}}\n",
        "resources.transformations: Invalid value",
    ),
    (
        "section that is no mapping",
        "webhook: 5\n",
        "webhook: Invalid value: 5: must be a mapping of fields",
    ),
    (
        "type",
        "webhook:\n  port: many\n",
        "webhook.port: Invalid value: \"many\": invalid type",
    ),
    (
        "duration",
        "leaderElection:\n  leaseDuration: soon\n",
        "leaderElection.leaseDuration: Invalid value: \"soon\": must be a duration",
    ),
    (
        "lease times",
        "leaderElection:\n  leaseDuration: 5s\n",
        "leaseDuration must be longer than renewDeadline",
    ),
    (
        "frameworks",
        "integrations:\n  frameworks: [batch/job, unregistered/job]\n",
        "integrations.frameworks[1]: Unsupported value: \"unregistered/job\": supported values: \"batch/job\", \"deployment\", \"jobset.x-k8s.io/jobset\", \"kubeflow.org/jaxjob\", \"kubeflow.org/mpijob\", \"kubeflow.org/paddlejob\", \"kubeflow.org/pytorchjob\", \"kubeflow.org/tfjob\", \"kubeflow.org/xgboostjob\", \"leaderworkerset.x-k8s.io/leaderworkerset\", \"pod\", \"ray.io/raycluster\", \"ray.io/rayjob\", \"ray.io/rayservice\", \"sparkoperator.k8s.io/sparkapplication\", \"statefulset\", \"trainer.kubeflow.org/trainjob\", \"workload.codeflare.dev/appwrapper\"",
    ),
    (
        "framework twice",
        "integrations:\n  frameworks: [batch/job, batch/job]\n",
        "integrations.frameworks[1]: Duplicate value: \"batch/job\"",
    ),
    (
        "no framework",
        "integrations:\n  frameworks: []\n",
        "integrations.frameworks: Required value: cannot be empty",
    ),
    (
        "selector of kube-system",
        "managedJobsNamespaceSelector: {}\n",
        "should not match the \"kube-system\" namespace",
    ),
    (
        "service name",
        "internalCertManagement:\n  webhookServiceName: 0-invalid\n",
        "internalCertManagement.webhookServiceName: Invalid value",
    ),
    (
        "service name of disabled management",
        "internalCertManagement:\n  enable: false\n  webhookServiceName: 0-invalid\n",
        "",
    ),
    (
        "gate",
        "featureGates:\n  MultiKueueClusterProfile: true\n",
        "featureGates[MultiKueueClusterProfile]: Invalid value: true: this controller does not have this feature yet",
    ),
    (
        "device class without a name",
        "resources:\n  deviceClassMappings:\n  - {name: gpus, deviceClassNames: [\"\"]}\n",
        "resources.deviceClassMappings[0].deviceClassNames[0]: Invalid value: \"\"",
    ),
    (
        "devices at all",
        "resources:\n  deviceClassMappings:\n  - {name: gpus, deviceClassNames: [gpu.example.com]}\n",
        "resources.deviceClassMappings: Forbidden: this controller does not support the field yet",
    ),
    (
        "two lists of providers",
        "multiKueue:\n  clusterProfile:\n    accessProviders: [{name: a, execConfig: {command: c, apiVersion: v, interactiveMode: Never}}]\n    credentialsProviders: [{}]\n",
        "multiKueue.clusterProfile.credentialsProviders: Forbidden",
    ),
    (
        "concurrency",
        "controller:\n  groupKindConcurrency:\n    Job.batch: 0\n",
        "controller.groupKindConcurrency[Job.batch]: Invalid value: 0: must be at least 1",
    ),
];

#[test]
fn mistakes_are_named() {
    for (name, fields, want) in MISTAKES {
        let text = Configuration::parse(&file(fields), None)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            text.contains(*want) && text.is_empty() == want.is_empty(),
            "{name}: {text}"
        );
    }
}

#[test]
fn files_of_other_kinds_are_refused() {
    let text = Configuration::parse(
        "apiVersion: config.kueue.x-k8s.io/v1alpha1\nkind: Configuration\n",
        None,
    )
    .unwrap_err()
    .to_string();
    assert!(
        text.contains("v1alpha1") && text.contains("want apiVersion config.kueue.x-k8s.io/v1beta2"),
        "{text}"
    );
    assert!(Configuration::parse("a: [", None).is_err());
}

#[test]
fn defaults_follow_the_namespace() {
    let configuration =
        Configuration::parse(&file("namespace: kueue-tenant-a\n"), Some("elsewhere")).unwrap();
    assert_eq!(configuration.namespace, "kueue-tenant-a");
    assert_eq!(
        configuration.leader_election.resource_namespace,
        "kueue-tenant-a"
    );
    let values = configuration
        .managed_jobs_namespace_selector
        .match_expressions
        .unwrap()
        .remove(0)
        .values
        .unwrap();
    assert_eq!(values, ["kube-system", "kueue-tenant-a"]);
    assert_eq!(Configuration::defaults(Some("here")).namespace, "here");
    assert_eq!(
        Configuration::defaults(None),
        Configuration::parse(&file(""), None).unwrap()
    );
}

#[test]
fn durations_are_gos() {
    let cases = [
        ("1h30m", Some(5_400_000)),
        ("100ms", Some(100)),
        ("2.5s", Some(2_500)),
        ("0", Some(0)),
        ("-1s", None),
        ("5", None),
        ("", None),
        ("1d", None),
        (".s", None),
    ];
    for (text, want) in cases {
        assert_eq!(
            parse_duration(text).ok(),
            want.map(Duration::from_millis),
            "{text}"
        );
    }
}

#[test]
fn what_is_to_come_is_said() {
    let fields = "integrations:\n  frameworks: [batch/job]\npprofBindAddress: :8083\nobjectRetentionPolicies:\n  workloads:\n    afterFinished: 0s\n";
    let configuration = Configuration::parse(&file(fields), None).unwrap();
    assert_eq!(configuration.integrations.frameworks, ["batch/job"]);
    assert_eq!(
        configuration.retain_finished_workloads,
        Some(Duration::ZERO)
    );
    assert_eq!(
        configuration.warnings,
        ["pprofBindAddress has no effect: there is no Go runtime to profile",]
    );
}

#[test]
fn an_alpha_integration_needs_its_gate() {
    let framework = "integrations:\n  frameworks: [sparkoperator.k8s.io/sparkapplication]\n";
    assert!(Configuration::parse(&file(framework), None).is_err());
    let gated = format!("{framework}featureGates: {{SparkApplicationIntegration: true}}\n");
    assert!(Configuration::parse(&file(&gated), None).is_ok());
}

#[test]
fn transformations_and_fair_sharing_are_read() {
    let text = file(
        "resources:\n  transformations:\n  - {input: nvidia.com/gpu, strategy: Replace, multiplyBy: nodes, outputs: {credits: 10, memory: 40Gi}}\n  - {input: cpu}\nfairSharing:\n  preemptionStrategies: [LessThanInitialShare]\n",
    );
    let read = Configuration::parse(&text, None).unwrap();
    let [gpu, cpu] = read.resources.transformations.as_slice() else {
        panic!("two were written");
    };
    assert!(!gpu.retains() && cpu.retains());
    assert_eq!(gpu.multiply_by.as_deref(), Some("nodes"));
    assert_eq!(gpu.outputs["memory"].to_string(), "40Gi");
    let sharing = read.fair_sharing.unwrap();
    assert_eq!(sharing.preemption_strategies, ["LessThanInitialShare"]);
}
