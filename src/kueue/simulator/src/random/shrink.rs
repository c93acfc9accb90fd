//! Makes a script smaller as long as it still shows that something is wrong: leaves out halves, then quarters, down to single statements.

use super::violations;
use crate::script::Statement;

pub(super) fn shrink(mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut size = statements.len().div_ceil(2);
    loop {
        let before = statements.len();
        let mut at = 0;
        while at < statements.len() {
            let end = (at + size).min(statements.len());
            let without: Vec<_> = [&statements[..at], &statements[end..]].concat();
            if violations(&without).is_empty() {
                at = end;
            } else {
                statements = without;
            }
        }
        if size == 1 && statements.len() == before {
            return statements;
        }
        size = size.div_ceil(2);
    }
}
