//! `--set key=value`: replacement of a scenario's values from the command line.

use toml::{Table, Value};

/// Applies a setting of the form `key.key=value` to a scenario. The value is parsed as TOML. A value that is not valid TOML is taken as
/// plain text.
pub(super) fn apply(table: &mut Table, setting: &str) -> Result<(), String> {
    let refuse = |why: &str| format!("`--set {setting}`: {why}");
    let (path, text) = setting
        .split_once('=')
        .ok_or_else(|| refuse("write a key, `=` and a value, such as `server.max_busy=20`"))?;
    let value = format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let Some((last, parents)) = keys.split_last().filter(|(last, _)| !last.is_empty()) else {
        return Err(refuse("the key is empty"));
    };
    // Missing sections are created, because a file may leave sections out. An experiment, figure, claim or plot that the file lacks is an
    // error.
    let mut place = table;
    for (depth, key) in keys.iter().enumerate() {
        let named = depth == 1 && matches!(parents[0], "experiment" | "figure" | "claim" | "plot");
        if named && !place.contains_key(*key) {
            let suggestion = vocabulary::did_you_mean(key, place.keys().map(String::as_str));
            return Err(refuse(&format!("there is no {} `{key}`{suggestion}", parents[0])));
        }
        if depth == parents.len() {
            break;
        }
        let next = place.entry(*key).or_insert_with(|| Value::Table(Table::new()));
        place = match next {
            Value::Table(inner) => inner,
            _ => return Err(refuse(&format!("`{key}` holds no keys"))),
        };
    }
    place.insert((*last).to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_toml_or_plain_text_and_tables_are_made_on_the_way() {
        let mut table: Table = "repeats = 3\n[server]\nmax_busy = 50\n[experiment.main]".parse().unwrap();
        for setting in
            ["server.max_busy=20", "server.service_time=exp(1s)", "experiment.main.repeats=5", "repeats=7"]
        {
            apply(&mut table, setting).unwrap();
        }
        let wanted: Table = "repeats = 7\n[server]\nmax_busy = 20\nservice_time = \"exp(1s)\"\n\
                             [experiment.main]\nrepeats = 5"
            .parse()
            .unwrap();
        assert_eq!(table, wanted);
    }

    #[test]
    fn nonsense_is_refused() {
        let mut table: Table = "repeats = 3\n[experiment.main]\n[plot.main]".parse().unwrap();
        for (setting, why) in [
            ("repeats", "write a key"),
            ("=3", "empty"),
            ("repeats.x=1", "holds no keys"),
            ("experiment.man.repeats=1", "there is no experiment `man`"),
            ("experiment.man={}", "there is no experiment `man`"),
            ("plot.man={}", "there is no plot `man`"),
        ] {
            assert!(apply(&mut table, setting).unwrap_err().contains(why), "{setting}");
        }
    }
}
