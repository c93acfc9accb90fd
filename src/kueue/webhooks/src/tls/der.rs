//! As much of a certificate as we look at ourselves: the common name of its subject, and the parts by which a certificate without
//! extensions is checked (`plain.rs`). Only what lies on the way is read.

#[cfg(test)]
mod tests;

/// Object identifier 2.5.4.3, common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The version of a certificate; absent in the first version.
const VERSION: u8 = 0xA0;

/// One value.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) tag: u8,
    pub(super) value: &'a [u8],
    /// With its tag and length.
    pub(super) whole: &'a [u8],
}

/// One value and what comes after it.
pub(super) fn take(bytes: &[u8]) -> Option<(Part<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
        let length = digits.iter().try_fold(0_usize, |sum, digit| {
            sum.checked_mul(256)?.checked_add(usize::from(*digit))
        })?;
        (length, rest)
    };
    let (value, rest) = rest.split_at_checked(length)?;
    let whole = bytes.get(..bytes.len() - rest.len())?;
    Some((Part { tag, value, whole }, rest))
}

fn sequence(bytes: &[u8]) -> Option<&[u8]> {
    let (part, _) = take(bytes)?;
    (part.tag == SEQUENCE).then_some(part.value)
}

/// A certificate taken apart.
pub(super) struct Parts<'a> {
    /// What was signed.
    pub(super) signed: &'a [u8],
    /// How, and the signature, as a string of bits.
    pub(super) algorithm: &'a [u8],
    pub(super) signature: &'a [u8],
    /// Of the first version, which has no extensions.
    pub(super) is_plain: bool,
    pub(super) issuer: &'a [u8],
    /// From, until.
    pub(super) validity: [Part<'a>; 2],
    pub(super) subject: &'a [u8],
    pub(super) key: Key<'a>,
}

/// A public key.
pub(super) struct Key<'a> {
    pub(super) whole: &'a [u8],
    pub(super) algorithm: &'a [u8],
    pub(super) bits: &'a [u8],
}

/// The value of a string of bits, which must be whole bytes.
fn bits(part: Part<'_>) -> Option<&[u8]> {
    part.value
        .strip_prefix(&[0])
        .filter(|_| part.tag == BIT_STRING)
}

/// Takes a certificate apart.
pub(super) fn parts(certificate: &[u8]) -> Option<Parts<'_>> {
    let (signed, rest) = take(sequence(certificate)?)?;
    let (algorithm, rest) = take(rest).filter(|(part, _)| part.tag == SEQUENCE)?;
    let (signature, rest) = take(rest)?;
    if !rest.is_empty() {
        return None;
    }
    let mut fields = signed.value;
    let (first, rest) = take(fields)?;
    let is_plain = first.tag != VERSION;
    if !is_plain {
        fields = rest;
    }
    let (_serial, rest) = take(fields)?;
    let (_algorithm, rest) = take(rest)?;
    let (issuer, rest) = take(rest)?;
    let (validity, rest) = take(rest)?;
    let (from, until) = take(validity.value)?;
    let (subject, rest) = take(rest)?;
    let (key, _) = take(rest)?;
    let (key_algorithm, key_bits) = take(key.value)?;
    Some(Parts {
        signed: signed.whole,
        algorithm: algorithm.value,
        signature: bits(signature)?,
        is_plain,
        issuer: issuer.value,
        validity: [from, take(until)?.0],
        subject: subject.value,
        key: Key {
            whole: key.whole,
            algorithm: key_algorithm.value,
            bits: bits(take(key_bits)?.0)?,
        },
    })
}

/// The common name, if the subject has one that is text.
pub(super) fn common_name(certificate: &[u8]) -> Option<String> {
    let mut subject = parts(certificate)?.subject;
    while let Some((set, rest)) = take(subject) {
        subject = rest;
        let mut pairs = set.value;
        while let Some((pair, rest)) = take(pairs) {
            pairs = rest;
            let (kind, value) = take(pair.value)?;
            if kind.tag == OBJECT_IDENTIFIER && kind.value == COMMON_NAME {
                return String::from_utf8(take(value)?.0.value.to_vec()).ok();
            }
        }
    }
    None
}
