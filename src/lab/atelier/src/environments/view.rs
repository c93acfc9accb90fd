//! The environment as it can be shown: a value that provider events are folded into. Pure.

use clusters::profile::Profile;
use clusters::provider::{
    ChildChange, ChildEvent, Environment, EnvironmentState, Phase, PhaseEvent, PhaseState, Progress,
};
use jiff::Timestamp;

/// Where the environment is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Is {
    #[default]
    Absent,
    Starting,
    Running,
    Stopping,
    Stopped,
    Deleting,
    /// It should run and does not.
    Broken {
        reason: String,
    },
}

impl From<EnvironmentState> for Is {
    fn from(state: EnvironmentState) -> Self {
        match state {
            EnvironmentState::Starting => Self::Starting,
            EnvironmentState::Running => Self::Running,
            EnvironmentState::Stopping => Self::Stopping,
            EnvironmentState::Stopped => Self::Stopped,
            EnvironmentState::Broken { reason } => Self::Broken { reason },
        }
    }
}

/// One phase of the last start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseProgress {
    pub phase: Phase,
    pub state: PhaseState,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
}

/// Everything there is to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    pub is: Is,
    pub profile: Option<String>,
    /// The phases of the last start that have begun, in the order in which they began.
    pub phases: Vec<PhaseProgress>,
    /// Programs that died since the last start; the last event of each.
    pub children: Vec<ChildEvent>,
    /// Paths and sockets, once there is an environment.
    pub environment: Option<Environment>,
    /// Why the last act failed.
    pub failure: Option<String>,
}

impl View {
    /// A new environment is being made.
    pub(super) fn begins(&mut self, profile: &Profile) {
        self.is = Is::Starting;
        self.profile = Some(profile.name.as_str().to_owned());
        self.phases.clear();
        self.children.clear();
        self.environment = None;
    }

    pub(super) fn is_found(&mut self, environment: Environment) {
        self.is = environment.state.clone().into();
        self.profile = Some(environment.profile_name.clone());
        self.environment = Some(environment);
    }

    pub(super) fn is_absent(&mut self) {
        self.is = Is::Absent;
        self.profile = None;
        self.environment = None;
    }

    pub(super) fn hears(&mut self, progress: Progress) {
        match progress {
            Progress::Phase(event) => self.phase(event),
            Progress::Child(event) => self.child(event),
            // While an act is under way its own words ("deleting") are more exact than the supervisor's.
            Progress::State(state) if self.is != Is::Deleting && self.is != Is::Absent => {
                self.is = state.into();
            }
            Progress::State(_) => {}
        }
    }

    fn phase(&mut self, event: PhaseEvent) {
        let PhaseEvent { phase, state, at } = event;
        if phase == Phase::ALL[0] && state == PhaseState::Started {
            self.phases.clear();
            self.children.clear();
        }
        let ended = (state != PhaseState::Started).then_some(at);
        match self.phases.iter_mut().find(|known| known.phase == phase) {
            Some(known) => (known.state, known.ended) = (state, ended),
            None => self.phases.push(PhaseProgress {
                phase,
                state,
                started: at,
                ended,
            }),
        }
    }

    fn child(&mut self, event: ChildEvent) {
        self.children.retain(|known| known.child != event.child);
        self.children.push(event);
    }

    /// Programs that are dead at this moment.
    pub fn dead(&self) -> impl Iterator<Item = &ChildEvent> {
        self.children
            .iter()
            .filter(|event| matches!(event.change, ChildChange::Died { .. }))
    }
}
