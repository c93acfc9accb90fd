//! Certificates of one environment: an authority of its own, and one pair for each program and person.
//!
//! Made once, in memory, and written to a folder that only its owner may enter. Nothing is shared between
//! environments, so a credential of one is a stranger to all others.

#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

/// The first address of the Service range: the API server's own Service.
pub(crate) const KUBERNETES_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);

const VALID_YEARS: i64 = 5;
/// A machine whose clock was set back must still accept them.
const BACKDATED_DAYS: i64 = 7;

/// Somebody who signs in with a client certificate: file name, user name, group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The stem of its files.
    pub file: &'static str,
    /// User name for the API server.
    pub user: &'static str,
    /// Group for the API server.
    pub group: &'static str,
}

/// The platform itself.
pub const ADMIN: Identity = Identity {
    file: "admin",
    user: "atelier:admin",
    group: "system:masters",
};
/// The trainee, bound to the enumerated role.
pub const TRAINEE: Identity = Identity {
    file: "trainee",
    user: "trainee",
    group: "atelier:trainees",
};
/// The controller manager. Its controllers share its identity, so it needs what all of them need.
pub const CONTROLLER_MANAGER: Identity = Identity {
    file: "controller-manager",
    user: "system:kube-controller-manager",
    group: "system:masters",
};
/// The scheduler.
pub const SCHEDULER: Identity = Identity {
    file: "scheduler",
    user: "system:kube-scheduler",
    group: "system:kube-scheduler",
};
/// The simulator of nodes.
pub const KWOK: Identity = Identity {
    file: "kwok",
    user: crate::kwok::IDENTITY,
    group: crate::kwok::IDENTITY,
};
/// The host node's kubelet.
pub const HOST_NODE: Identity = Identity {
    file: "host-node",
    user: "system:node:plateforme",
    group: "system:nodes",
};
/// The API server when it speaks to kubelets.
pub const KUBELET_CLIENT: Identity = Identity {
    file: "apiserver-kubelet",
    user: "atelier:apiserver-kubelet",
    group: "atelier:apiserver",
};

/// Everybody who signs in.
pub const IDENTITIES: [Identity; 7] = [
    ADMIN,
    TRAINEE,
    CONTROLLER_MANAGER,
    SCHEDULER,
    KWOK,
    HOST_NODE,
    KUBELET_CLIENT,
];

/// Why certificates could not be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    #[error("make the certificate {name}: {source}")]
    Make {
        name: &'static str,
        source: rcgen::Error,
    },
    #[error("write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the date {0} cannot be in a certificate")]
    Date(Timestamp),
}

/// The file with the authority's key, where it is kept.
pub const AUTHORITY_KEY: &str = "ca-key.pem";

/// What becomes of the authority's key once everything is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Authority {
    Forgotten,
    Kept,
}

/// The folder with the certificates of one environment.
#[derive(Debug, Clone)]
pub struct Pki {
    dir: PathBuf,
}

impl Pki {
    /// The certificates in `dir`, made now if they are not (all) there.
    pub fn ensure(dir: &Path, now: Timestamp) -> Result<Self, PkiError> {
        Self::ensure_with(dir, now, Authority::Forgotten)
    }

    /// The same with the authority's key in [`AUTHORITY_KEY`], for a control plane that signs for the nodes that join it.
    pub fn ensure_signing(dir: &Path, now: Timestamp) -> Result<Self, PkiError> {
        Self::ensure_with(dir, now, Authority::Kept)
    }

    fn ensure_with(dir: &Path, now: Timestamp, authority: Authority) -> Result<Self, PkiError> {
        let pki = Self {
            dir: dir.to_owned(),
        };
        let signs = authority == Authority::Forgotten || pki.file(AUTHORITY_KEY).exists();
        if pki.file("complete").exists() && signs {
            return Ok(pki);
        }
        fs::create_dir_all(dir).map_err(|source| PkiError::Write {
            path: dir.to_owned(),
            source,
        })?;
        pki.make(now, authority)?;
        pki.write("complete", "")?;
        Ok(pki)
    }

    /// The path of a file of the set, as in `apiserver.pem` or `ca-key.pem`.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The text of a file of the set.
    pub fn text(&self, name: &str) -> Result<String, PkiError> {
        let path = self.file(name);
        fs::read_to_string(&path).map_err(|source| PkiError::Read { path, source })
    }

