//! Tables for people; the only user of the table crate.

use crate::text::Escaped;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Row};
use unicode_width::UnicodeWidthStr as _;

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

    /// The table as text that ends with a line feed. With a width in columns, long cells wrap to fit into it; where
    /// that would leave the widest column next to nothing, each row is a paragraph of its own.
    pub fn render(&self, width: Option<u16>) -> String {
        if width.is_some_and(|width| self.least() > usize::from(width)) {
            return self.paragraphs();
        }
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

    /// The width that all columns take if the widest is cut down to ten, in columns.
    fn least(&self) -> usize {
        let widths: Vec<usize> = (0..self.header.len())
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.as_str().width());
                cells.chain(self.header.get(at).map(|name| name.width())).max().unwrap_or(0)
            })
            .collect();
        let widest = widths.iter().copied().max().unwrap_or(0);
        widths.iter().map(|width| width + 2).sum::<usize>().saturating_sub(widest.saturating_sub(10) + 2)
    }

    /// Each row as lines of a column's name and its cell, with an empty line between the rows. Empty cells are left out.
    fn paragraphs(&self) -> String {
        let label = self.header.iter().map(|name| name.width()).max().unwrap_or(0);
        let rows = self.rows.iter().map(|row| {
            let cells = self.header.iter().zip(row).filter(|(_, cell)| !cell.as_str().is_empty());
            let lines: Vec<String> =
                cells.map(|(name, cell)| format!("{name:<label$}  {}\n", cell.as_str())).collect();
            lines.concat()
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::text::escape;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn a_table_that_does_not_fit_is_a_list() {
        let mut table = Table::new(&["tool", "effect", "what it is for"]);
        table.row([escape("git_log"), escape("read"), escape("shows the newest commits")]);
        table.row([escape("git_commit"), escape(""), escape("commits")]);
        // 10 and 6, 10 for what is widest, and two spaces between.
        let fits = table.render(Some(30));
        assert!(fits.lines().next().is_some_and(|header| header.contains("effect")), "{fits}");
        assert!(fits.lines().all(|line| line.width() <= 30), "{fits}");
        insta::assert_snapshot!(table.render(Some(29)), @r"
        tool            git_log
        effect          read
        what it is for  shows the newest commits

        tool            git_commit
        what it is for  commits
        ");
    }

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
