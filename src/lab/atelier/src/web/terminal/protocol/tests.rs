use super::{FromPage, Hello, INPUT_LIMIT, ToPage};

#[test]
fn frames_of_a_page_survive_the_way() {
    let hello = Hello {
        token: "t".to_owned(),
        page: "p".to_owned(),
        shell: Some("s".to_owned()),
        received: u64::MAX,
        cols: 80,
        rows: 24,
    };
    let frames = [
        FromPage::Hello(hello),
        FromPage::Input {
            id: 7,
            bytes: "é\u{1b}[A".as_bytes().to_vec(),
        },
        FromPage::Drawn(1 << 40),
        FromPage::Resize { cols: 300, rows: 2 },
        FromPage::Ping(0),
    ];
    for frame in frames {
        assert_eq!(FromPage::decode(&frame.encode()), Ok(frame));
    }
}

#[test]
fn malformed_frames_are_refused_in_words() {
    let long = FromPage::Input {
        id: 1,
        bytes: vec![b'x'; INPUT_LIMIT + 1],
    }
    .encode();
    let cases: &[(&[u8], &str)] = &[
        (b"", "it is empty"),
        (b"\x09", "its kind is unknown"),
        (b"\x01{}", "the greeting is malformed"),
        (b"\x02\x00", "a number has eight bytes"),
        (&long, "the input is too long"),
        (b"\x03\0\0\0\0\0\0\0\0x", "bytes follow the number"),
        (b"\x04\x00\x50\x00", "a size has four bytes"),
    ];
    for (frame, why) in cases {
        assert_eq!(
            FromPage::decode(frame).unwrap_err().to_string(),
            format!("not a terminal frame: {why}")
        );
    }
}

#[test]
fn output_says_where_it_belongs() {
    assert_eq!(
        ToPage::Output {
            at: 258,
            bytes: b"hi".to_vec()
        }
        .encode(),
        b"\x12\0\0\0\0\0\0\x01\x02hi"
    );
    assert_eq!(ToPage::Typed(1).encode(), b"\x13\0\0\0\0\0\0\0\x01");
}
