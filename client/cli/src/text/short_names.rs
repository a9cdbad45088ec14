//! Shortening of strategy names to the width of a table column, without making two names equal.

const SEPARATORS: [char; 4] = [',', ':', '=', '+'];

/// Returns the names cut to `width` characters. Names that would be equal after cutting end with a number (`#1`), and are also returned in
/// full.
pub(crate) fn short_names<'a>(names: &[&'a str], width: usize) -> (Vec<String>, Vec<(String, &'a str)>) {
    let mut short: Vec<String> = names.iter().map(|name| cut(name, width)).collect();
    let mut numbered = Vec::new();
    for place in 0..names.len() {
        let is_equal = |other: &usize| cut(names[*other], width) == cut(names[place], width);
        let equals: Vec<usize> = (0..names.len()).filter(is_equal).collect();
        if equals.len() > 1 && names[place] != short[place] {
            let number = equals.iter().position(|other| *other == place).unwrap_or_default() + 1;
            let mark = format!("#{number}");
            let cut = cut(names[place], width - mark.len());
            short[place] = format!("{cut}{mark}");
            numbered.push((short[place].clone(), names[place]));
        }
    }
    (short, numbered)
}

/// Shortens a strategy name by cutting whole parameters out of its middle: `preset:openai…,cap=60s`. Letters are cut only if the name
/// before the parameters is too long.
fn cut(name: &str, width: usize) -> String {
    let length = |text: &str| text.chars().count();
    if length(name) <= width {
        return name.to_owned();
    }
    let head = head(name);
    let rest = &name[head.len()..];
    let room = width.saturating_sub(length(head) + 1);
    let end_at = |separators: &[char]| {
        let mut ends = rest.char_indices().filter(|(_, letter)| separators.contains(letter));
        ends.find_map(|(at, letter)| {
            let end = &rest[if letter == '-' { at + 1 } else { at }..];
            (length(end) <= room && !end.is_empty()).then_some(end)
        })
    };
    // If possible, the end of the shortened name consists of whole parameters. If no whole parameter fits, the end of one parameter is
    // kept.
    let end = end_at(&[',', '+']).or_else(|| end_at(&[',', ':', '=', '+', '-']));
    match end {
        Some(end) => format!("{head}…{end}"),
        None if length(head) < width => format!("{head}…"),
        None => name.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

fn head(name: &str) -> &str {
    let prefix = if name.starts_with("preset:") { "preset:".len() } else { 0 };
    let end = name[prefix..].find(SEPARATORS).map_or(name.len(), |end| prefix + end);
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_parameters_are_cut_out_of_long_names() {
        for (name, width, expected) in [
            ("exponential:jitter=0.5", 24, "exponential:jitter=0.5"),
            ("preset:openai,max-attempts=11,cap=60s", 24, "preset:openai…,cap=60s"),
            ("preset:openai,max-attempts=6", 24, "preset:openai…attempts=6"),
            ("exponential:jitter=0.5", 16, "exponential…=0.5"),
            ("preset:aws-sdk-js-dynamodb", 16, "preset:aws-sdk-…"),
        ] {
            assert_eq!(cut(name, width), expected);
            assert!(cut(name, width).chars().count() <= width);
        }
    }

    #[test]
    fn equal_cuts_get_numbers() {
        let names = ["aimd:beta=0.5,initial=10,max=100", "aimd:beta=0.7,initial=10,max=100", "aimd"];
        let (short, numbered) = short_names(&names, 24);
        assert_eq!(short, ["aimd…,max=100#1", "aimd…,max=100#2", "aimd"].map(str::to_owned));
        assert_eq!(numbered.len(), 2);
        assert_eq!(numbered[1], ("aimd…,max=100#2".to_owned(), names[1]));
    }
}
