//! Verdicts as text for people, JSON for programs and JUnit for test reports.

use anyhow::Context;
use course::{Lab, Language};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use timeline::{LabVerdicts, State, StepVerdicts, Timeline, Verdict};

/// The sign of a state; the word stands beside it.
pub(crate) fn sign(state: State) -> &'static str {
    match state {
        State::Passed => "✓",
        State::Failed => "✗",
        State::Waiting => "…",
        State::Pending => "·",
        State::NotJudged => "?",
    }
}

fn title(lab: &Lab, step: &StepVerdicts, language: Language) -> String {
    let page = lab.texts(language).page(&step.step);
    page.map_or_else(|| step.step.to_string(), |page| page.title.clone())
}

/// A line a criterion, and under it why, when it has not passed.
pub(crate) fn text(lab: &Lab, verdicts: &LabVerdicts, language: Language) -> String {
    let mut lines = vec![format!(
        "{} · {}/{}",
        lab.texts(language).title(),
        verdicts.earned,
        verdicts.points
    )];
    for step in &verdicts.steps {
        lines.push(String::new());
        lines.push(format!(
            "{}  {}/{}",
            title(lab, step, language),
            step.earned(),
            step.points()
        ));
        for verdict in &step.verdicts {
            let told = lab
                .texts(language)
                .criterion(verdict.criterion.as_str(), &verdict.telling());
            let Verdict {
                state,
                earned,
                points,
                criterion,
                reason,
                ..
            } = verdict;
            lines.push(format!(
                "  {} {earned}/{points}  {}  [{criterion}: {}]",
                sign(*state),
                told.title,
                state.key()
            ));
            if *state != State::Passed {
                let say = verdict
                    .say
                    .as_ref()
                    .map_or_else(String::new, |say| format!(" {say}"));
                lines.push(
                    format!("         {} {}", told.text, told.detail)
                        .trim_end()
                        .to_owned(),
                );
                lines.push(format!("         ({reason}{say})"));
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Everything, with texts and evidence.
pub(crate) fn json(
    lab: &Lab,
    verdicts: &LabVerdicts,
    timeline: &Timeline,
    language: Language,
) -> anyhow::Result<String> {
    let steps: Vec<serde_json::Value> = verdicts
        .steps
        .iter()
        .map(|step| {
            let criteria: Vec<serde_json::Value> = step
                .verdicts
                .iter()
                .map(|verdict| criterion(lab, verdict, timeline, language))
                .collect();
            json!({
                "step": step.step,
                "title": title(lab, step, language),
                "earned": step.earned(),
                "points": step.points(),
                "criteria": criteria,
            })
        })
        .collect();
    let whole = json!({
        "lab": verdicts.lab,
        "title": lab.texts(language).title(),
        "earned": verdicts.earned,
        "points": verdicts.points,
        "seq": verdicts.seq,
        "steps": steps,
    });
    let text = serde_json::to_string_pretty(&whole).context("write the report as JSON")?;
    Ok(text + "\n")
}

fn criterion(
    lab: &Lab,
    verdict: &Verdict,
    timeline: &Timeline,
    language: Language,
) -> serde_json::Value {
    let told = lab
        .texts(language)
        .criterion(verdict.criterion.as_str(), &verdict.telling());
    json!({
        "id": verdict.criterion,
        "title": told.title,
        "state": verdict.state,
        "reason": verdict.reason,
        "say": verdict.say,
        "text": told.text,
        "detail": told.detail,
        "args": verdict.args,
        "earned": verdict.earned,
        "points": verdict.points,
        "evidence": timeline.evidence(&verdict.evidence),
    })
}

/// A suite a step, a case a criterion. What has not passed is a failure; what could not be judged is an error.
pub(crate) fn junit(
    lab: &Lab,
    verdicts: &LabVerdicts,
    timeline: &Timeline,
    language: Language,
) -> anyhow::Result<String> {
    let mut report = Report::new(verdicts.lab.as_str());
    for step in &verdicts.steps {
        let mut suite = TestSuite::new(step.step.as_str());
        for verdict in &step.verdicts {
            let told = lab
                .texts(language)
                .criterion(verdict.criterion.as_str(), &verdict.telling());
            let status = match verdict.state {
                State::Passed => TestCaseStatus::success(),
                State::NotJudged => unsuccessful(NonSuccessKind::Error, verdict, &told, timeline),
                State::Failed | State::Waiting | State::Pending => {
                    unsuccessful(NonSuccessKind::Failure, verdict, &told, timeline)
                }
            };
            let mut case = TestCase::new(told.title.as_str(), status);
            case.set_classname(format!("{}.{}", verdicts.lab, verdict.criterion));
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().context("write the report as JUnit")
}

fn unsuccessful(
    kind: NonSuccessKind,
    verdict: &Verdict,
    told: &course::CriterionText,
    timeline: &Timeline,
) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    let evidence = timeline.evidence(&verdict.evidence);
    let lines: Vec<String> = evidence
        .iter()
        .map(|one| format!("{} {} {}", one.seq, one.at, one.what))
        .collect();
    status.set_type(format!("{}/{}", verdict.state.key(), verdict.reason));
    status.set_message(format!("{} {}", told.text, told.detail));
    status.set_description(lines.join("\n"));
    status
}
