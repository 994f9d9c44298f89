//! URLs in one spelling: what the WHATWG parser makes of the text, written out again.
//!
//! The tool receives this spelling too. A second parser, with a different opinion on `https:\\host`, `0x7f.1` or
//! `good.com@evil.com`, then has nothing left to disagree about.

use url::Url;

/// A URL in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalUrl {
    text: String,
    scheme: String,
    host: Option<String>,
    port: Option<u16>,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

impl CanonicalUrl {
    /// The whole URL.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The scheme, lower case, without the colon.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host: a name in lower-case ASCII (IDN as punycode) without a trailing dot, an IPv4 address in dotted form, or an
    /// IPv6 address in brackets. `None` for schemes such as `mailto:` and `data:`, and for `file:` without a host.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The port, that of the scheme if the URL gives none.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// The path, percent-encoded.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query without `?`.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The fragment without `#`.
    pub fn fragment(&self) -> Option<&str> {
        self.fragment.as_deref()
    }
}

/// Why a text is not a URL that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No scheme.
    #[error("it is not an absolute URL; start it with a scheme such as https://")]
    Relative,
    /// The host is missing.
    #[error("it names no host")]
    NoHost,
    /// The host is not a valid name or address.
    #[error("its host is not a valid name or address")]
    BadHost,
    /// The port is not 0 to 65535.
    #[error("its port is not a number from 0 to 65535")]
    BadPort,
    /// A user name or password stands before the host.
    #[error("it carries a user name or password before the host; leave that out")]
    UserInfo,
    /// Anything else.
    #[error("it is not a valid URL")]
    Invalid,
}

impl From<url::ParseError> for UrlError {
    fn from(error: url::ParseError) -> Self {
        use url::ParseError as E;
        match error {
            E::RelativeUrlWithoutBase | E::RelativeUrlWithCannotBeABaseBase => Self::Relative,
            E::EmptyHost => Self::NoHost,
            E::IdnaError | E::InvalidIpv4Address | E::InvalidIpv6Address | E::InvalidDomainCharacter => {
                Self::BadHost
            }
            E::InvalidPort => Self::BadPort,
            // The enum is another crate's and open.
            _ => Self::Invalid,
        }
    }
}

/// The canonical form of a URL.
///
/// # Errors
/// The text is not an absolute URL, or has a user name or password, or a host that is empty or ends in several dots.
pub fn canonical_url(text: &str) -> Result<CanonicalUrl, UrlError> {
    let mut url = Url::parse(text)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlError::UserInfo);
    }
    // `good.com.` is the same host as `good.com` to a resolver and a different one to a comparison of names.
    if let Some(bare) = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned) {
        if bare.is_empty() || bare.ends_with('.') {
            return Err(UrlError::BadHost);
        }
        url.set_host(Some(&bare))?;
    }
    // The text is what the tool parses, so the parts are those of the text, read once more.
    let text = url.to_string();
    let again = Url::parse(&text)?;
    if again != url {
        return Err(UrlError::Invalid);
    }
    Ok(CanonicalUrl {
        scheme: url.scheme().to_owned(),
        host: url.host_str().filter(|host| !host.is_empty()).map(str::to_owned),
        port: url.port_or_known_default(),
        path: url.path().to_owned(),
        query: url.query().map(str::to_owned),
        fragment: url.fragment().map(str::to_owned),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::{UrlError, canonical_url};
    use proptest::prelude::*;

    #[test]
    fn one_spelling_for_every_disguise() {
        let rows = [
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://0177.0.0.1/", "http://127.0.0.1/"),
            ("http://127.1", "http://127.0.0.1/"),
            ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://１２７.0.0.1/", "http://127.0.0.1/"),
            ("https:\\\\evil.com\\x", "https://evil.com/x"),
            ("https:/evil.com", "https://evil.com/"),
            ("HTTPS://GOOD.com:443/a/../b", "https://good.com/b"),
            ("https://good.com/a/%2e%2e/b", "https://good.com/b"),
            ("https://good%2ecom/", "https://good.com/"),
            ("https://good.com./x", "https://good.com/x"),
            ("https://go\tod.com\n/", "https://good.com/"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://good.com\\@evil.com/", "https://good.com/@evil.com/"),
            ("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:7f00:1]/"),
            ("mailto:a@b.c", "mailto:a@b.c"),
            ("urn:isbn:1", "urn:isbn:1"),
            ("file:///a/../etc/passwd", "file:///etc/passwd"),
        ];
        for (given, expected) in rows {
            let url = canonical_url(given).unwrap_or_else(|error| panic!("{given}: {error}"));
            assert_eq!(url.text(), expected, "{given}");
        }
    }

    #[test]
    fn parts_are_those_of_the_text() {
        let url = canonical_url("https://A.example.:8443/p?q=1#f").unwrap();
        assert_eq!((url.scheme(), url.host(), url.port()), ("https", Some("a.example"), Some(8443)));
        assert_eq!((url.path(), url.query(), url.fragment()), ("/p", Some("q=1"), Some("f")));
        let url = canonical_url("https://a.example").unwrap();
        assert_eq!((url.port(), url.query(), url.path()), (Some(443), None, "/"));
        assert_eq!(canonical_url("file:///x").unwrap().host(), None);
    }

    #[test]
    fn refusals_say_why() {
        let rows = [
            ("good.com", UrlError::Relative),
            ("/etc/passwd", UrlError::Relative),
            ("", UrlError::Relative),
            ("https://", UrlError::NoHost),
            ("https://good.com@evil.com/", UrlError::UserInfo),
            ("https://user:pass@good.com/", UrlError::UserInfo),
            ("https://:pass@good.com/", UrlError::UserInfo),
            ("https://a b/", UrlError::BadHost),
            ("https://1.2.3.400/", UrlError::BadHost),
            ("https://[::1/", UrlError::BadHost),
            ("https://./", UrlError::BadHost),
            ("https://good.com../", UrlError::BadHost),
            ("https://good.com:99999/", UrlError::BadPort),
        ];
        for (given, expected) in rows {
            assert_eq!(canonical_url(given), Err(expected), "{given}");
        }
    }

    proptest! {
        #[test]
        fn the_form_is_a_fixed_point(text in "(https?|ftp|ws|file|x):[/\\\\]{0,3}[a-z0-9.@:%\\[\\]é/?#\\\\ -]{0,24}") {
            if let Ok(url) = canonical_url(&text) {
                let again = canonical_url(url.text()).unwrap();
                prop_assert_eq!(again, url);
            }
        }
    }
}
