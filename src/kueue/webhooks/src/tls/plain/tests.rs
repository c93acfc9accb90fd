//! Certificates as `openssl x509 -req` without extensions makes them, valid for a hundred years.

use std::time::Duration;

use rustls::CertificateError;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::{is_plain, verify};
use crate::tls::{der, provider};

fn read(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

fn check(leaf: &str, authority: &str, at: &str) -> Result<(), CertificateError> {
    let at: jiff::Timestamp = at.parse().unwrap();
    let at = Duration::from_secs(at.as_second().try_into().unwrap());
    let algorithms = provider().signature_verification_algorithms;
    let now = UnixTime::since_unix_epoch(at);
    verify(&read(leaf), &[read(authority)], &algorithms, now)
}

const NOW: &str = "2030-01-01T00:00:00Z";

#[test]
fn one_that_the_authority_signed_is_believed_while_it_is_valid() {
    for (leaf, authority) in [(RSA, RSA_AUTHORITY), (EC, EC_AUTHORITY)] {
        assert!(is_plain(&read(leaf)));
        assert!(!is_plain(&read(authority)));
        assert_eq!(
            der::common_name(&read(leaf)).as_deref(),
            Some("front-proxy-client")
        );
        assert_eq!(check(leaf, authority, NOW), Ok(()));
        assert_eq!(
            check(leaf, authority, "2020-01-01T00:00:00Z"),
            Err(CertificateError::NotValidYet)
        );
        assert_eq!(
            check(leaf, authority, "2200-01-01T00:00:00Z"),
            Err(CertificateError::Expired)
        );
    }
}

#[test]
fn another_authority_of_the_same_name_is_not_believed() {
    for (leaf, authority) in [(RSA, EC_AUTHORITY), (EC, RSA_AUTHORITY), (EC, EC_OTHER)] {
        assert_eq!(
            check(leaf, authority, NOW),
            Err(CertificateError::UnknownIssuer)
        );
    }
}

#[test]
fn a_changed_certificate_is_not_believed() {
    let algorithms = provider().signature_verification_algorithms;
    let whole = read(EC).to_vec();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(1_893_456_000));
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        let outcome = verify(&changed, &[read(EC_AUTHORITY)], &algorithms, now);
        assert!(outcome.is_err(), "byte {at}");
    }
}

const RSA: &str = "
-----BEGIN CERTIFICATE-----
MIICvzCCAacCFBEy16/TsXlsECxTL3EcBgyvr7yrMA0GCSqGSIb3DQEBCwUAMBkx
FzAVBgNVBAMMDmZyb250LXByb3h5LWNhMCAXDTI2MTIwMTAzMDEwN1oYDzIxMjYw
NzMwMDMwMTA3WjAdMRswGQYDVQQDDBJmcm9udC1wcm94eS1jbGllbnQwggEiMA0G
CSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQC3xjzIRNh5T2hFOGpVwIQhgFn36C80
HwRU5MI6j7RLsFt2J/U/bUkzxDXTp9bTk4P228qIHnc/8cbSSpnoBUQc1ss9pdjv
UyeQDvSJkicfPmiJwDhkH58HNDzluFVcgYlvsKJk/tQZ6+iWuKynY1EkyqFse2Lb
jWUv0nq0gAOR4LlKZIAO7DE5KF0L424Gb7cvIx/wB2tB2m7sC2C3lwzIbPNq+Utv
/ekofzZ5x/DykAuGyEGIkHHeJhF7fj79lpvPttq5W9IEaXqc/2lXQRIgKaGMsh1P
/KmUD++c+sc2oTAA8q0DtGP9X+R/9mhoOr3+lbLNYhqPVfyEokwveejjAgMBAAEw
DQYJKoZIhvcNAQELBQADggEBAFoCz2LmZSGSXCvt6YScISroj0T2NGakYuXo476P
pPZQxcNDMmA861mJrwDQb47qh/WKmhEZ1qzFSpKkm8u6OGS2YoJHPoMrdPrfsy09
EJ7GPoaW6lOeaFbeAWFAEaIG3In06ZxD95kM07rXAd7e1v5PTuky5RNDSQisUMNV
hsZfIUvPOQtMuQL10LBsxFyWYx6gl3l/Q2dgXazvsJa0oqK6urHlT4O5RXFmPuc8
4SeohjzM6hS1rleR9e+GPimj7ya2tflC8viVKy5E69aG8yWUQrawMbvfcTtAUJDn
MCPFYePWMRF4GQ+BulePyVnjtugyuJ3FdqAfQnVBYUctffE=
-----END CERTIFICATE-----
";

