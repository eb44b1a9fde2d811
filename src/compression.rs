//! Compression of messages, by its names in gRPC's headers: what a server takes and offers, and what a
//! client asks for.

use std::{fmt, str::FromStr};

use tonic::codec::CompressionEncoding;

/// A way to compress a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Encoding {
    /// What every library of gRPC has
    Gzip,
    /// As small, at a fraction of the cost
    Zstd,
}

impl Encoding {
    /// Each of them.
    pub const EVERY: [Encoding; 2] = [Encoding::Gzip, Encoding::Zstd];

    /// Its name in headers and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Zstd => "zstd",
        }
    }
}

impl From<Encoding> for CompressionEncoding {
    fn from(encoding: Encoding) -> CompressionEncoding {
        match encoding {
            Encoding::Gzip => CompressionEncoding::Gzip,
            Encoding::Zstd => CompressionEncoding::Zstd,
        }
    }
}

/// Some of the encodings, or none. As a text they are apart by commas, and none is `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encodings {
    gzip: bool,
    zstd: bool,
}

impl Encodings {
    /// None of them, as a text.
    const OFF: &'static str = "off";

    /// Those that are among them.
    pub fn iter(self) -> impl Iterator<Item = Encoding> {
        let among = [self.gzip, self.zstd];
        let every = Encoding::EVERY.into_iter().zip(among);
        every.filter_map(|(encoding, is_among)| is_among.then_some(encoding))
    }

    /// Whether messages can be read of a call whose header `grpc-encoding` is this.
    pub fn reads(self, header: &[u8]) -> bool {
        header == b"identity" || self.iter().any(|one| one.name().as_bytes() == header)
    }

    /// The header `grpc-accept-encoding` that says what can be read.
    pub fn header(self) -> String {
        let names = self.iter().map(Encoding::name);
        names.chain(["identity"]).collect::<Vec<_>>().join(",")
    }
}

impl From<Encoding> for Encodings {
    fn from(encoding: Encoding) -> Encodings {
        Encodings {
            gzip: encoding == Encoding::Gzip,
            zstd: encoding == Encoding::Zstd,
        }
    }
}

impl FromStr for Encodings {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Encodings, Self::Err> {
        let mut encodings = Encodings::default();
        if text == Encodings::OFF {
            return Ok(encodings);
        }
        for name in text.split(',') {
            match name.trim() {
                "gzip" => encodings.gzip = true,
                "zstd" => encodings.zstd = true,
                _ => return Err("it must be gzip, zstd, both apart by a comma, or off"),
            }
        }
        Ok(encodings)
    }
}

impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Encoding::name).collect();
        if names.is_empty() {
            return f.write_str(Encodings::OFF);
        }
        f.write_str(&names.join(","))
    }
}
