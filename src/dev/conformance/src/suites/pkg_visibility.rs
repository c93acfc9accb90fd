//! Where the visibility API is served, and with whose certificate.

use kueue_api::config::Configuration;
use kueue_api::names::CONFIG_API_VERSION;
use serde_json::json;

use super::File;
use crate::corpus::Case;
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestCreateVisibilityServerOptions", options)];

fn options(case: Case<'_>) -> Verdict {
    let mut file = case.input["cfg"].clone();
    let Some(fields) = file.as_object_mut() else {
        return Verdict::Failed("no configuration".to_owned());
    };
    fields.insert("apiVersion".to_owned(), json!(CONFIG_API_VERSION));
    fields.insert("kind".to_owned(), json!("Configuration"));
    match Configuration::parse(&file.to_string(), None) {
        Ok(read) => {
            // The reference makes a certificate of its own in a folder unless one comes from outside.
            let got = json!({
                "bindAddress": read.visibility.bind_address,
                "bindPort": read.visibility.bind_port,
                "certDirectory": read.internal_cert_management.enable,
            });
            Verdict::same(&got, &case.want["want"])
        }
        Err(error) => Verdict::Failed(error.to_string()),
    }
}
