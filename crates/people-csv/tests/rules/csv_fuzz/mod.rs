//! Mutated CSV files. The fuzz targets in `fuzz` search further; this test runs in every build.

mod holds;

use candor_test_explore as explore;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// Number of files of each test in the gate, and in an exploration.
const FILES: [usize; 2] = [4_000, 1_000_000];

const SEEDS: [&[u8]; 8] = [
    include_bytes!("../../../../http/tests/files/excel-utf8.csv"),
    include_bytes!("../../../../http/tests/files/excel-semicolons.csv"),
    include_bytes!("../../../../http/tests/files/excel-tabs.csv"),
    include_bytes!("../../../../http/tests/files/excel-windows-1252.csv"),
    include_bytes!("../../../../http/tests/files/libreoffice.csv"),
    include_bytes!("../../../../http/tests/files/google-sheets.csv"),
    include_bytes!("../../../../http/tests/files/cut-in-quotes.csv"),
    include_bytes!("../../../../../docs/examples/people.csv"),
];

/// Byte sequences with a meaning for the reader or the rules.
const WORDS: [&[u8]; 24] = [
    b"\"",
    b"\"\"",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b";",
    b"\t",
    b"\0",
    "\u{feff}".as_bytes(),
    "İ".as_bytes(),
    b"\xff",
    b"email",
    b"manager_email",
    b"department_name",
    b"external_id",
    b"custom.",
    b"custom.k",
    b"status",
    b"deactivated",
    b"org_admin",
    b" ",
    b"a@example.com",
    b"A@EXAMPLE.COM",
];

/// A generator whose numbers depend on the seed alone.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % (end.max(1) as u64)).unwrap()
    }

    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let from = self.below(bytes.len() + 1);
        from..from + self.below((bytes.len() - from).min(40) + 1)
    }

    /// Returns a seed file with up to seven mutations.
    fn mutated_file(&mut self) -> Vec<u8> {
        let mut bytes = SEEDS[self.below(SEEDS.len())].to_vec();
        for _ in 0..self.below(8) {
            let (range, at) = (self.range(&bytes), self.below(bytes.len() + 1));
            match self.below(6) {
                0 => drop(bytes.drain(range)),
                1 => drop(bytes.splice(at..at, WORDS[self.below(WORDS.len())].iter().copied())),
                2 => drop(bytes.splice(range, WORDS[self.below(WORDS.len())].iter().copied())),
                3 => {
                    let piece = bytes[range].to_vec();
                    bytes.splice(at..at, piece);
                }
                4 => {
                    // Inserts whole rows, so that people occur twice and in another order.
                    let mut rows: Vec<_> =
                        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                    let row = rows.get(self.below(rows.len())).cloned().unwrap_or_default();
                    rows.insert(self.below(rows.len() + 1), row);
                    bytes = rows.concat();
                }
                _ => bytes.truncate(at),
            }
        }
        bytes
    }
}

fn each_file(seed: u64, check: fn(&[u8])) {
    let mut random = Random(SplitMix64::seed_from_u64(explore::seed(seed)));
    SEEDS.into_iter().for_each(check);
    for _ in 0..explore::size(FILES[0], FILES[1]) {
        let file = random.mutated_file();
        let has_failed = std::panic::catch_unwind(|| check(&file)).is_err();
        assert!(!has_failed, "{:?}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn reader_never_panics() {
    each_file(1, holds::check_reading);
}

#[test]
fn plan_never_panics() {
    each_file(2, holds::check_planning);
}
