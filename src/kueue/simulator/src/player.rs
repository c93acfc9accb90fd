//! Plays a script: each statement changes the world, everything is checked, and what a reader wants to see comes back as text.

use crate::check;
use crate::script::{Command, Problem, ScriptError, Statement, parse, split};
use crate::show;
use crate::world::World;

/// A world and the script that is played in it.
#[derive(Debug)]
pub struct Player {
    /// The world.
    pub world: World,
    file: String,
    cycles: u64,
    violations: Vec<String>,
}

impl Player {
    /// An empty world for the script of this name.
    #[must_use]
    pub fn new(file: &str) -> Self {
        Self {
            world: World::new(),
            file: file.to_owned(),
            cycles: 0,
            violations: Vec::new(),
        }
    }

    /// Plays a whole script.
    ///
    /// # Errors
    /// The first statement that cannot be understood or carried out, and what was printed before it.
    pub fn script(&mut self, text: &str) -> Result<String, (String, ScriptError)> {
        let mut printed = String::new();
        for statement in split(text) {
            match self.play(&statement) {
                Ok(text) => printed.push_str(&text),
                Err(error) => return Err((printed, error)),
            }
        }
        Ok(printed)
    }

    /// Plays one statement. What must never be is printed where it was found, and kept in [`Self::violations`].
    ///
    /// # Errors
    /// The statement cannot be understood or carried out.
    pub fn play(&mut self, statement: &Statement) -> Result<String, ScriptError> {
        let commands = parse(statement).map_err(|problem| problem.in_file(&self.file))?;
        let mut printed = String::new();
        for command in commands {
            let text = self.one(command, statement.line);
            printed.push_str(&text.map_err(|problem| problem.in_file(&self.file))?);
        }
        Ok(printed)
    }

    /// What was found that must never be.
    #[must_use]
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    fn one(&mut self, command: Command, line: usize) -> Result<String, Problem> {
        let mut printed = match command {
            Command::Say(text) => format!("{text}\n"),
            Command::Show(view) => show::view(&self.world, view),
            Command::Cycles(number) => self.cycles(number),
            Command::Run => self.run(),
            Command::Advance(_) => {
                let told = self.act(command, line)?;
                format!("after {} s\n{told}", self.world.seconds())
            }
            other => self.act(other, line)?,
        };
        let found = check::always(&mut self.world);
        printed.push_str(&self.found(found));
        Ok(printed)
    }

    fn act(&mut self, command: Command, line: usize) -> Result<String, Problem> {
        let happenings = self.world.act(command);
        let happenings = happenings.map_err(|problem| Problem::new(line, problem))?;
        Ok(happenings.iter().map(show::told).collect())
    }

    fn cycles(&mut self, number: usize) -> String {
        let mut printed = String::new();
        for _ in 0..number {
            let Some(cycled) = self.world.cycle() else {
                printed.push_str("nothing to do\n");
                break;
            };
            self.cycles += 1;
            let told = show::cycle(self.cycles, &cycled);
            if told.is_empty() {
                printed.push_str("nothing changes\n");
            }
            printed.push_str(&told);
            let found = check::after_cycle(&self.world, &cycled);
            printed.push_str(&self.found(found));
        }
        printed
    }

    fn run(&mut self) -> String {
        let (mut printed, mut found, mut cycles) = (String::new(), Vec::new(), self.cycles);
        let rest = self.world.run(|world, cycled| {
            cycles += 1;
            printed.push_str(&show::cycle(cycles, &cycled));
            found.extend(check::after_cycle(world, &cycled));
        });
        self.cycles = cycles;
        match rest {
            Ok(()) => found.extend(check::at_rest(&mut self.world)),
            // Two that may preempt each other do so for ever, as in the reference (DIFFERENCES.md).
            Err(_) if self.world.past.at_war() => {}
            Err(_) => found.push("the world never comes to rest".to_owned()),
        }
        printed.push_str(&self.found(found));
        printed
    }

    fn found(&mut self, found: Vec<String>) -> String {
        let lines = found.iter().map(|what| format!("VIOLATION: {what}\n"));
        let printed = lines.collect();
        self.violations.extend(found);
        printed
    }
}
