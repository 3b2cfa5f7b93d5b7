//! Cuts text into tokens.

use super::names::is_name_char;
use super::parser::ParseError;
use std::fmt;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) line: u32,
    pub(super) column: u32,
    /// Whether space or the beginning stands before it.
    pub(super) spaced: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind {
    Word(String),
    /// `@name`
    Symbol(String),
    /// `%name`
    Name(String),
    /// Digits without sign: `12`, `0xff`, `1.5e-3`.
    Number(String),
    Text(String),
    /// `->`
    Arrow,
    /// `...`
    Ellipsis,
    Punct(char),
    End,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Word(word) => write!(f, "`{word}`"),
            TokenKind::Symbol(name) => write!(f, "`@{name}`"),
            TokenKind::Name(name) => write!(f, "`%{name}`"),
            TokenKind::Number(digits) => write!(f, "`{digits}`"),
            TokenKind::Text(text) => write!(f, "{text:?}"),
            TokenKind::Arrow => write!(f, "`->`"),
            TokenKind::Ellipsis => write!(f, "`...`"),
            TokenKind::Punct(c) => write!(f, "`{c}`"),
            TokenKind::End => write!(f, "the end"),
        }
    }
}

/// The tokens of a text; the last one is the end.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        let before = lexer.rest.len();
        lexer.skip_space();
        let spaced = lexer.rest.len() != before || tokens.is_empty();
        let (line, column) = (lexer.line, lexer.column);
        let kind = lexer.token().map_err(|message| ParseError {
            line,
            column,
            message,
        })?;
        let end = kind == TokenKind::End;
        tokens.push(Token {
            kind,
            line,
            column,
            spaced,
        });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn skip_space(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.bump();
                }
            } else if c.is_whitespace() {
                self.bump();
            } else {
                break;
            }
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let text = self.rest;
        while self.peek().is_some_and(&accept) {
            self.bump();
        }
        &text[..text.len() - self.rest.len()]
    }

    fn token(&mut self) -> Result<TokenKind, String> {
        let Some(c) = self.peek() else {
            return Ok(TokenKind::End);
        };
        Ok(match c {
            '@' => {
                self.bump();
                TokenKind::Symbol(self.name('@')?)
            }
            '%' => {
                self.bump();
                TokenKind::Name(self.name('%')?)
            }
            '"' => TokenKind::Text(self.text()?),
            _ if c.is_ascii_digit() => TokenKind::Number(self.number()),
            _ if c.is_ascii_alphabetic() || c == '_' => {
                TokenKind::Word(self.take_while(is_name_char).to_string())
            }
            '-' if self.rest.starts_with("->") => {
                self.bump();
                self.bump();
                TokenKind::Arrow
            }
            '.' if self.rest.starts_with("...") => {
                (0..3).for_each(|_| _ = self.bump());
                TokenKind::Ellipsis
            }
            '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ':' | '=' | '+' | '-' | '*' => {
                self.bump();
                TokenKind::Punct(c)
            }
            _ => return Err(format!("unexpected character {c:?}")),
        })
    }

    fn name(&mut self, sigil: char) -> Result<String, String> {
        if self.peek() == Some('"') {
            return self.text();
        }
        match self.take_while(is_name_char) {
            "" => Err(format!("a name must follow `{sigil}`")),
            name => Ok(name.to_string()),
        }
    }

    fn number(&mut self) -> String {
        let start = self.rest;
        if start.starts_with("0x") {
            self.bump();
            self.bump();
            self.take_while(|c| c.is_ascii_hexdigit());
        } else {
            self.take_while(|c| c.is_ascii_digit());
            let mut after = self.rest.chars();
            if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
                self.bump();
                self.take_while(|c| c.is_ascii_digit());
            }
            let exponent = self.rest.strip_prefix(['e', 'E']);
            let digits = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
            if digits.is_some_and(|d| d.starts_with(|c: char| c.is_ascii_digit())) {
                self.bump();
                self.bump();
                self.take_while(|c| c.is_ascii_digit());
            }
        }
        start[..start.len() - self.rest.len()].to_string()
    }

    /// A text in quotes, with the escapes of Rust.
    fn text(&mut self) -> Result<String, String> {
        self.bump();
        let mut out = String::new();
        loop {
            match self.bump() {
                None | Some('\n') => return Err("a text without its closing quote".to_string()),
                Some('"') => return Ok(out),
                Some('\\') => out.push(self.escape()?),
                Some(c) => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('0') => Ok('\0'),
            Some(c @ ('\\' | '"' | '\'')) => Ok(c),
            Some('u') if self.bump() == Some('{') => {
                let digits = self.take_while(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok();
                match (code.and_then(char::from_u32), self.bump()) {
                    (Some(c), Some('}')) => Ok(c),
                    _ => Err("a wrong escape in a text".to_string()),
                }
            }
            _ => Err("a wrong escape in a text".to_string()),
        }
    }
}
