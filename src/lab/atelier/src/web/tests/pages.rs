use std::sync::Arc;

use http::StatusCode;
use serde_json::json;

use super::site::Site;
use crate::web::desk::{Act, EnvironmentIs, Evidence, Standing, VerdictView, Verdicts};

fn verdicts() -> Verdicts {
    let passed = VerdictView {
        standing: Standing::Passed,
        reason: "passed".to_owned(),
        evidence: vec![Evidence {
            seq: 7,
            at: jiff::Timestamp::UNIX_EPOCH,
            what: "MODIFIED LocalQueue equipe-vision/vision · Active=True Ready".to_owned(),
        }],
        ..VerdictView::default()
    };
    let failed = VerdictView {
        standing: Standing::Failed,
        reason: "wrong-answer".to_owned(),
        args: [("given".to_owned(), "7".into())].into(),
        ..VerdictView::default()
    };
    Verdicts(
        [
            ("prete".to_owned(), passed),
            ("bien-compter".to_owned(), failed),
        ]
        .into(),
    )
}

#[tokio::test]
async fn home_shows_three_days_in_both_languages() {
    let site = Site::new().await;
    let home = site.get("/").await;
    assert_eq!(home.one("h1"), "Kueue en trois jours");
    assert_eq!(
        home.all(".day > h2"),
        ["Jour 1 Day 1", "Jour 2 Day 2", "Jour 3 Day 3"]
    );
    assert_eq!(home.all(".half h3").len(), 6);
    assert_eq!(home.all(".half .other")[0], "Understand and install Kueue");
    assert_eq!(home.all(".half.unwritten").len(), 5);
    assert!(
        home.all(".unwritten .foot")
            .iter()
            .all(|foot| foot == "Cette demi-journée n’est pas encore écrite.")
    );
    assert_eq!(home.all(".half .minutes"), ["environ 1 h 30 · 2 étapes"]);
    assert_eq!(home.all(".half .progress"), ["0 / 6 points"]);
    assert_eq!(home.all(".resume").len(), 0);

    let english = site.get("/?lang=en").await;
    assert_eq!(english.one("h1"), "Kueue in three days");
    assert_eq!(english.attributes("html", "lang"), ["en"]);
    assert_eq!(
        english.all(".half .other")[0],
        "Comprendre et installer Kueue"
    );
}

#[tokio::test]
async fn resume_leads_to_the_very_step() {
    let site = Site::new().await;
    let first = site.get("/labs/essai").await;
    assert_eq!(
        (first.status, first.header("location")),
        (StatusCode::SEE_OTHER, "/labs/essai/compter")
    );
    site.get("/labs/essai/voir").await;
    assert_eq!(
        site.get("/labs/essai").await.header("location"),
        "/labs/essai/voir"
    );
    let home = site.get("/").await;
    assert_eq!(home.attributes(".resume", "href"), ["/labs/essai/voir"]);
    assert_eq!(home.one(".resume"), "ReprendreUn essai · étape 2 / 2 Voir→");
}

#[tokio::test]
async fn a_choice_of_language_and_theme_is_remembered() {
    let site = Site::new().await;
    let page = site.get("/?lang=en&theme=dark").await;
    let cookies: Vec<_> = page
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|value| value.to_str().unwrap())
        .collect();
    assert_eq!(
        cookies,
        [
            "atelier-lang=en; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000",
            "atelier-theme=dark; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000",
        ]
    );
    assert_eq!(page.attributes("html", "data-theme"), ["dark"]);
    let nonsense = site.get("/?lang=xx&theme=pink").await;
    assert_eq!(nonsense.attributes("html", "data-theme"), ["system"]);
    assert_eq!(nonsense.headers.get("set-cookie"), None);
}

