//! Equal warnings of several runs, grouped to one text with the ranges of their numbers.

use crate::is_about_machine;

/// Words after a number that is 1, and after all other numbers.
const ONE_AND_MANY: [(&str, &str); 4] = [
    (" op was ", " ops were "),
    (" op waits ", " ops wait "),
    (" attempt was ", " attempts were "),
    (" response was ", " responses were "),
];

/// Warnings that differ only in numbers, each group with its number of runs.
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
    /// Adds the warnings of a run. A group counts the run once.
    pub fn note(&mut self, warnings: &[String]) {
        let mut noted = Vec::new();
        for warning in warnings {
            let (between, numbers) = split(warning);
            let is_same = |group: &Group| group.between == between;
            let place = self.0.iter().position(is_same).unwrap_or_else(|| {
                let ranges = numbers.iter().map(|number| [number.clone(), number.clone()]).collect();
                self.0.push(Group { count: 0, between: between.clone(), ranges });
                self.0.len() - 1
            });
            let group = &mut self.0[place];
            group.count += usize::from(!noted.contains(&place));
            noted.push(place);
            for ([least, most], number) in group.ranges.iter_mut().zip(numbers) {
                if value(&number) < value(least) {
                    *least = number;
                } else if value(&number) > value(most) {
                    *most = number;
                }
            }
        }
    }

    /// Returns the number of runs and the text of each group: those about figures, then those about the machine, each in the order of
    /// their first warnings.
    pub fn iter(&self) -> impl Iterator<Item = (usize, String)> {
        let mut groups: Vec<_> = self.0.iter().map(|group| (group.count, group.text())).collect();
        groups.sort_by_key(|(_, text)| is_about_machine(text));
        groups.into_iter()
    }
}

impl Group {
    fn text(&self) -> String {
        let mut text = self.between[0].clone();
        for ([least, most], after) in self.ranges.iter().zip(&self.between[1..]) {
            let number = if least == most { least.clone() } else { format!("{least}–{most}") };
            let after =
                if number == "1" { in_other_words(after, |(one, many)| (many, one)) } else { after.clone() };
            text += &(number + &after);
        }
        text
    }
}

/// Replaces the words after a number, if they are known, by those after another number.
fn in_other_words(
    after: &str,
    order: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> String {
    let other = ONE_AND_MANY
        .map(order)
        .into_iter()
        .find_map(|(from, to)| Some(to.to_owned() + after.strip_prefix(from)?));
    other.unwrap_or_else(|| after.to_owned())
}

/// Splits a text into the texts between its numbers, with the words for many, and the numbers. A blank before a digit is part of a number, as
/// in `2 000`.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let (mut between, mut numbers, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(start) = rest.find(is_digit) {
        let (before, number) = rest.split_at(start);
        let goes_on = |(at, letter): (usize, char)| {
            is_digit(letter) || [' ', '.'].contains(&letter) && number[at + 1..].starts_with(is_digit)
        };
        let end = number.char_indices().find(|next| !goes_on(*next)).map_or(number.len(), |(at, _)| at);
        between.push(in_other_words(before, |forms| forms));
        numbers.push(number[..end].to_owned());
        rest = &number[end..];
    }
    between.push(in_other_words(rest, |forms| forms));
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
        let note = |groups: &mut WarningGroups, warnings: &[&str]| {
            groups.note(&warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        };
        note(&mut groups, &["12 ops were unfinished at 1.5 s", "another warning"]);
        note(&mut groups, &["1 op was unfinished at 1.5 s"]);
        note(&mut groups, &["2 345 ops were unfinished at 0.5 s"]);
        let texts: Vec<_> = groups.iter().collect();
        assert_eq!(
            texts,
            [(3, "1–2 345 ops were unfinished at 0.5–1.5 s".to_owned()), (1, "another warning".to_owned())]
        );
        let mut one = WarningGroups::default();
        note(&mut one, &["shard 1: 1 op was unfinished", "shard 1: 1 op was unfinished"]);
        assert_eq!(one.iter().next(), Some((1, "shard 1: 1 op was unfinished".to_owned())), "one run");
        note(&mut one, &["shard 0: 11 ops were unfinished"]);
        assert_eq!(one.iter().next(), Some((2, "shard 0–1: 1–11 ops were unfinished".to_owned())));
    }
}
