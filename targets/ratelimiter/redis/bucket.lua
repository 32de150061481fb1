-- Settle one request against a token bucket, as Contract.Take does in Go:
--
--   available = min(capacity, tokens + refill * max(0, now - last))
--   allowed   = available >= 1
--   left      = available - 1 if allowed, else available
--
-- KEYS[1]  the bucket: a hash of tokens and last_refill (microseconds)
-- ARGV[1]  capacity, tokens
-- ARGV[2]  refill, tokens per second
-- ARGV[3]  lifetime of the key, milliseconds
-- ARGV[4]  now, microseconds; empty to ask this server, the only clock that
--          every replica shares
--
-- Returns {1 if allowed else 0, tokens left as text}: Redis would cut a number
-- down to an integer.
local capacity = tonumber(ARGV[1])
local refill = tonumber(ARGV[2])
local now = tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local stored = redis.call('HMGET', KEYS[1], 'tokens', 'last_refill')
local tokens = tonumber(stored[1]) or capacity
local last = tonumber(stored[2]) or now
now = math.max(now, last)

local available = math.min(capacity, tokens + refill * (now - last) / 1000000)
local allowed = 0
if available >= 1 then
  allowed = 1
  available = available - 1
end

-- Lua's own tostring keeps 14 digits: too few for an instant in microseconds,
-- and it would round the fraction of a token.
local left = string.format('%.17g', available)
if allowed == 1 then
  redis.call('HSET', KEYS[1], 'tokens', left, 'last_refill', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {allowed, left}
