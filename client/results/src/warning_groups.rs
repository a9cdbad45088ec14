//! Equal warnings of several runs, grouped to one text with the ranges of their numbers.

use crate::health::is_about_machine;

/// Warnings that differ only in numbers, each group with its number of warnings.
#[derive(Clone, Debug, Default)]
pub struct WarningGroups(Vec<Group>);

#[derive(Clone, Debug)]
struct Group {
    count: usize,
    /// Texts between the numbers.
    between: Vec<String>,
    /// Least and greatest text of each number.
    ranges: Vec<[String; 2]>,
}

impl WarningGroups {
    pub fn note(&mut self, warning: &str) {
        // A single op is counted in other words, which would form a group of its own.
        let (between, numbers) = split(&warning.replace("1 op was ", "1 ops were "));
        let ranges: Vec<[String; 2]> = numbers.into_iter().map(|number| [number.clone(), number]).collect();
        let Some(group) = self.0.iter_mut().find(|group| group.between == between) else {
            self.0.push(Group { count: 1, between, ranges });
            return;
        };
        group.count += 1;
        for ([least, most], [number, _]) in group.ranges.iter_mut().zip(ranges) {
            if value(&number) < value(least) {
                *least = number;
            } else if value(&number) > value(most) {
                *most = number;
            }
        }
    }

    /// Returns the number of warnings and the text of each group: those about figures, then those about the machine, each in the order of
    /// their first warnings.
    pub fn iter(&self) -> impl Iterator<Item = (usize, String)> {
        let mut groups: Vec<_> = self.0.iter().map(|group| (group.count, group.text())).collect();
        groups.sort_by_key(|(_, text)| is_about_machine(text));
        groups.into_iter()
    }
}

impl Group {
    fn text(&self) -> String {
        let numbers = self
            .ranges
            .iter()
            .map(|[least, most]| if least == most { least.clone() } else { format!("{least}–{most}") });
        let numbers = numbers.chain([String::new()]);
        let text: String =
            self.between.iter().zip(numbers).flat_map(|(text, number)| [text.clone(), number]).collect();
        if text.starts_with("1 ops were ") { text.replacen("1 ops were ", "1 op was ", 1) } else { text }
    }
}

/// Splits a text into the texts between its numbers, and the numbers. A blank before a digit is part of a number, as in `2 000`.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let (mut between, mut numbers, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(start) = rest.find(is_digit) {
        let (before, number) = rest.split_at(start);
        let goes_on = |(at, letter): (usize, char)| {
            is_digit(letter) || [' ', '.'].contains(&letter) && number[at + 1..].starts_with(is_digit)
        };
        let end = number.char_indices().find(|next| !goes_on(*next)).map_or(number.len(), |(at, _)| at);
        between.push(before.to_owned());
        numbers.push(number[..end].to_owned());
        rest = &number[end..];
    }
    between.push(rest.to_owned());
    (between, numbers)
}

fn value(number: &str) -> f64 {
    number.replace(' ', "").parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_differ_only_in_numbers_are_one_text_with_ranges() {
        let mut groups = WarningGroups::default();
        for warning in [
            "12 ops were unfinished at 1.5 s",
            "another warning",
            "1 op was unfinished at 1.5 s",
            "2 345 ops were unfinished at 0.5 s",
        ] {
            groups.note(warning);
        }
        let texts: Vec<_> = groups.iter().collect();
        assert_eq!(
            texts,
            [(3, "1–2 345 ops were unfinished at 0.5–1.5 s".to_owned()), (1, "another warning".to_owned())]
        );
        let mut one = WarningGroups::default();
        one.note("1 op was unfinished");
        assert_eq!(one.iter().next(), Some((1, "1 op was unfinished".to_owned())));
    }
}
