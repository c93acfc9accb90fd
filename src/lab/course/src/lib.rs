//! Lab files become typed labs and safe HTML. Text goes in (`LabSource`), a [`Lab`] or a list of [`Finding`]s comes out;
//! nothing here reads a disk, knows a cluster or decides a verdict. Start at [`Lab::read`]; the grammar is in `labs/FORMAT.md`.

mod catalogue;
mod finding;
mod ids;
mod kinds;
mod lab;
mod moment;
mod page;
mod predicate;
mod read;
mod rules;
mod trial;

pub use catalogue::{Arg, Args, Catalogue, CriterionText, Language, Telling, engine_sentence};
pub use finding::{Finding, Findings};
pub use ids::{CriterionId, LabId, QuestionId, StepId};
pub use kinds::{KINDS, Kind, kind_named};
pub use lab::{Known, Lab, LabSource, LabTexts};
pub use moment::{
    FactName, Filter, JobMoment, JobRef, JobResult, JobSet, Moment, ObjectChange, ObjectMoment,
    ObjectRef, ObjectSet, Pattern, StateName, StatePattern, Take,
};
pub use page::{Block, CalloutKind, Choice, FoldKind, Listing, SafeHtml, StepPage};
pub use predicate::Predicate;
pub use rules::{
    Criterion, Expected, Half, Hint, LabRules, ObjectRule, Question, QuestionKind, Rule, RuleKind,
    Step,
};
pub use trial::{Answers, Expectation, ExpectedState};
