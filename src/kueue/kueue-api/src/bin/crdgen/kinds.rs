//! All definitions: names, columns, and which schema belongs to which kind.

use crate::definition::{Column, Definition};
use crate::queues::{cluster_queue, cohort, local_queue};
use crate::schema::Schema;
use crate::small::{
    admission_check, multikueue_cluster, multikueue_config, priority_class, provisioning,
    resource_flavor, topology,
};
use crate::workload::workload;

pub(crate) fn all() -> Vec<Definition> {
    let mut all = queues();
    all.extend([
        workloads(),
        small(
            "ResourceFlavor",
            "resourceflavors",
            "resourceflavor",
            &["flavor", "flavors", "rf"],
            resource_flavor(),
        ),
    ]);
    all.push(Definition {
        status: true,
        ..small(
            "AdmissionCheck",
            "admissionchecks",
            "admissioncheck",
            &["ac"],
            admission_check(),
        )
    });
    all.push(Definition {
        columns: vec![Column::new(
            "Value",
            ".value",
            "integer",
            "Value of the class",
        )],
        ..small(
            "WorkloadPriorityClass",
            "workloadpriorityclasses",
            "workloadpriorityclass",
            &["wpc"],
            priority_class(),
        )
    });
    all.push(small(
        "ProvisioningRequestConfig",
        "provisioningrequestconfigs",
        "provisioningrequestconfig",
        &["prc"],
        provisioning(),
    ));
    all.push(small(
        "MultiKueueConfig",
        "multikueueconfigs",
        "multikueueconfig",
        &["mkconf"],
        multikueue_config(),
    ));
    all.push(Definition {
        status: true,
        columns: vec![
            Column::new(
                "Connected",
                ".status.conditions[?(@.type=='Active')].status",
                "string",
                "Whether the cluster is reachable",
            ),
            age(),
        ],
        ..small(
            "MultiKueueCluster",
            "multikueueclusters",
            "multikueuecluster",
            &["mkc"],
            multikueue_cluster(),
        )
    });
    all.push(small(
        "Topology",
        "topologies",
        "topology",
        &["topo"],
        topology(),
    ));
    all
}

fn small(
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
    schema: Schema,
) -> Definition {
    Definition {
        kind,
        plural,
        singular,
        namespaced: false,
        short_names,
        status: false,
        columns: Vec::new(),
        selectable: &[],
        schema,
    }
}

fn age() -> Column {
    Column::new(
        "Age",
        ".metadata.creationTimestamp",
        "date",
        "Time since the object was created",
    )
}

fn queues() -> Vec<Definition> {
    let pending = || {
        Column::new(
            "Pending Workloads",
            ".status.pendingWorkloads",
            "integer",
            "Workloads that wait for admission",
        )
    };
    let admitted = || {
        Column::new(
            "Admitted Workloads",
            ".status.admittedWorkloads",
            "integer",
            "Admitted workloads that are not finished",
        )
    };
    vec![
        Definition {
            status: true,
            columns: vec![
                Column::new(
                    "Cohort",
                    ".spec.cohortName",
                    "string",
                    "Cohort of the queue",
                ),
                Column::new(
                    "Strategy",
                    ".spec.queueingStrategy",
                    "string",
                    "Order in which workloads are tried",
                )
                .wide(),
                pending(),
                admitted().wide(),
            ],
            ..small(
                "ClusterQueue",
                "clusterqueues",
                "clusterqueue",
                &["cq"],
                cluster_queue(),
            )
        },
        Definition {
            status: true,
            ..small("Cohort", "cohorts", "cohort", &["co"], cohort())
        },
        Definition {
            namespaced: true,
            status: true,
            columns: vec![
                Column::new(
                    "ClusterQueue",
                    ".spec.clusterQueue",
                    "string",
                    "ClusterQueue behind the queue",
                ),
                pending(),
                admitted(),
            ],
            ..small(
                "LocalQueue",
                "localqueues",
                "localqueue",
                &["queue", "queues", "lq"],
                local_queue(),
            )
        },
    ]
}

fn workloads() -> Definition {
    let condition = |name, path, doc| Column::new(name, path, "string", doc);
    Definition {
        namespaced: true,
        status: true,
        columns: vec![
            Column::new(
                "Queue",
                ".spec.queueName",
                "string",
                "LocalQueue of the workload",
            ),
            Column::new(
                "Reserved in",
                ".status.admission.clusterQueue",
                "string",
                "ClusterQueue that gave the quota",
            ),
            condition(
                "Admitted",
                ".status.conditions[?(@.type=='Admitted')].status",
                "Whether the workload may run",
            ),
            condition(
                "Finished",
                ".status.conditions[?(@.type=='Finished')].status",
                "Whether the workload is over",
            ),
            age(),
        ],
        selectable: &[".status.admission.clusterQueue"],
        ..small(
            "Workload",
            "workloads",
            "workload",
            &["kwl", "kueueworkload", "kueueworkloads"],
            workload(),
        )
    }
}
