//! Blocks of terms: a part of a segment's terms in their order, each with the numbers of the documents that have it.
//!
//! A term stands behind the bytes that it has in common with the one before it. The numbers of a term that many documents
//! have are in several entries, so that no block is larger than a store reads at once.

/// Blocks are filled up to this, so that a row of PostgreSQL keeps its block beside the other columns.
const BLOCK_BYTES: usize = 1_800;
/// The most bytes of numbers in one entry.
const ENTRY_BYTES: usize = 1_200;
/// What stands between a term and the number of its entry; no term has it.
const END: u8 = 0;

/// Some terms of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The first key in it: a term, and which of its entries it is.
    pub first: Vec<u8>,
    /// Its entries.
    pub body: Vec<u8>,
}

/// The keys of the entries that are wanted, the bounds included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRange {
    /// The first key.
    pub from: Vec<u8>,
    /// The last key.
    pub to: Vec<u8>,
}

impl KeyRange {
    /// All entries.
    #[must_use]
    pub fn all() -> Self {
        Self { from: vec![], to: vec![u8::MAX] }
    }

    /// The entries of one term.
    #[must_use]
    pub fn whole(term: &str) -> Self {
        let key = |behind: [u8; 2]| [term.as_bytes(), &[END], &behind].concat();
        Self { from: key([0; 2]), to: key([u8::MAX; 2]) }
    }

    /// The entries of all terms that begin like this. No text has the byte that ends the range.
    #[must_use]
    pub fn beginning(text: &str) -> Self {
        Self { from: text.as_bytes().to_vec(), to: [text.as_bytes(), &[u8::MAX]].concat() }
    }
}

/// Puts terms into blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    blocks: Vec<Block>,
    last: Vec<u8>,
}

impl BlockWriter {
    /// Adds a term that comes behind all others, with the numbers of documents in ascending order.
    pub(crate) fn add(&mut self, term: &[u8], numbers: &[u32]) {
        let mut rest = numbers;
        for part in 0_u16.. {
            let (taken, bytes) = encoded(rest);
            self.entry([term, &[END], &part.to_be_bytes()].concat(), &bytes);
            rest = &rest[taken..];
            if rest.is_empty() {
                return;
            }
        }
    }

