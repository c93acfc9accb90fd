use course::Language;
use scraper::{Html, Selector};
use timeline::{Board, BoardNode, BoardPod, BoardQueue, BoardWorkload, FlavorUse, WorkloadState};

use super::html;
use crate::web::desk::BoardView;
use crate::web::words::Words;

fn queue(used: &str, borrowed: &str, share: f64) -> BoardQueue {
    let flavor = FlavorUse {
        flavor: "a100".to_owned(),
        resource: "nvidia.com/gpu".to_owned(),
        nominal: "4".to_owned(),
        borrowing_limit: None,
        lending_limit: None,
        used: used.to_owned(),
        borrowed: borrowed.to_owned(),
        share,
    };
    BoardQueue {
        name: "vision".to_owned(),
        cohort: Some("cassiopee".to_owned()),
        active: false,
        reason: Some("FlavorNotFound".to_owned()),
        message: Some("missing <flavor>".to_owned()),
        pending: 2,
        admitted: 1,
        flavors: vec![flavor],
        local_queues: Vec::new(),
    }
}

fn workload() -> BoardWorkload {
    BoardWorkload {
        namespace: "equipe-vision".to_owned(),
        name: "job-chiffres-1".to_owned(),
        job: Some("chiffres".to_owned()),
        local_queue: "vision".to_owned(),
        cluster_queue: None,
        state: WorkloadState::Queued,
        reason: Some("Pending".to_owned()),
        message: Some("2 GPU manquent".to_owned()),
        priority: 0,
        requests: [
            ("cpu".to_owned(), "2".to_owned()),
            ("nvidia.com/gpu".to_owned(), "4".to_owned()),
        ]
        .into(),
        flavors: Vec::new(),
    }
}

fn node() -> BoardNode {
    let pod = |namespace: &str, gpus| BoardPod {
        namespace: namespace.to_owned(),
        name: format!("p-{namespace}-{gpus}"),
        job: Some("distribue".to_owned()),
        gpus,
    };
    BoardNode {
        name: "a100-1".to_owned(),
        ready: true,
        schedulable: false,
        gpus: 8,
        product: None,
        rack: Some("baie-1".to_owned()),
        pods: vec![
            pod("equipe-vision", 1),
            pod("equipe-langage", 3),
            pod("equipe-vision", 1),
            pod("equipe-reco", 0),
        ],
    }
}

fn shown(board: Board) -> Html {
    Html::parse_fragment(&html(
        &BoardView { board: Some(board) },
        &Words::of(Language::Fr),
    ))
}

fn texts(html: &Html, selector: &str) -> Vec<String> {
    let words = |text: String| {
        text.split([' ', '\n'])
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    html.select(&Selector::parse(selector).unwrap())
        .map(|one| words(one.text().collect()))
        .collect()
}

#[test]
fn a_waiting_workload_says_what_for() {
    let html = shown(Board {
        workloads: vec![workload()],
        ..Board::default()
    });
    assert_eq!(texts(&html, ".workloads td.standing"), ["En attente"]);
    assert_eq!(
        texts(&html, ".workloads td:nth-child(2) code"),
        ["chiffres"]
    );
    assert_eq!(texts(&html, ".workloads .reason"), ["2 GPU manquent"]);
    assert_eq!(
        texts(&html, ".workloads td.number"),
        ["2\u{a0}cpu, 4\u{a0}gpu"]
    );
}

#[test]
fn missing_quota_is_said_in_the_readers_language() {
    let message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor cpu, 500m more needed, \
                   insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed";
    let html = shown(Board {
        workloads: vec![BoardWorkload {
            message: Some(message.to_owned()),
            ..workload()
        }],
        ..Board::default()
    });
    assert_eq!(
        texts(&html, ".workloads .lack"),
        [
            "Il manque 500m cpu dans le profil cpu.",
            "Il manque 2 gpu dans le profil a100."
        ]
    );
    assert_eq!(texts(&html, ".workloads .reason"), [message]);
}

#[test]
fn an_inactive_queue_says_why_and_hides_no_markup() {
    let html = shown(Board {
        queues: vec![queue("2", "0", 0.5)],
        ..Board::default()
    });
    assert_eq!(texts(&html, ".queue .tag"), ["inactive · FlavorNotFound"]);
    assert_eq!(texts(&html, ".queue .reason"), ["missing <flavor>"]);
    assert_eq!(texts(&html, ".queue .figures"), ["2 en attente · 1 admis"]);
    assert_eq!(texts(&html, ".uses td.number"), ["2 / 4"]);
}

#[test]
fn borrowed_capacity_is_a_shape_and_a_word() {
    let html = shown(Board {
        queues: vec![queue("6", "2", 1.5)],
        ..Board::default()
    });
    assert_eq!(texts(&html, ".uses td.number"), ["6 / 4 ▨ 2 emprunté"]);
    let width = |class: &str| {
        let selector = Selector::parse(&format!("rect.{class}")).unwrap();
        html.select(&selector)
            .next()
            .unwrap()
            .attr("width")
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (width("part"), width("borrowed")),
        ("66.7".to_owned(), "33.3".to_owned())
    );
}

#[test]
fn devices_are_told_apart_by_job_and_counted_in_words() {
    let html = shown(Board {
        nodes: vec![node()],
        ..Board::default()
    });
    let count = |selector: &str| html.select(&Selector::parse(selector).unwrap()).count();
    assert_eq!((count(".devices .held"), count(".devices .free")), (5, 3));
    assert_eq!(texts(&html, ".node .figures"), ["5 / 8 GPU utilisés"]);
    assert_eq!(
        texts(&html, ".holders li"),
        [
            "distribue equipe-vision 2 GPU",
            "distribue equipe-langage 3 GPU"
        ]
    );
    assert_eq!(texts(&html, ".node .tag"), ["fermé"]);
    assert_eq!(texts(&html, ".node > p.quiet"), ["baie-1"]);
}

#[test]
fn without_an_environment_there_is_a_sentence() {
    let html = html(&BoardView::default(), &Words::of(Language::En));
    assert!(html.contains("when the environment is running"), "{html}");
}
