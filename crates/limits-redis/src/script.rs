//! The script that counts on the server, and its result.

use candor_domain::time::Timestamp;
use candor_domain::window::{RateLimitStatus, WINDOW_MILLIS, WindowUsage};
use redis::aio::ConnectionLike;
use redis::{RedisResult, Script};

/// Lua code that sets `now` to the server's time, in milliseconds.
const CLOCK: &str = "local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
";
const WINDOW: &str = include_str!("window.lua");

/// The result of the script: `true` if the request is admitted, the number of counted requests, the times of the
/// oldest and the newest of these requests, and the current time.
type ScriptResult = (bool, u32, i64, i64, i64);

/// The script, which the server caches by its digest.
pub(crate) struct WindowScript(Script);

impl WindowScript {
    /// Creates the script with the clock of the server.
    pub(crate) fn new() -> Self {
        Self(Script::new(&format!("{CLOCK}{WINDOW}")))
    }

    /// Counts or refuses a request. Sends the script to a server that does not have it yet.
    pub(crate) async fn admit(
        &self,
        connection: &mut impl ConnectionLike,
        name: &str,
        limit: u32,
    ) -> RedisResult<RateLimitStatus> {
        let mut call = self.0.key(name);
        let script_result: ScriptResult = call.arg(limit).arg(WINDOW_MILLIS).invoke_async(connection).await?;
        Ok(status(script_result, limit))
    }
}

fn status((admitted, used, oldest, newest, now): ScriptResult, limit: u32) -> RateLimitStatus {
    let [now, oldest, newest] = [now, oldest, newest].map(Timestamp::from_millis);
    WindowUsage { now, used, oldest, newest }.status(limit, admitted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::window::Window;
    use candor_test_redis::TestRedis;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    use redis::Client;
    use redis::aio::MultiplexedConnection;

    /// Lua code that takes the time from an argument, so that a test can simulate hours.
    const GIVEN_CLOCK: &str = "local now = tonumber(ARGV[3])\n";

    async fn admit(script: &Script, server: &mut MultiplexedConnection, at: i64, limit: u32) -> RateLimitStatus {
        let mut call = script.key("window");
        let script_result: ScriptResult =
            call.arg(limit).arg(WINDOW_MILLIS).arg(at).invoke_async(server).await.unwrap();
        status(script_result, limit)
    }

    /// Returns requests, each as the step of the clock before it, in milliseconds, and the limit of its window.
    /// The clock mostly advances, is sometimes set back, and reaches the end of the window.
    fn steps() -> impl Strategy<Value = Vec<(i64, u32)>> {
        let step = prop_oneof![
            6 => 0..50_i64,
            6 => 0..5_000_i64,
            3 => 59_990..60_010_i64,
            1 => -59_000..0_i64,
            1 => -600_000..-60_000_i64,
        ];
        proptest::collection::vec((step, prop_oneof![5 => Just(7_u32), 1 => 0..9_u32]), 1..120)
    }

    #[test]
    fn script_returns_the_same_status_as_the_domain_window() {
        let Some(server) = TestRedis::start().unwrap() else { return };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = Client::open(server.url()).unwrap();
        let connection = runtime.block_on(client.get_multiplexed_async_connection()).unwrap();
        let script = Script::new(&format!("{GIVEN_CLOCK}{WINDOW}"));
        let walk = |steps: Vec<(i64, u32)>| {
            let mut connection = connection.clone();
            let () = runtime.block_on(redis::cmd("FLUSHALL").query_async(&mut connection)).unwrap();
            let (mut window, mut now) = (Window::default(), 1_772_442_000_000);
            for (step, limit) in steps {
                now += step;
                let status = runtime.block_on(admit(&script, &mut connection, now, limit));
                prop_assert_eq!(status, window.admit(Timestamp::from_millis(now), limit), "at {}", now);
            }
            Ok(())
        };
        TestRunner::new(Config::with_cases(96)).run(&steps(), walk).unwrap();
    }

    #[test]
    fn window_is_no_longer_than_its_limit_and_expires() {
        let Some(server) = TestRedis::start().unwrap() else { return };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::open(server.url()).unwrap();
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            let script = WindowScript::new();
            for _ in 0..20 {
                script.admit(&mut connection, "window", 5).await.unwrap();
            }
            let length: u32 = redis::cmd("LLEN").arg("window").query_async(&mut connection).await.unwrap();
            let ttl: i64 = redis::cmd("PTTL").arg("window").query_async(&mut connection).await.unwrap();
            assert_eq!(length, 5);
            assert!((1..=WINDOW_MILLIS).contains(&ttl), "{ttl}");
            script.admit(&mut connection, "nothing", 0).await.unwrap();
            let key_exists: bool = redis::cmd("EXISTS").arg("nothing").query_async(&mut connection).await.unwrap();
            assert!(!key_exists, "a limit of 0 stores no window");
        });
    }
}
