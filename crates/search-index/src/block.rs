//! Blocks: parts of a segment's sorted terms, each term with the numbers of its documents.
//!
//! A term is stored as the length of the prefix that it shares with its predecessor, and the rest. The
//! numbers of a frequent term are split into several entries, which bounds the size of a block.

/// Target size of a block in bytes: a row of PostgreSQL can store the block without TOAST.
const BLOCK_BYTES: usize = 1_800;
/// Number of bytes of document numbers at which an entry is full. Only the last number may end beyond it.
const ENTRY_BYTES: usize = 1_200;
/// Separator between a term and the number of its entry; no term contains it.
const END: u8 = 0;

/// A block of consecutive terms of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// First key of the block: a term and the number of its entry.
    pub first: Vec<u8>,
    /// Entries in their encoded form.
    pub body: Vec<u8>,
}

/// An inclusive range of entry keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRange {
    /// First key of the range.
    pub from: Vec<u8>,
    /// Last key of the range.
    pub to: Vec<u8>,
}

impl KeyRange {
    /// Returns the range of all entries.
    #[must_use]
    pub fn all() -> Self {
        Self { from: vec![], to: vec![u8::MAX] }
    }

    /// Returns the range of the entries of one term.
    #[must_use]
    pub fn whole(term: &str) -> Self {
        let key = |behind: [u8; 2]| [term.as_bytes(), &[END], &behind].concat();
        Self { from: key([0; 2]), to: key([u8::MAX; 2]) }
    }

    /// Returns the range of all terms with this prefix. It ends at the prefix followed by a byte that no text
    /// contains.
    #[must_use]
    pub fn with_prefix(text: &str) -> Self {
        Self { from: text.as_bytes().to_vec(), to: [text.as_bytes(), &[u8::MAX]].concat() }
    }
}

/// Writer that packs sorted terms into blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    blocks: Vec<Block>,
    last: Vec<u8>,
}

impl BlockWriter {
    /// Appends a term that sorts after all previous ones, with its document numbers in ascending order.
    pub(crate) fn add(&mut self, term: &[u8], numbers: &[u32]) {
        let mut rest = numbers;
        for part in 0_u16.. {
            let (taken, bytes) = encode_numbers(rest);
            self.entry([term, &[END], &part.to_be_bytes()].concat(), &bytes);
            rest = &rest[taken..];
            if rest.is_empty() {
                return;
            }
        }
    }

    fn entry(&mut self, key: Vec<u8>, numbers: &[u8]) {
        let is_full = |block: &Block| block.body.len() + key.len() + numbers.len() > BLOCK_BYTES;
        if self.blocks.last().is_none_or(is_full) {
            self.blocks.push(Block { first: key.clone(), body: vec![] });
            self.last.clear();
        }
        let common = key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        if let Some(block) = self.blocks.last_mut() {
            push_number(&mut block.body, common);
            push_number(&mut block.body, key.len() - common);
            block.body.extend(&key[common..]);
            push_number(&mut block.body, numbers.len());
            block.body.extend(numbers);
        }
        self.last = key;
    }

    pub(crate) fn finish(self) -> Vec<Block> {
        self.blocks
    }
}

/// Delta-encodes numbers until an entry is full. Returns how many fit.
fn encode_numbers(numbers: &[u32]) -> (usize, Vec<u8>) {
    let (mut bytes, mut before) = (vec![], 0);
    for (at, number) in numbers.iter().enumerate() {
        if bytes.len() >= ENTRY_BYTES {
            return (at, bytes);
        }
        push_number(&mut bytes, (number - before) as usize);
        before = *number;
    }
    (numbers.len(), bytes)
}

/// Appends a LEB128 number: seven bits per byte, the lowest first; the highest bit marks a continuation.
fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Calls `with` with the key and the encoded numbers of each entry in a range. Stops at a malformed entry.
fn each_within(body: &[u8], range: &KeyRange, mut with: impl FnMut(&[u8], &[u8])) {
    let (mut rest, mut key) = (body, Vec::<u8>::new());
    while let Some(numbers) = next(&mut rest, &mut key) {
        if *key > *range.to {
            return;
        }
        if *key >= *range.from {
            with(&key, numbers);
        }
    }
}

/// Reads the next entry: puts its key in place of the previous one in `key`, and returns its encoded numbers. Returns
/// `None` at the end, and for a malformed entry.
fn next<'b>(rest: &mut &'b [u8], key: &mut Vec<u8>) -> Option<&'b [u8]> {
    let (common, own) = (take_number(rest)?, take_number(rest)?);
    let (suffix, behind) = rest.split_at_checked(own)?;
    key.truncate(common);
    key.extend(suffix);
    *rest = behind;
    let length = take_number(rest)?;
    let (numbers, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(numbers)
}

/// Iterator over the numbers of an entry.
struct Numbers<'b> {
    bytes: &'b [u8],
    last: u32,
}

impl<'b> Numbers<'b> {
    const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, last: 0 }
    }
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first()?;
        // Nearly all distances fit into one byte.
        let distance = if first & 0x80 == 0 {
            self.bytes = rest;
            u32::from(*first)
        } else {
            u32::try_from(take_number(&mut self.bytes)?).ok()?
        };
        self.last = self.last.saturating_add(distance);
        Some(self.last)
    }
}

/// Adds the numbers of the documents with a term in the range.
pub(crate) fn numbers_within(body: &[u8], range: &KeyRange, out: &mut Vec<u32>) {
    each_within(body, range, |_, bytes| {
        out.reserve(bytes.len());
        out.extend(Numbers::new(bytes));
    });
}

