//! Child processes and pseudo-terminals: argv, env, deadline, captured output, sandbox.