#[tokio::test]
async fn the_lesson_has_all_its_blocks() {
    let site = Site::new().await;
    let page = site.get("/labs/essai/compter").await;
    assert_eq!(page.one("h1"), "Compter");
    assert_eq!(page.one(".step-count"), "étape 1 / 2");
    assert_eq!(page.all(".command [data-run]"), ["Exécuter"]);
    assert_eq!(
        page.one(".listing pre"),
        "kind: Job # <not a tag> & \"quoted\""
    );
    assert_eq!(
        page.attributes(".diagram [role=img]", "aria-label"),
        ["Rang"]
    );
    assert_eq!(page.all(".output [data-copy]").len(), 0);
    assert_eq!(
        page.attributes("form[data-question]", "data-kind"),
        ["number", "choice", "choices", "text"]
    );
    assert_eq!(page.all(".fold.hint > summary"), ["Un", "Deux"]);
    assert_eq!(page.all(".callout-title"), ["Attention"]);
    assert_eq!(
        page.attributes(".prose a[data-step], .prose p a", "href"),
        ["voir"]
    );
    assert_eq!(page.all(".turn a"), ["Voir →"]);
    assert_eq!(
        site.get("/labs/essai/voir").await.all(".turn a"),
        ["← Compter", "Bilan →"]
    );
}

#[tokio::test]
async fn criteria_say_their_state_in_words_and_show_evidence() {
    let site = Site::new().await;
    site.desk.verdicts.send_replace(Arc::new(verdicts()));
    let page = site.get("/labs/essai/compter").await;
    assert_eq!(page.one(".criteria .figures"), "0 / 3 points");
    assert_eq!(
        page.all(".criterion-title"),
        [
            "Non rempli : Les GPU sont comptés 2 points",
            "En attente : Une prédiction est donnée 1 point"
        ]
    );
    assert_eq!(
        page.all(".criterion-text"),
        ["7 n’est pas le compte.", "Choisissez."]
    );
    assert_eq!(page.all(".step.is-passed").len(), 1);

    let next = site.get("/labs/essai/voir").await;
    assert_eq!(next.one(".criteria .figures"), "3 / 3 points");
    assert!(
        next.one(".evidence li")
            .ends_with("MODIFIED LocalQueue equipe-vision/vision Active=True Ready")
    );
}

#[tokio::test]
async fn given_answers_are_shown_again() {
    let site = Site::new().await;
    let answers = [
        ("combien", json!(8)),
        ("devinez", json!("non")),
        ("lesquels", json!(["a", "b"])),
        ("mot", json!("x")),
    ];
    site.desk
        .answers
        .lock()
        .extend(answers.map(|(question, value)| (question.to_owned(), value)));
    let page = site.get("/labs/essai/compter").await;
    assert_eq!(page.attributes("#question-combien input", "value"), ["8"]);
    assert_eq!(page.attributes("#question-mot input", "value"), ["x"]);
    assert_eq!(
        page.attributes("input[checked]", "value"),
        ["non", "a", "b"]
    );
}

