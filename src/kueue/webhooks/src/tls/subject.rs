//! The common name in a certificate's subject. Only as much of DER is read as lies on the way to it; that the certificate is sound
//! was checked before.

/// Object identifier 2.5.4.3, common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The version of a certificate, which may be absent.
const VERSION: u8 = 0xA0;

#[cfg(test)]
mod tests;

/// One value and what comes after it.
fn take(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
        let length = digits
            .iter()
            .try_fold(0_usize, |sum, digit| sum.checked_mul(256)?.checked_add(usize::from(*digit)))?;
        (length, rest)
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((tag, value, rest))
}

/// The common name, if the subject has one that is text.
pub(super) fn common_name(certificate: &[u8]) -> Option<String> {
    let (SEQUENCE, certificate, _) = take(certificate)? else {
        return None;
    };
    let (SEQUENCE, mut fields, _) = take(certificate)? else {
        return None;
    };
    if let (VERSION, _, rest) = take(fields)? {
        fields = rest;
    }
    // Serial number, signature, issuer, validity.
    for _ in 0..4 {
        (_, _, fields) = take(fields)?;
    }
    let (SEQUENCE, mut subject, _) = take(fields)? else {
        return None;
    };
    while let Some((_, mut set, rest)) = take(subject) {
        subject = rest;
        while let Some((_, pair, rest)) = take(set) {
            set = rest;
            let (OBJECT_IDENTIFIER, kind, value) = take(pair)? else {
                return None;
            };
            if kind == COMMON_NAME {
                let (_, text, _) = take(value)?;
                return String::from_utf8(text.to_vec()).ok();
            }
        }
    }
    None
}