const RSA_AUTHORITY: &str = "
-----BEGIN CERTIFICATE-----
MIIDFTCCAf2gAwIBAgIUfsiu0DWK4kwpRsH92p2vrjQCiAIwDQYJKoZIhvcNAQEL
BQAwGTEXMBUGA1UEAwwOZnJvbnQtcHJveHktY2EwIBcNMjYxMjAxMDMwMTA1WhgP
MjEyNjExMDcwMzAxMDVaMBkxFzAVBgNVBAMMDmZyb250LXByb3h5LWNhMIIBIjAN
BgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnfN6O6Te9EhjtMa2wLwu/MeuTnVP
xLquxfwc2T3cEARdl0ntqiw4gHsuWJgoR6VGIQ+FyGFkolkO4gW29Rild8uMokdq
7ckpd2N3+bq1I3iBqDl36svKTYlLKkUB6NfjQBrvC4Sz3txSa8ujLObECMikSodG
NvlULgFKt9QHadJ/Pdg1sHAELrbqtmlDxB4sdBtxSCB4YwNB4jMVmYe3DVFEI8RC
js16UNYBAwlIcya3RpyC7Akn4FUlzJdeaC7hfkTzVZ8Ij+cBnYyrgPmxUq4zUxN1
B7y8pf2BZEwN15wMdf80kIrkWcWVzZ/LZ2AaDFDRyv7ueXxIRRfaVx6xOQIDAQAB
o1MwUTAdBgNVHQ4EFgQUUBRgmXD5xdT1YTecpto1lgSIA+8wHwYDVR0jBBgwFoAU
UBRgmXD5xdT1YTecpto1lgSIA+8wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0B
AQsFAAOCAQEAXshedUL6GkA5OfHsWfIsRQJ4N1lHBAYJd3k/sl1dKwsIY9EjUy8z
0PWY0Slklei+TMutHuV+tlAFT7CiWENBij48V7CExLeFDhFCdU+ixilP0aVtRjy3
MwnTEF9701bAt4nKgb3ca73Q6E869Q5XfuZtzzdF1Fr2H1JXfclZwwECIg5aqUEK
3rdnWdVzMDrEuZyTm9d5B7PyBRadp6xVxgvMte02OtD4DlNNnZw72kXXs99vnNwA
7EbSn2kCjw7YDQqk6ZQR2c79MRj8SPzDx5vfY2rQP22YNSjeiba482+QlPplslcV
s+c55qqT/kx97Wr6FQM6CYfQKEMPtg4kjg==
-----END CERTIFICATE-----
";

const EC: &str = "
-----BEGIN CERTIFICATE-----
MIIBMzCB2QIUVkVMW8du2mkKMkvts5M7oiz0hlQwCgYIKoZIzj0EAwIwGTEXMBUG
A1UEAwwOZnJvbnQtcHJveHktY2EwIBcNMjYxMjAxMDMwMTA4WhgPMjEyNjA3MzAw
MzAxMDhaMB0xGzAZBgNVBAMMEmZyb250LXByb3h5LWNsaWVudDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABOkwTZjYuh3IqUAU2EYabnxhMw4U5EVPlnbjVS2M0LvV
HNY4qD56AopmOtuWwO7B5Hpet8ioZ7qX4fIs7lu02tcwCgYIKoZIzj0EAwIDSQAw
RgIhANcwU6IyoVhZ8qvpu/hBEJ1wc8Wfku+ffAws4DSExd+aAiEAoK3g3XLa/y2W
7itUj5LwtSHDqQ0/5whNNFqVE30yboI=
-----END CERTIFICATE-----
";

const EC_AUTHORITY: &str = "
-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUCQKqs2HwBIIRJ4xg78MksRUGz6kwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZnJvbnQtcHJveHktY2EwIBcNMjYxMjAxMDMwMTA4WhgPMjEy
NjExMDcwMzAxMDhaMBkxFzAVBgNVBAMMDmZyb250LXByb3h5LWNhMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEdHG8LRQn5ry+O4c1c3G4mpEAlmOjk9uBxz5358xJ
QcPxoITvaW2sF2yExVv3eGUXV1gIqzel11Buv0atSW3Q4aNTMFEwHQYDVR0OBBYE
FNBPVKx/Jjl6yLOqfv0IXR8OsP/IMB8GA1UdIwQYMBaAFNBPVKx/Jjl6yLOqfv0I
XR8OsP/IMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgPXno5NAc
4UFqt59xTHl7kzZ6b+0gzv4oF4xnWxiUxYYCIQDFzUxZb/aCzP421aTNNp/kYCpW
sjMMfKmwEQkF661a/Q==
-----END CERTIFICATE-----
";

const EC_OTHER: &str = "
-----BEGIN CERTIFICATE-----
MIIBiDCCAS6gAwIBAgITF+RDLRquZFsmSIyIvvTuf9RHijAKBggqhkjOPQQDAjAZ
MRcwFQYDVQQDDA5mcm9udC1wcm94eS1jYTAgFw0yNjEyMDEwMzAxMDhaGA8yMTI2
MTEwNzAzMDEwOFowGTEXMBUGA1UEAwwOZnJvbnQtcHJveHktY2EwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAASvnejwhpIYTcZYRukC5701JMy7IoQZ0srtskE23Qb7
Lxl0c7Yed6Jtt6iF0AAij8LlgUp52+johWakLtU6l/VSo1MwUTAdBgNVHQ4EFgQU
/qM3s1qPHvDuL7hSepKWx+fBO8cwHwYDVR0jBBgwFoAU/qM3s1qPHvDuL7hSepKW
x+fBO8cwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAwG6ZXb9O
YIlYDUqiyI+DIHTmEsStx28VP9ELRXv+ahkCIBkiye6BdHiz7IFRaenxgDsYuyEg
XViUPW4dG1x5jWJk
-----END CERTIFICATE-----
";
