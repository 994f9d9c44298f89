//! Tables for people; the only user of the table crate.

use crate::text::Escaped;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Row};

/// Rows under a header, in columns. Cells are escaped, so a cell never holds a line break or a colour of its own.
#[derive(Debug, Clone, Default)]
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<Escaped>>,
}

impl Table {
    /// A table with these column names and no rows.
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Missing cells are empty; cells beyond the header are left out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Escaped>) {
        self.rows.push(cells.into_iter().take(self.header.len()).collect());
    }

    /// Whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text that ends with a line feed. With a width in columns, long cells wrap to fit into it.
    pub fn render(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_header(self.header.clone());
        for cells in &self.rows {
            let cells = cells.iter().map(Escaped::as_str);
            let missing = self.header.len().saturating_sub(cells.len());
            table.add_row(Row::from(cells.chain(std::iter::repeat_n("", missing))));
        }
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table.trim_fmt() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::text::escape;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn columns_line_up_and_wrap() {
        let mut table = Table::new(&["tool", "effect", "what it is for"]);
        table.row([escape("git_log"), escape("read"), escape("shows the newest commits")]);
        table.row([escape("日本\u{202e}"), escape("write")]);
        insta::assert_snapshot!(table.render(None), @r"
        tool          effect  what it is for
        git_log       read    shows the newest commits
        日本\u{202e}  write
        ");
        let narrow = table.render(Some(34));
        insta::assert_snapshot!(narrow, @r"
        tool         effect  what it is
                             for
        git_log      read    shows the
                             newest
                             commits
        日本\u{202e  write
        }
        ");
        assert!(narrow.lines().all(|line| line.width() <= 34));
    }
}
