//! Forms of names that Kubernetes prescribes.

/// A label's value: at most 63 characters, alphanumeric at both ends.
#[must_use]
pub fn is_label_value(text: &str) -> bool {
    text.is_empty()
        || (text.len() <= 63
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            && bounded(text, false))
}

/// RFC 1123 subdomain, as most names are.
#[must_use]
pub fn is_subdomain(text: &str) -> bool {
    !text.is_empty() && text.len() <= 253 && text.split('.').all(is_dns_part)
}

fn is_dns_part(part: &str) -> bool {
    !part.is_empty()
        && part
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && bounded(part, true)
}

fn bounded(text: &str, lower: bool) -> bool {
    let fine = |b: Option<u8>| {
        b.is_some_and(|b| b.is_ascii_alphanumeric() && !(lower && b.is_ascii_uppercase()))
    };
    fine(text.bytes().next()) && fine(text.bytes().last())
}

/// RFC 1123 label: one part of a subdomain, at most 63 characters.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_dns_part(text)
}
