//! Every input that fuzzing has kept, and some made from them by chance, hold to what the fuzz targets
//! check.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test; which input failed must be seen"
)]

#[path = "../fuzz/checks.rs"]
mod checks;

use std::{env, fs, panic, path::Path};

/// The files of folders of the repository.
fn corpus(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folders:?} hold nothing");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn replay(folders: &[&str], check: impl Fn(&[u8]) + panic::RefUnwindSafe) {
    let rounds = env::var("SUDOKU_FUZZ_ROUNDS").map_or(300, |rounds| rounds.parse().unwrap());
    let mut random = Random(1);
    for seed in corpus(folders) {
        for round in 0..=rounds {
            let data = if round == 0 {
                seed.clone()
            } else {
                random.change(&seed)
            };
            if let Err(failure) = panic::catch_unwind(|| check(&data)) {
                eprintln!("this input fails: {:?}", data.escape_ascii().to_string());
                panic::resume_unwind(failure);
            }
        }
    }
}

/// Xorshift: the same changes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound.max(1)
    }

    /// The input with up to four bytes changed, moved, gone or new.
    fn change(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut data = seed.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(data.len());
            let byte = self.below(256).to_le_bytes()[0];
            match self.below(6) {
                0 => data.truncate(at),
                1 if !data.is_empty() => drop(data.remove(at)),
                2 => data.insert(at, byte),
                3 if !data.is_empty() => data[at] ^= 1 << (byte % 8),
                4 if !data.is_empty() => data.rotate_left(at),
                _ if !data.is_empty() => data[at] = byte,
                _ => data.push(byte),
            }
        }
        data
    }
}

#[test]
fn board_text() {
    replay(
        &["fuzz/corpus/board_text", "tests/data/formats"],
        checks::board_text,
    );
}

#[test]
fn message() {
    replay(&["fuzz/corpus/message"], checks::message);
}

#[test]
fn engines() {
    replay(&["fuzz/corpus/engines"], checks::engines);
}
