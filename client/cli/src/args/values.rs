//! Values with a syntax of their own: rates, methods, headers.

use std::str::FromStr;

/// Arrivals per second, typed `1000/s`, `60/m`, `10/h` or as a bare number per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate(pub(crate) f64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit.trim() {
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(format!("`{unit}` is no unit; write for example `1000/s`, `60/m` or `10/h`")),
        };
        number
            .trim()
            .parse::<f64>()
            .ok()
            .map(|number| number / seconds)
            .filter(|rate| *rate >= 1e-6 && *rate <= 1e7)
            .map(Self)
            .ok_or_else(|| "it must be a number above 0, at most 10000000/s, such as `1000/s`".to_owned())
    }
}

/// An HTTP method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Method(pub(crate) http::Method);

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        http::Method::from_bytes(text.to_ascii_uppercase().as_bytes())
            .map(Self)
            .map_err(|_| "it is no HTTP method; write for example GET, POST or PUT".to_owned())
    }
}

/// A header, typed `Name: value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: http::HeaderName,
    pub(crate) value: http::HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| "write it as `Name: value`, such as `Accept: text/plain`".to_owned())?;
        let name: http::HeaderName =
            name.trim().parse().map_err(|_| format!("`{name}` is no header name"))?;
        if name.as_str().starts_with("x-tailback-") {
            return Err(format!("`{name}` is loadgen's own; choose another name"));
        }
        let value =
            value.trim().parse().map_err(|_| format!("the value of `{name}` is not allowed in a header"))?;
        Ok(Self { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second_minute_or_hour() {
        for (text, rate) in [("1000/s", 1000.0), ("60/m", 1.0), ("7200/h", 2.0), ("5", 5.0), ("0.5/s", 0.5)] {
            assert_eq!(text.parse(), Ok(Rate(rate)));
        }
        for text in ["0", "-1/s", "1000/d", "fast", "NaN", "inf/s", "1e9/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn headers_are_names_and_values_and_never_the_runs_own() {
        let header: Header = "Accept: text/plain".parse().unwrap();
        assert_eq!((header.name.as_str(), header.value.to_str().unwrap()), ("accept", "text/plain"));
        for text in ["Accept", ": x", "a b: c", "X-Tailback-Op: 1", "a: \u{7f}"] {
            assert!(text.parse::<Header>().is_err(), "{text}");
        }
    }
}
