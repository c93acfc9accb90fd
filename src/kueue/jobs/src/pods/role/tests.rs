//! Hashes that Kueue v0.17.0 itself has made of these specs (`GenerateRoleHash` of its module, run once).

use super::*;

#[test]
fn roles_are_those_of_the_reference() {
    for (hash, spec) in KNOWN {
        let spec: PodSpec = serde_json::from_str(spec).unwrap();
        assert_eq!(role(&spec), *hash, "{spec:?}");
    }
}

const KNOWN: &[(&str, &str)] = &[
    (
        "7aa6c7b8",
        r#"{"containers": [{"name": "c", "image": "i"}]}"#,
    ),
    // As the API server completes every pod.
    (
        "e8aea38d",
        r#"{
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}],
            "priority": 0,
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            ]
        }"#,
    ),
    // Everything that counts.
    (
        "08fa1f65",
        r#"{
            "initContainers": [
                {
                    "name": "d",
                    "ports": [
                        {
                            "name": "http",
                            "containerPort": 80,
                            "hostPort": 8080,
                            "hostIP": "10.0.0.1",
                            "protocol": "TCP"
                        }
                    ]
                }
            ],
            "containers": [
                {
                    "name": "c",
                    "ports": [
                        {
                            "containerPort": 1,
                            "protocol": "UDP"
                        }
                    ],
                    "resources": {
                        "requests": {
                            "nvidia.com/gpu": "1",
                            "cpu": "500m"
                        }
                    }
                }
            ],
            "nodeSelector": {
                "b": "2",
                "a": "1"
            },
            "runtimeClassName": "kata",
            "overhead": {
                "memory": "1Gi",
                "cpu": "10m"
            },
            "priority": 1000,
            "resourceClaims": [
                {
                    "name": "gpu",
                    "resourceClaimTemplateName": "one"
                }
            ],
            "tolerations": [
                {
                    "key": "a",
                    "operator": "Equal",
                    "value": "b",
                    "effect": "NoSchedule"
                }
            ],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "minDomains": 2,
                    "nodeTaintsPolicy": "Honor",
                    "nodeAffinityPolicy": "Ignore",
                    "matchLabelKeys": [
                        "x"
                    ],
                    "labelSelector": {
                        "matchLabels": {
                            "z": "1",
                            "a": "2"
                        },
                        "matchExpressions": [
                            {
                                "key": "k",
                                "operator": "In",
                                "values": [
                                    "v",
                                    "u"
                                ]
                            }
                        ]
                    }
                }
            ],
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 5,
                            "preference": {
                                "matchExpressions": [
                                    {
                                        "key": "a",
                                        "operator": "Gt",
                                        "values": [
                                            "3"
                                        ]
                                    }
                                ],
                                "matchFields": [
                                    {
                                        "key": "metadata.name",
                                        "operator": "In",
                                        "values": [
                                            "nn"
                                        ]
                                    }
                                ]
                            }
                        }
                    ],
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {
                                        "key": "a",
                                        "operator": "Exists"
                                    }
                                ]
                            }
                        ]
                    }
                },
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 7,
                            "podAffinityTerm": {
                                "topologyKey": "zone",
                                "namespaces": [
                                    "nn"
                                ],
                                "labelSelector": {
                                    "matchLabels": {
                                        "a": "b"
                                    }
                                }
                            }
                        }
                    ],
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "host",
                            "namespaceSelector": {
                                "matchLabels": {
                                    "team": "x"
                                }
                            },
                            "matchLabelKeys": [
                                "p"
                            ],
                            "mismatchLabelKeys": [
                                "q"
                            ],
                            "labelSelector": {
                                "matchExpressions": [
                                    {
                                        "key": "a",
                                        "operator": "DoesNotExist"
                                    }
                                ]
                            }
                        }
                    ]
                },
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "host",
                            "labelSelector": {
                                "matchLabels": {
                                    "a": "<&>"
                                }
                            }
                        }
                    ]
                }
            }
        }"#,
    ),
];
