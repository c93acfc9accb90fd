//! What is agreed to with clients, where the operator chose: versions, cipher suites of TLS 1.2, groups of the key exchange. What the
//! library does not have is left out; where nothing would be left, its own choice stands.

use rustls::crypto::CryptoProvider;
use rustls::version::TLS13;
use rustls::{ALL_VERSIONS, CipherSuite, SupportedCipherSuite, SupportedProtocolVersion};

#[cfg(test)]
mod tests;

const ONLY_NEWEST: &[&SupportedProtocolVersion] = &[&TLS13];

/// See the module. The default leaves everything to the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Nothing older than TLS 1.3.
    pub only_newest: bool,
    /// Names of suites of TLS 1.2; none for all.
    pub suites: Vec<String>,
    /// Numbers of groups; none for all.
    pub groups: Vec<i32>,
}

impl Choice {
    pub(super) fn versions(&self) -> &'static [&'static SupportedProtocolVersion] {
        if self.only_newest {
            ONLY_NEWEST
        } else {
            ALL_VERSIONS
        }
    }

    pub(super) fn provider(&self) -> CryptoProvider {
        let mut provider = rustls::crypto::ring::default_provider();
        if !self.suites.is_empty() {
            provider.cipher_suites.retain(|suite| self.allows(*suite));
        }
        let groups: Vec<_> = provider
            .kx_groups
            .iter()
            .copied()
            .filter(|group| self.groups.contains(&i32::from(u16::from(group.name()))))
            .collect();
        if !groups.is_empty() {
            provider.kx_groups = groups;
        }
        provider
    }

    /// Those of TLS 1.3 cannot be chosen. Two suites have an older, shorter name.
    fn allows(&self, suite: SupportedCipherSuite) -> bool {
        let SupportedCipherSuite::Tls12(_) = suite else {
            return true;
        };
        let Some(name) = name(suite.suite()) else {
            return false;
        };
        let short = name
            .strip_suffix("_SHA256")
            .filter(|name| name.ends_with("POLY1305"));
        self.suites
            .iter()
            .any(|asked| asked == name || Some(asked.as_str()) == short)
    }
}

fn name(suite: CipherSuite) -> Option<&'static str> {
    suite.as_str()
}
