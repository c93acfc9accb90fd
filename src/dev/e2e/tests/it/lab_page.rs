//! try
use testkit::Platform;
#[tokio::test(flavor = "multi_thread")]
async fn try_browser() {
    let dir = tempfile_dir();
    let b = crate::browser::Browser::start(&dir).await.unwrap();
    b.client.goto("data:text/html,<p id=x>bonjour</p>").await.unwrap();
    b.find("#x").await;
    b.until("x", "return document.querySelector('#x').innerText == 'bonjour'").await;
    panic!("{}", b.text().await);
}
fn tempfile_dir() -> std::path::PathBuf { let p = std::path::PathBuf::from("/tmp/e2e-try"); std::fs::create_dir_all(&p).unwrap(); p }
