//! Response bodies in the Problem Details format that name the exceeded policy (draft-ietf-httpapi-ratelimit-headers-10, section 5; RFC
//! 9457).

use serde::Serialize;
use vocabulary::Choice;

pub(super) const CONTENT_TYPE: &str = "application/problem+json";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Problem {
    #[default]
    QuotaExceeded,
    TemporaryReducedCapacity,
    AbnormalUsageDetected,
}

impl Choice for Problem {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("quota-exceeded", Self::QuotaExceeded),
        ("temporary-reduced-capacity", Self::TemporaryReducedCapacity),
        ("abnormal-usage-detected", Self::AbnormalUsageDetected),
    ];
}

#[derive(Serialize)]
struct ProblemDetails<'a> {
    r#type: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(rename = "violated-policies")]
    violated_policies: &'a [&'a str],
}

impl Problem {
    /// Returns a response body in the Problem Details format. Its member `status` is omitted if the status is unknown. `reason` is the name
    /// of the stage that rejected the request.
    pub(super) fn write(self, status: Option<u16>, reason: Option<&str>) -> String {
        let (r#type, title) = match self {
            Self::QuotaExceeded => (
                "https://iana.org/assignments/http-problem-types#quota-exceeded",
                "Request cannot be satisfied as assigned quota has been exceeded",
            ),
            Self::TemporaryReducedCapacity => (
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
                "Request cannot be satisfied due to temporary server capacity constraints",
            ),
            Self::AbnormalUsageDetected => (
                "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
                "Request not satisfied due to detection of abnormal request pattern",
            ),
        };
        let details = ProblemDetails { r#type, title, status, violated_policies: reason.as_slice() };
        // Serializing strings and integers to JSON cannot fail.
        serde_json::to_string(&details).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_written_as_the_draft_has_them() {
        assert_eq!(
            Problem::QuotaExceeded.write(None, Some("daily")),
            r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request cannot be satisfied as assigned quota has been exceeded","violated-policies":["daily"]}"#
        );
        let reduced = Problem::TemporaryReducedCapacity.write(Some(503), None);
        assert!(reduced.ends_with(r#"constraints","status":503,"violated-policies":[]}"#), "{reduced}");
    }
}
