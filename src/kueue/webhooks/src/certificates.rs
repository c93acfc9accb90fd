//! The certificate of our Services: a pure decision whether the present one still does, and a new one where it does not.
//! Each serving certificate comes with a CA of its own, whose key is thrown away; the CA before it stays trusted through one change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{Span, Timestamp, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::tls::{certified_key, provider};

#[cfg(test)]
mod tests;

/// Keys of the Secret.
pub const CA: &str = "ca.crt";
pub const CERTIFICATE: &str = "tls.crt";
pub const KEY: &str = "tls.key";

const VALID_DAYS: i64 = 3650;
/// A certificate is renewed this long before it ends.
const AHEAD: Duration = Duration::from_secs(90 * 24 * 3600);

/// A certificate and what clients need to trust it, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Bundle {
    pub ca: String,
    pub certificate: String,
    pub key: String,
}

impl std::fmt::Debug for Bundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bundle")
            .field("ca", &self.ca)
            .finish_non_exhaustive()
    }
}

/// No certificate could be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("make a certificate for {name}: {source}")]
    Make { name: String, source: rcgen::Error },
    #[error("make a certificate: the date {0} is out of range")]
    Date(Timestamp),
}

/// What to do about the Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is fine; this is its CA.
    Keep(String),
    /// Write this instead. `why` is for the log.
    Make { bundle: Bundle, why: String },
}

/// Decides about the data of the Secret, empty where there is none yet.
///
/// # Errors
/// When a new certificate is needed and cannot be made.
pub fn decide(
    data: &BTreeMap<String, Vec<u8>>,
    services: &[String],
    namespace: &str,
    now: Timestamp,
) -> Result<Decision, CertificateError> {
    match check(data, services, namespace, now) {
        Ok(ca) => Ok(Decision::Keep(ca)),
        Err(why) => {
            let mut bundle = make(services, namespace, now)?;
            bundle.ca.push_str(&trusted_before(data));
            Ok(Decision::Make { bundle, why })
        }
    }
}

/// The newest CA of the old data: servers that did not see the change yet are still believed.
fn trusted_before(data: &BTreeMap<String, Vec<u8>>) -> String {
    const END: &str = "-----END CERTIFICATE-----\n";
    let text = data
        .get(CA)
        .map(|pem| String::from_utf8_lossy(pem).into_owned())
        .unwrap_or_default();
    let parses = CertificateDer::from_pem_slice(text.as_bytes()).is_ok();
    text.find(END)
        .filter(|_| parses)
        .map(|at| text[..at + END.len()].to_owned())
        .unwrap_or_default()
}

fn host(service: &str, namespace: &str) -> String {
    format!("{service}.{namespace}.svc")
}

/// Why the data will not do, or its CA.
fn check(
    data: &BTreeMap<String, Vec<u8>>,
    services: &[String],
    namespace: &str,
    now: Timestamp,
) -> Result<String, String> {
    let part = |name: &str| {
        data.get(name)
            .filter(|pem| !pem.is_empty())
            .ok_or_else(|| format!("{name} is missing"))
    };
    let (ca, certificate, key) = (part(CA)?, part(CERTIFICATE)?, part(KEY)?);
    let certified = certified_key(certificate, key).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(ca) {
        let root = root.map_err(|error| format!("{CA} is not PEM: {error}"))?;
        roots.add(root).map_err(|error| format!("{CA}: {error}"))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| error.to_string())?;
    let [leaf, intermediates @ ..] = certified.cert.as_slice() else {
        return Err(format!("{CERTIFICATE} is empty"));
    };
    for at in [now, now + AHEAD] {
        let seconds =
            u64::try_from(at.as_second()).map_err(|_| "the present is before 1970".to_owned())?;
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        for service in services {
            let name = ServerName::try_from(host(service, namespace))
                .map_err(|error| error.to_string())?;
            verifier
                .verify_server_cert(leaf, intermediates, &name, &[], time)
                .map_err(|error| format!("{CERTIFICATE}: {error}"))?;
        }
    }
    String::from_utf8(ca.clone()).map_err(|_| format!("{CA} is not text"))
}

/// A new certificate for some Services, with a CA of its own. The first gives it its name.
///
/// # Errors
/// When the names cannot stand in a certificate, or the date is out of range.
pub fn make(
    services: &[String],
    namespace: &str,
    now: Timestamp,
) -> Result<Bundle, CertificateError> {
    let first = services.first().map(String::as_str).unwrap_or_default();
    let name = host(first, namespace);
    let fault = |source| CertificateError::Make {
        name: name.clone(),
        source,
    };
    let mut ca = CertificateParams::new(Vec::<String>::new()).map_err(fault)?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name
        .push(DnType::CommonName, format!("kueue-ca-{}", now.as_second()));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    validity(&mut ca, now)?;
    let ca_key = KeyPair::generate().map_err(fault)?;
    let ca_certificate = ca.self_signed(&ca_key).map_err(fault)?;

    let names = services.iter().flat_map(|service| {
        let whole = host(service, namespace);
        let long = format!("{whole}.cluster.local");
        [whole, format!("{service}.{namespace}"), long]
    });
    let mut leaf = CertificateParams::new(names.collect::<Vec<_>>()).map_err(fault)?;
    leaf.distinguished_name
        .push(DnType::CommonName, name.clone());
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    validity(&mut leaf, now)?;
    let key = KeyPair::generate().map_err(fault)?;
    let certificate = leaf
        .signed_by(&key, &Issuer::new(ca, ca_key))
        .map_err(fault)?;
    Ok(Bundle {
        ca: ca_certificate.pem(),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}

/// From yesterday, because clocks differ, for ten years.
fn validity(params: &mut CertificateParams, now: Timestamp) -> Result<(), CertificateError> {
    let date = |days: i64| {
        let moved = now
            .to_zoned(TimeZone::UTC)
            .checked_add(Span::new().days(days))
            .map_err(|_| CertificateError::Date(now))?;
        let part = |value: i8| u8::try_from(value).map_err(|_| CertificateError::Date(now));
        Ok(date_time_ymd(
            i32::from(moved.year()),
            part(moved.month())?,
            part(moved.day())?,
        ))
    };
    params.not_before = date(-1)?;
    params.not_after = date(VALID_DAYS)?;
    Ok(())
}

impl Bundle {
    /// The data of the Secret.
    #[must_use]
    pub fn into_data(self) -> BTreeMap<String, Vec<u8>> {
        let parts = [
            (CA, self.ca),
            (CERTIFICATE, self.certificate),
            (KEY, self.key),
        ];
        parts
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text.into_bytes()))
            .collect()
    }
}
