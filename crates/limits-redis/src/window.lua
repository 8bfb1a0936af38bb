-- Counts or refuses a request in a window, like the domain's `Window`.
-- KEYS[1]: the times of the counted requests, oldest first, in milliseconds.
-- ARGV[1]: the limit. ARGV[2]: the length of the window in milliseconds. `now` is set by the code before.
-- Returns whether the request is admitted, the number of counted requests, the oldest and newest times, and `now`.
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])

local function at(index)
  return tonumber(redis.call('LINDEX', key, index) or '')
end

local function append(time)
  -- `%.0f`, because Lua's default format rounds to 14 digits: too few from the year 5138 on.
  redis.call('RPUSH', key, string.format('%.0f', time))
end

local newest = at(-1)
if newest and newest - now > window then
  -- The clock was set back: move the counted times back too, so that they leave within a minute.
  local times = redis.call('LRANGE', key, 0, -1)
  redis.call('DEL', key)
  for _, time in ipairs(times) do
    append(tonumber(time) - (newest - now))
  end
  redis.call('PEXPIRE', key, window)
elseif newest and newest > now then
  now = newest
end

local used = redis.call('LLEN', key)
if used > 0 and now - at(0) >= window then
  -- Invariant: entry `left` has left the window; entry `stays` has not, or is behind the last one. Usually only few
  -- entries have left, so the search starts at the beginning with growing steps.
  local left, stays = 0, 1
  while stays < used and now - at(stays) >= window do
    left, stays = stays, math.min(2 * stays, used)
  end
  while stays - left > 1 do
    local middle = math.floor((left + stays) / 2)
    if now - at(middle) >= window then left = middle else stays = middle end
  end
  redis.call('LTRIM', key, stays, -1)
  used = used - stays
end

local admitted = 0
if used < limit then
  append(now)
  redis.call('PEXPIRE', key, window)
  admitted, used = 1, used + 1
end
if used == 0 then
  return {admitted, used, now - window, now - window, now}
end
return {admitted, used, at(0), at(-1), now}
