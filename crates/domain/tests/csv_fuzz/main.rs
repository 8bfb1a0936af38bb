//! Files of people, mutated: the programs in `fuzz` beside look further, this looks each time.

#![cfg(test)]

mod holds;

/// Files tried by each test; `CANDOR_FUZZ_ROUNDS` asks for more.
const ROUNDS: usize = 4_000;

const SEEDS: [&[u8]; 8] = [
    include_bytes!("../../../http/tests/files/excel-utf8.csv"),
    include_bytes!("../../../http/tests/files/excel-semicolons.csv"),
    include_bytes!("../../../http/tests/files/excel-tabs.csv"),
    include_bytes!("../../../http/tests/files/excel-windows-1252.csv"),
    include_bytes!("../../../http/tests/files/libreoffice.csv"),
    include_bytes!("../../../http/tests/files/google-sheets.csv"),
    include_bytes!("../../../http/tests/files/cut-in-quotes.csv"),
    include_bytes!("../../../../docs/examples/people.csv"),
];

/// What means something to the reader, or to the rules.
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

/// Numbers that look random and are the same on every run, by the method of `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((it ^ (it >> 31)) % (end.max(1) as u64)).unwrap()
    }

    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let from = self.below(bytes.len() + 1);
        from..from + self.below((bytes.len() - from).min(40) + 1)
    }

    /// A file of which a few places are not as a program wrote them.
    fn file(&mut self) -> Vec<u8> {
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
                    // Whole rows, so that people turn up twice and in another order.
                    let mut rows: Vec<_> = bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
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
    let rounds = std::env::var("CANDOR_FUZZ_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(ROUNDS);
    let mut random = Random(seed);
    SEEDS.into_iter().for_each(check);
    for _ in 0..rounds {
        let file = random.file();
        let failed = std::panic::catch_unwind(|| check(&file)).is_err();
        assert!(!failed, "{:?}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn no_file_makes_the_reader_fail() {
    each_file(1, holds::reading);
}

#[test]
fn no_file_makes_a_plan_fail() {
    each_file(2, holds::planning);
}
