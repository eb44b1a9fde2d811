//! Whose pages may call, as browsers name them.

use std::str::FromStr;

use hyper::{Uri, header::HeaderValue};

/// The pages that may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Those of everyone.
    Any,
    /// Those of this scheme, host and port.
    Named(HeaderValue),
}

/// What is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It has no scheme, no host, or characters that neither may have.
    #[error(
        "an origin is SCHEME://HOST or SCHEME://HOST:PORT, as in https://app.example; * stands for all"
    )]
    Malformed,
    /// It is more than an origin, or written in another way, and so would never be found equal.
    #[error("the origin that browsers would send is {0}")]
    Otherwise(String),
}

impl Origin {
    /// What a browser sends, if it is a certain one.
    pub(super) fn name(&self) -> Option<HeaderValue> {
        match self {
            Origin::Any => None,
            Origin::Named(name) => Some(name.clone()),
        }
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        if text == "*" {
            return Ok(Origin::Any);
        }
        let name = as_sent(text).ok_or(OriginError::Malformed)?;
        if name != text {
            return Err(OriginError::Otherwise(name));
        }
        let name = HeaderValue::try_from(name).map_err(|_| OriginError::Malformed)?;
        Ok(Origin::Named(name))
    }
}

/// The origin of a URL as browsers write it: in small letters, without a port that the scheme has anyway.
fn as_sent(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let host = uri.host().filter(|host| !host.is_empty())?;
    // A URL may hold signs that no name or address does: an asterisk here would stand for itself.
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte);
    if !host.bytes().all(is_of_host) {
        return None;
    }
    let port = match (uri.port_u16(), scheme.as_str()) {
        // What follows the host is no port, or one that no machine has.
        (None, _) if !uri.authority()?.as_str().ends_with(host) => return None,
        (None, _) | (Some(80), "http") | (Some(443), "https") => String::new(),
        (Some(port), _) => format!(":{port}"),
    };
    Some(format!("{scheme}://{}{port}", host.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_kept_as_browsers_send_them() {
        for text in [
            "https://app.example",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost",
            "chrome-extension://abcdefghijklmnop",
        ] {
            let name = HeaderValue::from_static(text);
            assert_eq!(text.parse(), Ok(Origin::Named(name)));
        }
        assert_eq!("*".parse(), Ok(Origin::Any));
    }

    #[test]
    fn what_no_browser_sends_is_refused_with_what_it_would() {
        for (text, sent) in [
            ("https://app.example/", "https://app.example"),
            ("https://app.example/page?a=b", "https://app.example"),
            ("https://App.Example", "https://app.example"),
            ("HTTPS://app.example", "https://app.example"),
            ("https://app.example:443", "https://app.example"),
            ("http://app.example:80/", "http://app.example"),
            ("https://app.example:80/", "https://app.example:80"),
            ("https://user@app.example", "https://app.example"),
        ] {
            let error = OriginError::Otherwise(sent.to_owned());
            assert_eq!(text.parse::<Origin>(), Err(error), "{text}");
        }
    }

    #[test]
    fn what_has_no_origin_is_refused() {
        for text in [
            "",
            "app.example",
            "app.example:443",
            "null",
            "https://",
            "https:///page",
            "https://*.app.example",
            "https://a b",
            "https://app.example:99999",
            "https://app.example:",
            "**",
        ] {
            let refused = text.parse::<Origin>();
            assert_eq!(refused, Err(OriginError::Malformed), "{text}");
        }
    }
}