#[tokio::test]
async fn an_answer_is_taken_only_while_the_environment_runs() {
    let site = Site::new().await;
    let answer = json!({ "question": "combien", "value": 8 });
    let (status, body) = site.call("POST", "/labs/essai/answers", &answer).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(
        body["message"].as_str().unwrap().contains("démarrez-le"),
        "{body}"
    );
    site.desk.is(EnvironmentIs::Running);
    assert_eq!(
        site.call("POST", "/labs/essai/answers", &answer).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(site.desk.answers.lock()["combien"], 8);
    let unknown = json!({ "question": "nulle-part", "value": 8 });
    assert_eq!(
        site.call("POST", "/labs/essai/answers", &unknown).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn the_lab_page_offers_what_the_environment_needs() {
    let site = Site::new().await;
    let cases = [
        (
            EnvironmentIs::Absent,
            "/environment/create",
            "Votre cluster n’existe pas encore",
        ),
        (
            EnvironmentIs::Stopped,
            "/environment/start",
            "Votre cluster est arrêté",
        ),
        (
            EnvironmentIs::Broken {
                reason: "x".to_owned(),
            },
            "/environment/start",
            "Votre cluster est en panne",
        ),
    ];
    for (is, action, title) in cases {
        site.desk.is(is);
        let page = site.get("/labs/essai/voir").await;
        assert_eq!(page.attributes(".offer form", "action"), [action]);
        assert_eq!(page.one(".offer-title"), title);
        assert_eq!(
            page.attributes("#workbench", "data-terminals"),
            [] as [String; 0]
        );
    }
    site.desk.is(EnvironmentIs::Running);
    let running = site.get("/labs/essai/voir").await;
    assert_eq!(running.all(".offer").len(), 0);
    assert_eq!(running.attributes("#workbench", "data-terminals"), [""]);
}

#[tokio::test]
async fn acts_are_offered_when_they_fit_and_refused_when_they_do_not() {
    let site = Site::new().await;
    let offered = async |is| {
        site.desk.is(is);
        site.get("/environment")
            .await
            .attributes(".act form", "action")
    };
    assert_eq!(
        offered(EnvironmentIs::Absent).await,
        ["/environment/create"]
    );
    assert_eq!(offered(EnvironmentIs::Stopping).await, [] as [&str; 0]);
    assert_eq!(
        offered(EnvironmentIs::Running).await,
        [
            "/environment/stop",
            "/environment/reset",
            "/environment/delete"
        ]
    );
    let page = site.get("/environment").await;
    assert!(
        page.one(".confirm:has([action='/environment/reset']) .confirm-body p")
            .contains("Détruit tous les objets")
    );

    assert_eq!(
        site.submit("/environment/create", "lab=essai")
            .await
            .status(),
        StatusCode::CONFLICT
    );
    let reset = site
        .submit("/environment/reset", "lab=essai&back=/labs/essai/voir")
        .await;
    assert_eq!(reset.headers()["location"], "/labs/essai/voir");
    assert_eq!(
        *site.desk.acts.lock(),
        [(Act::Reset, Some("essai".to_owned()))]
    );
}

#[tokio::test]
async fn a_form_cannot_lead_to_another_site() {
    let site = Site::new().await;
    for back in [
        "https://evil.example/",
        "//evil.example",
        "/labs/x:y",
        "/labs/..%5C%5Cevil",
    ] {
        let answer = site
            .submit("/environment/create", &format!("lab=essai&back={back}"))
            .await;
        assert_eq!(answer.headers()["location"], "/environment", "{back}");
    }
}

#[tokio::test]
async fn logs_and_kubeconfig_come_from_the_desk_only() {
    let site = Site::new().await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("etcd.log");
    std::fs::write(&path, "one line\n").unwrap();
    site.desk.logs.lock().push(("etcd".to_owned(), path));
    let log = site.get("/environment/logs/etcd").await;
    assert_eq!(
        (log.text.as_str(), log.header("content-type")),
        ("one line\n", "text/plain; charset=utf-8")
    );
    assert_eq!(
        site.get("/environment/logs/..%2Fetcd").await.status,
        StatusCode::NOT_FOUND
    );

    assert_eq!(
        site.get("/environment/kubeconfig").await.status,
        StatusCode::CONFLICT
    );
    *site.desk.kubeconfig.lock() = Some("kind: Config".to_owned());
    let kubeconfig = site.get("/environment/kubeconfig").await;
    assert_eq!(kubeconfig.text, "kind: Config");
    assert_eq!(kubeconfig.header("cache-control"), "no-store");
}

#[tokio::test]
async fn the_report_has_every_criterion_and_every_answer() {
    let site = Site::new().await;
    site.desk.verdicts.send_replace(Arc::new(verdicts()));
    site.desk
        .answers
        .lock()
        .insert("devinez".to_owned(), json!("oui"));
    let page = site.get("/reports/essai").await;
    assert_eq!(page.one(".score"), "3 / 6 points 1 critère rempli sur 3");
    assert_eq!(
        page.all(".report-step td.standing"),
        ["Non rempli", "En attente", "Rempli"]
    );
    assert_eq!(
        page.all(".report-step td.number"),
        ["0 / 2", "0 / 1", "3 / 3"]
    );
    assert_eq!(page.all(".answers li"), ["Prédiction devinez : oui"]);
}
