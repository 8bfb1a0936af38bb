//! Sends webhooks over hyper, to addresses that were vetted, within bounds that no receiver can stretch.
