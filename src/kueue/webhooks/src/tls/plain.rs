//! Certificates of the first version, which have no extensions. Tools of the command line still make them, API servers show them as
//! their front proxy, and the library refuses them; so these are checked here: by whom it was signed, and when it is valid.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rustls::CertificateError;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::der::{Part, Parts, parts};

#[cfg(test)]
mod tests;

const UTC_TIME: u8 = 0x17;

/// Whether a certificate is of that kind.
pub(super) fn is_plain(certificate: &[u8]) -> bool {
    parts(certificate).is_some_and(|parts| parts.is_plain)
}

/// Whether one of the authorities signed it, and it is valid now.
pub(super) fn verify(
    certificate: &[u8],
    authorities: &[CertificateDer<'_>],
    algorithms: &WebPkiSupportedAlgorithms,
    now: UnixTime,
) -> Result<(), CertificateError> {
    let leaf = parts(certificate).ok_or(CertificateError::BadEncoding)?;
    let [from, until] = leaf.validity.map(|part| time(part));
    let (from, until) = (
        from.ok_or(CertificateError::BadEncoding)?,
        until.ok_or(CertificateError::BadEncoding)?,
    );
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < from.as_second() {
        return Err(CertificateError::NotValidYet);
    }
    if now > until.as_second() {
        return Err(CertificateError::Expired);
    }
    let signed = authorities
        .iter()
        .filter_map(|authority| parts(authority))
        .any(|authority| has_signed(&authority, &leaf, algorithms));
    if signed {
        Ok(())
    } else {
        Err(CertificateError::UnknownIssuer)
    }
}

fn has_signed(
    authority: &Parts<'_>,
    leaf: &Parts<'_>,
    algorithms: &WebPkiSupportedAlgorithms,
) -> bool {
    let fits = algorithms.all.iter().filter(|algorithm| {
        algorithm.signature_alg_id().as_ref() == leaf.algorithm
            && algorithm.public_key_alg_id().as_ref() == authority.key.algorithm
    });
    authority.subject == leaf.issuer
        && fits
            .map(|algorithm| {
                algorithm.verify_signature(authority.key.bits, leaf.signed, leaf.signature)
            })
            .any(|verified| verified.is_ok())
}

/// `YYMMDDhhmmssZ` with years from 1950 on, or the same with four digits.
fn time(part: Part<'_>) -> Option<Timestamp> {
    let text = std::str::from_utf8(part.value).ok()?.strip_suffix('Z')?;
    let long = if part.tag == UTC_TIME {
        let century = if text.get(..1)? < "5" { "20" } else { "19" };
        format!("{century}{text}")
    } else {
        text.to_owned()
    };
    let date = DateTime::strptime("%Y%m%d%H%M%S", long).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
