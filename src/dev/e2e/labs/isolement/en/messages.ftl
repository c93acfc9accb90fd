lab-title = The walls
lab-summary = What must not be seen from a trainee’s terminal.
lab-goals = See that the walls hold
murs-tiennent = The walls hold
    .waiting = Try the walls.
    .failed = A wall has a hole.
