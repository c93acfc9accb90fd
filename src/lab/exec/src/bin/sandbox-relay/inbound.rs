//! Requests from the host: connect to a port in here, signal the command, run a probe.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use exec::process::{Signal, signal_process};
use exec::relay::{LONGEST_OUTPUT, LONGEST_REQUEST};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use crate::run::{Environment, prepared};

pub(crate) fn listen(socket: &Path) -> Result<UnixListener, String> {
    // Left over from an earlier run of the same sandbox.
    let _ = std::fs::remove_file(socket);
    UnixListener::bind(socket)
        .map_err(|error| format!("cannot listen on {}: {error}", socket.display()))
}

pub(crate) fn serve(listener: UnixListener, command: u32, env: Environment) {
    let env = Arc::new(env);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, command, Arc::clone(&env)));
        }
    });
}

async fn answer(mut stream: UnixStream, command: u32, env: Arc<Environment>) {
    let mut line = String::new();
    // One byte at a time: what follows the line belongs to the connection.
    let read = BufReader::with_capacity(1, &mut stream)
        .take(LONGEST_REQUEST)
        .read_line(&mut line)
        .await;
    let request = line.trim_end();
    let outcome = match (read, request.split_once(' ')) {
        (Ok(_), Some(("CONNECT", port))) => connect(&mut stream, port).await,
        (Ok(_), Some(("SIGNAL", number))) => signal(&mut stream, number, command).await,
        (Ok(_), Some(("EXEC", argv))) => probe(&mut stream, argv, &env).await,
        _ => Err("unknown request".to_owned()),
    };
    if let Err(reason) = outcome {
        let _ = stream
            .write_all(format!("ERR {}\n", reason.replace('\n', " ")).as_bytes())
            .await;
    }
}

async fn connect(stream: &mut UnixStream, port: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(|_| format!("{port} is not a port"))?;
    let mut inside = match TcpStream::connect(("127.0.0.1", port)).await {
        Ok(inside) => inside,
        Err(error) => TcpStream::connect(("::1", port))
            .await
            .map_err(|_| error.to_string())?,
    };
    let _ = inside.set_nodelay(true);
    stream
        .write_all(b"OK\n")
        .await
        .map_err(|error| error.to_string())?;
    let _ = tokio::io::copy_bidirectional(stream, &mut inside).await;
    Ok(())
}

async fn signal(stream: &mut UnixStream, number: &str, command: u32) -> Result<(), String> {
    let signal = number
        .parse()
        .ok()
        .and_then(Signal::from_named_raw)
        .ok_or_else(|| format!("{number} is not a signal"))?;
    if !signal_process(command, signal) {
        return Err("the command has ended".to_owned());
    }
    stream
        .write_all(b"OK\n")
        .await
        .map_err(|error| error.to_string())
}

async fn probe(stream: &mut UnixStream, argv: &str, env: &Environment) -> Result<(), String> {
    let argv: Vec<String> = serde_json::from_str(argv).map_err(|error| error.to_string())?;
    let (program, args) = argv.split_first().ok_or("no command to run")?;
    let output = prepared(program.as_ref(), args, env)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("{program}: {error}"))?;
    let code = output.status.code().unwrap_or(137);
    let mut answer = format!("EXIT {code}\n").into_bytes();
    answer.extend(
        output
            .stdout
            .iter()
            .chain(&output.stderr)
            .take(LONGEST_OUTPUT),
    );
    stream
        .write_all(&answer)
        .await
        .map_err(|error| error.to_string())
}
