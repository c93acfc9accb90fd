-- What was recorded in each environment, append-only; everything else about a lab is derived from it.
CREATE TABLE entries (
    environment TEXT NOT NULL,
    seq INTEGER NOT NULL,
    -- microseconds since 1970, on the recorder's clock
    at INTEGER NOT NULL,
    -- the entry's `what`, as JSON
    what TEXT NOT NULL,
    PRIMARY KEY (environment, seq)
) WITHOUT ROWID;

-- Verdicts as they changed, for appeals and reports; the present ones are computed, not read.
CREATE TABLE verdicts (
    environment TEXT NOT NULL,
    lab TEXT NOT NULL,
    criterion TEXT NOT NULL,
    -- the last entry that was taken into account
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- the whole verdict, as JSON
    verdict TEXT NOT NULL
);
CREATE INDEX verdicts_by_lab ON verdicts (environment, lab, criterion, seq);

-- Where each trainee is.
CREATE TABLE progress (
    trainee TEXT NOT NULL,
    lab TEXT NOT NULL,
    step TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (trainee, lab)
) WITHOUT ROWID;

CREATE TABLE preferences (
    trainee TEXT NOT NULL PRIMARY KEY,
    language TEXT NOT NULL
) WITHOUT ROWID;
