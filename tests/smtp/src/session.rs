//! One SMTP connection, from the greeting to the end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::{DialogueStep, Received, Reply, Shared, Step, Wire};

trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// State of one connection: the client and the mail that it has begun.
struct Session<'a> {
    shared: &'a Shared,
    number: usize,
    wire: BufReader<Box<dyn Stream>>,
    encrypted: bool,
    login: Option<String>,
    from: String,
    to: Vec<String>,
}

/// Serves a connection until the client or the server ends it.
pub(crate) fn serve(shared: &Shared, number: usize, socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let is_encrypted = shared.wire == Wire::Tls;
    let first: Box<dyn Stream> = if is_encrypted {
        Box::new(shared.certificate.accept(socket.try_clone()?)?)
    } else {
        Box::new(socket.try_clone()?)
    };
    let mut it = Session {
        shared,
        number,
        wire: BufReader::new(first),
        encrypted: is_encrypted,
        login: None,
        from: String::new(),
        to: vec![],
    };
    it.answer(Step::Greeting, "", "220 localhost ESMTP")?;
    loop {
        let line = it.line()?;
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" | "HELO" => it.hello(&line).map(drop)?,
            "STARTTLS" if shared.wire == Wire::StartTls && !it.encrypted => {
                it.say("220 go ahead")?;
                it.wire = BufReader::new(Box::new(shared.certificate.accept(socket.try_clone()?)?));
                it.encrypted = true;
            }
            "AUTH" => {
                it.login = Some(rest.to_owned());
                it.answer(Step::Login, &line, "235 you are known")?;
            }
            "MAIL" => {
                (it.from, it.to) = (within(rest), vec![]);
                it.answer(Step::Sender, &line, "250 ok")?;
            }
            "RCPT" => {
                it.to.push(within(rest));
                it.answer(Step::Recipient, &line, "250 ok")?;
            }
            "DATA" => it.data(&line)?,
            "RSET" | "NOOP" => it.say("250 ok")?,
            "QUIT" => return it.say("221 bye"),
            _ => it.say("502 what?")?,
        }
    }
}

impl Session<'_> {
    fn hello(&mut self, line: &str) -> io::Result<bool> {
        let more = match (self.shared.wire, self.encrypted) {
            (Wire::StartTls, false) => "250-STARTTLS\r\n",
            _ => "250-AUTH PLAIN LOGIN\r\n",
        };
        let usual = format!("250-localhost\r\n{more}250 8BITMIME");
        self.answer(Step::Hello, line, &usual)
    }

    fn data(&mut self, line: &str) -> io::Result<()> {
        if !self.answer(Step::Data, line, "354 go ahead")? {
            return Ok(());
        }
        let mut text = String::new();
        loop {
            let line = self.line()?;
            if line == "." {
                break;
            }
            text.push_str(line.strip_prefix('.').unwrap_or(&line));
            text.push_str("\r\n");
        }
        let (connection, encrypted) = (self.number, self.encrypted);
        let (login, from, to) = (self.login.clone(), self.from.clone(), self.to.clone());
        let mail = Received { connection, encrypted, login, from, to, text, taken: false };
        let place = self.shared.change(|state| {
            state.seen.mails.push(mail);
            state.seen.mails.len() - 1
        });
        // The server records the result before it writes the reply: the client may react to the reply before the
        // test looks at the mail.
        let step = DialogueStep { connection: self.number, step: Step::Message, line: String::new() };
        let reply = self.shared.reply(&step);
        let is_taken = matches!(reply, Reply::Usual | Reply::Last);
        self.shared.change(|state| {
            state.seen.mails[place].taken = is_taken;
            state.seen.taken += usize::from(is_taken);
        });
        self.give(reply, "250 taken").map(drop)
    }

    /// Sends the scripted reply to a step. Returns `true` if it was the usual one.
    fn answer(&mut self, step: Step, line: &str, usual: &str) -> io::Result<bool> {
        let step_of_line = DialogueStep { connection: self.number, step, line: line.to_owned() };
        let reply = self.shared.reply(&step_of_line);
        self.give(reply, usual)
    }

    fn give(&mut self, reply: Reply, usual: &str) -> io::Result<bool> {
        match reply {
            Reply::Usual => self.say(usual).map(|()| true),
            Reply::Say(text) => self.say(text).map(|()| false),
            Reply::Last => {
                self.say(usual)?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Reply::Hold | Reply::HangUp => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let wire = self.wire.get_mut();
        wire.write_all(format!("{text}\r\n").as_bytes())?;
        wire.flush()
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.wire.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(line)
    }
}

/// Returns the text between `<` and `>`.
fn within(text: &str) -> String {
    let inner = text.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or(text, |(inner, _)| inner).to_owned()
}
