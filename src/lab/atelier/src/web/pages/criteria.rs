//! The criteria of a step with their state and evidence, and the steps of a lab with theirs.

use askama::Template;
use course::{Args, Criterion, Lab, LabTexts, Step, StepId, Telling};
use jiff::tz::TimeZone;

use super::Points;
use crate::web::desk::{Standing, VerdictView, Verdicts};
use crate::web::words::Words;

/// A criterion as people read it.
#[derive(Debug, Clone)]
pub struct CriterionItem {
    pub id: String,
    pub points: u32,
    pub standing: Standing,
    pub title: String,
    pub text: String,
    pub detail: String,
    pub evidence: Vec<EvidenceItem>,
}

/// A fact with its time of day.
#[derive(Debug, Clone)]
pub struct EvidenceItem {
    pub at: String,
    pub time: String,
    /// What happened to which object.
    pub what: String,
    /// What it said then.
    pub details: String,
}

/// A step in the row of steps.
#[derive(Debug, Clone)]
pub struct StepItem {
    pub id: StepId,
    pub number: usize,
    pub title: String,
    pub standing: Standing,
    pub current: bool,
}

#[derive(Debug, Template)]
#[template(path = "fragments/criteria.html")]
struct CriteriaFragment<'a> {
    words: &'a Words,
    criteria: Vec<CriterionItem>,
    earned: u32,
    total: u32,
}

#[derive(Debug, Template)]
#[template(path = "fragments/steps.html")]
struct StepsFragment<'a> {
    words: &'a Words,
    base: &'a str,
    lab_id: &'a str,
    steps: Vec<StepItem>,
}

impl Standing {
    /// The key of its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "standing-passed",
            Self::Failed => "standing-failed",
            Self::Waiting => "standing-waiting",
            Self::NotJudged => "standing-not-judged",
        }
    }
}

impl CriterionItem {
    /// A criterion with its verdict, in words.
    #[must_use]
    pub fn new(criterion: &Criterion, texts: &LabTexts, verdict: Option<&VerdictView>) -> Self {
        let nothing = VerdictView {
            args: Args::new(),
            ..VerdictView::default()
        };
        let verdict = verdict.unwrap_or(&nothing);
        let telling = Telling {
            state: verdict.standing.key(),
            reason: &verdict.reason,
            say: verdict.say.as_deref(),
            args: &verdict.args,
        };
        let told = texts.criterion(criterion.id.as_str(), &telling);
        Self {
            id: criterion.id.to_string(),
            points: criterion.points,
            standing: verdict.standing,
            title: told.title,
            text: told.text,
            detail: told.detail,
            evidence: verdict.evidence.iter().map(EvidenceItem::new).collect(),
        }
    }

    /// The points it gives now.
    #[must_use]
    pub const fn earned(&self) -> u32 {
        if matches!(self.standing, Standing::Passed) {
            self.points
        } else {
            0
        }
    }
}

impl EvidenceItem {
    fn new(evidence: &crate::web::desk::Evidence) -> Self {
        let local = evidence.at.to_zoned(TimeZone::system());
        let (what, details) = evidence
            .what
            .split_once(" · ")
            .unwrap_or((&evidence.what, ""));
        Self {
            at: evidence.at.to_string(),
            time: local.strftime("%H:%M:%S").to_string(),
            what: what.to_owned(),
            details: details.to_owned(),
        }
    }
}

impl StepItem {
    /// Whether all its criteria have passed.
    #[must_use]
    pub const fn done(&self) -> bool {
        matches!(self.standing, Standing::Passed)
    }
}

/// The criteria of a step.
#[must_use]
pub fn items(step: &Step, texts: &LabTexts, verdicts: &Verdicts) -> Vec<CriterionItem> {
    let verdict = |criterion: &Criterion| verdicts.0.get(criterion.id.as_str());
    step.criteria
        .iter()
        .map(|criterion| CriterionItem::new(criterion, texts, verdict(criterion)))
        .collect()
}

/// Points of a step.
#[must_use]
pub fn points(step: &Step, verdicts: &Verdicts) -> Points {
    let earned = step
        .criteria
        .iter()
        .filter(|criterion| passed(criterion, verdicts))
        .map(|c| c.points)
        .sum();
    Points {
        earned,
        total: step.points(),
    }
}

/// Points of a lab.
#[must_use]
pub fn lab_points(lab: &Lab, verdicts: &Verdicts) -> Points {
    lab.rules
        .steps
        .iter()
        .map(|step| points(step, verdicts))
        .fold(Points::default(), |sum, more| Points {
            earned: sum.earned + more.earned,
            total: sum.total + more.total,
        })
}

/// The steps of a lab.
#[must_use]
pub fn steps(
    lab: &Lab,
    current: Option<&StepId>,
    words: &Words,
    verdicts: &Verdicts,
) -> Vec<StepItem> {
    let texts = lab.texts(words.language);
    let item = |(index, step): (usize, &Step)| StepItem {
        id: step.id.clone(),
        number: index + 1,
        title: texts
            .page(&step.id)
            .map(|page| page.title.clone())
            .unwrap_or_default(),
        standing: standing(step, verdicts),
        current: current == Some(&step.id),
    };
    lab.rules.steps.iter().enumerate().map(item).collect()
}

/// The criteria of a step as HTML.
#[must_use]
pub fn criteria_html(step: &Step, texts: &LabTexts, words: &Words, verdicts: &Verdicts) -> String {
    let Points { earned, total } = points(step, verdicts);
    let fragment = CriteriaFragment {
        words,
        criteria: items(step, texts, verdicts),
        earned,
        total,
    };
    crate::web::frame::rendered(&fragment)
}

/// The row of steps as HTML.
#[must_use]
pub fn steps_html(
    lab: &Lab,
    current: &StepId,
    words: &Words,
    base: &str,
    verdicts: &Verdicts,
) -> String {
    let steps = steps(lab, Some(current), words, verdicts);
    crate::web::frame::rendered(&StepsFragment {
        words,
        base,
        lab_id: lab.rules.id.as_str(),
        steps,
    })
}

fn passed(criterion: &Criterion, verdicts: &Verdicts) -> bool {
    verdicts.standing(criterion.id.as_str()) == Standing::Passed
}

/// A step without criteria is never done, so that it is not praised for nothing.
fn standing(step: &Step, verdicts: &Verdicts) -> Standing {
    if !step.criteria.is_empty()
        && step
            .criteria
            .iter()
            .all(|criterion| passed(criterion, verdicts))
    {
        Standing::Passed
    } else if step
        .criteria
        .iter()
        .any(|c| verdicts.standing(c.id.as_str()) == Standing::Failed)
    {
        Standing::Failed
    } else {
        Standing::Waiting
    }
}