    fn entry(&mut self, key: Vec<u8>, numbers: &[u8]) {
        let is_full = |it: &Block| it.body.len() + key.len() + numbers.len() > BLOCK_BYTES;
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

/// The first numbers as the distance of each from the one before it, as far as an entry goes; and how many these are.
fn encoded(numbers: &[u32]) -> (usize, Vec<u8>) {
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

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
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

/// Hands over the entries of a block that are in a range: the key of each, and its numbers as they are written. An entry that
/// cannot be read is the last.
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

/// Reads an entry, whose key takes the place of the one before it.
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

/// The numbers of an entry.
struct Numbers<'b> {
    bytes: &'b [u8],
    last: u32,
}

impl<'b> Numbers<'b> {
    const fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, last: 0 }
    }
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first()?;
        // Nearly all distances are of one byte.
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

/// Adds the numbers of the documents with a term of the range that a block has.
pub(crate) fn numbers_within(body: &[u8], range: &KeyRange, out: &mut Vec<u32>) {
    each_within(body, range, |_, bytes| {
        out.reserve(bytes.len());
        out.extend(Numbers::of(bytes));
    });
}

/// Adds those of some numbers that are among them, too.
pub(crate) fn common_within(body: &[u8], range: &KeyRange, some: &[u32], out: &mut Vec<u32>) {
    each_within(body, range, |_, bytes| {
        let (mut own, mut wanted) = (Numbers::of(bytes), some.iter());
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
pub(crate) fn numbers_of_terms(body: &[u8], range: &KeyRange, is_wanted: impl Fn(&[u8]) -> bool, out: &mut Vec<u32>) {
    each_within(body, range, |key, bytes| {
        if is_wanted(term_of(key)) {
            out.extend(Numbers::of(bytes));
        }
    });
}

/// The term of a key, without the number of its entry.
fn term_of(key: &[u8]) -> &[u8] {
    key.len().checked_sub(3).and_then(|length| key.get(..length)).unwrap_or_default()
}

/// Hands over all terms of a block, each with the numbers of its documents; a term with many of them comes several times.
pub(crate) fn each_term(body: &[u8], mut with: impl FnMut(&[u8], &[u32])) {
    let mut own = vec![];
    each_within(body, &KeyRange::all(), |key, numbers| {
        own.clear();
        own.extend(Numbers::of(numbers));
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

    fn found(blocks: &[Block], range: &KeyRange) -> Vec<(String, Vec<u32>)> {
        let mut all: Vec<(String, Vec<u32>)> = vec![];
        for it in blocks {
            each_within(&it.body, range, |key, numbers| {
                let term = String::from_utf8(key[..key.len() - 3].to_vec()).unwrap();
                if all.last().is_none_or(|(last, _)| *last != term) {
                    all.push((term, vec![]));
                }
                all.last_mut().unwrap().1.extend(Numbers::of(numbers));
            });
        }
        all
    }

    #[test]
    fn what_is_written_is_read_whatever_its_size() {
        let many: Vec<u32> = (0..20_000).map(|it| it * 3 + it % 2).collect();
        let terms: Vec<_> = (0..500)
            .map(|it| (format!("term{it:04}"), if it == 77 { many.clone() } else { vec![it, it + 200, it + 70_000] }))
            .collect();
        let given: Vec<_> = terms.iter().map(|(term, numbers)| (term.as_str(), numbers.clone())).collect();
        let blocks = blocks(&given);
        assert!(blocks.len() > 10 && blocks.iter().all(|it| it.body.len() <= BLOCK_BYTES + 80), "{}", blocks.len());
        assert!(blocks.is_sorted_by(|a, b| a.first < b.first));
        assert_eq!(found(&blocks, &KeyRange::all()), terms);
        assert_eq!(found(&blocks, &KeyRange::whole("term0077")), [("term0077".to_owned(), many)]);
        assert_eq!(found(&blocks, &KeyRange::beginning("term01")), terms[100..200]);
        assert_eq!(found(&blocks, &KeyRange::whole("term")), []);
    }

    #[test]
    fn what_is_common_is_found_whatever_else_there_is() {
        let blocks = blocks(&[("all", (0..5_000).collect()), ("odd", (0..2_500).map(|it| it * 2 + 1).collect())]);
        let common = |term: &str, some: &[u32]| {
            let mut out = vec![];
            blocks.iter().for_each(|it| common_within(&it.body, &KeyRange::whole(term), some, &mut out));
            out
        };
        assert_eq!(common("all", &[0, 7, 4_999, 5_000]), [0, 7, 4_999]);
        assert_eq!(common("odd", &[0, 7, 8, 4_999]), [7, 4_999]);
        assert!(common("odd", &[]).is_empty() && common("none", &[1]).is_empty());
    }

    #[test]
    fn a_term_is_told_from_those_that_begin_with_it() {
        let blocks = blocks(&[("calm", vec![1]), ("calmly", vec![2]), ("cálm", vec![3])]);
        assert_eq!(found(&blocks, &KeyRange::whole("calm")), [("calm".to_owned(), vec![1])]);
        let begun: Vec<_> = found(&blocks, &KeyRange::beginning("calm")).into_iter().map(|it| it.0).collect();
        assert_eq!(begun, ["calm", "calmly"]);
    }

    #[test]
    fn what_cannot_be_read_ends_the_block() {
        let whole = blocks(&[("a", vec![1]), ("b", vec![2])]).remove(0).body;
        for length in 0..whole.len() {
            let mut terms = 0;
            each_term(&whole[..length], |_, _| terms += 1);
            assert!(terms < 2, "{length}");
        }
        assert_eq!(take_number(&mut [0xff; 12].as_slice()), None);
    }
}