    fn make(&self, now: Timestamp, kept: Authority) -> Result<(), PkiError> {
        let dates = Dates::around(now)?;
        let authority = self.authority("ca", "atelier-ca", dates)?;
        if kept == Authority::Kept {
            self.write(AUTHORITY_KEY, &authority.key().serialize_pem())?;
        }
        let front = self.authority("front-proxy-ca", "atelier-front-proxy-ca", dates)?;
        let names = [
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "localhost",
        ];
        let addresses = [Ipv4Addr::LOCALHOST, KUBERNETES_SERVICE];
        let server = Subject {
            user: "kube-apiserver",
            group: None,
            usage: ExtendedKeyUsagePurpose::ServerAuth,
        };
        self.pair(
            "apiserver",
            &server,
            &alternatives(&names, &addresses)?,
            dates,
            &authority,
        )?;
        let kubelet = Subject {
            user: HOST_NODE.user,
            group: Some(HOST_NODE.group),
            usage: ExtendedKeyUsagePurpose::ServerAuth,
        };
        self.pair(
            "kubelet-serving",
            &kubelet,
            &alternatives(&["plateforme"], &[])?,
            dates,
            &authority,
        )?;
        for Identity { file, user, group } in IDENTITIES {
            let client = Subject {
                user,
                group: Some(group),
                usage: ExtendedKeyUsagePurpose::ClientAuth,
            };
            self.pair(file, &client, &[], dates, &authority)?;
        }
        let proxy = Subject {
            user: "front-proxy-client",
            group: None,
            usage: ExtendedKeyUsagePurpose::ClientAuth,
        };
        self.pair("front-proxy-client", &proxy, &[], dates, &front)?;
        let tokens = KeyPair::generate().map_err(|source| PkiError::Make { name: "sa", source })?;
        self.write("sa.key", &tokens.serialize_pem())?;
        self.write("sa.pub", &tokens.public_key_pem())
    }

    fn authority(
        &self,
        name: &'static str,
        common_name: &str,
        dates: Dates,
    ) -> Result<Issuer<'static, KeyPair>, PkiError> {
        let failed = |source| PkiError::Make { name, source };
        let mut params = dates.params();
        params.distinguished_name = named(common_name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.self_signed(&key).map_err(failed)?;
        self.write(&format!("{name}.pem"), &certificate.pem())?;
        Ok(Issuer::new(params, key))
    }

    fn pair(
        &self,
        name: &'static str,
        subject: &Subject<'_>,
        alternatives: &[SanType],
        dates: Dates,
        issuer: &Issuer<'_, KeyPair>,
    ) -> Result<(), PkiError> {
        let failed = |source| PkiError::Make { name, source };
        let mut params = dates.params();
        params.distinguished_name = named(subject.user, subject.group);
        params.subject_alt_names = alternatives.to_vec();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![subject.usage.clone()];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, issuer).map_err(failed)?;
        self.write(&format!("{name}.pem"), &certificate.pem())?;
        self.write(&format!("{name}-key.pem"), &key.serialize_pem())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), PkiError> {
        let path = self.file(name);
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|source| PkiError::Write { path, source })
    }
}

struct Subject<'a> {
    user: &'a str,
    group: Option<&'a str>,
    usage: ExtendedKeyUsagePurpose,
}

fn named(common_name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common_name);
    name
}

fn alternatives(names: &[&str], addresses: &[Ipv4Addr]) -> Result<Vec<SanType>, PkiError> {
    let names = names
        .iter()
        .map(|name| (*name).try_into().map(SanType::DnsName));
    let addresses = addresses
        .iter()
        .map(|address| Ok(SanType::IpAddress(IpAddr::V4(*address))));
    names
        .chain(addresses)
        .collect::<Result<_, _>>()
        .map_err(|source| PkiError::Make {
            name: "apiserver",
            source,
        })
}

#[derive(Clone, Copy)]
struct Dates {
    from: jiff::civil::Date,
    to: jiff::civil::Date,
}

impl Dates {
    fn around(now: Timestamp) -> Result<Self, PkiError> {
        let today = now.to_zoned(TimeZone::UTC).date();
        let from = today
            .checked_sub(BACKDATED_DAYS.days())
            .map_err(|_| PkiError::Date(now))?;
        let to = today
            .checked_add(VALID_YEARS.years())
            .map_err(|_| PkiError::Date(now))?;
        Ok(Self { from, to })
    }

    fn params(self) -> CertificateParams {
        let day = |date: jiff::civil::Date| {
            let part = |number: i8| u8::try_from(number).unwrap_or(1);
            rcgen::date_time_ymd(i32::from(date.year()), part(date.month()), part(date.day()))
        };
        let mut params = CertificateParams::default();
        params.not_before = day(self.from);
        params.not_after = day(self.to);
        params
    }
}