/// Adds those numbers of `some` whose documents have a term in the range.
pub(crate) fn common_within(body: &[u8], range: &KeyRange, some: &[u32], out: &mut Vec<u32>) {
    each_within(body, range, |_, bytes| {
        let (mut own, mut wanted) = (Numbers::new(bytes), some.iter());
        let (mut one, mut other) = (own.next(), wanted.next());
        while let (Some(number), Some(it)) = (one, other) {
            if number < *it {
                one = own.next();
                continue;
            }
            if number == *it {
                out.push(number);
            }
            other = wanted.next();
        }
    });
}

/// Adds the numbers of the documents with those terms of the range that `is_wanted` accepts.
pub(crate) fn numbers_of_terms(
    body: &[u8],
    range: &KeyRange,
    is_wanted: impl Fn(&[u8]) -> bool,
    out: &mut Vec<u32>,
) {
    each_within(body, range, |key, bytes| {
        if is_wanted(term_of(key)) {
            out.extend(Numbers::new(bytes));
        }
    });
}

/// Returns the term of a key, without the number of its entry.
fn term_of(key: &[u8]) -> &[u8] {
    key.len().checked_sub(3).and_then(|length| key.get(..length)).unwrap_or_default()
}

/// Calls `with` with each term of a block and the numbers of its documents: once for each entry, so several times
/// for a frequent term.
pub(crate) fn each_term(body: &[u8], mut with: impl FnMut(&[u8], &[u32])) {
    let mut own = vec![];
    each_within(body, &KeyRange::all(), |key, numbers| {
        own.clear();
        own.extend(Numbers::new(numbers));
        with(term_of(key), &own);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(terms: &[(&str, Vec<u32>)]) -> Vec<Block> {
        let mut writer = BlockWriter::default();
        terms.iter().for_each(|(term, numbers)| writer.add(term.as_bytes(), numbers));
        writer.finish()
    }

    fn find_entries(blocks: &[Block], range: &KeyRange) -> Vec<(String, Vec<u32>)> {
        let mut all: Vec<(String, Vec<u32>)> = vec![];
        for it in blocks {
            each_within(&it.body, range, |key, numbers| {
                let term = String::from_utf8(key[..key.len() - 3].to_vec()).unwrap();
                if all.last().is_none_or(|(last, _)| *last != term) {
                    all.push((term, vec![]));
                }
                all.last_mut().unwrap().1.extend(Numbers::new(numbers));
            });
        }
        all
    }

    #[test]
    fn block_round_trips_at_any_size() {
        let many: Vec<u32> = (0..20_000).map(|number| number * 3 + number % 2).collect();
        let terms: Vec<_> = (0..500)
            .map(|number| {
                (
                    format!("term{number:04}"),
                    if number == 77 { many.clone() } else { vec![number, number + 200, number + 70_000] },
                )
            })
            .collect();
        let terms_of_block: Vec<_> =
            terms.iter().map(|(term, numbers)| (term.as_str(), numbers.clone())).collect();
        let blocks = blocks(&terms_of_block);
        assert!(
            blocks.len() > 10 && blocks.iter().all(|block| block.body.len() <= BLOCK_BYTES + 80),
            "{}",
            blocks.len()
        );
        assert!(blocks.is_sorted_by(|a, b| a.first < b.first));
        assert_eq!(find_entries(&blocks, &KeyRange::all()), terms);
        assert_eq!(find_entries(&blocks, &KeyRange::whole("term0077")), [("term0077".to_owned(), many)]);
        assert_eq!(find_entries(&blocks, &KeyRange::with_prefix("term01")), terms[100..200]);
        assert_eq!(find_entries(&blocks, &KeyRange::whole("term")), []);
    }

    #[test]
    fn common_documents_are_found_across_blocks() {
        let blocks =
            blocks(&[("all", (0..5_000).collect()), ("odd", (0..2_500).map(|number| number * 2 + 1).collect())]);
        let common = |term: &str, some: &[u32]| {
            let mut numbers = vec![];
            blocks.iter().for_each(|block| common_within(&block.body, &KeyRange::whole(term), some, &mut numbers));
            numbers
        };
        assert_eq!(common("all", &[0, 7, 4_999, 5_000]), [0, 7, 4_999]);
        assert_eq!(common("odd", &[0, 7, 8, 4_999]), [7, 4_999]);
        assert!(common("odd", &[]).is_empty() && common("none", &[1]).is_empty());
    }

    #[test]
    fn term_is_distinguished_from_longer_terms() {
        let blocks = blocks(&[("calm", vec![1]), ("calmly", vec![2]), ("cálm", vec![3])]);
        assert_eq!(find_entries(&blocks, &KeyRange::whole("calm")), [("calm".to_owned(), vec![1])]);
        let numbers: Vec<_> =
            find_entries(&blocks, &KeyRange::with_prefix("calm")).into_iter().map(|posting| posting.0).collect();
        assert_eq!(numbers, ["calm", "calmly"]);
    }

    #[test]
    fn corrupt_data_ends_the_block() {
        let whole = blocks(&[("a", vec![1]), ("b", vec![2])]).remove(0).body;
        for length in 0..whole.len() {
            let mut terms = 0;
            each_term(&whole[..length], |_, _| terms += 1);
            assert!(terms < 2, "{length}");
        }
        assert_eq!(take_number(&mut [0xff; 12].as_slice()), None);
    }
}
