//! Columns that line up: words to the left, numbers to the right, no blanks at the ends of lines.

/// Prints rows; the first is the header, and columns from `numbers` on are aligned to the right.
pub(super) fn table(rows: &[Vec<String>], numbers: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let blanks = " ".repeat(widths[column] - cell.chars().count());
            if column < numbers {
                format!("{cell}{blanks}")
            } else {
                format!("{blanks}{cell}")
            }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
