//! Turns of uploads of people, which bound the memory of parsed files and stored people. A file waits only for files of
//! its size, so that a small upload ends within seconds beside the large ones of other organizations (decision A17).

use candor_domain::access::Tenant;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::Turn;
use candor_port_storage::StorageError;

/// Maximum size of a file without a turn, in lines with the header, and in bytes.
const SMALL: (usize, usize) = (101, 64 * 1024);
/// Maximum size of a file of medium size, in lines with the header, and in bytes: the work of a second.
const MEDIUM: (usize, usize) = (1_001, 512 * 1024);
/// Maximum number of uploads of medium or large files that run at the same time in a process, for each of the two. Each
/// holds up to 32 MiB of stored people.
const UPLOADS: usize = 4;
/// Maximum number of large uploads that one organization runs at the same time in a process. More uploads of the same
/// people would overtake each other for seconds.
const LARGE_OF_AN_ORGANIZATION: usize = 2;
/// Maximum number of uploads of medium size that one organization runs at the same time in a process.
const MEDIUM_OF_AN_ORGANIZATION: usize = 1;

/// Limiter of uploads.
#[derive(Debug)]
pub struct UploadTurns {
    /// Turns of files of medium size.
    pub medium: LargeWork,
    /// Turns of all larger files.
    pub large: LargeWork,
}

impl Default for UploadTurns {
    fn default() -> Self {
        Self {
            medium: LargeWork::with_share(UPLOADS, MEDIUM_OF_AN_ORGANIZATION),
            large: LargeWork::with_share(UPLOADS, LARGE_OF_AN_ORGANIZATION),
        }
    }
}

impl UploadTurns {
    /// Waits for the turn of a file before the file is parsed. `None` if a file of this size needs none.
    ///
    /// # Errors
    /// As [`LargeWork::turn`].
    pub async fn turn(&self, tenant: Tenant, file: &[u8]) -> Result<Option<Turn>, StorageError> {
        match self.of_size(file) {
            Some(turns) => turns.turn(tenant).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the turns for files of this size; `None` for a small file.
    fn of_size(&self, file: &[u8]) -> Option<&LargeWork> {
        let count = |end: u8| file.iter().filter(|byte| **byte == end).count();
        // Lines end with LF, CRLF or CR alone. A cell may have line ends, so a file has at most as many rows as lines.
        let has_lines = |most: usize| count(b'\n') <= most && count(b'\r') <= most;
        let is_within = |(lines, bytes): (usize, usize)| file.len() <= bytes && has_lines(lines);
        if is_within(SMALL) {
            None
        } else if is_within(MEDIUM) {
            Some(&self.medium)
        } else {
            Some(&self.large)
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_domain::id::OrganizationId;
    use futures_util::FutureExt;

    use super::*;

    fn tenant(number: u8) -> Tenant {
        Tenant::live(OrganizationId::from_bytes([number; 16]))
    }

    #[test]
    fn size_of_a_file_is_its_lines_or_its_bytes() {
        let turns = UploadTurns::default();
        let has_turn_of = |file: &[u8]| match turns.of_size(file) {
            None => "small",
            Some(turns_of_size) if std::ptr::eq(turns_of_size, &raw const turns.medium) => "medium",
            Some(_) => "large",
        };
        for end in ["\n", "\r\n", "\r"] {
            for (lines, wanted) in [
                (1, "small"),
                (101, "small"),
                (102, "medium"),
                (1_001, "medium"),
                (1_002, "large"),
                (10_001, "large"),
            ] {
                assert_eq!(has_turn_of(format!("a{end}").repeat(lines).as_bytes()), wanted, "{lines} {end:?}");
            }
        }
        for (bytes, wanted) in
            [(64 * 1024, "small"), (64 * 1024 + 1, "medium"), (512 * 1024, "medium"), (512 * 1024 + 1, "large")]
        {
            assert_eq!(has_turn_of(&vec![b'a'; bytes]), wanted, "{bytes} bytes");
        }
    }

    #[tokio::test]
    async fn file_waits_only_for_files_of_its_size() {
        let turns = UploadTurns::default();
        let (medium, large) = ("a\n".repeat(121), "a\n".repeat(9_991));
        let begin = |number: u8, file: &str| {
            let (turns, file) = (&turns, file.to_owned());
            async move { turns.turn(tenant(number), file.as_bytes()).await }
        };
        let large_turns: Vec<_> =
            [1, 1, 1, 2, 2, 2].into_iter().filter_map(|number| begin(number, &large).now_or_never()).collect();
        assert_eq!(large_turns.len(), UPLOADS);
        let medium_turn = begin(3, &medium).now_or_never().unwrap().unwrap();
        assert!(medium_turn.is_some() && begin(3, &medium).now_or_never().is_none(), "one of an organization");
        assert!(begin(3, "a\n").now_or_never().unwrap().unwrap().is_none());
        // Two organizations that begin again and again do not keep a third one from its turn.
        let others = [begin(1, &medium), begin(2, &medium), begin(4, &medium)];
        let held_turns: Vec<_> = others.into_iter().filter_map(FutureExt::now_or_never).collect();
        assert_eq!(held_turns.len(), UPLOADS - 1);
        let mut queued_turns = [1, 1, 1, 2, 2, 2, 5].map(|number| Box::pin(begin(number, &medium)));
        assert!(queued_turns.iter_mut().all(|turn| turn.as_mut().now_or_never().is_none()));
        drop(medium_turn);
        assert!(queued_turns[6].as_mut().now_or_never().is_some(), "the only organization without a turn");
    }
}
