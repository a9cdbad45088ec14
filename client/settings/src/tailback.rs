//! Format of Tailback itself: Rust code that parses the complete text of the strategy. No parameter is left out.

use tailback::{ETHERNET, ORACLE, PartKind, StrategySpec, find};

use crate::described::{COMMON, Described, Format, defaults};

pub(crate) const FORMAT: Format = Format {
    name: "tailback",
    what: "Rust code for tailback-http: the whole strategy, with presets expanded",
    used_by: &[],
    nearest: "preset:urllib3-usual+aimd",
    comment: Some("//"),
    write,
};

fn write(settings: &mut Described) -> String {
    let text = whole(&settings.spec, &[]);
    // The text expresses every part.
    settings.parts.clear();
    let is_experimental = |name: &str| {
        let is_hedger = find(name).is_some_and(|entry| entry.kind == PartKind::Hedging);
        is_hedger || name == ORACLE || name == ETHERNET
    };
    if let Some(part) = settings.spec.names().find(|name| is_experimental(name)) {
        return format!(
            "// No throttle of tailback-http accepts `{part}`, which works only in experiments.\n// {text}\n"
        );
    }
    let build = if settings.spec.is_bounded() {
        "    Throttle::new(STRATEGY.parse()?)"
    } else {
        "    // The strategy itself never ends a call that keeps failing.\n    let deadline = std::time::Duration::from_secs(60);\n    \
         Throttle::builder(STRATEGY.parse()?).deadline(deadline).build()"
    };
    format!(
        "// Cargo.toml: tailback-http = {{ version = \"0.1\", features = [\"reqwest\"] }}\nuse tailback_http::{{BuildError, Throttle}};\n\n\
         // The value of --strategy.\nconst STRATEGY: &str = r#\"{text}\"#;\n\n\
         // Share it: all clones are one gate.\nfn throttle() -> Result<Throttle, BuildError> {{\n{build}\n}}\n\n\
         // let response = throttle.run(|_attempt| client.get(url).send()).await?;\n"
    )
}

/// Returns the strategy's text without the parts named in `without`, and without parameters at their defaults. Parameters common to a layer
/// are written on the first part of the layer.
pub(crate) fn whole(spec: &StrategySpec, without: &[String]) -> String {
    let mut layers: Vec<String> = Vec::new();
    let mut parts: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, parameters) in spec.describe() {
        if without.iter().any(|part| part == name) {
            continue;
        }
        let set = parameters.iter().zip(defaults(name));
        let set = set.filter(|(used, default)| used.value != default.value);
        let set = set.map(|(used, _)| format!("{}={}", used.key, used.value)).collect();
        if name != COMMON {
            parts.push((name, set));
            continue;
        }
        if let Some((_, first)) = parts.first_mut() {
            first.extend(set);
        }
        let texts = parts.drain(..).map(|(name, set)| {
            if set.is_empty() { name.to_owned() } else { format!("{name}:{}", set.join(",")) }
        });
        layers.push(texts.collect::<Vec<_>>().join("+"));
    }
    layers.join(" over ")
}

#[cfg(test)]
mod tests {
    use tailback::{STRATEGIES, presets};

    use super::*;
    use crate::tests::written;

    #[test]
    fn the_whole_text_of_every_strategy_is_the_same_strategy() {
        let names = STRATEGIES.iter().map(|entry| entry.name.to_owned());
        let presets = presets().iter().map(|preset| format!("preset:{}", preset.name));
        let own = ["preset:openai,max-attempts=9 over preset:envoy+aimd:beta=0.5".to_owned()];
        for text in names.chain(presets).chain(own) {
            let spec: StrategySpec = text.parse().unwrap();
            let again: StrategySpec =
                whole(&spec, &[]).parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(again.describe(), spec.describe(), "{text}");
        }
    }

    #[test]
    fn it_is_rust() {
        insta::assert_snapshot!(written("preset:backon,max-attempts=6+aimd", "tailback"), @r##"
        // Cargo.toml: tailback-http = { version = "0.1", features = ["reqwest"] }
        use tailback_http::{BuildError, Throttle};

        // The value of --strategy.
        const STRATEGY: &str = r#"backoff:base=1s,cap=1m,max-attempts=6,retry-after=ignore,retry-on=any+aimd"#;

        // Share it: all clones are one gate.
        fn throttle() -> Result<Throttle, BuildError> {
            Throttle::new(STRATEGY.parse()?)
        }

        // let response = throttle.run(|_attempt| client.get(url).send()).await?;
        "##);
    }
}
