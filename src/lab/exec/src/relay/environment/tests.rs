use super::{disguised, revealed};

#[test]
fn names_come_out_as_they_went_in() {
    for name in [
        "PATH",
        "LD_PRELOAD",
        "SANDBOX_ENV_PATH",
        "BASH_FUNC_f%%",
        "accentué",
        "a.b-c",
    ] {
        let on_the_way = disguised(name).unwrap();
        assert_ne!(on_the_way, name);
        assert_eq!(
            revealed([(on_the_way.into(), "v=\n".into())]),
            [(name.into(), "v=\n".into())]
        );
    }
}

#[test]
fn what_is_no_name_does_not_travel() {
    for name in ["", "A=B", "=", "A\0B"] {
        assert_eq!(disguised(name), None, "{name:?}");
    }
}

#[test]
fn what_the_relay_was_given_for_itself_stays_behind() {
    let own = ["PWD", "LD_PRELOAD", "SANDBOX_ENV_", "XSANDBOX_ENV_A"];
    assert_eq!(
        revealed(own.map(|name| (name.into(), "x".into()))),
        Vec::new()
    );
}
