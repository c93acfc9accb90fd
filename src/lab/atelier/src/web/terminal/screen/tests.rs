use exec::PtySize;

use super::Screen;

const SIZE: PtySize = PtySize { rows: 5, cols: 20 };

fn fed(bytes: &[u8]) -> Screen {
    let mut screen = Screen::new(SIZE);
    screen.feed(bytes);
    screen
}

#[test]
fn bracketed_paste_is_restored() {
    let restored = fed(b"prompt \x1b[?2004h$ ").restore();
    assert!(fed(&restored).0.screen().bracketed_paste());
    assert!(
        !fed(&fed(b"\x1b[?2004h\x1b[?2004l").restore())
            .0
            .screen()
            .bracketed_paste()
    );
}

#[test]
fn a_full_screen_program_is_shown_again() {
    let editor = fed(b"before\x1b[?1049h\x1b[2;3Hfile text");
    let again = fed(&editor.restore());
    assert!(again.0.screen().alternate_screen());
    assert_eq!(again.0.screen().contents(), editor.0.screen().contents());
}
