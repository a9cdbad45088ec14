//! Shortening of strategy names to the width of a table column, without making two names equal.

const SEPARATORS: [char; 4] = [',', ':', '=', '+'];
const PRESET: &str = "preset:";

/// Returns the names cut to `width` characters, so that they still differ: a cut name keeps a parameter that no other name has. Names for
/// which there is no room end with a number (`#1`), and are also returned in full.
pub fn short_names<'a>(names: &[&'a str], width: usize) -> (Vec<String>, Vec<(String, &'a str)>) {
    let mut short: Vec<String> = names.iter().map(|name| cut(name, width)).collect();
    let unclear = |short: &[String]| -> Vec<usize> {
        (0..names.len()).filter(|place| is_ambiguous(*place, &short[*place], names, short)).collect()
    };
    // A value without its key (`…=6`) is only kept beside names with the same start if nothing clearer fits.
    let is_bare = |place: &usize| {
        let alike = names.iter().filter(|name| head(name) == head(names[*place])).count();
        alike > 1 && short[*place].contains("…=")
    };
    let bare: Vec<usize> = (0..names.len()).filter(is_bare).collect();
    for place in unclear(&short).into_iter().chain(bare) {
        let last = cut(&names[place].replace(PRESET, ""), width);
        let mut cuts = cuts(place, names).into_iter().chain([last]);
        let fits = |cut: &String| cut.chars().count() <= width && !is_ambiguous(place, cut, names, &short);
        let found = cuts.find(fits);
        short[place] = found.unwrap_or_else(|| short[place].clone());
    }
    let mut numbered = Vec::new();
    for place in unclear(&short) {
        let mark = format!("#{}", numbered.len() + 1);
        short[place] = cut(names[place], width - mark.len()) + &mark;
        numbered.push((short[place].clone(), names[place]));
    }
    (short, numbered)
}

/// True if a shortened name could be another name: it is the same text, or only the start of a name is left (`aimd…`), with which another
/// name also starts.
fn is_ambiguous(place: usize, text: &str, names: &[&str], short: &[String]) -> bool {
    let stem = text.strip_suffix('…').filter(|stem| !stem.contains('…'));
    let is_like = |other: usize| {
        let starts =
            |stem| names[other].starts_with(stem) || names[other].replace(PRESET, "").starts_with(stem);
        short[other] == text || stem.is_some_and(starts)
    };
    text != names[place] && (0..names.len()).any(|other| other != place && is_like(other))
}

/// Returns cuts of a name that keep a parameter of its own, or the end of this parameter. The first ones are the clearest. Further cuts
/// leave out `preset:`.
fn cuts(place: usize, names: &[&str]) -> Vec<String> {
    let name = names[place];
    let head = head(name);
    let parameters = parameters(&name[head.len()..]);
    let is_own = |parameter: &&str| {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != place);
        !others.any(|(_, other)| self::parameters(&other[self::head(other).len()..]).contains(parameter))
    };
    let (mut whole, mut ends) = (Vec::new(), Vec::new());
    for (index, parameter) in parameters.iter().enumerate().filter(|(_, parameter)| is_own(parameter)) {
        let before = if index > 0 { "…" } else { "" };
        let after = if index + 1 < parameters.len() { "…" } else { "" };
        whole.push(format!("{head}{before}{parameter}{after}"));
        let starts = parameter.char_indices().skip(1).filter(|(_, letter)| ['=', '-'].contains(letter));
        ends.extend(
            starts.map(|(at, letter)| {
                format!("{head}…{}{after}", &parameter[at + usize::from(letter == '-')..])
            }),
        );
    }
    let without = |cuts: &[String]| cuts.iter().map(|cut| cut.replace(PRESET, "")).collect::<Vec<_>>();
    let plain = vec![name.replace(PRESET, "")];
    [whole.clone(), plain, without(&whole), ends.clone(), without(&ends)].concat()
}

/// Returns the parameters of a name, each with the separator before it.
fn parameters(rest: &str) -> Vec<&str> {
    let (mut parameters, mut rest) = (Vec::new(), rest);
    while let Some(first) = rest.chars().next() {
        let length = first.len_utf8();
        let (parameter, after) =
            rest.split_at(rest[length..].find([',', '+']).map_or(rest.len(), |end| length + end));
        parameters.push(parameter);
        rest = after;
    }
    parameters
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
    let prefix = if name.starts_with(PRESET) { PRESET.len() } else { 0 };
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
    fn names_are_not_cut_where_they_differ() {
        for (names, width, expected) in [
            (
                &["aimd:beta=0.5,initial=10,max=100", "aimd:beta=0.7,initial=10,max=100", "aimd"][..],
                24,
                &["aimd:beta=0.5…", "aimd:beta=0.7…", "aimd"][..],
            ),
            (
                &["preset:urllib3-usual", "preset:urllib3-usual,total=5"],
                24,
                &["preset:urllib3-usual", "urllib3-usual,total=5"],
            ),
            (
                &["preset:aws-2026", "preset:aws-2026,max-attempts=6", "preset:aws-2026,throttle-on=503"],
                18,
                &["preset:aws-2026", "preset:aws-2026…=6", "aws-2026…on=503"],
            ),
            (
                &[
                    "preset:openai",
                    "preset:openai over preset:istio",
                    "preset:openai over preset:envoy over preset:istio",
                ],
                24,
                &["preset:openai", "openai over istio", "openai over envoy over …"],
            ),
        ] {
            let (short, _) = short_names(names, width);
            assert_eq!(short, expected);
        }
    }

    #[test]
    fn numbers_differ_where_names_are_cut_further_for_them() {
        let names = ["100ms", "200ms"]
            .map(|base| ["10s", "20s"].map(|cap| format!("full-jitter:base={base},cap={cap}")));
        let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        let (mut short, _) = short_names(&names, 16);
        short.sort();
        short.dedup();
        assert_eq!(short.len(), 4, "{short:?}");
    }

    /// A name that is cut to `aimd…` is equal to `aimd`.
    #[test]
    fn names_without_room_for_what_differs_get_numbers() {
        let names = ["aimd:beta=0.5,max=10", "aimd:beta=0.5,max=1000", "aimd:beta=0.7,max=1000", "aimd"];
        let (short, numbered) = short_names(&names, 9);
        assert_eq!(short, ["aimd…=10", "aimd…#1", "aimd…#2", "aimd"].map(str::to_owned));
        assert_eq!(numbered, [("aimd…#1".to_owned(), names[1]), ("aimd…#2".to_owned(), names[2])]);
    }
}
